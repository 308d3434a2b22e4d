/* SPDX-License-Identifier: MIT */
#pragma once

#include "lines/text-file.h"

/*
 * Reads trees of a text file one after the other. A tree may take several lines, as the Penn Treebank and NLTK print
 * it: it continues on the next line while brackets are open and that line begins with a space, a tab or ')' and is not
 * blank.
 *
 * In a file with one tree a line, an empty line is a sentence without a tree. In a file whose trees take several lines,
 * empty lines are skipped, and "()" or "null" is a sentence without a tree. If lines may be read ahead, the reader
 * begins with a search for a tree of several lines in the first LOOK_AHEAD bytes. Until the reader finds such a tree,
 * it returns each empty line as a sentence without a tree. If it finds such a tree after it returned an empty line, it
 * fails.
 */
typedef struct PlaitTreeLines PlaitTreeLines;

/* Returns a reader of the trees in @lines. Takes ownership of @lines. @ahead: lines may be read ahead. (transfer
 * full) */
PlaitTreeLines *plait_tree_lines_new (PlaitTextReader *lines, gboolean ahead);
void plait_tree_lines_free (PlaitTreeLines *trees);

/* Returns the next tree, its lines joined by spaces, and the number of its first line in *@number. Lifetime, end and
 * errors are as in plait_text_reader_next. */
const char *plait_tree_lines_next (PlaitTreeLines *trees, gsize *length, gint64 *number, GError **error);
