/* SPDX-License-Identifier: MIT */
#pragma once

#include "layers/norm.h"

typedef enum
{
  PLAIT_POSITIONS_NONE,
  /* Vaswani et al. 2017, section 3.5: column 2 i is sin (t / 10000^(2 i / w)), column 2 i + 1 the cosine. If w is odd,
   * the last sine has no cosine. */
  PLAIT_POSITIONS_INTERLEAVED,
  /* Neural Monkey: column i < w / 2 is sin (t / 10000^(i / (w / 2 - 1))), column w / 2 + i the cosine. The frequencies
   * differ from INTERLEAVED. If w is odd, the last column is 0. */
  PLAIT_POSITIONS_CONCATENATED,
  /* Marian: the columns of INTERLEAVED in another order, first all sines, then all cosines. */
  PLAIT_POSITIONS_HALVES,
  PLAIT_POSITIONS_LEARNED, /* NAME/table, initially normal with standard deviation w^-0.5 */
  /* Relative positions, which self-attention applies (layers/attention.h); nothing is added to the rows. */
  PLAIT_POSITIONS_ROTARY, /* queries and keys are rotated (Su et al. 2021) */
  PLAIT_POSITIONS_ALIBI,  /* scores fall with the distance (Press et al. 2022) */
} PlaitPositionKind;

/* A layer that adds to each row the vector of its position in the sentence. It refers to parameters and memory of the
 * registry and owns nothing. */
typedef struct
{
  PlaitPositionKind kind;
  gint64 width;
  gint64 length;          /* number of rows of the table */
  PlaitParameter *table;  /* [length, w] if learned, else NULL */
  PlaitScalar *sinusoids; /* [length, w] if sinusoidal, else NULL */
} PlaitPositions;

/* Fills @table [positions, w] with sinusoids of positions @first, @first + 1, ..., computed in double. */
void plait_positions_fill (PlaitTensor table, PlaitPositionKind kind, gint64 first);

/* Declares positions 0 .. @length - 1 for rows of width @width, and with PLAIT_POSITIONS_LEARNED the parameter
 * NAME/table. Learned positions cannot exceed @length - 1. Sinusoids can: a step whose positions exceed the stored
 * table computes a longer table. */
PLAIT_API PlaitPositions plait_positions_declare (PlaitParameters *parameters, const char *name, PlaitPositionKind kind,
                                                  gint64 length, gint64 width);

/* Returns a node [rows, w]: dropout (x + position, rate) for x [rows, w]. The first row of each sentence has position
 * @first. PLAIT_POSITIONS_NONE, ROTARY and ALIBI add nothing to x. Learned positions: @first plus the length of each
 * sentence must be at most positions->length, else the step ends with an error. */
PLAIT_API PlaitNode *plait_positions_apply (PlaitTape *tape, const PlaitPositions *positions, PlaitNode *x,
                                            PlaitRagged rows, gint64 first, double rate);

/* Returns a node [rows, w]: dropout (norm (x + position), rate), as plait_positions_apply. Without normalisation if
 * @norm was not declared (its gain is NULL). */
PLAIT_API PlaitNode *plait_positions_apply_norm (PlaitTape *tape, const PlaitPositions *positions,
                                                 const PlaitNorm *norm, PlaitNode *x, PlaitRagged rows, gint64 first,
                                                 double rate);
