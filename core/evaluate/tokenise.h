/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* The tokens of mteval-v13a, as sacreBLEU's tokeniser "13a" gives them, separated by one space each. @line is valid
 * UTF-8 and may hold line breaks. (transfer full) */
char *plait_tokenise_13a (const char *line);

/* The tokens of mteval-v14 with international tokenisation, sacreBLEU's "intl": punctuation apart but between digits,
 * symbols apart, in all scripts. (transfer full) */
char *plait_tokenise_international (const char *line);

/* Every character by itself, sacreBLEU's "char". (transfer full) */
char *plait_tokenise_characters (const char *line);
