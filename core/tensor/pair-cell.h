/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/pairs.h"
#include "tensor/recurrent.h"

/*
 * A GRU of which every pair has a state (tensor/pairs.h): one step of all pairs at once. The gates of a pair read what
 * is known of its row, what is known of its query, and inputs that stand at pairs, its own or linked ones. A few dozen
 * pairs go through all of it while they are in cache.
 */

/* An input of the gates: pair i reads row link[i] of x, and nothing where that is negative. */
typedef struct
{
  const gint64 *link;     /* [pairs], each a pair of the same sentence, or NULL: its own */
  PlaitTensor x;          /* [pairs, in] */
  PlaitStepFactor factor; /* [in, 3 w] */
  PlaitTensor dx;         /* backward: [pairs, in], added to; or no data */
} PlaitPairInput;

typedef struct
{
  PlaitPairs pairs;
  const gint64 *rows;    /* [pairs]: the row of each pair */
  const gint64 *queries; /* [pairs]: its query */
  PlaitResetPlace reset;
  gint64 width;           /* w */
  PlaitTensor row_part;   /* [rows, 3 w] */
  PlaitTensor query_part; /* [query rows, 3 w] */
  PlaitPairInput *inputs; /* [n] */
  guint n;
  PlaitStepFactor recurrent; /* as a PlaitRecurrence has them, both always packed */
  PlaitStepFactor candidate;
  PlaitTensor previous; /* [pairs, w] */

  /* Written. */
  PlaitTensor states;       /* [pairs, w] */
  PlaitTensor gates;        /* [pairs, plait_recurrence_kept () w] */
  PlaitTensor reset_states; /* [pairs, w], with the reset before */
} PlaitPairCell;

/* Factors of inputs that are wider than one are packed. */
void plait_pair_cell_forward (PlaitPool *pool, const PlaitPairCell *cell);

/*
 * Goes back, all factors packed transposed, and adds to the inputs' dx. The gates' first columns then hold the
 * cotangents of the recurrent products (with the reset before, the candidate's behind them), as after
 * plait_recurrence_backward.
 */
typedef struct
{
  PlaitTensor dstates;    /* [pairs, w] */
  PlaitTensor dprojected; /* [pairs, 3 w]: written, of what goes into the gates; with the reset before the gates' own */
  PlaitTensor drow_part;  /* [rows, 3 w], added to; or no data */
  PlaitTensor dquery_part; /* [query rows, 3 w], added to; or no data */
  PlaitTensor dprevious;   /* [pairs, w], added to; or no data */
} PlaitPairCellBackward;

void plait_pair_cell_backward (PlaitPool *pool, const PlaitPairCell *cell, const PlaitPairCellBackward *work);
