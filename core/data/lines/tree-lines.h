/* SPDX-License-Identifier: MIT */
#pragma once

#include "lines/text-file.h"

/*
 * Trees of a text file, one after the other. A tree may go over several lines, as the Penn Treebank and NLTK print it:
 * it goes on in the next line while brackets are open and that line begins with a space, a tab or ')'.
 *
 * An empty line is a sentence without a tree where each tree has one line, and nothing where trees go over several
 * lines: "()" or "null" stands for no tree there. Which of them a file has is told by its first lines, LOOK_AHEAD bytes
 * of them. Where lines may not be read ahead of what is asked for, empty ones are sentences until a tree goes over
 * several lines; after such an empty line none may.
 */
typedef struct PlaitTreeLines PlaitTreeLines;

/* Takes @lines. @ahead: they may be read ahead. (transfer full) */
PlaitTreeLines *plait_tree_lines_new (PlaitTextReader *lines, gboolean ahead);
void plait_tree_lines_free (PlaitTreeLines *trees);

/* The next tree, its lines joined by spaces, and in *@number that of its first line; the rest is as of
 * plait_text_reader_next. */
const char *plait_tree_lines_next (PlaitTreeLines *trees, gsize *length, gint64 *number, GError **error);
