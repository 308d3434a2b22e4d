/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/arena.h"
#include "process/pool.h"
#include "recurrent/cell.h"
#include "recurrent/rnn-step.h"

/*
 * Recurrent cells over ragged rows, all sentences of a batch together, without padding. Step t works on the sentences
 * that have more than t rows. Tensors "in the order of time" hold the rows of step 0, then of step 1, and so on
 * (PyTorch: PackedSequence). So one matrix product computes all rows of a step, and one product over all steps gives
 * the gradient of a weight.
 */

/* The order of time of ragged rows. Sentences are sorted, longest first, so step t works on the first sentences in this
 * order: first[t + 1] - first[t] of them. */
typedef struct
{
  PlaitRagged rows;
  gboolean backwards;  /* TRUE: process each sentence from its last row to its first */
  gint64 steps;        /* number of steps: rows of the longest sentence */
  const gint64 *order; /* [sentences], longest first; sentences of equal length as in the batch */
  const gint64 *first; /* [steps + 1]: in the order of time, step t has the rows first[t] .. first[t + 1] - 1 */
} PlaitTimeline;

/* Returns the order of time of @rows. Its arrays live in @arena; @rows is borrowed. */
PlaitTimeline plait_timeline (PlaitArena *arena, PlaitRagged rows, gboolean backwards);

/* Returns how many numbers a cell saves for the backward pass of a row, as a multiple of the cell's width: the gates;
 * for a GRU with PLAIT_RESET_AFTER also the candidate's recurrent product. */
static inline gint64
plait_recurrence_saved (PlaitCellKind kind, PlaitResetOrder reset)
{
  return kind == PLAIT_CELL_GRU && reset == PLAIT_RESET_BEFORE ? 3 : 4;
}

typedef struct
{
  PlaitCellKind kind;
  PlaitResetOrder reset;
  gint64 width; /* width w of a state */
  PlaitTimeline time;
  PlaitRnnWeight recurrent; /* recurrent weight [w, gates w]; for a GRU with PLAIT_RESET_BEFORE [w, 2 w], for the reset
                               and update gates only */
  PlaitRnnWeight candidate; /* candidate's recurrent weight [w, w]; GRU with PLAIT_RESET_BEFORE only */
  const PlaitScalar *bias;  /* [columns of recurrent] added to the recurrent product, or NULL */
  PlaitTensor state;        /* [sentences, w] initial states; no data: zeros */
  PlaitTensor cell;         /* [sentences, w] initial cell states; LSTM only; no data: zeros */
  PlaitTensor states;       /* [rows, w] output: the state of each row */
  PlaitTensor cells;        /* [rows, w] output: the cell state of each row; LSTM only */

  /* Activations in the order of time, kept for backward. Rows of @gates are plait_recurrence_saved () w wide. Without a
   * backward pass, @gates needs only one row for each sentence. */
  PlaitTensor previous; /* [rows, w] the state before each row's step; equal to @state if @borrows */
  PlaitTensor gates;
  PlaitTensor reset_states; /* [rows, w] reset gate times previous state; GRU with PLAIT_RESET_BEFORE only */
  gboolean borrows;
} PlaitRecurrence;

/* Computes the states of all rows and writes the output tensors of @recurrence. @projected [rows, gates w]: projected
 * input of each row; the rows of a sentence are in the sentence's order. */
void plait_recurrence_forward (PlaitPool *pool, const PlaitRecurrence *recurrence, PlaitTensor projected);

/*
 * Tensors of the backward pass. The pass replaces the activations in PlaitRecurrence.gates by the gradients of the
 * recurrent products. The left columns belong to the recurrent weight, whose gradient is previous^T times them. The
 * next columns belong to the candidate weight, whose gradient is reset_states^T times them. Weights that are packed
 * must be packed transposed.
 */
typedef struct
{
  PlaitTensor dstates;    /* [rows, w] input: gradients of the states */
  PlaitTensor dcells;     /* [rows, w] input: gradients of the cell states; LSTM only */
  PlaitTensor dprojected; /* [rows, gates w] gradients of the projected input; no data if not needed */
  gboolean adds;          /* TRUE: add to dprojected; FALSE: overwrite it */
  PlaitTensor dstate;     /* [sentences with rows, w] gradients of the initial states, longest sentence first; zeroed by
                             the caller */
  PlaitTensor dcell;      /* [sentences with rows, w] gradients of the initial cell states, as in dstate; LSTM only */
  PlaitTensor dreset;     /* scratch [sentences with rows, w]; GRU with PLAIT_RESET_BEFORE only */
  gboolean has_beginning; /* TRUE if the caller needs @dstate */
} PlaitRecurrenceBackward;

void plait_recurrence_backward (PlaitPool *pool, const PlaitRecurrence *recurrence,
                                const PlaitRecurrenceBackward *work);
