/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* Words of a text: sequences of bytes other than ASCII white space. A no-break space does not separate words. */

/* TRUE if @c is ASCII white space, which separates words. */
static inline gboolean
plait_text_is_ascii_space (char c)
{
  return c == ' ' || (c >= '\t' && c <= '\r');
}

/* TRUE if @character is Unicode white space. */
gboolean plait_text_is_white_space (gunichar character);

/* TRUE if @line is empty or holds only ASCII white space. */
gboolean plait_text_is_blank (const char *line, gsize length);

/* Returns the first byte of the next word at or after *@position in @text; NULL after the last word. Sets *@length to
 * its number of bytes and *@position to the byte after the word. */
const char *plait_words_next (const char *text, gsize text_length, gsize *position, gsize *length);
