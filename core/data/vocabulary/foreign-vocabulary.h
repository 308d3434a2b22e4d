/* SPDX-License-Identifier: MIT */
#pragma once

#include "vocabulary/vocabulary-private.h"

/* Files that other programs call vocabularies: lists of words, of pieces, of merges. */

/* Returns a description of the file @path, found from its @bytes, for a message about a file that is not a vocabulary;
 * NULL if its kind is unknown. (transfer none) Sets *@remedy to advice for the user, or NULL (transfer full). */
const char *plait_foreign_vocabulary_describe (GBytes *bytes, const char *path, char **remedy);

/* Reads the list of words at @path, lines of WORD or of WORD COUNT, and returns it as a serialised word vocabulary in
 * the list's order. Leaves out names of special tokens and sets *@left_out to their number. (transfer full) */
GBytes *plait_foreign_vocabulary_read_list (const char *path, guint *left_out, GError **error);
