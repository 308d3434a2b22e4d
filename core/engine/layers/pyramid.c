/* SPDX-License-Identifier: MIT */
#include "layers/blocks.h"
#include "layers/pyramid.h"
#include "layers/parameter-set.h"
#include "autograd/layer-operators.h"

#include <math.h>

/* TRUE if one PlaitPyramidLevel serves all levels. The PlaitPyramidLevel of mean is empty. */
static gboolean
is_shared (const PlaitPyramidDeclaration *declaration)
{
  return declaration->shared || declaration->pooling == PLAIT_POOLING_MEAN;
}

static PlaitPyramidLevel
declare_level (PlaitParameters *parameters, const char *name, const PlaitPyramidDeclaration *declaration)
{
  g_autofree char *cell = g_strconcat (name, "/cell", NULL);
  g_autofree char *convolution = g_strconcat (name, "/convolution", NULL);
  gboolean halts = declaration->pooling == PLAIT_POOLING_ACT;
  g_autofree char *numbers = g_strconcat (name, halts ? "/halting" : "/weights", NULL);
  g_autofree char *bias = g_strconcat (numbers, "/bias", NULL);
  /* The bias of act starts at 1 (Graves 2016). The bias of cif makes its weights start at about 1 / k. */
  double initial = halts ? 1 : -log ((double)declaration->block - 1);
  gint64 width = declaration->width;
  PlaitCellDeclaration of_cell = {
    .kind = declaration->cell,
    .reset = declaration->reset,
    .input_width = width,
    .width = width,
    .forget_bias = declaration->forget_bias,
  };
  PlaitPyramidLevel level = { 0 };

  switch (declaration->pooling)
    {
    case PLAIT_POOLING_RNN:
      level.cell = plait_cell_declare (parameters, cell, &of_cell);
      break;
    case PLAIT_POOLING_CNN:
      level.convolution = plait_linear_declare (parameters, convolution, declaration->block * width, width, TRUE);
      break;
    case PLAIT_POOLING_MEAN:
      break;
    case PLAIT_POOLING_ACT:
    case PLAIT_POOLING_CIF:
      level.numbers = plait_linear_declare (parameters, numbers, width, 1, FALSE);
      level.numbers.bias = plait_parameters_declare (parameters, bias, 1, 1, PLAIT_BLOCKS (initial, 0, 0, 1));
      break;
    }
  return level;
}

PlaitPyramid
plait_pyramid_declare (PlaitParameters *parameters, const char *name, const PlaitPyramidDeclaration *declaration)
{
  gboolean shared = is_shared (declaration);
  gint64 n = shared ? 1 : declaration->levels;
  PlaitPyramid pyramid = { .declaration = *declaration };

  plait_parameters_expect (parameters, declaration->block > 1 && declaration->levels <= PLAIT_PYRAMID_MAX_LEVELS);
  plait_parameters_expect (parameters, n > 0 && (guint)declaration->pooling <= PLAIT_POOLING_CIF);
  if (!plait_parameters_check (parameters, NULL))
    return pyramid;
  pyramid.levels = plait_parameters_memory (parameters, (gsize)n * sizeof *pyramid.levels);
  for (gint64 i = 0; i < n; i++)
    {
      g_autofree char *of_level = g_strdup_printf ("%s/%jd", name, i + 1);

      pyramid.levels[i] = declare_level (parameters, shared ? name : of_level, declaration);
    }
  return pyramid;
}

/*
 * Functions that make one level from the level below
 */

/* The rows of one level. */
typedef struct
{
  PlaitRagged rows;
  PlaitNode *states;
  PlaitNode *cells;   /* LSTM's cell states, else NULL */
  PlaitBlocks blocks; /* blocks of these rows, one for each row of the next level */
} Level;

/* Summands of the pyramid's additional loss. */
typedef struct
{
  PlaitNode *terms[2 * PLAIT_PYRAMID_MAX_LEVELS];
  guint n;
} Cost;

static gint64 *
new_numbers (PlaitTape *tape, gint64 n)
{
  return plait_arena_new_array (plait_tape_arena (tape), gint64, n + 1);
}

static PlaitNode *
constant (PlaitTape *tape, gint64 n, PlaitTensor *tensor)
{
  *tensor = plait_tensor (plait_arena_new_array (plait_tape_arena (tape), PlaitScalar, n + 1), n, 1);
  return plait_leaf (tape, *tensor, NULL);
}

static void
add_number (PlaitTape *tape, Cost *cost, double number)
{
  PlaitTensor tensor;

  cost->terms[cost->n++] = constant (tape, 1, &tensor);
  tensor.data[0] = (PlaitScalar)number;
}

