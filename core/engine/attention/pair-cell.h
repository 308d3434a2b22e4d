/* SPDX-License-Identifier: MIT */
#pragma once

#include "attention/query-key-pairs.h"
#include "recurrent/recurrent.h"

/*
 * A GRU of which every pair has a state (attention/query-key-pairs.h): one step of all pairs at once. The gates of a
 * pair read what is known of its row, what is known of its query, a number of its own, and what stands at linked pairs.
 * A few dozen pairs go through all of it while they are in cache.
 */

/* What the gates of a pair read at another pair of the sentence. */
typedef struct
{
  const gint64 *link; /* [pairs]: row link[i] of x for pair i, zeros where that is negative */
  PlaitTensor x;      /* [pairs, in] */
  PlaitTensor dx;     /* backward: added to; or no data */
} PlaitPairLink;

typedef struct
{
  PlaitQueryKeyPairs pairs;
  const gint64 *rows;    /* [pairs]: the row of each pair */
  const gint64 *queries; /* [pairs]: its query */
  PlaitResetOrder reset;
  gint64 width;              /* w */
  PlaitTensor row_part;      /* [rows, 3 w] */
  PlaitTensor query_part;    /* [query rows, 3 w] */
  PlaitTensor number;        /* [pairs, 1]: its own */
  PlaitTensor number_weight; /* [1, 3 w] */
  PlaitPairLink *links;      /* [n] */
  guint n;
  PlaitRnnWeight linked;    /* [widths of the links together, 3 w] */
  PlaitRnnWeight recurrent; /* as a PlaitRecurrence has them; all factors are packed */
  PlaitRnnWeight candidate;
  PlaitTensor previous; /* [pairs, w] */

  /* Written. */
  PlaitTensor states;       /* [pairs, w] */
  PlaitTensor gates;        /* [pairs, plait_recurrence_saved () w] */
  PlaitTensor reset_states; /* [pairs, w], with the reset before */
} PlaitPairCell;

void plait_pair_cell_forward (PlaitPool *pool, const PlaitPairCell *cell);

/*
 * Goes back, all factors packed transposed, and adds to the links' dx. The gates' first columns then hold the
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
  PlaitTensor dnumber;     /* [pairs, 1], added to; or no data */
} PlaitPairCellBackward;

void plait_pair_cell_backward (PlaitPool *pool, const PlaitPairCell *cell, const PlaitPairCellBackward *work);
