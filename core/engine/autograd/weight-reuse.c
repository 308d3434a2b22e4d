/* SPDX-License-Identifier: MIT */
#include "autograd/tape-private.h"

/* A weight with MIN_USES uses or more is packed for its products of at most FEW_ROWS rows. The rows of these
 * products are collected, MAX_ROWS rows at most: a larger product would not take less time per row. */
#define MIN_USES 4
#define FEW_ROWS 128
#define MAX_ROWS 512

struct PlaitWeightReuse
{
  PlaitNode *weight;
  PlaitNode *bias; /* the bias whose gradient is collected too, or NULL */
  PlaitPacked *packed;
  PlaitPacked *transposed;
  PlaitTensor x; /* [MAX_ROWS, in] collected inputs; no data until a row is collected */
  PlaitTensor dz;
  gint64 rows; /* number of collected rows */
  PlaitWeightReuse *next;
};

/* Returns the reuse state of @weight; NULL if @weight is not a leaf or has few uses, or if @rows is large. */
static PlaitWeightReuse *
reuse (PlaitTape *tape, PlaitNode *weight, gint64 rows)
{
  if (weight->operation || weight->whole || weight->n_consumers < MIN_USES || rows > FEW_ROWS)
    return NULL;
  if (!weight->reuse)
    {
      weight->reuse = plait_arena_allocate (tape->arena, sizeof *weight->reuse);
      *weight->reuse = (PlaitWeightReuse){ .weight = weight, .next = tape->reuse };
      tape->reuse = weight->reuse;
    }
  return weight->reuse;
}

/* Returns @packed, or NULL if it has another precision. */
static const PlaitPacked *
of_precision (const PlaitPacked *packed, PlaitPrecision precision)
{
  return plait_packed_precision (packed) == precision ? packed : NULL;
}

const PlaitPacked *
plait_weight_reuse_packed (PlaitTape *tape, PlaitNode *weight, gint64 rows, PlaitPrecision precision)
{
  PlaitWeightReuse *entry;

  if (tape->mode == PLAIT_TAPE_EVALUATE)
    return weight->packed;
  entry = reuse (tape, weight, rows);
  if (!entry)
    return NULL;
  if (!entry->packed)
    entry->packed = plait_pack_in (tape->arena, tape->pool, weight->value, FALSE, precision);
  return of_precision (entry->packed, precision);
}

const PlaitPacked *
plait_weight_reuse_transposed (PlaitTape *tape, PlaitNode *weight, PlaitTensor value, gint64 rows,
                               PlaitPrecision precision)
{
  PlaitWeightReuse *entry = reuse (tape, weight, rows);

  if (!entry)
    return NULL;
  if (!entry->transposed)
    entry->transposed = plait_pack_in (tape->arena, tape->pool, value, TRUE, precision);
  return of_precision (entry->transposed, precision);
}

void
plait_tape_pack (PlaitTape *tape, PlaitRnnWeight *factor, gboolean transposed)
{
  if (factor->weight.data)
    factor->packed = factor->own
        = plait_pack_in (tape->arena, tape->pool, factor->weight, transposed, factor->precision);
}

void
plait_tape_unpack (PlaitTape *tape, PlaitRnnWeight *factor)
{
  plait_packed_release (tape->arena, factor->own);
  factor->packed = factor->own = NULL;
}

void
plait_weight_reuse_pack (PlaitTape *tape, PlaitRnnWeight *factor, PlaitNode *weight, gint64 rows, gboolean transposed,
                         gboolean many)
{
  if (!weight)
    return;
  factor->packed = transposed ? plait_weight_reuse_transposed (tape, weight, factor->weight, rows, factor->precision)
                              : plait_weight_reuse_packed (tape, weight, rows, factor->precision);
  if (!factor->packed && many)
    plait_tape_pack (tape, factor, transposed);
}

/* Adds the gradients that the rows collected in @entry give to the weight and the bias. */
static void
multiply_collected (PlaitTape *tape, PlaitWeightReuse *entry)
{
  PlaitLinearBackward work = {
    .dz = plait_tensor_rows (entry->dz, 0, entry->rows),
    .x = plait_tensor_rows (entry->x, 0, entry->rows),
    .precision = tape->precision,
  };

  work.dweight = plait_gradient_if_needed (tape, entry->weight, &work.dweight_beta);
  work.dbias = plait_gradient_if_needed (tape, entry->bias, &work.dbias_beta);
  plait_linear_backward (tape->pool, &work);
  entry->rows = 0;
}

/* TRUE if @entry is not NULL and can collect rows for @weight and @bias. */
static gboolean
takes (const PlaitWeightReuse *entry, const PlaitNode *weight, const PlaitNode *bias)
{
  if (!entry || !weight->needs_gradient || (bias && (bias->operation || bias->whole)))
    return FALSE;
  return !entry->x.data || entry->bias == bias;
}

void
plait_weight_reuse_collect (PlaitTape *tape, PlaitNode *weight, PlaitNode *bias, PlaitTensor x, PlaitTensor dz)
{
  PlaitWeightReuse *entry = reuse (tape, weight, x.rows);

  if (!takes (entry, weight, bias))
    {
      PlaitWeightReuse alone = { .weight = weight, .bias = bias, .x = x, .dz = dz, .rows = x.rows };

      multiply_collected (tape, &alone);
      return;
    }
  if (!entry->x.data)
    {
      entry->bias = bias;
      entry->x = plait_tape_tensor (tape, MAX_ROWS, x.width);
      entry->dz = plait_tape_tensor (tape, MAX_ROWS, dz.width);
    }
  if (entry->rows + x.rows > MAX_ROWS)
    multiply_collected (tape, entry);
  plait_tensor_accumulate (tape->pool, plait_tensor_rows (entry->x, entry->rows, x.rows), 0, 1, x);
  plait_tensor_accumulate (tape->pool, plait_tensor_rows (entry->dz, entry->rows, x.rows), 0, 1, dz);
  entry->rows += x.rows;
}

/* Returns the place of the first node that can use the weight and the bias of @entry together. */
static gint
last_place (const PlaitWeightReuse *entry)
{
  return MAX (entry->weight->place, entry->bias ? entry->bias->place : 0);
}

void
plait_weight_reuse_flush (PlaitTape *tape, gint left)
{
  for (PlaitWeightReuse *entry = tape->reuse; entry; entry = entry->next)
    if (entry->rows > 0 && left <= last_place (entry))
      multiply_collected (tape, entry);
}
