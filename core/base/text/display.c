/* SPDX-License-Identifier: MIT */
#include "text/display.h"

#include <unistd.h>

#include "text/launcher.h"

#define REPLACEMENT 0xfffd

gboolean
plait_display_is_terminal (FILE *stream)
{
  return isatty (fileno (stream)) == 1 && plait_launched_processes () == 0;
}

gboolean
plait_display_is_unsafe (gunichar character)
{
  return character < 0x20 || (character >= 0x7f && character < 0xa0) || character == 0x2028 || character == 0x2029
         || (character >= 0x202a && character <= 0x202e) || (character >= 0x2066 && character <= 0x2069);
}

char *
plait_display_sanitise (const char *text, gboolean keep_lines)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  GString *clean = g_string_sized_new (64);

  for (const char *p = valid; *p != '\0'; p = g_utf8_next_char (p))
    {
      gunichar character = g_utf8_get_char (p);
      gboolean keep = keep_lines && (character == '\n' || character == '\t');

      g_string_append_unichar (clean, plait_display_is_unsafe (character) && !keep ? REPLACEMENT : character);
    }
  return g_string_free (clean, FALSE);
}

void
plait_display_text (FILE *stream, const char *text)
{
  g_autofree char *clean = isatty (fileno (stream)) == 1 ? plait_display_sanitise (text, TRUE) : NULL;

  fputs (clean ? clean : text, stream);
}

void
plait_display_line (FILE *stream, const char *text)
{
  plait_display_text (stream, text);
  if (!g_str_has_suffix (text, "\n"))
    fputc ('\n', stream);
}

guint
plait_display_character_width (gunichar character)
{
  return g_unichar_iszerowidth (character) ? 0 : g_unichar_iswide (character) ? 2 : 1;
}

gsize
plait_display_width (const char *text)
{
  gsize width = 0;

  for (const char *p = text; *p != '\0'; p = g_utf8_next_char (p))
    width += plait_display_character_width (g_utf8_get_char (p));
  return width;
}

char *
plait_display_truncate (const char *text, gsize columns)
{
  gsize width = 0;
  const char *fits = text; /* end of the longest prefix of @text that fits together with an ellipsis */

  for (const char *p = text; *p != '\0';)
    {
      width += plait_display_character_width (g_utf8_get_char (p));
      p = g_utf8_next_char (p);
      if (width + 1 <= columns)
        fits = p;
      if (width > columns)
        {
          g_autofree char *head = g_strndup (text, (gsize)(fits - text));
          return g_strconcat (head, columns > 0 ? "…" : "", NULL);
        }
    }
  return g_strdup (text);
}

char *
plait_display_truncate_middle (const char *text, gsize columns)
{
  gsize room = columns > 0 ? (columns - 1) / 2 : 0; /* columns left for the end of @text */
  const char *end = text + strlen (text);

  if (plait_display_width (text) <= columns)
    return g_strdup (text);
  for (const char *p = end; p > text;)
    {
      p = g_utf8_prev_char (p);
      gsize width = plait_display_character_width (g_utf8_get_char (p));
      if (width > room)
        break;
      room -= width;
      if (width > 0) /* keep a combining character together with its base */
        end = p;
    }
  g_autofree char *head = plait_display_truncate (text, columns - plait_display_width (end));
  return g_strconcat (head, end, NULL);
}

void
plait_display_pad (GString *line, const char *text, gsize columns, gboolean right)
{
  gsize width = plait_display_width (text);
  int blanks = width < columns ? (int)(columns - width) : 0;

  if (right)
    g_string_append_printf (line, "%*s%s", blanks, "", text);
  else
    g_string_append_printf (line, "%s%*s", text, blanks, "");
}
