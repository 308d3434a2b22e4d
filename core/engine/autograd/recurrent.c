/* SPDX-License-Identifier: MIT */
#include "autograd/internal.h"
#include "recurrent/recurrent.h"
#include "autograd/layer-operators.h"

enum
{
  RNN_PROJECTED,
  RNN_RECURRENT,
  RNN_BIAS,
  RNN_CANDIDATE,
  RNN_STATE,
  RNN_CELL,
  RNN_INPUTS
};

/* Sets the tensors of @recurrence from the values of @node and its inputs, which the tape may have moved. */
static void
set_values (PlaitTape *tape, PlaitRecurrence *recurrence, const PlaitNode *node)
{
  gint64 width = recurrence->width;

  recurrence->recurrent = plait_tape_rnn_weight (tape, node->inputs[RNN_RECURRENT]);
  recurrence->candidate = plait_tape_rnn_weight (tape, node->inputs[RNN_CANDIDATE]);
  recurrence->bias = plait_tape_value_if_any (tape, node->inputs[RNN_BIAS]).data;
  recurrence->state = plait_tape_value_if_any (tape, node->inputs[RNN_STATE]);
  recurrence->cell = plait_tape_value_if_any (tape, node->inputs[RNN_CELL]);
  recurrence->states = plait_tensor_columns (node->value, 0, width);
  if (recurrence->kind == PLAIT_CELL_LSTM)
    recurrence->cells = plait_tensor_columns (node->value, width, width);
  if (recurrence->borrows)
    recurrence->previous = recurrence->state;
}

/* Packs the recurrent weights, or their transposes, for all steps. */
static void
pack (PlaitTape *tape, PlaitRecurrence *recurrence, const PlaitNode *node, gboolean transposed)
{
  gint64 steps = recurrence->time.steps, rows = steps > 0 ? recurrence->time.first[1] : 0;

  plait_weight_reuse_pack (tape, &recurrence->recurrent, node->inputs[RNN_RECURRENT], rows, transposed, steps > 1);
  plait_weight_reuse_pack (tape, &recurrence->candidate, node->inputs[RNN_CANDIDATE], rows, transposed, steps > 1);
}

static void
unpack (PlaitTape *tape, PlaitRecurrence *recurrence)
{
  plait_tape_unpack (tape, &recurrence->candidate);
  plait_tape_unpack (tape, &recurrence->recurrent);
}

/* Returns a zeroed tensor in the tape's arena. */
static PlaitTensor
zeros (PlaitTape *tape, gint64 rows, gint64 width)
{
  PlaitTensor tensor = plait_tape_tensor (tape, rows, width);

  plait_tensor_fill (plait_tape_pool (tape), tensor, 0, 0);
  return tensor;
}

/* Adds the gradients of @weight and @bias, from the rows of @x and @dz from row @first on. */
static void
add_weight_gradient (PlaitTape *tape, PlaitNode *weight, PlaitNode *bias, PlaitTensor x, PlaitTensor dz, gint64 first)
{
  gint64 rows = x.rows - first;

  plait_weight_reuse_collect (tape, weight, bias, plait_tensor_rows (x, first, rows),
                              plait_tensor_rows (dz, first, rows));
}

static void
rnn_backward (PlaitTape *tape, PlaitNode *node)
{
  PlaitRecurrence *recurrence = node->payload;
  PlaitNode *state = node->inputs[RNN_STATE];
  gint64 width = recurrence->width, sentences = recurrence->time.steps > 0 ? recurrence->time.first[1] : 0, products;
  PlaitScalar beta;
  PlaitRecurrenceBackward work = {
    .dstates = plait_tensor_columns (node->gradient, 0, width),
    .dprojected = plait_gradient_if_needed (tape, node->inputs[RNN_PROJECTED], &beta),
    .adds = beta != 0,
    .dstate = zeros (tape, sentences, width),
    .has_beginning = state && state->needs_gradient,
  };

  set_values (tape, recurrence, node);
  products = recurrence->recurrent.weight.width;
  if (recurrence->kind == PLAIT_CELL_LSTM)
    {
      work.dcells = plait_tensor_columns (node->gradient, width, width);
      work.dcell = zeros (tape, sentences, width);
    }
  if (recurrence->reset_states.data)
    work.dreset = plait_tape_tensor (tape, sentences, width);
  recurrence->recurrent.weight = PLAIT_GRADIENT_TERM_TENSOR (tape, rnn_state, recurrence->recurrent.weight);
  if (recurrence->candidate.weight.data)
    recurrence->candidate.weight
        = PLAIT_GRADIENT_TERM_TENSOR (tape, rnn_gru_candidate_state, recurrence->candidate.weight);
  pack (tape, recurrence, node, TRUE);
  plait_recurrence_backward (plait_tape_pool (tape), recurrence, &work);
  unpack (tape, recurrence);

  /* The previous states of step 0 are zero if there is no initial state. Then the rows of step 0 matter only to the
   * gradient of a bias. */
  add_weight_gradient (tape, node->inputs[RNN_RECURRENT], node->inputs[RNN_BIAS],
                       PLAIT_GRADIENT_TERM_TENSOR (tape, rnn_weight, recurrence->previous),
                       plait_tensor_columns (recurrence->gates, 0, products),
                       !state && !recurrence->bias ? sentences : 0);
  if (work.dreset.data)
    add_weight_gradient (tape, node->inputs[RNN_CANDIDATE], NULL,
                         PLAIT_GRADIENT_TERM_TENSOR (tape, rnn_gru_candidate_weight, recurrence->reset_states),
                         plait_tensor_columns (recurrence->gates, products, width), !state ? sentences : 0);
  plait_gradient_scatter (tape, state, PLAIT_GRADIENT_TERM_TENSOR (tape, rnn_initial_state, work.dstate),
                          recurrence->time.order);
  if (work.dcell.data)
    plait_gradient_scatter (tape, node->inputs[RNN_CELL],
                            PLAIT_GRADIENT_TERM_TENSOR (tape, rnn_lstm_initial_cell, work.dcell),
                            recurrence->time.order);
  plait_tape_release (tape, work.dreset);
  plait_tape_release (tape, work.dcell);
  plait_tape_release (tape, work.dstate);
}

