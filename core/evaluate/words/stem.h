/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * Stems of English words by Porter's algorithm (Porter 1980) with NLTK's changes, as the package rouge-score uses it.
 * libstemmer has the published algorithm without these changes.
 */

/* Reduces @word, lower-case ASCII, to its stem. */
void plait_stem (GString *word);
