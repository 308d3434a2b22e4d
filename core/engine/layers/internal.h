/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/layer-operators.h"
#include "layers/attention.h"
#include "layers/encoder-stack.h"
#include "layers/feed-forward.h"
#include "layers/tree.h"
#include "recurrent/heights.h"

/* Functions of layers for the host, not for plugins. */

/* A layer of an encoder stack. */
struct PlaitEncoderLayer
{
  PlaitNorm attention_norm; /* named PREFIX + "layer/I/self_attention_norm" */
  PlaitAttention attention; /* named PREFIX + "layer/I/self_attention" */
  PlaitNorm sentence_norm;  /* named PREFIX + "layer/I/sentence_attention_norm"; declared only with readers */
  PlaitAttention sentence;  /* named PREFIX + "layer/I/sentence_attention"; declared only with readers */
  PlaitAttention global;    /* named PREFIX + "layer/I/global_attention"; in the global_layers top layers */
  PlaitGatedSum sum;        /* named PREFIX + "layer/I/attention_gate"; in the global_layers top layers */
  PlaitNorm feed_forward_norm;
  PlaitFeedForward feed_forward;
};

/* Returns the cell's recurrent weights, for operators that run the cell (plait_rnn, plait_tree_top_down,
 * plait_pair_cell). */
PlaitRecurrentCell plait_cell_weights (PlaitTape *tape, const PlaitCell *cell);

/* The rows of a memory over trees: for each sentence its leaves, then its inner nodes. Arrays are [rows] and hold a row
 * number or -1. */
struct PlaitTreeRows
{
  PlaitRagged rows;
  const gint64 *left;
  const gint64 *right;
  const gint64 *parent;
  gint64 n_roots;
  const gint64 *roots; /* row of each root: [n_roots] */
  PlaitTreeHeights up;
  PlaitTreeDepths down;
};

/*
 * Returns the rows of the trees over @leaves, in the arena of @tape. words[s]: number of leaves of the tree of sentence
 * s, which are the first leaves of the sentence. A sentence of one word has this word as its root; other sentences
 * without inner nodes have no root. @nodes: the inner nodes of each sentence, children before parents, so the last is
 * the root. left[n] and right[n]: the children of inner node n, numbered within the sentence, first the leaves, then
 * the inner nodes (as in PlaitTrees).
 */
const PlaitTreeRows *plait_tree_rows (PlaitTape *tape, PlaitRagged leaves, const gint64 *words, PlaitRagged nodes,
                                      const gint64 *left, const gint64 *right);