static PlaitNode *
total_cost (PlaitTape *tape, Cost *cost)
{
  if (cost->n == 0)
    add_number (tape, cost, 0);
  return plait_add_n (tape, cost->terms, cost->n);
}

/* Returns the rows of all blocks, end to end; @x itself if these are all rows of @x in order. */
static PlaitNode *
block_rows (PlaitTape *tape, const PlaitBlocks *blocks, PlaitNode *x)
{
  gint64 n = plait_ragged_rows (blocks->halting_weights.blocks), same = 0;

  while (same < n && blocks->halting_weights.row[same] == same)
    same++;
  return same == n && n == x->value.rows ? x : plait_gather_rows (tape, x, blocks->halting_weights.row, n);
}

static PlaitCellState
run_cell (PlaitTape *tape, const PlaitCell *cell, const PlaitBlocks *blocks, PlaitNode *x)
{
  PlaitRagged of_block = blocks->halting_weights.blocks;
  const gint64 *last = plait_ragged_ends (plait_tape_arena (tape), of_block, FALSE);
  PlaitCellState ends = plait_cell_run (tape, cell, plait_cell_project (tape, cell, block_rows (tape, blocks, x)),
                                        of_block, FALSE, (PlaitCellState){ NULL, NULL });

  ends.state = plait_gather_rows (tape, ends.state, last, of_block.n);
  if (ends.cell)
    ends.cell = plait_gather_rows (tape, ends.cell, last, of_block.n);
  return ends;
}

static PlaitNode *
convolve (PlaitTape *tape, const PlaitPyramid *pyramid, const PlaitPyramidLevel *level, const PlaitBlocks *blocks,
          PlaitNode *x)
{
  PlaitRagged of_block = blocks->halting_weights.blocks;
  gint64 size = pyramid->declaration.block;
  gint64 *windows = new_numbers (tape, of_block.n * size);

  for (gint64 b = 0; b < of_block.n; b++)
    for (gint64 i = 0; i < size; i++)
      windows[b * size + i]
          = i < plait_ragged_length (of_block, b) ? blocks->halting_weights.row[of_block.offsets[b] + i] : -1;
  return plait_linear_apply (tape, &level->convolution, plait_gather_windows (tape, x, windows, of_block.n, size),
                             pyramid->declaration.activation);
}

/* Returns the weighted sum of the rows of @x in each block. */
static PlaitNode *
sum_blocks (PlaitTape *tape, const PlaitBlocks *blocks, PlaitNode *weights, PlaitNode *x)
{
  PlaitRagged of_block = blocks->halting_weights.blocks;
  PlaitRagged sets = plait_ragged_units (plait_tape_arena (tape), of_block.n);
  PlaitSelectedRows selected = { 1, sets, of_block, blocks->halting_weights.row };

  return plait_sparse_weighted_sum (tape, &selected, weights, x);
}

static PlaitNode *
average (PlaitTape *tape, const PlaitBlocks *blocks, PlaitNode *x)
{
  PlaitRagged of_block = blocks->halting_weights.blocks;
  PlaitTensor tensor;
  PlaitNode *weights = constant (tape, plait_ragged_rows (of_block), &tensor);

  for (gint64 b = 0; b < of_block.n; b++)
    for (gint64 i = of_block.offsets[b]; i < of_block.offsets[b + 1]; i++)
      tensor.data[i] = 1 / (PlaitScalar)plait_ragged_length (of_block, b);
  return sum_blocks (tape, blocks, weights, x);
}

/* Adds the ponder cost of all blocks to @cost: number of rows plus last halting weight (Graves 2016, section 2). */
static void
ponder (PlaitTape *tape, const PlaitHaltingWeights *of, PlaitNode *halting_weights, Cost *cost)
{
  const gint64 *last = plait_ragged_ends (plait_tape_arena (tape), of->blocks, FALSE);
  PlaitNode *remainders = plait_gather_rows (tape, halting_weights, last, of->blocks.n);

  cost->terms[cost->n++] = plait_reduce_sum (tape, remainders);
  add_number (tape, cost, (double)plait_ragged_rows (of->blocks));
}

