/* SPDX-License-Identifier: MIT */
#pragma once

#include "trees/trees.h"

/*
 * Files of trees as such, for plait trees: what is wrong with one, what is in it, and writing it in another form.
 */

/* What was found in a file of trees. */
typedef struct
{
  gint64 lines;
  gint64 with_tree;
  gint64 without_tree;
  gint64 bad;

  /* Sums over the trees. */
  gint64 leaves;
  gint64 height; /* of the binary trees, in links from the root to the farthest leaf */

  /* Constituents as they stand in the file by their number of children; tags of words are none. */
  gint64 unary;
  gint64 binary;
  gint64 ternary;
  gint64 wider;
} PlaitTreeCounts;

typedef enum
{
  PLAIT_TREE_BRACKETS,
  PLAIT_TREE_TRIPLES,
} PlaitTreeFormat;

/* Takes a line that is put out, without its end. */
typedef void (*PlaitTreeLineFunc) (const char *line, gpointer data);

/* Reads all lines of the file @trees, beside those of @tokens (NULL: words are compared with nothing). Each bad line is
 * told to @report_line as "FILE:LINE: what is wrong". FALSE with PLAIT_ERROR_INPUT if a file cannot be read as text, or
 * one has more lines than the other. */
gboolean plait_trees_check (const char *trees, const char *tokens, const PlaitTreeSettings *settings,
                            PlaitTreeLineFunc report_line, gpointer data, PlaitTreeCounts *counts, GError **error);

/* Gives @take the lines of the file @trees as binary trees. Triples number nodes from 201 on, or from above the
 * last word, and write [1,1,201] for no tree; brackets write an empty line for it, and X for
 * a label that is not known, and take the words of trees in triples from @tokens, which may be NULL otherwise. The
 * first bad line is an error. */
gboolean plait_trees_convert (const char *trees, const char *tokens, const PlaitTreeSettings *settings,
                              PlaitTreeFormat format, PlaitTreeLineFunc take, gpointer data, GError **error);
