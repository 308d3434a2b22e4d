/* SPDX-License-Identifier: MIT */
#include "layers/blocks.h"

/* Blocks under construction. There are at most as many blocks as rows, and at most two weights for each row. */
typedef struct
{
  PlaitRagged rows;
  gint64 *offsets;         /* index of the first block of each sentence: [sentences + 1] */
  gint64 *halting_weights; /* index of the first halting weight of each block: [blocks + 1] */
  gint64 *row;
  guint8 *full;
  gint64 *parent;
  gint64 *first_child;
  gint64 *n_children;
  gint64 n_blocks;
  gint64 n_halting_weights; /* number of halting weights, including those of the open block */
} Builder;

static Builder
begin (PlaitTape *tape, PlaitRagged rows)
{
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 n = plait_ragged_is_valid (rows) ? plait_ragged_rows (rows) : -1;

  plait_tape_expect (tape, n >= 0);
  Builder builder = {
    .rows = rows,
    .offsets = plait_arena_new_array (arena, gint64, rows.n + 1),
    .halting_weights = plait_arena_new_array (arena, gint64, n + 1),
    .row = plait_arena_new_array (arena, gint64, 2 * n + 1),
    .full = plait_arena_new_array (arena, guint8, n + 1),
    .parent = plait_arena_new_array (arena, gint64, n + 1),
    .first_child = plait_arena_new_array (arena, gint64, n + 1),
    .n_children = plait_arena_new_array (arena, gint64, n + 1),
  };

  builder.offsets[0] = builder.halting_weights[0] = 0;
  for (gint64 i = 0; i < n; i++)
    builder.parent[i] = -1;
  return builder;
}

/* Adds @row to the open block. A row that is in two blocks is a child of the first of them. */
static void
add_row (Builder *builder, gint64 row)
{
  builder->row[builder->n_halting_weights++] = row;
  if (builder->parent[row] < 0)
    builder->parent[row] = builder->n_blocks;
}

/* Ends the open block, which must have rows. @full: its weights sum to 1. */
static void
close_block (Builder *builder, gboolean full)
{
  gint64 b = builder->n_blocks++, first = builder->halting_weights[b];

  builder->full[b] = full;
  builder->first_child[b] = builder->row[first];
  builder->n_children[b] = builder->n_halting_weights - first;
  builder->halting_weights[b + 1] = builder->n_halting_weights;
}

/* Ends sentence @s. Removes its blocks if they are not fewer than its rows. */
static void
close_sentence (Builder *builder, gint64 s)
{
  gint64 before = builder->offsets[s];

  if (builder->n_blocks - before >= plait_ragged_length (builder->rows, s))
    {
      builder->n_blocks = before;
      builder->n_halting_weights = builder->halting_weights[before];
    }
  if (builder->n_blocks == before)
    for (gint64 row = builder->rows.offsets[s]; row < builder->rows.offsets[s + 1]; row++)
      builder->parent[row] = -1;
  builder->offsets[s + 1] = builder->n_blocks;
}

static PlaitBlocks
finish (const Builder *builder)
{
  return (PlaitBlocks){
    .rows = { builder->rows.n, builder->offsets },
    .halting_weights = { { builder->n_blocks, builder->halting_weights }, builder->row, builder->full },
    .parent = builder->parent,
    .first_child = builder->first_child,
    .n_children = builder->n_children,
  };
}

PlaitBlocks
plait_blocks_fixed (PlaitTape *tape, PlaitRagged rows, gint64 size)
{
  Builder builder = begin (tape, rows);

  plait_tape_expect (tape, size > 1);
  for (gint64 s = 0; s < rows.n; s++)
    {
      gint64 first = rows.offsets[s], end = rows.offsets[s + 1];

      for (gint64 row = first; row < end; row++)
        {
          add_row (&builder, row);
          if ((row - first + 1) % size == 0 || row + 1 == end)
            close_block (&builder, TRUE);
        }
      close_sentence (&builder, s);
    }
  return finish (&builder);
}

PlaitBlocks
plait_blocks_halt (PlaitTape *tape, PlaitRagged rows, PlaitTensor halting, double epsilon, gint64 longest)
{
  Builder builder = begin (tape, rows);

  for (gint64 s = 0; s < rows.n; s++)
    {
      gint64 end = rows.offsets[s + 1];
      PlaitScalar sum = 0;

      for (gint64 row = rows.offsets[s]; row < end; row++)
        {
          add_row (&builder, row);
          sum += *plait_tensor_row (halting, row);
          if (sum < 1 - epsilon && builder.n_halting_weights - builder.halting_weights[builder.n_blocks] < longest
              && row + 1 < end)
            continue;
          close_block (&builder, TRUE);
          sum = 0;
        }
      close_sentence (&builder, s);
    }
  return finish (&builder);
}

/* Removes the weights of the open block. Its rows, up to @end, become children of the sentence's last block, if there
 * is one. */
static void
drop_tail (Builder *builder, gint64 s, gint64 end)
{
  gint64 last = builder->n_blocks - 1;

  builder->n_halting_weights = builder->halting_weights[builder->n_blocks];
  if (builder->n_blocks == builder->offsets[s])
    return;
  builder->n_children[last] = end - builder->first_child[last];
  for (gint64 row = end - 1; row >= builder->first_child[last] && builder->parent[row] == builder->n_blocks; row--)
    builder->parent[row] = last;
}

PlaitBlocks
plait_blocks_fire (PlaitTape *tape, PlaitRagged rows, PlaitTensor weights, double tail)
{
  Builder builder = begin (tape, rows);

  for (gint64 s = 0; s < rows.n; s++)
    {
      gint64 end = rows.offsets[s + 1];
      PlaitScalar sum = 0;

      for (gint64 row = rows.offsets[s]; row < end; row++)
        {
          /* Compute the weight exactly as plait_halting_weights does, so that rounding cannot make its surplus negative
           * there. */
          PlaitScalar weight = *plait_tensor_row (weights, row), rest = 1 - sum;

          add_row (&builder, row);
          sum += weight;
          if (weight < rest)
            continue;
          close_block (&builder, TRUE);
          sum = weight - rest;
          if (sum > 0)
            add_row (&builder, row);
        }
      if (sum > tail)
        close_block (&builder, FALSE);
      else
        drop_tail (&builder, s, end);
      close_sentence (&builder, s);
    }
  return finish (&builder);
}
