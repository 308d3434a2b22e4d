/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* Words of a text: runs of bytes other than ASCII white space. A no-break space separates nothing. */

/* TRUE if @c is white space of ASCII, which parts words. */
static inline gboolean
plait_text_is_ascii_space (char c)
{
  return c == ' ' || (c >= '\t' && c <= '\r');
}

/* TRUE if @character is white space of Unicode. */
gboolean plait_text_is_white_space (gunichar character);

/* TRUE if @line holds nothing but white space of ASCII: an empty line to the corpus. */
gboolean plait_text_is_blank (const char *line, gsize length);

/* Returns the first byte of the next word at or after @*position in @text; NULL if none is left. Sets @*length to its
 * bytes and @*position to the byte after it. */
const char *plait_words_next (const char *text, gsize text_length, gsize *position, gsize *length);
