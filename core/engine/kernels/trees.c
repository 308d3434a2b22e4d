/* SPDX-License-Identifier: MIT */
#include "kernels/variant.h"
#include "kernels/partial-vectors.h"
#include "kernels/gradient-terms.h"

/*
 * The gates of tree cells with two children, one node at a time. Before forward, the gates hold the product of the
 * children's states and the weight. Forward replaces the product with values for backward. Backward replaces these
 * values with the gradient of the product. A head-word cell has one gate. Other cells have their gates in this order:
 *
 *     GRU   reset left, reset right, update left, update right, update; then PLAIT_RESET_BEFORE: candidate;
 *           PLAIT_RESET_AFTER: product of the left child, product of the right child, candidate
 *     LSTM  input, forget left, forget right, candidate, output
 */

static inline __attribute__ ((always_inline)) Vector
input (const PlaitCellRow *row, gint64 width, gint64 gate, gint64 i, gint64 n)
{
  Vector sum = take (row->gates + gate * width + i, n);

  return row->projected ? sum + take (row->projected + gate * width + i, n) : sum;
}

/* Writes @value, the gradient of the input of gate @gate, to gate @target. Unless @dprojected of the row is NULL, also
 * writes it to gate @gate of @dprojected, or adds it if @adds of the row is TRUE. */
static inline __attribute__ ((always_inline)) void
put_input (const PlaitCellRow *row, gint64 width, gint64 gate, gint64 target, gint64 i, Vector value, gint64 n)
{
  PlaitScalar *to = row->dprojected;

  put (row->gates + target * width + i, value, n);
  if (!to)
    return;
  to += gate * width + i;
  put (to, row->adds ? take (to, n) + value : value, n);
}

/* Returns the candidate's bias plus its projected input; the product of the children is not included. */
static inline __attribute__ ((always_inline)) Vector
candidate_input (const PlaitCellRow *row, gint64 width, gint64 i, gint64 n)
{
  Vector sum = row->candidate_bias ? take (row->candidate_bias + i, n) : vector_all (0);

  return row->projected ? sum + take (row->projected + 5 * width + i, n) : sum;
}

/* Writes the state h = z_L h_L + z_R h_R + z c (Chen et al. 2017, eq. 8). */
static inline __attribute__ ((always_inline)) void
put_state (const PlaitCellRow *row, gint64 width, gint64 i, Vector candidate, gint64 n)
{
  const PlaitScalar *gates = row->gates + i, *children = row->previous + i;

  put (row->state + i,
       take (gates + 2 * width, n) * take (children, n) + take (gates + 3 * width, n) * take (children + width, n)
           + take (gates + 4 * width, n) * candidate,
       n);
}

static inline __attribute__ ((always_inline)) void
tree_gru_reset (const PlaitCellRow *row, gint64 width, gint64 i, gint64 n)
{
  for (gint64 gate = 0; gate < 5; gate++)
    put (row->gates + gate * width + i, vector_sigmoid (input (row, width, gate, i, n)), n);
  for (gint64 side = 0; side < 2; side++)
    put (row->reset_state + side * width + i,
         take (row->gates + side * width + i, n) * take (row->previous + side * width + i, n), n);
}

EACH_VECTOR (tree_gru_reset)

static inline __attribute__ ((always_inline)) void
tree_gru_candidate (const PlaitCellRow *row, gint64 width, gint64 i, gint64 n)
{
  PlaitScalar *gate = row->gates + 5 * width + i;
  Vector candidate = vector_tanh (take (gate, n) + candidate_input (row, width, i, n));

  put (gate, candidate, n);
  put_state (row, width, i, candidate, n);
}

EACH_VECTOR (tree_gru_candidate)

static inline __attribute__ ((always_inline)) void
tree_gru_after (const PlaitCellRow *row, gint64 width, gint64 i, gint64 n)
{
  PlaitScalar *gates = row->gates + i;
  Vector candidate;

  for (gint64 gate = 0; gate < 5; gate++)
    put (gates + gate * width, vector_sigmoid (input (row, width, gate, i, n)), n);
  candidate = candidate_input (row, width, i, n) + take (gates, n) * take (gates + 5 * width, n)
              + take (gates + width, n) * take (gates + 6 * width, n);
  candidate = vector_tanh (candidate);
  put (gates + 7 * width, candidate, n);
  put_state (row, width, i, candidate, n);
}

