/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * Text as metrics read it: white space, lower case, tokens. Works on code points of valid UTF-8, independent of the
 * locale, and equals Python's str methods and sacreBLEU's tokenisers, with which published scores are computed.
 */

/* TRUE if @character is white space for Python's str.isspace (): Unicode white space and the separators U+001C to
 * U+001F. */
gboolean plait_text_is_space (gunichar character);

/* Removes white space at the end of @text in place, as str.rstrip () does. Returns @text. */
char *plait_text_strip_end (char *text);

/* Finds the next word at or after *@text, as str.split () does: sets *@text to the first byte of the word and *@end to
 * the byte after the word. FALSE if there are no more words. */
gboolean plait_text_next_word (const char **text, const char **end);

/* Returns the number of words that str.split () finds in @text. */
gsize plait_text_count_words (const char *text);

/* Returns @text in lower case as str.lower () does: Unicode's full mapping (final sigma, dotted capital I) without
 * rules of single languages. If plait_unicode_open fails, only ASCII letters change. (transfer full) */
char *plait_text_lower (const char *text);

/* A regular expression and the replacement of its matches, in which \1 stands for the first group. */
typedef struct
{
  const char *pattern, *replacement; /* a NULL pattern ends a list of rules */
  GRegex *compiled;                  /* compiled at the first use; NULL until then */
} PlaitTextRule;

/* Applies the rules of the static list @rules to @text, one after the other, and returns the result. With G_REGEX_RAW
 * the rules match bytes. Takes ownership of @text. (transfer full) */
char *plait_text_replace (char *text, PlaitTextRule *rules, GRegexCompileFlags flags);

/* ---- defined in tokenise.c ---- */

/* Returns the tokens of mteval-v13a, sacreBLEU's tokeniser "13a", separated by single spaces. @line is valid UTF-8 and
 * may contain line breaks. (transfer full) */
char *plait_tokenise_13a (const char *line);

/* Returns the tokens of mteval-v14 with international tokenisation, sacreBLEU's "intl". (transfer full) */
char *plait_tokenise_international (const char *line);

/* Returns the tokens of sacreBLEU's "zh": each Chinese character is a token. (transfer full) */
char *plait_tokenise_chinese (const char *line);

/* Returns each character except white space as a token, sacreBLEU's "char". (transfer full) */
char *plait_tokenise_characters (const char *line);
