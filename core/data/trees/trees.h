/* SPDX-License-Identifier: MIT */
#pragma once

#include "trees/head-rules.h"
#include "types/input.h"

/*
 * The tree stream of a source: one tree for each of its sentences (tree.h and tree-lines.h describe the format), or
 * control trees made without a parser. The results are binary trees over the rows of each sentence:
 *
 *   - A chain of single children becomes one node with all their labels, joined by '+' (ROOT+S).
 *   - A node of more than two children becomes several, the lower ones labelled '@' and its label (@NP).
 *   - The pieces of a word are grouped from the left under nodes in the word's place. The highest node has the word's
 *     tag (NN), lower ones the tag with '@' before it (@NN). So I pieces have I leaves and I - 1 inner nodes.
 *   - An EOS row is outside the tree.
 */

typedef enum
{
  PLAIT_TREES_GIVEN, /* trees are read from the stream */
  PLAIT_TREES_LEFT,  /* left-branching: each node covers a longer beginning of the sentence */
  PLAIT_TREES_RIGHT, /* right-branching: each node covers a longer end of the sentence */
  PLAIT_TREES_BALANCED,
  PLAIT_TREES_RANDOM, /* split points drawn uniformly, keyed by seed, source and line */
} PlaitTreeShape;

typedef enum
{
  PLAIT_BINARISE_LEFT, /* left-branching: ((a b) c) */
  PLAIT_BINARISE_RIGHT,
  PLAIT_BINARISE_HEAD, /* around the head; the words after the head are joined last (Zhang & Clark 2009) */
} PlaitBinarisation;

/* Treatment of a sentence whose line has no tree. */
typedef enum
{
  PLAIT_NO_TREE_LEAVES, /* make leaves without inner nodes */
  PLAIT_NO_TREE_RIGHT,  /* make a right-branching tree */
  PLAIT_NO_TREE_ERROR,
  PLAIT_NO_TREE_DROP, /* drop the tuple; like PLAIT_NO_TREE_LEAVES where tuples must stay */
} PlaitNoTree;

typedef struct
{
  PlaitTreeShape shape;
  PlaitBinarisation binarisation;
  PlaitNoTree no_tree;
  PlaitHeadRules *head_rules; /* rules for PLAIT_BINARISE_HEAD, else NULL */
  guint64 seed;               /* seed for PLAIT_TREES_RANDOM */
} PlaitTreeSettings;

/* Makes the trees of one source. */
typedef struct PlaitTreeMaker PlaitTreeMaker;

/* Returns a maker of the trees of source @source. Random trees depend on this name. Takes a reference to the head
 * rules. (transfer full) */
PlaitTreeMaker *plait_tree_maker_new (const PlaitTreeSettings *settings, const char *source);
void plait_tree_maker_free (PlaitTreeMaker *maker);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTreeMaker, plait_tree_maker_free)

/* TRUE if @maker reads lines of trees (PLAIT_TREES_GIVEN). */
gboolean plait_tree_maker_reads (const PlaitTreeMaker *maker);

/* A line of the source, and the line of its tree. */
typedef struct
{
  const char *file;     /* file name in messages */
  gint64 number;        /* line number, from 1 */
  const char *sentence; /* the line of the source's file, unchanged */
  gsize sentence_length;
  const gint32 *pieces; /* [words] number of pieces of each word of the sentence (plait_vocabulary_encode_words) */
  gint64 words;
  const char *tree; /* line of the tree stream, for PLAIT_TREES_GIVEN */
  gsize tree_length;
} PlaitTreeLine;

/* TRUE if the tuple of @line is dropped because of no_tree=drop: its sentence has several words and its line has no
 * tree. FALSE if the line is malformed; plait_tree_maker_make reports that. */
gboolean plait_tree_maker_drops (PlaitTreeMaker *maker, const PlaitTreeLine *line);

/* Appends the tree of @line to @steps (gint32), two numbers per inner node (tree-binary.h), for plait_tree_maker_fill.
 * Fails with PLAIT_ERROR_INPUT, naming file and line, if the tree is malformed, exceeds a limit, does not match the
 * sentence, or is missing although it is required. Sets *@without, unless NULL, to TRUE if a sentence of several words
 * has no tree in the stream. */
gboolean plait_tree_maker_make (PlaitTreeMaker *maker, const PlaitTreeLine *line, GArray *steps, gboolean *without,
                                GError **error);

/* Writes the @n nodes in @steps [2 * n] to @left, @right and @labels [n each]. Children are numbered as in PlaitTrees,
 * for a sentence of @rows rows. Labels are valid as long as @maker. */
void plait_tree_maker_fill (const PlaitTreeMaker *maker, const gint32 *steps, gint64 n, gint64 rows, gint64 *left,
                            gint64 *right, const char **labels);
