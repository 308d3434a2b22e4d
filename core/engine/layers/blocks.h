/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/layer-operators.h"

/*
 * The rows of each sentence, cut into consecutive blocks; each block becomes one row of the next level of a pyramid. A
 * sentence whose blocks would not be fewer than its rows gets no block, for example a sentence of one row.
 */
typedef struct
{
  PlaitRagged rows; /* blocks of each sentence: sentence s has the blocks offsets[s] .. offsets[s + 1] - 1 */
  /* Rows and weights of each block. A row is in at most one block, except that plait_blocks_fire may put a row at a
   * border into two. */
  PlaitHaltingWeights halting_weights;
  const gint64 *parent; /* [rows] block whose child the row is: the first one, if the row is in two; -1 if the sentence
                           has no blocks */
  const gint64 *first_child; /* [blocks] first row of the block */
  const gint64 *n_children;  /* [blocks] number of rows of the block, from first_child on */
} PlaitBlocks;

/* The arrays of the returned blocks live in the arena of @tape. */

/* Returns blocks of @size rows. The last block of a sentence may be shorter. */
PlaitBlocks plait_blocks_fixed (PlaitTape *tape, PlaitRagged rows, gint64 size);

/*
 * Returns blocks cut by adaptive computation time (Graves 2016, eq. 5-9) from the halting numbers @halting [rows, 1]. A
 * block ends at the first row where the sum of its numbers is at least 1 - @epsilon, after @longest rows, or at the end
 * of the sentence. All blocks are full: the last row's weight is the remainder.
 */
PlaitBlocks plait_blocks_halt (PlaitTape *tape, PlaitRagged rows, PlaitTensor halting, double epsilon, gint64 longest);

/*
 * Returns blocks cut by continuous integrate-and-fire (Dong & Xu 2020, section 3.2) from @weights [rows, 1]. A block
 * ends at the row where the sum reaches 1. If the sum exceeds 1, the surplus is the row's weight in the next block,
 * which then begins with this row. Rows left at the end of the sentence form a block, which is not full, if the sum of
 * their weights exceeds @tail. Otherwise they get no weight and become children of the sentence's last block, if any.
 */
PlaitBlocks plait_blocks_fire (PlaitTape *tape, PlaitRagged rows, PlaitTensor weights, double tail);
