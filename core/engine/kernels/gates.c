/* SPDX-License-Identifier: MIT */
#include "kernels/variant.h"
#include "kernels/partial-vectors.h"
#include "kernels/gradient-terms.h"

/*
 * The gates of recurrent cells, one row at a time. Before forward, the gates hold the recurrent product. Forward
 * replaces the product with values for backward. Backward replaces these values with the gradient of the product.
 */

/* Writes the gradient of a gate's input to @dprojected, or adds it if @adds; does nothing if @dprojected is NULL. */
static inline __attribute__ ((always_inline)) void
put_projected (const PlaitCellRow *row, gint64 at, Vector value, gint64 n)
{
  PlaitScalar *to = row->dprojected;

  if (to)
    put (to + at, row->adds ? take (to + at, n) + value : value, n);
}

/* Overwrites a gate with the gradient of its input. Passes the gradient to put_projected too. */
static inline __attribute__ ((always_inline)) void
put_gate (const PlaitCellRow *row, gint64 at, Vector value, gint64 n)
{
  put (row->gates + at, value, n);
  put_projected (row, at, value, n);
}

static inline __attribute__ ((always_inline)) void
put_state (const PlaitCellRow *row, gint64 i, Vector state, gint64 n)
{
  put (row->state + i, state, n);
  if (row->next)
    put (row->next + i, state, n);
}

/* Returns h = z h' + (1 - z) candidate: the update gate z keeps the previous state h' (Cho et al. 2014b). */
static inline __attribute__ ((always_inline)) Vector
updated (Vector update, Vector previous, Vector candidate)
{
  return candidate + update * (previous - candidate);
}

/* GRU with PLAIT_RESET_AFTER. Order of the gates: reset, update, recurrent product of the candidate, candidate. */
static inline __attribute__ ((always_inline)) void
gru_after (const PlaitCellRow *row, gint64 width, gint64 i, gint64 n)
{
  PlaitScalar *gates = row->gates + i;
  const PlaitScalar *x = row->projected + i;
  Vector reset = vector_sigmoid (take (x, n) + take (gates, n));
  Vector update = vector_sigmoid (take (x + width, n) + take (gates + width, n));
  Vector candidate = vector_tanh (take (x + 2 * width, n) + reset * take (gates + 2 * width, n));

  put (gates, reset, n);
  put (gates + width, update, n);
  put (gates + 3 * width, candidate, n);
  put_state (row, i, updated (update, take (row->previous + i, n), candidate), n);
}

EACH_VECTOR (gru_after)

/* First kernel of a GRU with PLAIT_RESET_BEFORE: reset and update gates. gru_candidate is the second. */
static inline __attribute__ ((always_inline)) void
gru_reset (const PlaitCellRow *row, gint64 width, gint64 i, gint64 n)
{
  PlaitScalar *gates = row->gates + i;
  const PlaitScalar *x = row->projected + i;
  Vector reset = vector_sigmoid (take (x, n) + take (gates, n));

  put (gates, reset, n);
  put (gates + width, vector_sigmoid (take (x + width, n) + take (gates + width, n)), n);
  put (row->reset_state + i, reset * take (row->previous + i, n), n);
}

EACH_VECTOR (gru_reset)

static inline __attribute__ ((always_inline)) void
gru_candidate (const PlaitCellRow *row, gint64 width, gint64 i, gint64 n)
{
  PlaitScalar *gates = row->gates + i;
  Vector candidate = vector_tanh (take (row->projected + 2 * width + i, n) + take (gates + 2 * width, n));

  put (gates + 2 * width, candidate, n);
  put_state (row, i, updated (take (gates + width, n), take (row->previous + i, n), candidate), n);
}

EACH_VECTOR (gru_candidate)

/* LSTM. Order of the gates: input, forget, candidate, output. */
static inline __attribute__ ((always_inline)) void
lstm (const PlaitCellRow *row, gint64 width, gint64 i, gint64 n)
{
  PlaitScalar *gates = row->gates + i;
  const PlaitScalar *x = row->projected + i;
  Vector input = vector_sigmoid (take (x, n) + take (gates, n));
  Vector forget = vector_sigmoid (take (x + width, n) + take (gates + width, n));
  Vector candidate = vector_tanh (take (x + 2 * width, n) + take (gates + 2 * width, n));
  Vector output = vector_sigmoid (take (x + 3 * width, n) + take (gates + 3 * width, n));
  Vector cell = input * candidate;

  if (row->previous_cell)
    cell += forget * take (row->previous_cell + i, n);
  put (gates, input, n);
  put (gates + width, forget, n);
  put (gates + 2 * width, candidate, n);
  put (gates + 3 * width, output, n);
  put (row->cell + i, cell, n);
  put_state (row, i, output * vector_tanh (cell), n);
}

