/* SPDX-License-Identifier: MIT */
#pragma once

#include "trees/trees.h"

/* Checks, counts and converts files of trees, for the command plait trees. */

typedef struct
{
  gint64 lines;
  gint64 with_tree;
  gint64 without_tree;
  gint64 bad;

  /* Sums of the leaves and of the heights of all trees. A height is the number of links from the root of the binary
   * tree to its farthest leaf. */
  gint64 leaves;
  gint64 height;

  /* Numbers of constituents in the file with one child, two children, three children, and four or more children, before
   * binarisation. Word tags are not counted. */
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

/* Receives a line, without its line end. */
typedef void (*PlaitTreeLineFunc) (const char *line, gpointer data);

/* Reads all trees of the file @trees, in step with the lines of @tokens (NULL: words are not checked). Passes the
 * error of each bad tree to @report_line as "FILE:LINE: message" and reads on. Fails if a file cannot be read as text,
 * or if @tokens has more or fewer lines than @trees has trees. */
gboolean plait_trees_check (const char *trees, const char *tokens, const PlaitTreeSettings *settings,
                            PlaitTreeLineFunc report_line, gpointer data, PlaitTreeCounts *counts, GError **error);

/* Makes the trees of the file @trees binary and passes them to @take, one a line. Fails at the first bad tree. In
 * triples, nodes are numbered from 201, or from the number after the last word if that is larger; a sentence of one
 * word or without a tree is the line [1,1,201]. In brackets, a sentence without a tree is an empty line, and an empty
 * label becomes X. @tokens may be NULL, except to write brackets for triples, whose words come from @tokens. */
gboolean plait_trees_convert (const char *trees, const char *tokens, const PlaitTreeSettings *settings,
                              PlaitTreeFormat format, PlaitTreeLineFunc take, gpointer data, GError **error);
