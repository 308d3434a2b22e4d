/* SPDX-License-Identifier: MIT */
#include "layers/recurrent-stack.h"
#include "layers/parameter-set.h"

#define MAX_LAYERS 4096

guint
plait_directions_n (PlaitDirections directions)
{
  return directions == PLAIT_DIRECTIONS_BOTH ? 2 : 1;
}

/* TRUE if direction @i of each layer runs from the last row to the first. */
static gboolean
is_backwards (PlaitDirections directions, guint i)
{
  return directions == PLAIT_DIRECTIONS_BACKWARD || i > 0;
}

PlaitRecurrentStack
plait_recurrent_stack_declare (PlaitParameters *parameters, const char *name,
                               const PlaitRecurrentStackDeclaration *declaration)
{
  PlaitRecurrentStack stack = { .declaration = *declaration };
  PlaitCellDeclaration cell = declaration->cell;
  guint n = plait_directions_n (declaration->directions);

  plait_parameters_expect (parameters, declaration->layers > 0 && declaration->layers <= MAX_LAYERS);
  plait_parameters_expect (parameters, (guint)declaration->directions <= PLAIT_DIRECTIONS_BACKWARD);
  plait_parameters_expect (parameters, declaration->dropout >= 0 && declaration->dropout < 1);
  if (!plait_parameters_check (parameters, NULL))
    return stack;
  stack.n_directions = n;
  stack.width = n * cell.width;
  stack.cells = plait_parameters_memory (parameters, (gsize)declaration->layers * n * sizeof (PlaitCell));
  for (gint64 layer = 0; layer < declaration->layers; layer++)
    {
      for (guint i = 0; i < n; i++)
        {
          const char *direction = is_backwards (declaration->directions, i) ? "backward" : "forward";
          g_autofree char *path = g_strdup_printf ("%s/%jd/%s", name, layer, direction);

          stack.cells[layer * n + i] = plait_cell_declare (parameters, path, &cell);
        }
      cell.input_width = stack.width;
    }
  return stack;
}

/* Applies layer @layer to @x. Writes its states to @states, one entry for each direction. */
static void
apply_layer (PlaitTape *tape, const PlaitRecurrentStack *stack, gint64 layer, PlaitNode *x, PlaitRagged rows,
             PlaitCellState *states)
{
  for (guint i = 0; i < stack->n_directions; i++)
    {
      const PlaitCell *cell = &stack->cells[layer * stack->n_directions + i];

      states[i] = plait_cell_run (tape, cell, plait_cell_project (tape, cell, x), rows,
                                  is_backwards (stack->declaration.directions, i), (PlaitCellState){ NULL, NULL });
    }
}

/* Returns @parts side by side. */
static PlaitNode *
join (PlaitTape *tape, PlaitNode *const *parts, guint n)
{
  return n == 1 ? parts[0] : plait_concatenate_columns (tape, parts, n);
}

PlaitRecurrentStates
plait_recurrent_stack_apply (PlaitTape *tape, const PlaitRecurrentStack *stack, PlaitNode *x, PlaitRagged rows)
{
  guint n = stack->n_directions;
  gboolean lstm = stack->declaration.cell.kind == PLAIT_CELL_LSTM;
  PlaitNode *states[2], *cells[2], *ends[2], *end_cells[2];
  PlaitCellState found[2];
  PlaitRecurrentStates all = { NULL, NULL, NULL, NULL };

  for (gint64 layer = 0; layer < stack->declaration.layers; layer++)
    {
      apply_layer (tape, stack, layer, plait_dropout (tape, x, stack->declaration.dropout), rows, found);
      for (guint i = 0; i < n; i++)
        states[i] = found[i].state;
      x = join (tape, states, n);
    }
  for (guint i = 0; i < n; i++)
    {
      const gint64 *last
          = plait_ragged_ends (plait_tape_arena (tape), rows, is_backwards (stack->declaration.directions, i));

      ends[i] = plait_gather_rows (tape, states[i], last, rows.n);
      cells[i] = found[i].cell;
      end_cells[i] = lstm ? plait_gather_rows (tape, cells[i], last, rows.n) : NULL;
    }
  all.states = x;
  all.summary = join (tape, ends, n);
  if (lstm)
    {
      all.cells = join (tape, cells, n);
      all.summary_cell = join (tape, end_cells, n);
    }
  return all;
}
