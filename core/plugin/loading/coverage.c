/* SPDX-License-Identifier: MIT */
#include "interface/coverage.h"
#include "layers/internal.h"

#define GATES 3

PlaitNode *
plait_coverage_gather_rows (const PlaitCoverageStep *step, PlaitNode *x)
{
  return plait_gather_rows (step->tape, x, step->indices.rows, step->n);
}

PlaitLinear
plait_coverage_cell_input (const PlaitCoverageBuild *build, const PlaitCoverageCell *cell, const char *name, gint64 in)
{
  g_autofree char *full = g_strconcat (build->prefix, name, NULL);

  return plait_linear_declare_blocks (build->parameters, full, in, GATES * cell->cell.declaration.width, GATES, FALSE);
}

PlaitCoverageCell
plait_coverage_cell_declare (const PlaitCoverageBuild *build, gint64 width, PlaitResetOrder reset)
{
  g_autofree char *name = g_strconcat (build->prefix, "cell", NULL);
  PlaitCellDeclaration declaration
      = { .kind = PLAIT_CELL_GRU, .reset = reset, .input_width = build->memory_width, .width = width };
  PlaitCoverageCell cell = { .cell = plait_cell_declare (build->parameters, name, &declaration) };

  cell.query = plait_coverage_cell_input (build, &cell, "query", build->query_width);
  cell.attention = plait_coverage_cell_input (build, &cell, "attention", 1);
  return cell;
}

PlaitNode *
plait_coverage_cell_prepare (PlaitTape *tape, const PlaitCoverageCell *cell, const PlaitMemory *memory)
{
  return plait_cell_project (tape, &cell->cell, memory->states);
}

PlaitNode *
plait_coverage_cell_update (const PlaitCoverageCell *cell, const PlaitCoverageStep *step,
                            const PlaitCoverageInput *inputs, guint n)
{
  PlaitTape *tape = step->tape;
  PlaitPairInput *read = plait_arena_new_array (plait_tape_arena (tape), PlaitPairInput, n + 1);
  PlaitRecurrentCell gru = plait_cell_weights (tape, &cell->cell);
  PlaitNode *query = plait_linear_apply (tape, &cell->query, step->query, PLAIT_ACTIVATION_NONE);

  for (guint i = 0; i < n; i++)
    read[i] = (PlaitPairInput){ inputs[i].link, inputs[i].x, plait_parameter_node (tape, inputs[i].linear->weight) };
  return plait_pair_cell (tape, &gru, &step->indices, step->prepared, query, step->attention,
                          plait_parameter_node (tape, cell->attention.weight), read, n, step->state);
}
