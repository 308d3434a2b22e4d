/* SPDX-License-Identifier: MIT */
#pragma once

#include "vocabulary/vocabulary-private.h"

/* Files that other programs call vocabularies: lists of words, pieces, merges. */

/* What the file at @path, which is no vocabulary, looks like by its @bytes, for a message, and in *@remedy what to do
 * with it, or NULL. NULL: like nothing that is known here. (transfer none); of *@remedy (transfer full) */
const char *plait_foreign_vocabulary_describe (GBytes *bytes, const char *path, char **remedy);

/* The list of words in the file at @path as a word vocabulary is serialised, in the order of the list: lines of WORD,
 * or of WORD COUNT. The names of special tokens are left out: *@left_out is their number. (transfer full) */
GBytes *plait_foreign_vocabulary_read_list (const char *path, guint *left_out, GError **error);
