/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * Stems of English words by Porter's algorithm (Porter 1980) with the changes that NLTK makes to it and the package
 * rouge-score takes from there. libstemmer has the algorithm as it was published, without them.
 */

/* Cuts @word, ASCII in lower case, to its stem. */
void plait_stem (GString *word);
