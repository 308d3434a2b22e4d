/* SPDX-License-Identifier: MIT */
#include "layers/tree.h"

#include "autograd/internal.h"
#include "layers/parameter-set.h"
#include "layers/internal.h"

#include <string.h>

#define FIRST_FORGET_GATE 1
#define LAST_FORGET_GATE 2

/* A weight over two children has one block of rows for each child. */
#define CHILDREN 2

static gint64 *
new_numbers (PlaitTape *tape, gint64 n, gboolean none)
{
  gint64 *numbers = plait_arena_new_array (plait_tape_arena (tape), gint64, MAX (n, 1));

  memset (numbers, none ? 0xff : 0, sizeof *numbers * (gsize)n);
  return numbers;
}

/* Sorts the rows whose @numbers are 1 .. @n by number, then by row, into *sorted. Returns offsets [n + 1]: rows with
 * number k + 1 are the entries offsets[k] .. offsets[k + 1] - 1 of *sorted. Other rows are left out. */
static const gint64 *
sort_rows (PlaitTape *tape, gint64 rows, const gint64 *numbers, gint64 n, const gint64 **sorted)
{
  gint64 *first = new_numbers (tape, n + 1, FALSE), *place = new_numbers (tape, n + 1, FALSE), *row;

  for (gint64 i = 0; i < rows; i++)
    if (numbers[i] > 0)
      first[numbers[i]]++;
  for (gint64 k = 0; k < n; k++)
    first[k + 1] += first[k];
  memcpy (place, first, sizeof *place * (gsize)(n + 1));
  row = new_numbers (tape, first[n], FALSE);
  for (gint64 i = 0; i < rows; i++)
    if (numbers[i] > 0)
      row[place[numbers[i] - 1]++] = i;
  *sorted = row;
  return first;
}

/* Returns array[places[i]] for i = 0 .. @n - 1. */
static const gint64 *
take (PlaitTape *tape, const gint64 *array, const gint64 *places, gint64 n)
{
  gint64 *taken = new_numbers (tape, n, FALSE);

  for (gint64 i = 0; i < n; i++)
    taken[i] = array[places[i]];
  return taken;
}

/* Fills tree->up: inner nodes by height. heights[row] is 1 .. @n for an inner node, 0 for a leaf. */
static void
set_heights (PlaitTape *tape, PlaitTreeRows *tree, const gint64 *heights, gint64 n)
{
  PlaitTreeHeights *up = &tree->up;

  up->n = n;
  up->first = sort_rows (tape, up->rows, heights, n, &up->row);
  up->left = take (tape, tree->left, up->row, up->first[n]);
  up->right = take (tape, tree->right, up->row, up->first[n]);
}

/* Fills the sides of tree->down: children by depth. depths[row] is 0 for a root, 1 .. @n below it, -1 outside trees. */
static void
set_depths (PlaitTape *tape, PlaitTreeRows *tree, const gint64 *depths, gint64 n)
{
  gint64 *below = new_numbers (tape, tree->up.rows, FALSE);

  tree->down.n = n;
  for (gint64 i = 0; i < 2; i++)
    {
      const gint64 *children = i == 0 ? tree->left : tree->right;
      PlaitTreeSide *side = &tree->down.sides[i];

      for (gint64 row = 0; row < tree->up.rows; row++)
        below[row] = children[row] >= 0 ? depths[children[row]] : 0;
      side->first = sort_rows (tape, tree->up.rows, below, n, &side->parent);
      side->row = take (tape, children, side->parent, side->first[n]);
    }
}

