/* SPDX-License-Identifier: MIT */
#include "base/message.h"

#include <string.h>

#define LONGEST_BEGINNING 700
#define LONGEST_END 300

static gboolean
is_within_character (char byte)
{
  return ((guchar)byte & 0xc0) == 0x80;
}

static void
append_line (GString *message, const char *line, gsize length)
{
  gsize beginning = LONGEST_BEGINNING, end = length - LONGEST_END;

  if (length <= LONGEST_BEGINNING + LONGEST_END)
    {
      g_string_append_len (message, line, (gssize)length);
      return;
    }
  while (beginning > 0 && is_within_character (line[beginning]))
    beginning--;
  while (end < length && is_within_character (line[end]))
    end++;
  g_string_append_len (message, line, (gssize)beginning);
  g_string_append (message, " ... ");
  g_string_append_len (message, line + end, (gssize)(length - end));
}

char *
plait_message (const char *format, va_list arguments)
{
  g_autofree char *whole = g_strdup_vprintf (format, arguments);
  g_autoptr (GString) message = g_string_new (NULL);
  const char *line = whole;

  for (;;)
    {
      gsize length = strcspn (line, "\n");

      append_line (message, line, length);
      if (line[length] == '\0')
        return g_string_free (g_steal_pointer (&message), FALSE);
      g_string_append_c (message, '\n');
      line += length + 1;
    }
}