EACH_VECTOR (tree_gru_after)

/* LSTM of a node: c = i u + f_L c_L + f_R c_R, h = o tanh (c) (Tai et al. 2015, eq. 9-14). */
static inline __attribute__ ((always_inline)) void
tree_lstm (const PlaitCellRow *row, gint64 width, gint64 i, gint64 n)
{
  Vector gates[5], cell;

  for (gint64 gate = 0; gate < 5; gate++)
    {
      Vector sum = input (row, width, gate, i, n);

      gates[gate] = gate == 3 ? vector_tanh (sum) : vector_sigmoid (sum);
      put (row->gates + gate * width + i, gates[gate], n);
    }
  cell = gates[0] * gates[3] + gates[1] * take (row->previous_cell + i, n) + gates[2] * take (row->right_cell + i, n);
  put (row->cell + i, cell, n);
  put (row->state + i, gates[4] * vector_tanh (cell), n);
}

EACH_VECTOR (tree_lstm)

static inline __attribute__ ((always_inline)) Vector
sigmoid_slope (Vector y)
{
  return y * (1 - y);
}

/* First step of backward of both tree GRUs: writes the gradients of the update gates, and the gradients that the
 * children's states get through these gates. Returns the gradient of the candidate's input. */
static inline __attribute__ ((always_inline)) Vector
update_backward (const PlaitCellRow *row, gint64 width, gint64 i, Vector candidate, gint64 n)
{
  const PlaitScalar *gates = row->gates + i;
  Vector dstate = take (row->dstate + i, n);
  Vector left = take (gates + 2 * width, n), right = take (gates + 3 * width, n), update = take (gates + 4 * width, n);
  Vector dleft
      = PLAIT_GRADIENT_TERM (bottom_up_gru_update_left, dstate * take (row->previous + i, n) * sigmoid_slope (left));
  Vector dright = PLAIT_GRADIENT_TERM (bottom_up_gru_update_right,
                                       dstate * take (row->previous + width + i, n) * sigmoid_slope (right));

  put_input (row, width, 2, 2, i, dleft, n);
  put_input (row, width, 3, 3, i, dright, n);
  put_input (row, width, 4, 4, i,
             PLAIT_GRADIENT_TERM (bottom_up_gru_update, dstate * candidate * sigmoid_slope (update)), n);
  put (row->carried + i, PLAIT_GRADIENT_TERM (bottom_up_gru_left, dstate * left), n);
  put (row->carried + width + i, PLAIT_GRADIENT_TERM (bottom_up_gru_right, dstate * right), n);
  return PLAIT_GRADIENT_TERM (bottom_up_gru_candidate, dstate * update * (1 - candidate * candidate));
}

static inline __attribute__ ((always_inline)) void
tree_gru_candidate_backward (const PlaitCellRow *row, gint64 width, gint64 i, gint64 n)
{
  Vector candidate = take (row->gates + 5 * width + i, n);

  put_input (row, width, 5, 5, i, update_backward (row, width, i, candidate, n), n);
}

EACH_VECTOR (tree_gru_candidate_backward)

static inline __attribute__ ((always_inline)) void
tree_gru_reset_backward (const PlaitCellRow *row, gint64 width, gint64 i, gint64 n)
{
  for (gint64 side = 0; side < 2; side++)
    {
      gint64 at = side * width + i;
      Vector reset = take (row->gates + at, n), dreset = take (row->dreset + at, n);
      Vector dchild = take (row->carried + at, n) + PLAIT_GRADIENT_TERM (bottom_up_gru_reset_child, dreset * reset);
      Vector child = take (row->previous + at, n);

      put (row->carried + at, dchild, n);
      put_input (row, width, side, side, i,
                 PLAIT_GRADIENT_TERM (bottom_up_gru_reset, dreset * child * sigmoid_slope (reset)), n);
    }
}

EACH_VECTOR (tree_gru_reset_backward)

