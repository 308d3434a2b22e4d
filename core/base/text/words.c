/* SPDX-License-Identifier: MIT */
#include "text/words.h"

#include <string.h>

gboolean
plait_text_is_white_space (gunichar character)
{
  return character == 0x85 || character == 0x0b || g_unichar_isspace (character);
}

/* Returns the position of the first ASCII white space in text[i .. end - 1], or @end. */
static gsize
find_space (const char *text, gsize i, gsize end)
{
  const guint64 ones = 0x0101010101010101u, tops = 0x8080808080808080u;

  while (i + 8 <= end)
    {
      guint64 word, low;

      /* The lowest set bit of @low lies in the first byte below 33: a space or a control character. */
      memcpy (&word, text + i, 8);
      word = GUINT64_FROM_LE (word);
      low = (word - 33 * ones) & ~word & tops;
      i += low != 0 ? (gsize)__builtin_ctzll (low) / 8 : 8;
      if (low != 0 && plait_text_is_ascii_space (text[i]))
        return i;
      i += low != 0;
    }
  while (i < end && !plait_text_is_ascii_space (text[i]))
    i++;
  return i;
}

const char *
plait_words_next (const char *text, gsize text_length, gsize *position, gsize *length)
{
  gsize i = *position;
  while (i < text_length && plait_text_is_ascii_space (text[i]))
    i++;
  gsize first = i;
  i = find_space (text, i, text_length);
  *position = i;
  *length = i - first;
  return i > first ? text + first : NULL;
}

gboolean
plait_text_is_blank (const char *line, gsize length)
{
  for (gsize i = 0; i < length; i++)
    if (!plait_text_is_ascii_space (line[i]))
      return FALSE;
  return TRUE;
}
