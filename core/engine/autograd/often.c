/* SPDX-License-Identifier: MIT */
#include "autograd/tape-private.h"

/* From so many uses on, of at most so many rows each, it pays to lay a weight out in panels and to collect rows; with
 * so many rows together their product is as fast as products become. */
#define OFTEN 4
#define FEW_ROWS 128
#define MOST_ROWS 512

struct PlaitOften
{
  PlaitNode *weight;
  PlaitNode *bias; /* whose gradient is collected too, or NULL */
  PlaitPacked *packed;
  PlaitPacked *transposed;
  PlaitTensor x; /* [MOST_ROWS, in], no data before the first row */
  PlaitTensor dz;
  gint64 rows; /* collected */
  PlaitOften *next;
};

/* What is kept of @weight, or NULL where it is no leaf or has not been used often with so few rows. */
static PlaitOften *
often (PlaitTape *tape, PlaitNode *weight, gint64 rows)
{
  if (weight->operation || weight->whole || weight->n_consumers < OFTEN || rows > FEW_ROWS)
    return NULL;
  if (!weight->often)
    {
      weight->often = plait_arena_take (tape->arena, sizeof *weight->often);
      *weight->often = (PlaitOften){ .weight = weight, .next = tape->often };
      tape->often = weight->often;
    }
  return weight->often;
}

/* @packed, or NULL where it was packed for products of another precision. */
static const PlaitPacked *
of_precision (const PlaitPacked *packed, PlaitPrecision precision)
{
  return plait_packed_precision (packed) == precision ? packed : NULL;
}

const PlaitPacked *
plait_often_packed (PlaitTape *tape, PlaitNode *weight, gint64 rows, PlaitPrecision precision)
{
  PlaitOften *kept;

  if (tape->mode == PLAIT_TAPE_EVALUATE)
    return weight->packed;
  kept = often (tape, weight, rows);
  if (!kept)
    return NULL;
  if (!kept->packed)
    kept->packed = plait_pack_in (tape->arena, tape->pool, weight->value, FALSE, precision);
  return of_precision (kept->packed, precision);
}

const PlaitPacked *
plait_often_transposed (PlaitTape *tape, PlaitNode *weight, PlaitTensor value, gint64 rows, PlaitPrecision precision)
{
  PlaitOften *kept = often (tape, weight, rows);

  if (!kept)
    return NULL;
  if (!kept->transposed)
    kept->transposed = plait_pack_in (tape->arena, tape->pool, value, TRUE, precision);
  return of_precision (kept->transposed, precision);
}

void
plait_tape_pack (PlaitTape *tape, PlaitStepFactor *factor, gboolean transposed)
{
  if (factor->weight.data)
    factor->packed = factor->own
        = plait_pack_in (tape->arena, tape->pool, factor->weight, transposed, factor->precision);
}

void
plait_tape_unpack (PlaitTape *tape, PlaitStepFactor *factor)
{
  plait_packed_release (tape->arena, factor->own);
  factor->packed = factor->own = NULL;
}

void
plait_often_pack (PlaitTape *tape, PlaitStepFactor *factor, PlaitNode *weight, gint64 rows, gboolean transposed,
                  gboolean many)
{
  if (!weight)
    return;
  factor->packed = transposed ? plait_often_transposed (tape, weight, factor->weight, rows, factor->precision)
                              : plait_often_packed (tape, weight, rows, factor->precision);
  if (!factor->packed && many)
    plait_tape_pack (tape, factor, transposed);
}

/* The gradients of what has been collected. */
static void
multiply_collected (PlaitTape *tape, PlaitOften *kept)
{
  PlaitLinearBackward work = {
    .dz = plait_tensor_rows (kept->dz, 0, kept->rows),
    .x = plait_tensor_rows (kept->x, 0, kept->rows),
    .precision = tape->precision,
  };

  work.dweight = plait_gradient_if_needed (tape, kept->weight, &work.dweight_beta);
  work.dbias = plait_gradient_if_needed (tape, kept->bias, &work.dbias_beta);
  plait_linear_backward (tape->pool, &work);
  kept->rows = 0;
}

/* TRUE if rows for @weight and @bias can be collected in @kept. */
static gboolean
takes (const PlaitOften *kept, const PlaitNode *weight, const PlaitNode *bias)
{
  if (!kept || !weight->needs_gradient || (bias && (bias->operation || bias->whole)))
    return FALSE;
  return !kept->x.data || kept->bias == bias;
}

void
plait_often_collect (PlaitTape *tape, PlaitNode *weight, PlaitNode *bias, PlaitTensor x, PlaitTensor dz)
{
  PlaitOften *kept = often (tape, weight, x.rows);

  if (!takes (kept, weight, bias))
    {
      PlaitOften alone = { .weight = weight, .bias = bias, .x = x, .dz = dz, .rows = x.rows };

      multiply_collected (tape, &alone);
      return;
    }
  if (!kept->x.data)
    {
      kept->bias = bias;
      kept->x = plait_tape_tensor (tape, MOST_ROWS, x.width);
      kept->dz = plait_tape_tensor (tape, MOST_ROWS, dz.width);
    }
  if (kept->rows + x.rows > MOST_ROWS)
    multiply_collected (tape, kept);
  plait_tensor_accumulate (tape->pool, plait_tensor_rows (kept->x, kept->rows, x.rows), 0, 1, x);
  plait_tensor_accumulate (tape->pool, plait_tensor_rows (kept->dz, kept->rows, x.rows), 0, 1, dz);
  kept->rows += x.rows;
}

/* What @kept takes is read by nodes of both alone. */
static gint
last_place (const PlaitOften *kept)
{
  return MAX (kept->weight->place, kept->bias ? kept->bias->place : 0);
}

void
plait_often_end (PlaitTape *tape, gint left)
{
  for (PlaitOften *kept = tape->often; kept; kept = kept->next)
    if (kept->rows > 0 && left <= last_place (kept))
      multiply_collected (tape, kept);
}
