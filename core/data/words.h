/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/export.h"

/*
 * Whitespace tokens, and the word vocabulary over them; and that of labels, to which a whole line is one word.
 *
 * Serialised, a word vocabulary is text: the line "plait words 1", then one line "WORD COUNT" an id, from id 4 on; of
 * labels the first line is "plait labels 1". In a file the first line is another (vocabulary.h).
 */

/* The next token at or after @*position in @text: a run of bytes other than ASCII white space (a no-break space is no
 * separator). Its bytes, with @*length set and @*position moved behind it; NULL when none is left. */
const char *plait_words_next (const char *text, gsize text_length, gsize *position, gsize *length);
