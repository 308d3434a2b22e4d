/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/layer-operators.h"
#include "layers/attention.h"
#include "layers/encoder-stack.h"
#include "layers/feed-forward.h"
#include "layers/tree.h"
#include "recurrent/heights.h"

/* Functions of layers that the host calls and plugins do not. */

/* A layer of an encoder stack. */
struct PlaitEncoderLayer
{
  PlaitNorm attention_norm; /* PREFIXlayer/I/self_attention_norm */
  PlaitAttention attention; /* PREFIXlayer/I/self_attention */
  PlaitNorm sentence_norm;  /* PREFIXlayer/I/sentence_attention_norm, with readers */
  PlaitAttention sentence;  /* PREFIXlayer/I/sentence_attention, likewise */
  PlaitNorm feed_forward_norm;
  PlaitFeedForward feed_forward;
};

/* The cell's recurrent weights, for operators that run it (plait_rnn, plait_tree_top_down, plait_pair_cell). */
PlaitRecurrentCell plait_cell_weights (PlaitTape *tape, const PlaitCell *cell);

/* The rows of a memory that trees make: of each sentence its leaves, then its inner nodes. Arrays have an entry a row
 * of the memory, a row number or -1. */
struct PlaitTreeRows
{
  PlaitRagged rows;
  const gint64 *left;
  const gint64 *right;
  const gint64 *parent;
  gint64 n_roots;
  const gint64 *roots; /* [n_roots] the rows of roots */
  PlaitTreeHeights up;
  PlaitTreeDepths down;
};

/*
 * The rows of the trees over @leaves, in the arena of @tape. @words is how many leaves of each sentence its tree may
 * have, the first ones: a sentence of one word has it for its root, others without inner nodes have none. @nodes has
 * the inner nodes of each sentence, children before parents, so the last is its root; left[n] and right[n] count within
 * the sentence: first the leaves, then the inner nodes (as in PlaitTrees).
 */
const PlaitTreeRows *plait_tree_rows (PlaitTape *tape, PlaitRagged leaves, const gint64 *words, PlaitRagged nodes,
                                      const gint64 *left, const gint64 *right);
