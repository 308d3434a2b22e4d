/* SPDX-License-Identifier: MIT */
#include "tensor/kernels/levels.h"
#include "tensor/kernels/parts.h"
#include "tensor/terms.h"

/* A query and the rows that it has chosen, which stand anywhere: row i is @row[i], @stride apart from the next. */

/* Rows whose products are summed side by side. */
#define ROWS 4

/* Vectors of a sum of rows, and of what is added to rows, that stay in registers. */
#define VECTORS 8

static inline __attribute__ ((always_inline)) void
dots (PlaitScalar *y, PlaitScalar scale, const PlaitScalar *x, const PlaitScalar *const *rows, const int n,
      gint64 width)
{
  Vector sums[ROWS], others[ROWS];
  gint64 i = 0;

  UNROLL
  for (int k = 0; k < n; k++)
    sums[k] = others[k] = (Vector){ 0 };
  for (; i + 2 * VECTOR_LENGTH <= width; i += 2 * VECTOR_LENGTH)
    UNROLL
  for (int k = 0; k < n; k++)
    {
      sums[k] += vector_load (x + i) * vector_load (rows[k] + i);
      others[k] += vector_load (x + i + VECTOR_LENGTH) * vector_load (rows[k] + i + VECTOR_LENGTH);
    }
  for (; i < width; i += VECTOR_LENGTH)
    {
      gint64 here = MIN (width - i, VECTOR_LENGTH);

      UNROLL
      for (int k = 0; k < n; k++)
        sums[k] += take (x + i, here) * take (rows[k] + i, here);
    }
  UNROLL
  for (int k = 0; k < n; k++)
    y[k] = scale * vector_sum (sums[k] + others[k]);
}

void
KERNEL (dot_rows) (PlaitScalar *y, PlaitScalar scale, const PlaitScalar *x, const PlaitScalar *rows, gint64 stride,
                   const gint64 *row, gint64 n, gint64 width)
{
  gint64 i = 0;

  for (; i + ROWS <= n; i += ROWS)
    {
      const PlaitScalar *at[ROWS];

      for (int k = 0; k < ROWS; k++)
        at[k] = rows + row[i + k] * stride;
      dots (y + i, scale, x, at, ROWS, width);
    }
  for (; i < n; i++)
    {
      const PlaitScalar *at = rows + row[i] * stride;

      dots (y + i, scale, x, &at, 1, width);
    }
}

/* The last of the vectors has @last elements. */
static inline __attribute__ ((always_inline)) void
sum_part (const int vectors, gint64 last, PlaitScalar *y, gboolean add, const PlaitScalar *numbers,
          const PlaitScalar *rows, gint64 stride, const gint64 *row, gint64 n)
{
  Vector sums[VECTORS];

  UNROLL
  for (int v = 0; v < vectors; v++)
    sums[v] = (Vector){ 0 };
  for (gint64 i = 0; i < n; i++)
    {
      const PlaitScalar *at = rows + row[i] * stride;
      PlaitScalar number = numbers[i];

      UNROLL
      for (int v = 0; v < vectors; v++)
        sums[v] += number * take (at + v * VECTOR_LENGTH, v == vectors - 1 ? last : VECTOR_LENGTH);
    }
  UNROLL
  for (int v = 0; v < vectors; v++)
    {
      PlaitScalar *to = y + v * VECTOR_LENGTH;
      gint64 here = v == vectors - 1 ? last : VECTOR_LENGTH;

      put (to, add ? take (to, here) + sums[v] : sums[v], here);
    }
}

/* Calls @part for as many vectors of @width at once as there are registers, from @i on. */
#define EACH_PART(part, i, width, ...)                                                                                 \
  for (; i + VECTORS * VECTOR_LENGTH <= width; i += VECTORS * VECTOR_LENGTH)                                           \
    part (VECTORS, VECTOR_LENGTH, __VA_ARGS__);                                                                        \
  for (; i + VECTORS / 2 * VECTOR_LENGTH <= width; i += VECTORS / 2 * VECTOR_LENGTH)                                   \
    part (VECTORS / 2, VECTOR_LENGTH, __VA_ARGS__);                                                                    \
  for (; i + VECTOR_LENGTH <= width; i += VECTOR_LENGTH)                                                               \
    part (1, VECTOR_LENGTH, __VA_ARGS__);                                                                              \
  if (i < width)                                                                                                       \
  part (1, width - i, __VA_ARGS__)

void
KERNEL (sum_rows) (PlaitScalar *y, gboolean add, const PlaitScalar *numbers, const PlaitScalar *rows, gint64 stride,
                   const gint64 *row, gint64 n, gint64 width)
{
  gint64 i = 0;

  EACH_PART (sum_part, i, width, y + i, add, numbers, rows + i, stride, row, n);
}

static inline __attribute__ ((always_inline)) void
spread_part (const int vectors, gint64 last, PlaitScalar *rows, gint64 stride, const gint64 *row, gint64 n,
             const PlaitScalar *numbers, const PlaitScalar *x)
{
  Vector kept[VECTORS];

  UNROLL
  for (int v = 0; v < vectors; v++)
    kept[v] = take (x + v * VECTOR_LENGTH, v == vectors - 1 ? last : VECTOR_LENGTH);
  for (gint64 i = 0; i < n; i++)
    {
      PlaitScalar *at = rows + row[i] * stride, number = numbers[i];

      UNROLL
      for (int v = 0; v < vectors; v++)
        {
          PlaitScalar *to = at + v * VECTOR_LENGTH;
          gint64 here = v == vectors - 1 ? last : VECTOR_LENGTH;

          put (to, take (to, here) + number * kept[v], here);
        }
    }
}

