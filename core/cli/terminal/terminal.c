/* SPDX-License-Identifier: MIT */
#include "terminal/terminal.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "text/display.h"

#define MIN_WIDTH 60
#define MAX_WIDTH 120
#define STANDARD 100

struct PlaitTerminal
{
  guint width; /* maximum width of paragraphs, in characters */
  gsize max_width;
  gboolean colour;
  gboolean begun;
};

PlaitTerminal *
plait_terminal_new (void)
{
  PlaitTerminal *terminal = g_new0 (PlaitTerminal, 1);
  const char *no_colour = g_getenv ("NO_COLOR");
  struct winsize size;

  terminal->width = STANDARD;
  terminal->max_width = G_MAXSIZE;
  if (plait_display_is_terminal (stdout))
    {
      terminal->colour = (!no_colour || *no_colour == '\0') && g_strcmp0 (g_getenv ("TERM"), "dumb") != 0;
      if (ioctl (STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        {
          terminal->width = CLAMP (size.ws_col, MIN_WIDTH, MAX_WIDTH);
          terminal->max_width = size.ws_col;
        }
    }
  return terminal;
}

/* Prints @text with unsafe characters replaced (text/display.h), but keeps line breaks and tabs. */
static void
put (PlaitTerminal *terminal, const char *text)
{
  g_autofree char *clean = plait_display_sanitise (text, TRUE);

  fputs (clean, stdout);
  terminal->begun = TRUE;
}

gsize
plait_terminal_width (const PlaitTerminal *terminal)
{
  return terminal->max_width;
}

gboolean
plait_terminal_has_colour (const PlaitTerminal *terminal)
{
  return terminal->colour;
}

void
plait_terminal_shade (PlaitTerminal *terminal, guint ground, guint ink, const char *text)
{
  g_assert (terminal->colour);
  printf ("\033[48;5;%u;38;5;%um", ground, ink);
  put (terminal, text);
  fputs ("\033[0m", stdout);
}

void
plait_terminal_text (PlaitTerminal *terminal, PlaitTerminalStyle style, const char *format, ...)
{
  static const char *const codes[] = { "", "\033[1m", "\033[36m", "\033[2m", "\033[31m" };
  va_list arguments;

  va_start (arguments, format);
  g_autofree char *text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  gboolean styled = terminal->colour && style != PLAIT_TERMINAL_PLAIN;
  if (styled)
    fputs (codes[style], stdout);
  put (terminal, text);
  if (styled)
    fputs ("\033[0m", stdout);
}

void
plait_terminal_heading (PlaitTerminal *terminal, const char *text)
{
  plait_terminal_text (terminal, PLAIT_TERMINAL_HEADING, "%s%c%s\n", terminal->begun ? "\n" : "",
                       g_ascii_toupper (*text), text + 1);
}

void
plait_terminal_paragraph (PlaitTerminal *terminal, guint column, guint indent, const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint i = 0; lines[i]; i++)
    {
      g_auto (GStrv) words = g_strsplit (lines[i], " ", -1);
      guint at = column;

      if (i > 0)
        {
          plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "\n%*s", (int)indent, "");
          at = indent;
        }
      guint start = at;
      for (guint w = 0; words[w]; w++)
        {
          guint length = (guint)g_utf8_strlen (words[w], -1);

          if (at > start && at + 1 + length > terminal->width)
            {
              plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "\n%*s", (int)indent, "");
              at = start = indent;
            }
          plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "%s%s", at > start ? " " : "", words[w]);
          at += length + (at > start);
        }
    }
  put (terminal, "\n");
}

void
plait_terminal_row (PlaitTerminal *terminal, guint label_width, const char *label, const char *text)
{
  if (!text)
    return;
  plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "  %-*s  ", (int)label_width, label);
  plait_terminal_paragraph (terminal, label_width + 4, label_width + 4, text);
}

void
plait_terminal_list (PlaitTerminal *terminal, guint label_width, const char *label, const char *lines)
{
  g_auto (GStrv) each = g_strsplit (lines ? lines : "", ";", -1);

  for (guint i = 0; each[i]; i++)
    plait_terminal_row (terminal, label_width, i == 0 ? label : "", each[i]);
}
