/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/arena.h"
#include "process/pool.h"
#include "recurrent/cell.h"
#include "recurrent/rnn-step.h"

/*
 * Recurrent cells over ragged rows, all sentences of a batch at once and no padding: step t works on the sentences that
 * are longer than t. What a step needs stands end to end, step after step ("in the order of time"), so each step is a
 * product of whole rows and the weights' gradients are one product over all of them.
 */

/* The order of time. Sentences go longest first, so those of step t are the first of those of step t - 1. */
typedef struct
{
  PlaitRagged rows;
  gboolean backwards;  /* each sentence from its last row to its first */
  gint64 steps;        /* the rows of the longest sentence */
  const gint64 *order; /* the sentences, longest first, equals as they stand */
  const gint64 *first; /* [steps + 1]: step t has the collected rows first[t] .. first[t + 1] - 1 */
} PlaitTimeline;

/* The order of time of @rows (borrowed), in @arena. */
PlaitTimeline plait_timeline (PlaitArena *arena, PlaitRagged rows, gboolean backwards);

/* The gates that a cell keeps of a row, in widths: with the reset gate after the product, the product too. */
static inline gint64
plait_recurrence_saved (PlaitCellKind kind, PlaitResetOrder reset)
{
  return kind == PLAIT_CELL_GRU && reset == PLAIT_RESET_BEFORE ? 3 : 4;
}

typedef struct
{
  PlaitCellKind kind;
  PlaitResetOrder reset;
  gint64 width; /* w */
  PlaitTimeline time;
  PlaitRnnWeight recurrent; /* [w, gates w]; of a GRU with the reset before, [w, 2 w]: reset and update alone */
  PlaitRnnWeight candidate; /* [w, w], a GRU's with the reset before */
  const PlaitScalar *bias;  /* added to the recurrent product, or NULL */
  PlaitTensor state;        /* [sentences, w] before the first step; no data: zeros */
  PlaitTensor cell;         /* the same, an LSTM's */
  PlaitTensor states;       /* [rows, w], written; as the rows stand */
  PlaitTensor cells;        /* the same, an LSTM's */

  /* In the order of time. Rows of @gates are plait_recurrence_saved () widths wide; where nothing goes back they need
   * only as many as there are sentences. */
  PlaitTensor previous; /* [rows, w] the state that the row began with; @state itself if it @borrows */
  PlaitTensor gates;
  PlaitTensor reset_states; /* [rows, w] r * h, a GRU's with the reset before */
  gboolean borrows;
} PlaitRecurrence;

/* Writes states (and cells), and what is collected. @projected [rows, gates w] as the rows stand. */
void plait_recurrence_forward (PlaitPool *pool, const PlaitRecurrence *recurrence, PlaitTensor projected);

/*
 * Goes back. The gates' first columns (as wide as the recurrent factor; then, with the reset before, the candidate's)
 * then hold the cotangents of the products, in the order of time: the gradients of the factors are previous^T and
 * reset_states^T times them. The factors are packed transposed.
 */
typedef struct
{
  PlaitTensor dstates;    /* [rows, w] */
  PlaitTensor dcells;     /* the same, an LSTM's */
  PlaitTensor dprojected; /* [rows, gates w], or no data */
  gboolean adds;          /* to dprojected */
  PlaitTensor dstate; /* [sentences with rows, w] zeros; then the gradients of what they began with, longest first */
  PlaitTensor dcell;  /* the same, an LSTM's */
  PlaitTensor dreset; /* the same shape, scratch, a GRU's with the reset before */
  gboolean has_beginning; /* dstate is wanted */
} PlaitRecurrenceBackward;

void plait_recurrence_backward (PlaitPool *pool, const PlaitRecurrence *recurrence,
                                const PlaitRecurrenceBackward *work);
