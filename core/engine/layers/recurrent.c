/* SPDX-License-Identifier: MIT */
#include "layers/recurrent.h"

#include "autograd/internal.h"
#include "layers/parameter-set.h"
#include "layers/internal.h"

#define FORGET_GATE 1

PlaitCell
plait_cell_declare (PlaitParameters *parameters, const char *name, const PlaitCellDeclaration *declaration)
{
  g_autofree char *input = g_strconcat (name, "/input", NULL);
  g_autofree char *input_bias = g_strconcat (name, "/input/bias", NULL);
  g_autofree char *recurrent = g_strconcat (name, "/recurrent", NULL);
  g_autofree char *candidate = g_strconcat (name, "/candidate", NULL);
  gboolean lstm = declaration->kind == PLAIT_CELL_LSTM;
  gboolean before = !lstm && declaration->reset == PLAIT_RESET_BEFORE;
  gint64 gates = plait_cell_gates (declaration->kind), products = before ? 2 : gates, width = declaration->width;
  PlaitCell cell = { .declaration = *declaration };

  plait_parameters_expect (parameters, declaration->kind == PLAIT_CELL_GRU || lstm);
  plait_parameters_expect (parameters, lstm || before || declaration->reset == PLAIT_RESET_AFTER);
  plait_parameters_expect (parameters, width > 0 && !(before && declaration->recurrent_bias));
  cell.input
      = plait_linear_declare_blocks (parameters, input, declaration->input_width, gates * width, (guint)gates, FALSE);
  cell.input.bias = plait_parameters_declare (
      parameters, input_bias, 1, gates * width,
      lstm ? PLAIT_BLOCKS (declaration->forget_bias, FORGET_GATE, FORGET_GATE, (guint)gates) : PLAIT_ZEROS);
  cell.recurrent = plait_linear_declare_blocks (parameters, recurrent, width, products * width, (guint)products,
                                                declaration->recurrent_bias);
  plait_parameters_use (parameters, cell.recurrent.weight, PLAIT_USE_STEP);
  if (before)
    {
      cell.candidate = plait_linear_declare (parameters, candidate, width, width, FALSE);
      plait_parameters_use (parameters, cell.candidate.weight, PLAIT_USE_STEP);
    }
  return cell;
}

PlaitNode *
plait_cell_project (PlaitTape *tape, const PlaitCell *cell, PlaitNode *x)
{
  PlaitNode *projected = plait_linear_apply (tape, &cell->input, x, PLAIT_ACTIVATION_NONE);

  /* No backward reads the projected input. */
  plait_tape_mark_discardable (tape, projected);
  return projected;
}

PlaitRecurrentCell
plait_cell_weights (PlaitTape *tape, const PlaitCell *cell)
{
  return (PlaitRecurrentCell){
    .kind = cell->declaration.kind,
    .reset = cell->declaration.reset,
    .recurrent = plait_parameter_node (tape, cell->recurrent.weight),
    .bias = plait_parameter_node_if_any (tape, cell->recurrent.bias),
    .candidate = plait_parameter_node_if_any (tape, cell->candidate.weight),
  };
}

PlaitCellState
plait_cell_run (PlaitTape *tape, const PlaitCell *cell, PlaitNode *projected, PlaitRagged rows, gboolean backwards,
                PlaitCellState initial)
{
  gint64 width = cell->declaration.width;
  PlaitRecurrentCell weights = plait_cell_weights (tape, cell);
  PlaitNode *states = plait_rnn (tape, &weights, projected, rows, backwards, initial.state, initial.cell);

  plait_tape_discard_values (tape);
  if (cell->declaration.kind == PLAIT_CELL_GRU)
    return (PlaitCellState){ states, NULL };
  return (PlaitCellState){ plait_columns (tape, states, 0, width), plait_columns (tape, states, width, width) };
}

PlaitCellState
plait_cell_step (PlaitTape *tape, const PlaitCell *cell, PlaitNode *projected, PlaitCellState previous)
{
  PlaitRagged units = plait_ragged_units (plait_tape_arena (tape), projected->value.rows);

  return plait_cell_run (tape, cell, projected, units, FALSE, previous);
}
