/* SPDX-License-Identifier: MIT */
#pragma once

#include "layers/norm.h"

typedef enum
{
  PLAIT_POSITIONS_NONE,
  /* Vaswani et al. 2017, 3.5: column 2 i is sin (t / 10000^(2 i / w)), column 2 i + 1 its cosine. Of an odd width the
   * last sine has none. */
  PLAIT_POSITIONS_INTERLEAVED,
  /* Neural Monkey: column i < w / 2 is sin (t / 10000^(i / (w / 2 - 1))), column w / 2 + i its cosine. Other
   * frequencies too: not a permutation of the former. Of an odd width the last column is 0. */
  PLAIT_POSITIONS_CONCATENATED,
  /* Marian: column i is sin (t / 10000^(2 i / w)), and the cosines of the same stand behind all sines: the interleaved
   * ones in another order. */
  PLAIT_POSITIONS_HALVES,
  PLAIT_POSITIONS_LEARNED, /* NAME/table, normal with standard deviation w^-0.5 */
} PlaitPositionKind;

/* Positions of rows in their sentences. A value of this type refers to memory of the registry and owns nothing. */
typedef struct
{
  PlaitPositionKind kind;
  gint64 width;
  gint64 length;          /* rows of the table */
  PlaitParameter *table;  /* [length, w] if learned, else NULL */
  PlaitScalar *sinusoids; /* [length, w] if sinusoidal, else NULL */
} PlaitPositions;

/* Fills @table [positions, w] with the sinusoids of positions first, first + 1, ..., computed in double. */
void plait_positions_fill (PlaitTensor table, PlaitPositionKind kind, gint64 first);

/* Declares NAME/table if learned. @length is the greatest length of a sentence if learned; sinusoids go on beyond it,
 * only slower. */
PLAIT_API PlaitPositions plait_positions_declare (PlaitParameters *parameters, const char *name, PlaitPositionKind kind,
                                                  gint64 length, gint64 width);

/* dropout (x + position, rate): x [rows, w]; the first row of each sentence has the position @first. A learned table
 * must reach far enough: check lengths against positions->length before. */
PLAIT_API PlaitNode *plait_positions_apply (PlaitTape *tape, const PlaitPositions *positions, PlaitNode *x,
                                            PlaitRagged rows, gint64 first, double rate);

/* dropout (norm (x + position), rate), likewise; without the norm where @norm is not declared (its gain is NULL). */
PLAIT_API PlaitNode *plait_positions_apply_norm (PlaitTape *tape, const PlaitPositions *positions,
                                                 const PlaitNorm *norm, PlaitNode *x, PlaitRagged rows, gint64 first,
                                                 double rate);
