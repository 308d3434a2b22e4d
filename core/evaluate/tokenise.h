/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* The tokens of mteval-v13a, as sacreBLEU's tokeniser "13a" gives them, separated by one space each. @line is valid
 * UTF-8 and may hold line breaks. (transfer full) */
char *plait_tokenise_13a (const char *line);
