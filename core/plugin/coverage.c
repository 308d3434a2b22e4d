/* SPDX-License-Identifier: MIT */
#include "plugin/coverage.h"

#define GATES 3

PlaitNode *
plait_coverage_of_rows (const PlaitCoverageStep *step, PlaitNode *x)
{
  return plait_gather_rows (step->tape, x, step->rows, step->n);
}

PlaitNode *
plait_coverage_of_queries (const PlaitCoverageStep *step, PlaitNode *x)
{
  return plait_gather_rows (step->tape, x, step->queries, step->n);
}

PlaitNode *
plait_coverage_linked (const PlaitCoverageStep *step, const gint64 *link, PlaitNode *x)
{
  return plait_gather_rows (step->tape, x, link, step->n);
}

PlaitLinear
plait_coverage_cell_input (const PlaitCoverageBuild *build, const PlaitCoverageCell *cell, const char *name, gint64 in)
{
  g_autofree char *full = g_strconcat (build->prefix, name, NULL);

  return plait_linear_declare_blocks (build->parameters, full, in, GATES * cell->cell.declaration.width, GATES, FALSE);
}

PlaitCoverageCell
plait_coverage_cell_declare (const PlaitCoverageBuild *build, gint64 width, PlaitResetPlace reset)
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
plait_coverage_cell_update (const PlaitCoverageCell *cell, const PlaitCoverageStep *step, PlaitNode *const *terms,
                            guint n)
{
  PlaitTape *tape = step->tape;
  PlaitNode **sum = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, n + GATES);
  PlaitNode *query = plait_linear_apply (tape, &cell->query, step->query, PLAIT_ACTIVATION_NONE);

  sum[0] = plait_coverage_of_rows (step, step->prepared);
  sum[1] = plait_coverage_of_queries (step, query);
  sum[2] = plait_linear_apply (tape, &cell->attention, step->attention, PLAIT_ACTIVATION_NONE);
  for (guint i = 0; i < n; i++)
    sum[3 + i] = terms[i];
  return plait_cell_step (tape, &cell->cell, plait_sum (tape, sum, 3 + n), (PlaitCellState){ step->state, NULL }).state;
}