/* The tape need not keep the inputs: set_values() restores the few values that backward reads. */
static const PlaitOperator rnn = { .name = "rnn", .backward = rnn_backward, .ignores_inputs = TRUE };

/* TRUE if every sentence has one row, so that the initial states are in the order of the rows. */
static gboolean
is_one_step (PlaitTimeline time)
{
  return time.steps == 1 && time.first[1] == time.rows.n;
}

/* Allocates the activations kept for backward. Without backward, the gates need only one step's rows. */
static void
take_collected (PlaitTape *tape, PlaitNode *node)
{
  PlaitRecurrence *recurrence = node->payload;
  gint64 rows = plait_ragged_rows (recurrence->time.rows);
  gint64 saved = plait_recurrence_saved (recurrence->kind, recurrence->reset);

  recurrence->borrows = recurrence->state.data && is_one_step (recurrence->time);
  recurrence->previous = recurrence->state;
  if (!recurrence->borrows)
    recurrence->previous = plait_tape_save (tape, node, rows, recurrence->width);
  recurrence->gates = plait_tape_save (tape, node, node->needs_gradient ? rows : MIN (rows, recurrence->time.rows.n),
                                       saved * recurrence->width);
  if (recurrence->candidate.weight.data)
    recurrence->reset_states = plait_tape_save (tape, node, rows, recurrence->width);
}

PlaitNode *
plait_rnn (PlaitTape *tape, const PlaitRecurrentCell *cell, PlaitNode *projected, PlaitRagged rows, gboolean backwards,
           PlaitNode *state, PlaitNode *memory)
{
  PlaitNode *inputs[RNN_INPUTS] = { projected, cell->recurrent, cell->bias, cell->candidate, state, memory };
  gint64 width = cell->recurrent->value.rows;
  gboolean lstm = cell->kind == PLAIT_CELL_LSTM, before = !lstm && cell->reset == PLAIT_RESET_BEFORE;
  PlaitNode *node;
  PlaitRecurrence *recurrence;

  plait_tape_expect (tape, (lstm || cell->kind == PLAIT_CELL_GRU) && (guint)cell->reset <= PLAIT_RESET_AFTER);
  plait_tape_expect (tape, projected->value.width == plait_cell_gates (cell->kind) * width);
  plait_tape_expect (tape, plait_ragged_is_valid (rows) && projected->value.rows == plait_ragged_rows (rows));
  plait_tape_expect (tape, cell->recurrent->value.width == (before ? 2 : plait_cell_gates (cell->kind)) * width);
  plait_tape_expect (tape, !cell->bias || (!before && cell->bias->value.width == cell->recurrent->value.width));
  plait_tape_expect (tape, before == (cell->candidate != NULL) && (lstm || !memory));
  for (guint i = RNN_STATE; i < RNN_INPUTS; i++)
    plait_tape_expect (tape, !inputs[i] || (inputs[i]->value.rows == rows.n && inputs[i]->value.width == width));
  node = plait_tape_node (tape, &rnn, projected->value.rows, lstm ? 2 * width : width, inputs, RNN_INPUTS,
                          sizeof *recurrence);
  plait_tape_note_product (tape, projected, cell->recurrent,
                           projected->value.rows
                               * (plait_tape_n_elements (cell->recurrent) + plait_tape_n_elements (cell->candidate)));
  recurrence = node->payload;
  *recurrence = (PlaitRecurrence){ .kind = cell->kind, .reset = cell->reset, .width = width };
  recurrence->time = plait_timeline (plait_tape_arena (tape), rows, backwards);
  set_values (tape, recurrence, node);
  take_collected (tape, node);
  pack (tape, recurrence, node, FALSE);
  plait_recurrence_forward (plait_tape_pool (tape), recurrence, projected->value);
  unpack (tape, recurrence);
  if (!node->needs_gradient)
    plait_tape_release_saved (tape, node);
  return node;
}
