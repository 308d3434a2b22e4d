/* SPDX-License-Identifier: MIT */
#pragma once

#include "attention/query-key-pairs.h"
#include "recurrent/recurrent.h"

/*
 * A GRU with one state for each query-key pair (attention/query-key-pairs.h). A call computes one step of all pairs.
 * The input of a pair's gates is the sum of four projections: of the pair's memory row, of its query, of a number such
 * as its attention weight, and of rows of linked pairs. A thread computes the whole step for a few dozen pairs before
 * it takes the next pairs, so that the data stay in cache.
 */

/* Links from pairs to other pairs of the same sentence. The rows of the linked pairs are inputs of the gates. */
typedef struct
{
  const gint64 *link; /* pair i reads row link[i] of @x; zeros if link[i] is negative: [pairs] */
  PlaitTensor x;      /* [pairs, in] */
  PlaitTensor dx;     /* backward: gradient of @x, to which the pass adds; no data: not computed */
} PlaitPairLink;

typedef struct
{
  PlaitQueryKeyPairs pairs;
  const gint64 *rows;    /* memory row of each pair: [pairs] */
  const gint64 *queries; /* query row of each pair: [pairs] */
  PlaitResetOrder reset;
  gint64 width;              /* width w of the states */
  PlaitTensor row_part;      /* projection of the memory rows: [rows, 3 w] */
  PlaitTensor query_part;    /* projection of the queries: [query rows, 3 w] */
  PlaitTensor number;        /* a number of each pair, such as its attention weight: [pairs, 1] */
  PlaitTensor number_weight; /* weight of @number: [1, 3 w] */
  PlaitPairLink *links;      /* [n] links of each pair */
  guint n;
  PlaitRnnWeight linked;    /* weight of all links: [sum of the widths of their @x, 3 w] */
  PlaitRnnWeight recurrent; /* packed recurrent weight; shape as in PlaitRecurrence */
  PlaitRnnWeight candidate;
  PlaitTensor previous; /* previous states: [pairs, w] */

  /* Outputs of the forward pass: */
  PlaitTensor states;       /* [pairs, w] */
  PlaitTensor gates;        /* [pairs, plait_recurrence_saved () w] */
  PlaitTensor reset_states; /* reset gate times previous state; PLAIT_RESET_BEFORE only: [pairs, w] */
} PlaitPairCell;

void plait_pair_cell_forward (PlaitPool *pool, const PlaitPairCell *cell);

/*
 * Arguments of the backward pass of a step. The packed weights of PlaitPairCell must be packed transposed. The pass
 * also adds to PlaitPairLink.dx. Like plait_recurrence_backward, the pass overwrites the leftmost columns of
 * PlaitPairCell.gates with the gradients of the products with the recurrent weight. With PLAIT_RESET_BEFORE, it
 * overwrites the next columns with the gradients of the products with the candidate weight.
 */
typedef struct
{
  PlaitTensor dstates;     /* gradient of the states: [pairs, w] */
  PlaitTensor dprojected;  /* output: gradient of the gate inputs, [pairs, 3 w]; with PLAIT_RESET_BEFORE it must be
                              the tensor PlaitPairCell.gates */
  PlaitTensor drow_part;   /* gradient of row_part, to which the pass adds: [rows, 3 w]; no data: not computed */
  PlaitTensor dquery_part; /* gradient of query_part, to which the pass adds: [query rows, 3 w]; no data: not
                              computed */
  PlaitTensor dprevious;   /* gradient of the previous states, to which the pass adds: [pairs, w]; no data: not
                              computed */
  PlaitTensor dnumber;     /* gradient of number, to which the pass adds: [pairs, 1]; no data: not computed */
} PlaitPairCellBackward;

void plait_pair_cell_backward (PlaitPool *pool, const PlaitPairCell *cell, const PlaitPairCellBackward *work);