EACH_VECTOR (lstm)

/* First step of backward of both GRUs: writes the gradient of the update gate, and the gradient that the previous state
 * gets through that gate. Returns the gradient of the candidate's input. */
static inline __attribute__ ((always_inline)) Vector
gru_update_backward (const PlaitCellRow *row, gint64 width, gint64 i, gint64 n, Vector candidate)
{
  Vector dstate = take (row->dstate + i, n) + take (row->carried + i, n);
  Vector update = take (row->gates + width + i, n);
  Vector dupdate = PLAIT_GRADIENT_TERM (rnn_gru_update,
                                        dstate * (take (row->previous + i, n) - candidate) * update * (1 - update));

  put_gate (row, width + i, dupdate, n);
  put (row->carried + i, PLAIT_GRADIENT_TERM (rnn_gru_state, dstate * update), n);
  return PLAIT_GRADIENT_TERM (rnn_gru_candidate, dstate * (1 - update) * (1 - candidate * candidate));
}

static inline __attribute__ ((always_inline)) void
gru_after_backward (const PlaitCellRow *row, gint64 width, gint64 i, gint64 n)
{
  PlaitScalar *gates = row->gates + i;
  Vector dcandidate = gru_update_backward (row, width, i, n, take (gates + 3 * width, n));
  Vector reset = take (gates, n), product = take (gates + 2 * width, n);
  Vector dreset = PLAIT_GRADIENT_TERM (rnn_gru_reset, dcandidate * product * reset * (1 - reset));

  put_gate (row, i, dreset, n);
  put (gates + 2 * width, PLAIT_GRADIENT_TERM (rnn_gru_reset_product, dcandidate * reset), n);
  put_projected (row, 2 * width + i, dcandidate, n);
}

EACH_VECTOR (gru_after_backward)

static inline __attribute__ ((always_inline)) void
gru_candidate_backward (const PlaitCellRow *row, gint64 width, gint64 i, gint64 n)
{
  Vector candidate = take (row->gates + 2 * width + i, n);

  put_gate (row, 2 * width + i, gru_update_backward (row, width, i, n, candidate), n);
}

EACH_VECTOR (gru_candidate_backward)

static inline __attribute__ ((always_inline)) void
gru_reset_backward (const PlaitCellRow *row, gint64 width, gint64 i, gint64 n)
{
  Vector reset = take (row->gates + i, n), dproduct = take (row->dreset + i, n);
  Vector dreset = PLAIT_GRADIENT_TERM (rnn_gru_reset, dproduct * take (row->previous + i, n) * reset * (1 - reset));

  put_gate (row, i, dreset, n);
  put (row->carried + i, take (row->carried + i, n) + PLAIT_GRADIENT_TERM (rnn_gru_reset_state, dproduct * reset), n);
}

EACH_VECTOR (gru_reset_backward)

static inline __attribute__ ((always_inline)) void
lstm_backward (const PlaitCellRow *row, gint64 width, gint64 i, gint64 n)
{
  const PlaitScalar *gates = row->gates + i;
  Vector dstate = take (row->dstate + i, n) + take (row->carried + i, n);
  Vector input = take (gates, n), forget = take (gates + width, n);
  Vector candidate = take (gates + 2 * width, n), output = take (gates + 3 * width, n);
  Vector squashed = vector_tanh (take (row->cell + i, n));
  Vector dcell = take (row->dcell + i, n) + take (row->carried_cell + i, n)
                 + PLAIT_GRADIENT_TERM (rnn_lstm_cell, dstate * output * (1 - squashed * squashed));
  Vector dinput = PLAIT_GRADIENT_TERM (rnn_lstm_input, dcell * candidate * input * (1 - input)),
         dforget = vector_all (0);
  Vector dcandidate = PLAIT_GRADIENT_TERM (rnn_lstm_candidate, dcell * input * (1 - candidate * candidate));
  Vector doutput = PLAIT_GRADIENT_TERM (rnn_lstm_output, dstate * squashed * output * (1 - output));

  if (row->previous_cell)
    dforget = PLAIT_GRADIENT_TERM (rnn_lstm_forget, dcell * take (row->previous_cell + i, n) * forget * (1 - forget));
  put (row->carried_cell + i, PLAIT_GRADIENT_TERM (rnn_lstm_previous_cell, dcell * forget), n);
  put_gate (row, i, dinput, n);
  put_gate (row, width + i, dforget, n);
  put_gate (row, 2 * width + i, dcandidate, n);
  put_gate (row, 3 * width + i, doutput, n);
}

EACH_VECTOR (lstm_backward)