/* Adds the quantity loss, |sum of weights - n / @size| of each sentence with n > 1 rows, to @cost (Dong & Xu 2020). */
static void
measure (PlaitTape *tape, PlaitRagged rows, gint64 size, PlaitNode *weights, Cost *cost)
{
  PlaitTensor value = plait_tape_value (tape, weights), sign;
  PlaitNode *signs = constant (tape, value.rows, &sign);
  double expected = 0;

  for (gint64 s = 0; s < rows.n; s++)
    {
      gint64 n = plait_ragged_length (rows, s);
      double quantity = (double)n / (double)size, sum = 0;
      PlaitScalar of_sentence;

      for (gint64 row = rows.offsets[s]; row < rows.offsets[s + 1]; row++)
        sum += (double)*plait_tensor_row (value, row);
      of_sentence = n < 2 ? 0 : sum < quantity ? -1 : 1;
      for (gint64 row = rows.offsets[s]; row < rows.offsets[s + 1]; row++)
        sign.data[row] = of_sentence;
      expected += (double)of_sentence * quantity;
    }
  cost->terms[cost->n++] = plait_reduce_sum (tape, plait_multiply (tape, weights, signs));
  add_number (tape, cost, -expected);
}

/* Makes level @number from the level @below, and sets the blocks of @below. The new level may have no rows. */
static Level
climb (PlaitTape *tape, const PlaitPyramid *pyramid, gint64 number, Level *below, Cost *cost)
{
  const PlaitPyramidDeclaration *declaration = &pyramid->declaration;
  const PlaitPyramidLevel *level = &pyramid->levels[is_shared (declaration) ? 0 : number - 1];
  PlaitBlocks *blocks = &below->blocks;
  PlaitNode *numbers = NULL, *x = below->states;
  PlaitCellState vectors = { NULL, NULL };

  switch (declaration->pooling)
    {
    case PLAIT_POOLING_ACT:
      numbers = plait_linear_apply (tape, &level->numbers, x, PLAIT_ACTIVATION_SIGMOID);
      *blocks = plait_blocks_halt (tape, below->rows, plait_tape_value (tape, numbers), declaration->epsilon,
                                   declaration->block);
      break;
    case PLAIT_POOLING_CIF:
      numbers = plait_linear_apply (tape, &level->numbers, x, PLAIT_ACTIVATION_SIGMOID);
      *blocks = plait_blocks_fire (tape, below->rows, plait_tape_value (tape, numbers), declaration->tail);
      measure (tape, below->rows, declaration->block, numbers, cost);
      break;
    default:
      *blocks = plait_blocks_fixed (tape, below->rows, declaration->block);
    }
  if (plait_ragged_rows (blocks->rows) == 0)
    return (Level){ .rows = blocks->rows };
  if (numbers)
    {
      PlaitNode *halting_weights = plait_halting_weights (tape, numbers, &blocks->halting_weights);

      if (declaration->pooling == PLAIT_POOLING_ACT)
        ponder (tape, &blocks->halting_weights, halting_weights, cost);
      vectors.state = sum_blocks (tape, blocks, halting_weights, x);
    }
  else if (declaration->pooling == PLAIT_POOLING_RNN)
    vectors = run_cell (tape, &level->cell, blocks, x);
  else if (declaration->pooling == PLAIT_POOLING_CNN)
    vectors.state = convolve (tape, pyramid, level, blocks, x);
  else
    vectors.state = average (tape, blocks, x);
  return (Level){ .rows = blocks->rows, .states = vectors.state, .cells = vectors.cell };
}

/*
 * Functions that join the rows of all levels to one memory
 */

/* The levels of a pyramid, lowest first. */
typedef struct
{
  Level levels[PLAIT_PYRAMID_MAX_LEVELS + 1];
  guint n;
} Levels;

/* Arrays of PlaitPyramidRows under construction, [rows of the memory]. */
typedef struct
{
  gint64 *parent;
  gint64 *first_child;
  gint64 *n_children;
  gint64 *level;
  gint64 *previous;
  gint64 *next;
  gint64 *leaf;
  gint64 *place; /* row number in the tensor in which all levels are concatenated, level 0 first */
} Links;

/* Fills @links for the rows of level @l of sentence @s. These rows begin at memory row @row. The rows of level @l - 1
 * of the sentence begin at memory row @below. @place: total number of rows of the levels under @l, in all sentences. */
