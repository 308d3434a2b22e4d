/* SPDX-License-Identifier: MIT */
#pragma once

#include "attention/query-key-pairs.h"
#include "recurrent/recurrent.h"

/*
 * A GRU with one state for each query-key pair (attention/query-key-pairs.h). A call computes one step of all pairs.
 * The gates of a pair read a part for its row, a part for its query, a number of the pair, and rows of linked pairs. A
 * few dozen pairs at a time go through the whole step while they are in cache.
 */

/* An input of the gates that each pair reads at another pair of its sentence. */
typedef struct
{
  const gint64 *link; /* pair i reads row link[i] of @x, or zeros if that is negative: [pairs] */
  PlaitTensor x;      /* [pairs, in] */
  PlaitTensor dx;     /* backward: gradient of @x, to which the backward pass adds; or no data */
} PlaitPairLink;

typedef struct
{
  PlaitQueryKeyPairs pairs;
  const gint64 *rows;    /* memory row of each pair: [pairs] */
  const gint64 *queries; /* query row of each pair: [pairs] */
  PlaitResetOrder reset;
  gint64 width;              /* width w of the states */
  PlaitTensor row_part;      /* the part of the gate inputs that comes from the memory rows: [rows, 3 w] */
  PlaitTensor query_part;    /* the part of the gate inputs that comes from the queries: [query rows, 3 w] */
  PlaitTensor number;        /* a number of each pair, such as its attention weight: [pairs, 1] */
  PlaitTensor number_weight; /* weight of @number: [1, 3 w] */
  PlaitPairLink *links;      /* [n] */
  guint n;
  PlaitRnnWeight linked;    /* weight of the links: [sum of their widths, 3 w] */
  PlaitRnnWeight recurrent; /* packed recurrent weight; shape as in PlaitRecurrence */
  PlaitRnnWeight candidate;
  PlaitTensor previous; /* previous states: [pairs, w] */

  /* Outputs of the forward pass: */
  PlaitTensor states;       /* [pairs, w] */
  PlaitTensor gates;        /* [pairs, plait_recurrence_saved () w] */
  PlaitTensor reset_states; /* [pairs, w], only if the reset is before the product */
} PlaitPairCell;

void plait_pair_cell_forward (PlaitPool *pool, const PlaitPairCell *cell);

/*
 * Arguments of the backward pass of the step. All weights must be packed transposed. The pass also adds to dx of the
 * links. It replaces the first columns of @gates by the gradients of the recurrent products; with the reset before the
 * product, the gradient of the candidate's product follows them, as after plait_recurrence_backward.
 */
typedef struct
{
  PlaitTensor dstates;     /* gradient of the states: [pairs, w] */
  PlaitTensor dprojected;  /* output: gradient of the gate inputs, [pairs, 3 w]; the tensor @gates of the cell if the
                              reset comes before the product */
  PlaitTensor drow_part;   /* adds to this gradient: [rows, 3 w]; or no data */
  PlaitTensor dquery_part; /* adds to this gradient: [query rows, 3 w]; or no data */
  PlaitTensor dprevious;   /* adds to this gradient: [pairs, w]; or no data */
  PlaitTensor dnumber;     /* adds to this gradient: [pairs, 1]; or no data */
} PlaitPairCellBackward;

void plait_pair_cell_backward (PlaitPool *pool, const PlaitPairCell *cell, const PlaitPairCellBackward *work);
