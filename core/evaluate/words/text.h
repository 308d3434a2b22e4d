/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * Text as the metrics read it: what counts as white space, lower case, tokens. All of it works on code
 * points of valid UTF-8, is the same in every locale, and equals what Python's str methods or sacreBLEU's tokenisers
 * do, because published scores are computed with those.
 */

/* TRUE if Python's str.isspace () holds: Unicode's white space and the separators U+001C to U+001F. */
gboolean plait_text_is_space (gunichar character);

/* Cuts the white space at the end of @text in place, as str.rstrip () does. Returns @text. */
char *plait_text_strip_end (char *text);

/* Goes to the next word at or after *@text, as str.split () does: *@text becomes its first byte, *@end the byte after
 * its last one. FALSE if there is none. */
gboolean plait_text_next_word (const char **text, const char **end);

/* How many words str.split () finds in @text. */
gsize plait_text_count_words (const char *text);

/* @text in lower case with Unicode's full mapping (final sigma, dotted capital I), no language's own rules, as
 * str.lower () does. (transfer full) */
char *plait_text_lower (const char *text);

/* What a regular expression matches is replaced, where \\1 stands for its first group. */
typedef struct
{
  const char *pattern, *replacement; /* NULL: the last rule stands before this */
  GRegex *compiled;                  /* NULL until it is used */
} PlaitTextRule;

/* @text after one of @rules, which are static, after the other; with G_REGEX_RAW they see bytes. Takes @text. (transfer
 * full) */
char *plait_text_replace (char *text, PlaitTextRule *rules, GRegexCompileFlags flags);

/* ---- tokenise.c ---- */

/* The tokens of mteval-v13a, as sacreBLEU's tokeniser "13a" gives them, separated by one space each. @line is valid
 * UTF-8 and may hold line breaks. (transfer full) */
char *plait_tokenise_13a (const char *line);

/* The tokens of mteval-v14 with international tokenisation, sacreBLEU's "intl": punctuation apart but between digits,
 * symbols apart, in all scripts. (transfer full) */
char *plait_tokenise_international (const char *line);

/* Every character by itself, sacreBLEU's "char". (transfer full) */
char *plait_tokenise_characters (const char *line);
