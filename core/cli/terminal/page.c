/* SPDX-License-Identifier: MIT */
#include "terminal/page.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "text/display.h"

#define NARROWEST 60
#define WIDEST 120
#define STANDARD 100

struct PlaitPage
{
  guint width; /* of paragraphs */
  gsize room;
  gboolean colour;
  gboolean begun;
};

PlaitPage *
plait_page_new (void)
{
  PlaitPage *page = g_new0 (PlaitPage, 1);
  const char *no_colour = g_getenv ("NO_COLOR");
  struct winsize size;

  page->width = STANDARD;
  page->room = G_MAXSIZE;
  if (plait_display_is_terminal (stdout))
    {
      page->colour = (!no_colour || *no_colour == '\0') && g_strcmp0 (g_getenv ("TERM"), "dumb") != 0;
      if (ioctl (STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        {
          page->width = CLAMP (size.ws_col, NARROWEST, WIDEST);
          page->room = size.ws_col;
        }
    }
  return page;
}

void
plait_page_free (PlaitPage *page)
{
  g_free (page);
}

/* Prints @text without control characters other than line breaks. */
static void
put (PlaitPage *page, const char *text)
{
  g_autofree char *clean = plait_display_clean (text, TRUE);

  fputs (clean, stdout);
  page->begun = TRUE;
}

gsize
plait_page_room (const PlaitPage *page)
{
  return page->room;
}

gboolean
plait_page_has_colour (const PlaitPage *page)
{
  return page->colour;
}

void
plait_page_shade (PlaitPage *page, guint ground, guint ink, const char *text)
{
  g_assert (page->colour);
  printf ("\033[48;5;%u;38;5;%um", ground, ink);
  put (page, text);
  fputs ("\033[0m", stdout);
}

void
plait_page_text (PlaitPage *page, PlaitPageStyle style, const char *format, ...)
{
  static const char *const codes[] = { "", "\033[1m", "\033[36m", "\033[2m", "\033[31m" };
  va_list arguments;

  va_start (arguments, format);
  g_autofree char *text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  gboolean styled = page->colour && style != PLAIT_PAGE_PLAIN;
  if (styled)
    fputs (codes[style], stdout);
  put (page, text);
  if (styled)
    fputs ("\033[0m", stdout);
}

void
plait_page_heading (PlaitPage *page, const char *text)
{
  plait_page_text (page, PLAIT_PAGE_HEADING, "%s%c%s\n", page->begun ? "\n" : "", g_ascii_toupper (*text), text + 1);
}

void
plait_page_paragraph (PlaitPage *page, guint column, guint indent, const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint i = 0; lines[i]; i++)
    {
      g_auto (GStrv) words = g_strsplit (lines[i], " ", -1);
      guint at = column;

      if (i > 0)
        {
          plait_page_text (page, PLAIT_PAGE_PLAIN, "\n%*s", (int)indent, "");
          at = indent;
        }
      guint start = at;
      for (guint w = 0; words[w]; w++)
        {
          guint length = (guint)g_utf8_strlen (words[w], -1);

          if (at > start && at + 1 + length > page->width)
            {
              plait_page_text (page, PLAIT_PAGE_PLAIN, "\n%*s", (int)indent, "");
              at = start = indent;
            }
          plait_page_text (page, PLAIT_PAGE_PLAIN, "%s%s", at > start ? " " : "", words[w]);
          at += length + (at > start);
        }
    }
  put (page, "\n");
}

void
plait_page_row (PlaitPage *page, guint label_width, const char *label, const char *text)
{
  if (!text)
    return;
  plait_page_text (page, PLAIT_PAGE_PLAIN, "  %-*s  ", (int)label_width, label);
  plait_page_paragraph (page, label_width + 4, label_width + 4, text);
}

void
plait_page_list (PlaitPage *page, guint label_width, const char *label, const char *lines)
{
  g_auto (GStrv) each = g_strsplit (lines ? lines : "", ";", -1);

  for (guint i = 0; each[i]; i++)
    plait_page_row (page, label_width, i == 0 ? label : "", each[i]);
}