/* Fills roots and tree->down. Each parent's row number is larger than its children's. */
static void
find_roots (PlaitTape *tape, PlaitTreeRows *tree, PlaitRagged leaves, const gint64 *words)
{
  gint64 *roots = new_numbers (tape, leaves.n, TRUE), *root = new_numbers (tape, tree->up.rows, TRUE);
  gint64 *depths = new_numbers (tape, tree->up.rows, TRUE), deepest = 0;

  for (gint64 s = 0; s < leaves.n; s++)
    {
      gint64 first = tree->rows.offsets[s], end = tree->rows.offsets[s + 1];
      gboolean has_nodes = end - first > plait_ragged_length (leaves, s);
      gint64 at = has_nodes ? end - 1 : words[s] == 1 ? first : -1;

      if (at < 0)
        continue;
      roots[tree->n_roots] = at;
      root[at] = tree->n_roots++;
      depths[at] = 0;
      for (gint64 i = end - 1; i >= first; i--)
        if (tree->left[i] >= 0)
          {
            plait_tape_expect (tape, depths[i] >= 0);
            depths[tree->left[i]] = depths[tree->right[i]] = depths[i] + 1;
            deepest = MAX (deepest, depths[i] + 1);
          }
    }
  tree->roots = roots;
  tree->down.rows = tree->up.rows;
  tree->down.sentences = tree->rows;
  tree->down.root = root;
  set_depths (tape, tree, depths, deepest);
}

const PlaitTreeRows *
plait_tree_rows (PlaitTape *tape, PlaitRagged leaves, const gint64 *words, PlaitRagged nodes, const gint64 *left,
                 const gint64 *right)
{
  gint64 rows = plait_ragged_rows (leaves) + plait_ragged_rows (nodes), highest = 0;
  gint64 *offsets = new_numbers (tape, leaves.n + 1, FALSE), *heights = new_numbers (tape, rows, FALSE);
  gint64 *lefts = new_numbers (tape, rows, TRUE), *rights = new_numbers (tape, rows, TRUE);
  gint64 *parents = new_numbers (tape, rows, TRUE), *leaf = new_numbers (tape, rows, TRUE);
  PlaitTreeRows *tree = plait_arena_new_array (plait_tape_arena (tape), PlaitTreeRows, 1);

  plait_tape_expect (tape, leaves.n == nodes.n);
  *tree = (PlaitTreeRows){ .rows = { leaves.n, offsets }, .left = lefts, .right = rights, .parent = parents };
  tree->up.rows = rows;
  tree->up.sentences = tree->rows;
  tree->up.leaf = leaf;
  for (gint64 s = 0; s < leaves.n; s++)
    {
      gint64 first = offsets[s], n = plait_ragged_length (leaves, s);

      for (gint64 i = 0; i < n; i++)
        leaf[first + i] = leaves.offsets[s] + i;
      for (gint64 i = 0; i < plait_ragged_length (nodes, s); i++)
        {
          gint64 node = nodes.offsets[s] + i, row = first + n + i;

          plait_tape_expect (tape, left[node] >= 0 && left[node] < n + i && right[node] >= 0 && right[node] < n + i);
          lefts[row] = first + left[node];
          rights[row] = first + right[node];
          plait_tape_expect (tape, parents[lefts[row]] < 0 && parents[rights[row]] < 0 && lefts[row] != rights[row]);
          parents[lefts[row]] = parents[rights[row]] = row;
          heights[row] = 1 + MAX (heights[lefts[row]], heights[rights[row]]);
          highest = MAX (highest, heights[row]);
        }
      offsets[s + 1] = first + n + plait_ragged_length (nodes, s);
    }
  set_heights (tape, tree, heights, highest);
  find_roots (tape, tree, leaves, words);
  return tree;
}

