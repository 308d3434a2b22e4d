/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/layer-operators.h"

/*
 * Blocks: the rows of each sentence cut into runs, each of which becomes one row of the level above. A sentence has
 * blocks only where they are fewer than its rows; so one of a single row, or of none, has none.
 */
typedef struct
{
  PlaitRagged rows; /* sentence s has the blocks offsets[s] .. offsets[s + 1] - 1 */
  /* Block b has the rows shares.row[i] of its shares i. A row is in one block, but for the borders of
   * plait_blocks_fire, which may be in two. */
  PlaitHaltingWeights halting_weights;
  const gint64 *parent;      /* [rows] the block in which the row begins, -1 where its sentence has none */
  const gint64 *first_child; /* [blocks] the first row of the block */
  const gint64 *n_children;  /* [blocks] how many rows it has from there on */
} PlaitBlocks;

/* All of these live in the arena of @tape. */

/* Blocks of @size rows; the last of a sentence may be shorter. */
PlaitBlocks plait_blocks_fixed (PlaitTape *tape, PlaitRagged rows, gint64 size);

/*
 * Adaptive computation time (Graves 2016, eq. 5-9) as a way to cut: with the halting numbers h of the rows, a block
 * ends at the first row where their sum is 1 - @epsilon or more; also where it has @longest rows, and at the end of the
 * sentence. All blocks are full: the last row has the remainder.
 */
PlaitBlocks plait_blocks_halt (PlaitTape *tape, PlaitRagged rows, PlaitTensor halting, double epsilon, gint64 longest);

/*
 * Continuous integrate and fire (Dong & Xu 2020, section 3.2): a block ends at the row where the weights add up to 1 or
 * more; the row's surplus is its share in the next block, which begins with it. What is left at the end of the
 * sentence is a block, not a full one, if it is more than @tail; else its rows have no share in any, but are children
 * of the last one.
 */
PlaitBlocks plait_blocks_fire (PlaitTape *tape, PlaitRagged rows, PlaitTensor weights, double tail);