static void
link_rows (const Levels *levels, guint l, gint64 s, gint64 row, gint64 below, gint64 place, const Links *links)
{
  const Level *own = &levels->levels[l];
  gint64 n = plait_ragged_length (own->rows, s), above = row + n;

  for (gint64 i = 0; i < n; i++)
    {
      gint64 at = own->rows.offsets[s] + i, to = row + i;

      links->level[to] = l;
      links->leaf[to] = l == 0 ? at : -1;
      links->place[to] = place + at;
      links->previous[to] = i > 0 ? to - 1 : -1;
      links->next[to] = i + 1 < n ? to + 1 : -1;
      links->parent[to] = links->first_child[to] = -1;
      links->n_children[to] = 0;
      if (l + 1 < levels->n && own->blocks.parent[at] >= 0)
        links->parent[to] = above + own->blocks.parent[at] - levels->levels[l + 1].rows.offsets[s];
      if (l > 0)
        {
          const Level *children = &levels->levels[l - 1];

          links->first_child[to] = below + children->blocks.first_child[at] - children->rows.offsets[s];
          links->n_children[to] = children->blocks.n_children[at];
        }
    }
}

static Links
link_all (PlaitTape *tape, const Levels *levels, gint64 *offsets)
{
  gint64 n = 0;
  Links links;

  for (guint l = 0; l < levels->n; l++)
    n += plait_ragged_rows (levels->levels[l].rows);
  links = (Links){
    .parent = new_numbers (tape, n),
    .first_child = new_numbers (tape, n),
    .n_children = new_numbers (tape, n),
    .level = new_numbers (tape, n),
    .previous = new_numbers (tape, n),
    .next = new_numbers (tape, n),
    .leaf = new_numbers (tape, n),
    .place = new_numbers (tape, n),
  };
  offsets[0] = 0;
  for (gint64 s = 0; s < levels->levels[0].rows.n; s++)
    {
      gint64 row = offsets[s], below = row, place = 0;

      for (guint l = 0; l < levels->n; l++)
        {
          const Level *level = &levels->levels[l];

          link_rows (levels, l, s, row, below, place, &links);
          below = row;
          row += plait_ragged_length (level->rows, s);
          place += plait_ragged_rows (level->rows);
        }
      offsets[s + 1] = row;
    }
  return links;
}

/* Returns the states, or the cell states, of all levels in the order of the memory. */
static PlaitNode *
arrange (PlaitTape *tape, const Levels *levels, gboolean cells, const gint64 *place, gint64 n)
{
  PlaitNode *parts[PLAIT_PYRAMID_MAX_LEVELS + 1];

  for (guint l = 0; l < levels->n; l++)
    parts[l] = cells ? levels->levels[l].cells : levels->levels[l].states;
  if (levels->n == 1)
    return parts[0];
  return plait_gather_rows (tape, plait_concatenate_rows (tape, parts, levels->n), place, n);
}

/* Returns the cell states of the memory's rows, or NULL if the leaves have no cell states. */
static PlaitNode *
arrange_cells (PlaitTape *tape, const Levels *levels, const Links *links, gint64 n)
{
  if (!levels->levels[0].cells)
    return NULL;
  if (levels->n > 1 && !levels->levels[1].cells)
    return plait_gather_rows (tape, levels->levels[0].cells, links->leaf, n);
  return arrange (tape, levels, TRUE, links->place, n);
}

PlaitPyramidRows
plait_pyramid_apply (PlaitTape *tape, const PlaitPyramid *pyramid, PlaitCellState leaves, PlaitRagged rows)
{
  const PlaitPyramidDeclaration *declaration = &pyramid->declaration;
  gint64 most = declaration->levels > 0 ? declaration->levels : PLAIT_PYRAMID_MAX_LEVELS;
  gint64 *offsets = new_numbers (tape, rows.n);
  Levels levels = { .levels = { { .rows = rows, .states = leaves.state, .cells = leaves.cell } }, .n = 1 };
  Cost cost = { .n = 0 };
  PlaitPyramidRows found;
  Links links;

  for (gint64 l = 1; l <= most; l++)
    {
      levels.levels[l] = climb (tape, pyramid, l, &levels.levels[l - 1], &cost);
      if (plait_ragged_rows (levels.levels[l].rows) == 0)
        break;
      levels.n++;
    }
  links = link_all (tape, &levels, offsets);
  found = (PlaitPyramidRows){
    .rows = { rows.n, offsets },
    .states = arrange (tape, &levels, FALSE, links.place, offsets[rows.n]),
    .cells = arrange_cells (tape, &levels, &links, offsets[rows.n]),
    .parent = links.parent,
    .first_child = links.first_child,
    .n_children = links.n_children,
    .level = links.level,
    .previous = links.previous,
    .next = links.next,
    .leaf = links.leaf,
  };
  if (declaration->pooling == PLAIT_POOLING_ACT)
    found.ponder = total_cost (tape, &cost);
  else if (declaration->pooling == PLAIT_POOLING_CIF)
    found.quantity = total_cost (tape, &cost);
  return found;
}