PlaitTreeUnit
plait_tree_unit_declare (PlaitParameters *parameters, const char *name, const PlaitTreeUnitDeclaration *declaration)
{
  g_autofree char *gates = g_strconcat (name, "/gates", NULL);
  g_autofree char *gate_bias = g_strconcat (name, "/gates/bias", NULL);
  g_autofree char *candidate = g_strconcat (name, "/candidate", NULL);
  g_autofree char *input = g_strconcat (name, "/input", NULL);
  gboolean lstm = declaration->kind == PLAIT_TREE_LSTM;
  gint64 width = declaration->width, blocks = lstm ? 5 : 6;
  PlaitInitial bias
      = lstm ? PLAIT_BLOCKS (declaration->forget_bias, FIRST_FORGET_GATE, LAST_FORGET_GATE, 5) : PLAIT_ZEROS;
  PlaitTreeUnit unit = { .declaration = *declaration };

  plait_parameters_expect (parameters, lstm || declaration->kind == PLAIT_TREE_GRU);
  plait_parameters_expect (parameters, (guint)declaration->reset <= PLAIT_RESET_AFTER && width > 0);
  unit.gates = plait_linear_declare_blocks (parameters, gates, 2 * width, 5 * width, 5, FALSE);
  unit.gates.weight->initial.stacked = CHILDREN;
  plait_parameters_use (parameters, unit.gates.weight, PLAIT_USE_STEP);
  unit.gates.bias = plait_parameters_declare (parameters, gate_bias, 1, 5 * width, bias);
  if (!lstm)
    {
      unit.candidate = plait_linear_declare (parameters, candidate, 2 * width, width, declaration->candidate_bias);
      unit.candidate.weight->initial.stacked = CHILDREN;
      plait_parameters_use (parameters, unit.candidate.weight, PLAIT_USE_STEP);
    }
  if (declaration->input_width > 0)
    unit.input = plait_linear_declare_blocks (parameters, input, declaration->input_width, blocks * width,
                                              (guint)blocks, FALSE);
  return unit;
}

/* Returns the product of the inputs of the inner nodes and the input weight. */
static PlaitNode *
project (PlaitTape *tape, const PlaitTreeUnit *unit, const PlaitTreeRows *tree, PlaitNode *inputs)
{
  PlaitNode *nodes = plait_gather_rows (tape, inputs, tree->up.row, plait_tree_nodes (&tree->up));

  return plait_linear_apply (tape, &unit->input, nodes, PLAIT_ACTIVATION_NONE);
}

PlaitCellState
plait_tree_unit_apply (PlaitTape *tape, const PlaitTreeUnit *unit, const PlaitTreeRows *tree, PlaitCellState leaves,
                       PlaitNode *inputs)
{
  gint64 width = unit->declaration.width;
  PlaitTreeCell cell = {
    .kind = unit->declaration.kind,
    .reset = unit->declaration.reset,
    .gates = plait_parameter_node (tape, unit->gates.weight),
    .gate_bias = plait_parameter_node (tape, unit->gates.bias),
    .candidate = plait_parameter_node_if_any (tape, unit->candidate.weight),
    .candidate_bias = plait_parameter_node_if_any (tape, unit->candidate.bias),
  };
  PlaitNode *states;

  plait_tape_expect (tape, (inputs != NULL) == (unit->input.weight != NULL));
  states = plait_tree_bottom_up (tape, &cell, &tree->up, leaves.state, leaves.cell,
                                 !inputs ? NULL : project (tape, unit, tree, inputs));
  if (unit->declaration.kind == PLAIT_TREE_GRU)
    return (PlaitCellState){ states, NULL };
  return (PlaitCellState){ plait_columns (tape, states, 0, width), plait_columns (tape, states, width, width) };
}

PlaitTreeHeadWords
plait_tree_head_words_declare (PlaitParameters *parameters, const char *name, gint64 width)
{
  g_autofree char *gate = g_strconcat (name, "/gate", NULL);

  PlaitTreeHeadWords heads = { plait_linear_declare (parameters, gate, 2 * width, width, TRUE) };
  heads.gate.weight->initial.stacked = CHILDREN;
  return heads;
}

PlaitNode *
plait_tree_head_words_apply (PlaitTape *tape, const PlaitTreeHeadWords *heads, const PlaitTreeRows *tree, PlaitNode *x)
{
  PlaitTreeCell cell = {
    .kind = PLAIT_TREE_HEAD_WORD,
    .gates = plait_parameter_node (tape, heads->gate.weight),
    .gate_bias = plait_parameter_node (tape, heads->gate.bias),
  };

  return plait_tree_bottom_up (tape, &cell, &tree->up, x, NULL, NULL);
}

