/* SPDX-License-Identifier: MIT */
#pragma once

#include "trees/head-rules.h"
#include "types/input.h"

/*
 * The tree stream of a source: one tree for each of the source's sentences (tree.h says how it is written, tree-lines.h
 * how it goes over several lines), or trees that no parser made. What comes out are binary trees over the rows of each
 * sentence:
 *
 *   - chains of single children become one node, whose label keeps all of theirs, joined by '+' (ROOT+S);
 *   - a node of more than two children becomes several, those below it labelled '@' and its label (@NP);
 *   - the pieces of a word that a subword vocabulary splits are grouped from the left under nodes in the word's place,
 *     the highest labelled with the word's tag (NN), those below it with '@' before it (@NN). So a sentence of I pieces
 *     has I leaves and I - 1 inner nodes;
 *   - an EOS row stands outside of the tree.
 */

/* Where trees come from. */
typedef enum
{
  PLAIT_TREES_GIVEN, /* from the stream */
  PLAIT_TREES_LEFT,  /* branching to the left: each node a longer beginning of the sentence */
  PLAIT_TREES_RIGHT, /* branching to the right: each node a longer end of it */
  PLAIT_TREES_BALANCED,
  PLAIT_TREES_RANDOM, /* split points drawn uniformly, keyed by seed, source and line */
} PlaitTreeShape;

/* How a node of more than two children is made binary. */
typedef enum
{
  PLAIT_BINARISE_LEFT, /* ((a b) c) */
  PLAIT_BINARISE_RIGHT,
  PLAIT_BINARISE_HEAD, /* around its head, what follows the head on top (Zhang & Clark 2009) */
} PlaitBinarisation;

/* What becomes of a sentence whose line has no tree. */
typedef enum
{
  PLAIT_NO_TREE_LEAVES, /* it has leaves and no inner nodes */
  PLAIT_NO_TREE_RIGHT,  /* it gets a tree that branches to the right */
  PLAIT_NO_TREE_ERROR,
  PLAIT_NO_TREE_DROP, /* its tuple is dropped; where tuples must stay, it has leaves and no inner nodes */
} PlaitNoTree;

typedef struct
{
  PlaitTreeShape shape;
  PlaitBinarisation binarisation;
  PlaitNoTree no_tree;
  PlaitHeadRules *head_rules; /* of PLAIT_BINARISE_HEAD, else NULL */
  guint64 seed;               /* of PLAIT_TREES_RANDOM */
} PlaitTreeSettings;

/* Makes the trees of one source. */
typedef struct PlaitTreeMaker PlaitTreeMaker;

/* Of source @source, whose name keys random trees. Takes a reference to the head rules. (transfer full) */
PlaitTreeMaker *plait_tree_maker_new (const PlaitTreeSettings *settings, const char *source);
void plait_tree_maker_free (PlaitTreeMaker *maker);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTreeMaker, plait_tree_maker_free)

/* TRUE if it reads lines of trees: PLAIT_TREES_GIVEN. */
gboolean plait_tree_maker_reads (const PlaitTreeMaker *maker);

/* A line of the source, and the line of its trees. */
typedef struct
{
  const char *file;     /* that messages name */
  gint64 number;        /* of the line, from 1 */
  const char *sentence; /* as it stands in the source's file */
  gsize sentence_length;
  const gint32 *pieces; /* rows of each white-space token of the sentence (plait_vocabulary_encode_words) */
  gint64 words;
  const char *tree; /* the line of the tree stream, if it is read */
  gsize tree_length;
} PlaitTreeLine;

/* TRUE if no_tree=drop takes the tuple of @line away: its sentence has several words, and its line says that there is
 * no tree. What is malformed is left to plait_tree_maker_make. */
gboolean plait_tree_maker_drops (PlaitTreeMaker *maker, const PlaitTreeLine *line);

/* Appends to @steps (an array of gint32) the tree of @line as numbers to be kept and given to plait_tree_maker_fill:
 * two an inner node (tree-binary.h). FALSE with PLAIT_ERROR_INPUT, naming file and line, if the tree is malformed, does
 * not belong to the sentence, or is missing where it must not be. *@without (may be NULL) receives whether a sentence
 * of several words had no tree in the stream. */
gboolean plait_tree_maker_make (PlaitTreeMaker *maker, const PlaitTreeLine *line, GArray *steps, gboolean *without,
                                GError **error);

/* Writes the @n nodes of the 2 @n numbers @steps to @left, @right and @labels: children as PlaitTrees numbers them for
 * a sentence of @rows rows. Labels last as long as @maker. */
void plait_tree_maker_fill (const PlaitTreeMaker *maker, const gint32 *steps, gint64 n, gint64 rows, gint64 *left,
                            gint64 *right, const char **labels);