static inline __attribute__ ((always_inline)) void
tree_gru_after_backward (const PlaitCellRow *row, gint64 width, gint64 i, gint64 n)
{
  Vector dcandidate = update_backward (row, width, i, take (row->gates + 7 * width + i, n), n);

  put_input (row, width, 5, 7, i, dcandidate, n);
  for (gint64 side = 0; side < 2; side++)
    {
      PlaitScalar *at = row->gates + (5 + side) * width + i;
      Vector reset = take (row->gates + side * width + i, n), product = take (at, n);

      put (at, PLAIT_GRADIENT_TERM (bottom_up_gru_product, dcandidate * reset), n);
      put_input (row, width, side, side, i,
                 PLAIT_GRADIENT_TERM (bottom_up_gru_reset, dcandidate * product * sigmoid_slope (reset)), n);
    }
}

EACH_VECTOR (tree_gru_after_backward)

static inline __attribute__ ((always_inline)) void
tree_lstm_backward (const PlaitCellRow *row, gint64 width, gint64 i, gint64 n)
{
  const PlaitScalar *gates = row->gates + i;
  Vector in = take (gates, n), left = take (gates + width, n), right = take (gates + 2 * width, n);
  Vector candidate = take (gates + 3 * width, n), out = take (gates + 4 * width, n);
  Vector dstate = take (row->dstate + i, n), squashed = vector_tanh (take (row->cell + i, n));
  Vector dcell
      = take (row->dcell + i, n) + PLAIT_GRADIENT_TERM (bottom_up_lstm_cell, dstate * out * (1 - squashed * squashed));
  Vector dleft
      = PLAIT_GRADIENT_TERM (bottom_up_lstm_forget, dcell * take (row->previous_cell + i, n) * sigmoid_slope (left));
  Vector dright
      = PLAIT_GRADIENT_TERM (bottom_up_lstm_forget, dcell * take (row->right_cell + i, n) * sigmoid_slope (right));

  put_input (row, width, 0, 0, i, PLAIT_GRADIENT_TERM (bottom_up_lstm_input, dcell * candidate * sigmoid_slope (in)),
             n);
  put_input (row, width, 1, 1, i, dleft, n);
  put_input (row, width, 2, 2, i, dright, n);
  put_input (row, width, 3, 3, i,
             PLAIT_GRADIENT_TERM (bottom_up_lstm_candidate, dcell * in * (1 - candidate * candidate)), n);
  put_input (row, width, 4, 4, i, PLAIT_GRADIENT_TERM (bottom_up_lstm_output, dstate * squashed * sigmoid_slope (out)),
             n);
  put (row->carried_cell + i,
       take (row->carried_cell + i, n) + PLAIT_GRADIENT_TERM (bottom_up_lstm_child, dcell * left), n);
  put (row->carried_right + i,
       take (row->carried_right + i, n) + PLAIT_GRADIENT_TERM (bottom_up_lstm_child, dcell * right), n);
}

EACH_VECTOR (tree_lstm_backward)

/* Embedding of a node's head word: x = g x_L + (1 - g) x_R (Teng & Zhang 2016). */
static inline __attribute__ ((always_inline)) void
tree_head (const PlaitCellRow *row, gint64 width, gint64 i, gint64 n)
{
  Vector gate = vector_sigmoid (input (row, width, 0, i, n));
  Vector left = take (row->previous + i, n), right = take (row->previous + width + i, n);

  put (row->gates + i, gate, n);
  put (row->state + i, right + gate * (left - right), n);
}

EACH_VECTOR (tree_head)

static inline __attribute__ ((always_inline)) void
tree_head_backward (const PlaitCellRow *row, gint64 width, gint64 i, gint64 n)
{
  Vector gate = take (row->gates + i, n), dstate = take (row->dstate + i, n);
  Vector left = take (row->previous + i, n), right = take (row->previous + width + i, n);

  put_input (row, width, 0, 0, i,
             PLAIT_GRADIENT_TERM (bottom_up_head_gate, dstate * (left - right) * sigmoid_slope (gate)), n);
  put (row->carried + i, PLAIT_GRADIENT_TERM (bottom_up_head_left, dstate * gate), n);
  put (row->carried + width + i, PLAIT_GRADIENT_TERM (bottom_up_head_right, dstate * (1 - gate)), n);
}

EACH_VECTOR (tree_head_backward)