PlaitTreeTopDown
plait_tree_top_down_declare (PlaitParameters *parameters, const char *name, const PlaitCellDeclaration *cell,
                             PlaitTreeRoot root)
{
  g_autofree char *root_name = g_strconcat (name, "/root", NULL);
  g_autofree char *left = g_strconcat (name, "/left", NULL);
  g_autofree char *right = g_strconcat (name, "/right", NULL);
  PlaitTreeTopDown down = { .root_kind = root };

  plait_parameters_expect (parameters, cell->kind == PLAIT_CELL_GRU);
  if (root == PLAIT_ROOT_TANH)
    down.root = plait_linear_declare (parameters, root_name, cell->input_width, cell->width, TRUE);
  down.left = plait_cell_declare (parameters, left, cell);
  down.right = plait_cell_declare (parameters, right, cell);
  return down;
}

PlaitNode *
plait_tree_top_down_apply (PlaitTape *tape, const PlaitTreeTopDown *down, const PlaitTreeRows *tree, PlaitNode *x)
{
  const PlaitCell *cells[] = { &down->left, &down->right };
  PlaitRecurrentCell weights[2];
  PlaitNode *roots = plait_gather_rows (tape, x, tree->roots, tree->n_roots), *projected[2];

  if (down->root_kind == PLAIT_ROOT_TANH)
    roots = plait_linear_apply (tape, &down->root, roots, PLAIT_ACTIVATION_TANH);
  else
    roots = plait_cell_step (tape, &down->left, plait_cell_project (tape, &down->left, roots),
                             (PlaitCellState){ NULL, NULL })
                .state;
  for (gint side = 0; side < 2; side++)
    {
      const PlaitTreeSide *children = &tree->down.sides[side];
      PlaitNode *rows = plait_gather_rows (tape, x, children->row, children->first[tree->down.n]);

      projected[side] = plait_cell_project (tape, cells[side], rows);
      weights[side] = plait_cell_weights (tape, cells[side]);
    }
  return plait_tree_top_down (tape, weights, &tree->down, roots, projected);
}

PlaitBitree
plait_bitree_declare (PlaitParameters *parameters, const char *prefix, const PlaitBitreeDeclaration *declaration)
{
  g_autofree char *up = g_strconcat (prefix, "up", NULL);
  g_autofree char *down = g_strconcat (prefix, "down", NULL);
  PlaitTreeUnitDeclaration unit = {
    .kind = PLAIT_TREE_GRU,
    .reset = declaration->reset,
    .width = declaration->leaf_width,
    .input_width = declaration->input_width,
    .candidate_bias = declaration->candidate_bias,
  };
  PlaitCellDeclaration cell = {
    .kind = PLAIT_CELL_GRU,
    .reset = declaration->reset,
    .input_width = declaration->leaf_width,
    .width = declaration->width ? declaration->width : declaration->leaf_width,
  };

  return (PlaitBitree){ plait_tree_unit_declare (parameters, up, &unit),
                        plait_tree_top_down_declare (parameters, down, &cell, declaration->root),
                        unit.width + cell.width };
}

PlaitNode *
plait_bitree_apply (PlaitTape *tape, const PlaitBitree *bitree, const PlaitTreeRows *tree, PlaitNode *leaves,
                    PlaitNode *inputs, PlaitNode **up)
{
  PlaitNode *ways[2];

  *up = ways[0] = plait_tree_unit_apply (tape, &bitree->up, tree, (PlaitCellState){ leaves, NULL }, inputs).state;
  ways[1] = plait_tree_top_down_apply (tape, &bitree->down, tree, *up);
  return plait_concatenate_columns (tape, ways, 2);
}