void
KERNEL (spread_rows) (PlaitScalar *rows, gint64 stride, const gint64 *row, gint64 n, const PlaitScalar *numbers,
                      const PlaitScalar *x, gint64 width)
{
  gint64 i = 0;

  EACH_PART (spread_part, i, width, rows + i, stride, row, n, numbers, x + i);
}

static inline __attribute__ ((always_inline)) void
additive_part (const PlaitAdditiveRows *job, gint64 i, gint64 here)
{
  Vector query = take (job->query + i, here), vector = take (job->vector + i, here);
  Vector dquery = { 0 }, dvector = { 0 };

  for (gint64 k = 0; k < job->n; k++)
    {
      PlaitScalar dscore = job->dscores[k];
      Vector t = vector_tanh (query + take (job->keys + job->row[k] * job->stride + i, here));
      Vector dt = dscore * vector;
      Vector dx = PLAIT_TERM (chosen_additive_one, dt) - PLAIT_TERM (chosen_additive_square, dt * t * t);

      dvector += PLAIT_TERM (chosen_additive_vector, dscore * t);
      dquery += PLAIT_TERM (chosen_additive_query, dx);
      if (job->dkeys != NULL)
        {
          PlaitScalar *to = job->dkeys + job->row[k] * job->dstride + i;

          put (to, take (to, here) + PLAIT_TERM (chosen_additive_key, dx), here);
        }
    }
  if (job->dquery != NULL)
    put (job->dquery + i, take (job->dquery + i, here) + dquery, here);
  put (job->dvector + i, take (job->dvector + i, here) + dvector, here);
}

void
KERNEL (additive_rows_backward) (const PlaitAdditiveRows *job, gint64 width)
{
  gint64 i = 0;

  for (; i + VECTOR_LENGTH <= width; i += VECTOR_LENGTH)
    additive_part (job, i, VECTOR_LENGTH);
  if (i < width)
    additive_part (job, i, width - i);
}

/* exp (score - greatest) of the set, divided by their sum. NaN is passed over by the greatest, not by the sum. */
static inline __attribute__ ((always_inline)) void
softmax (PlaitScalar *weights, const PlaitScalar *scores, gint64 n)
{
  const PlaitScalar lowest = -(PlaitScalar)INFINITY;
  Vector most = vector_all (lowest), sum = { 0 };
  PlaitScalar greatest, factor;

  for (gint64 i = 0; i < n; i += VECTOR_LENGTH)
    most = vector_maximum (vector_load_part (scores + i, MIN (n - i, VECTOR_LENGTH), lowest), most);
  greatest = vector_greatest (most);
  for (gint64 i = 0; i < n; i += VECTOR_LENGTH)
    {
      gint64 here = MIN (n - i, VECTOR_LENGTH);
      Vector x = vector_exp (vector_load_part (scores + i, here, lowest) - greatest);

      sum += x;
      put (weights + i, x, here);
    }
  factor = 1 / vector_sum (sum);
  for (gint64 i = 0; i < n; i += VECTOR_LENGTH)
    {
      gint64 here = MIN (n - i, VECTOR_LENGTH);

      put (weights + i, factor * take (weights + i, here), here);
    }
}

void
KERNEL (softmax_sets) (PlaitScalar *weights, const PlaitScalar *scores, const gint64 *offsets, gint64 n)
{
  for (gint64 s = 0; s < n; s++)
    softmax (weights + offsets[s], scores + offsets[s], offsets[s + 1] - offsets[s]);
}

static inline __attribute__ ((always_inline)) void
softmax_backward (PlaitScalar *dscores, gboolean add, const PlaitScalar *dweights, const PlaitScalar *weights, gint64 n)
{
  Vector sums = { 0 };
  PlaitScalar sum;

  for (gint64 i = 0; i < n; i += VECTOR_LENGTH)
    sums += take (weights + i, MIN (n - i, VECTOR_LENGTH)) * take (dweights + i, MIN (n - i, VECTOR_LENGTH));
  sum = PLAIT_TERM (chosen_weights_normaliser, vector_sum (sums));
  for (gint64 i = 0; i < n; i += VECTOR_LENGTH)
    {
      gint64 here = MIN (n - i, VECTOR_LENGTH);
      Vector x = take (weights + i, here) * (PLAIT_TERM (chosen_weights_weight, take (dweights + i, here)) - sum);

      put (dscores + i, add ? take (dscores + i, here) + x : x, here);
    }
}

void
KERNEL (softmax_sets_backward) (PlaitScalar *dscores, gboolean add, const PlaitScalar *dweights,
                                const PlaitScalar *weights, const gint64 *offsets, gint64 n)
{
  for (gint64 s = 0; s < n; s++)
    softmax_backward (dscores + offsets[s], add, dweights + offsets[s], weights + offsets[s],
                      offsets[s + 1] - offsets[s]);
}
