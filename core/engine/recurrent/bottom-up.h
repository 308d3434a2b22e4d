/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/pool.h"
#include "recurrent/heights.h"
#include "recurrent/recurrent.h"

/*
 * Recurrent cells over binary trees, bottom-up, all trees of a batch together. The nodes of one height depend only on
 * lower heights, so one matrix product computes all nodes of a height, and one product over all nodes gives the
 * gradient of a weight. Tensors with [nodes] rows hold the inner nodes, height after height.
 */

/* Returns the number of columns of the product that computes the gates, as a multiple of the cell's width. */
static inline gint64
plait_bottom_up_gates (PlaitTreeKind kind)
{
  return kind == PLAIT_TREE_HEAD_WORD ? 1 : 5;
}

/* Returns how many numbers a cell saves for the backward pass of a node, as a multiple of the cell's width: the gates;
 * for a GRU also the candidate; for a GRU with PLAIT_RESET_AFTER also the recurrent products of both children. */
static inline gint64
plait_bottom_up_saved (PlaitTreeKind kind, PlaitResetOrder reset)
{
  return plait_bottom_up_gates (kind) + (kind != PLAIT_TREE_GRU ? 0 : reset == PLAIT_RESET_BEFORE ? 1 : 3);
}

typedef struct
{
  PlaitTreeKind kind;
  PlaitResetOrder reset;
  gint64 width; /* width w of a state */
  const PlaitTreeHeights *heights;
  PlaitRnnWeight gates;         /* [2 w, gates w]: the rows for the left child's state, then for the right child's */
  PlaitRnnWeight candidate[2];  /* GRU only. PLAIT_RESET_BEFORE: one matrix of shape [2 w, w]; PLAIT_RESET_AFTER: one of
                                   shape [w, w] for each of the left and the right child */
  const PlaitScalar *gate_bias; /* [gates w], or NULL */
  const PlaitScalar *candidate_bias; /* [w], GRU only, or NULL */
  PlaitTensor projected; /* [nodes, gates * w], for a GRU [nodes, (gates + 1) * w]: projected input, added to the inputs
                            of the gates and the candidate; no data if nodes have no input */
  PlaitTensor states;    /* [rows, w]: rows of leaves are input, rows of inner nodes are output */
  PlaitTensor cells;     /* [rows, w] cell states of an LSTM: leaves are input, inner nodes output */

  PlaitTensor children; /* [nodes, 2 w] states of the left and the right child, side by side */
  PlaitTensor saved;    /* [nodes, plait_bottom_up_saved () w] activations kept for backward */
  PlaitTensor
      reset_children; /* [nodes, 2 w] children's states times their reset gates; GRU with PLAIT_RESET_BEFORE only */
} PlaitBottomUp;

/*
 * Tensors of the backward pass. The pass replaces the activations in PlaitBottomUp.saved by the gradients of the inputs
 * of the gates and the candidate, and of the recurrent products. The gradients of the weights are children^T and
 * reset_children^T times these gradients. Weights that are packed must be packed transposed.
 */
typedef struct
{
  PlaitTensor dstates; /* [rows, w] in: gradients of all states, to which the pass adds; out: gradients of the leaves in
                          their rows */
  PlaitTensor dcells;  /* [rows, w] gradients of cell states, in and out as in dstates; LSTM only */
  PlaitTensor dprojected; /* [nodes, width of projected] gradients of the projected input; no data if not needed */
  gboolean adds;          /* TRUE: add to dprojected; FALSE: overwrite it */
  PlaitTensor dchildren;  /* scratch [nodes of the lowest height, 2 w]; no height has more nodes */
  PlaitTensor dreset;     /* scratch [nodes of the lowest height, 2 w]; GRU with PLAIT_RESET_BEFORE only */
} PlaitBottomUpBackward;

/* Computes the states of all inner nodes. If @work is not NULL, runs the backward pass instead, on the tensors of
 * @work. */
void plait_bottom_up_run (PlaitPool *pool, const PlaitBottomUp *bottom_up, const PlaitBottomUpBackward *work);
