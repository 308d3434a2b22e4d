/* SPDX-License-Identifier: MIT */
#include "tensor/kernels/variant.h"
#include "tensor/kernels/parts.h"
#include "tensor/terms.h"

/* Queries and the rows that they have chosen, which stand anywhere: row i is @row[i], @stride apart from the next. */

/* Products of rows with queries side by side, as many as a vector has lanes. */
#if defined(PLAIT_SCALAR_DOUBLE) && !defined(__AVX__)
#define ROWS 2
#else
#define ROWS 4
#endif
#define QUERIES (VECTOR_BYTES / (int)sizeof (PlaitScalar) / ROWS)

/* Vectors of a sum of rows, and of what is added to rows, that stay in registers. */
#define VECTORS 8
/* The same of additive scores, which keep four numbers a column. */
#if defined(__AVX512F__) || defined(__ARM_NEON)
#define ADDITIVE_VECTORS 4
#else
#define ADDITIVE_VECTORS 1
#endif

/* @n rows with @queries queries. */
static inline __attribute__ ((always_inline)) void
dots (const int n, const int queries, PlaitScalar *y, gint64 y_stride, PlaitScalar scale, const PlaitScalar *x,
      gint64 x_stride, const PlaitScalar *const *rows, gint64 width)
{
  Vector sums[VECTOR_BYTES / sizeof (PlaitScalar)];
  gint64 i = 0;

  UNROLL
  for (int k = 0; k < n * queries; k++)
    sums[k] = (Vector){ 0 };
  for (; i + VECTOR_LENGTH <= width; i += VECTOR_LENGTH)
    UNROLL
  for (int q = 0; q < queries; q++)
    UNROLL
  for (int k = 0; k < n; k++)
    sums[q * n + k] += vector_load (x + q * x_stride + i) * vector_load (rows[k] + i);
  if (i < width)
    UNROLL
  for (int q = 0; q < queries; q++)
    UNROLL
  for (int k = 0; k < n; k++)
    sums[q * n + k] += take (x + q * x_stride + i, width - i) * take (rows[k] + i, width - i);
  if (n * queries == VECTOR_LENGTH)
    {
      PlaitScalar products[VECTOR_BYTES / sizeof (PlaitScalar)];

      vector_store (products, scale * vector_sums (sums));
      UNROLL
      for (int q = 0; q < queries; q++)
        memcpy (y + q * y_stride, products + q * n, sizeof (PlaitScalar) * (gsize)n);
    }
  else
    UNROLL
  for (int q = 0; q < queries; q++)
    UNROLL
  for (int k = 0; k < n; k++)
    y[q * y_stride + k] = scale * vector_sum (sums[q * n + k]);
}

/* @n rows with all of @queries queries. */
static inline __attribute__ ((always_inline)) void
dots_of_all (const int n, gint64 queries, PlaitScalar *y, gint64 y_stride, PlaitScalar scale, const PlaitScalar *x,
             gint64 x_stride, const PlaitScalar *rows, gint64 stride, const gint64 *row, gint64 width)
{
  const PlaitScalar *at[ROWS];
  gint64 q = 0;

  for (int k = 0; k < n; k++)
    at[k] = rows + row[k] * stride;
  for (; q + QUERIES <= queries; q += QUERIES)
    dots (n, QUERIES, y + q * y_stride, y_stride, scale, x + q * x_stride, x_stride, at, width);
  for (; q < queries; q++)
    dots (n, 1, y + q * y_stride, y_stride, scale, x + q * x_stride, x_stride, at, width);
}

void
KERNEL (dot_rows) (gint64 queries, PlaitScalar *y, gint64 y_stride, PlaitScalar scale, const PlaitScalar *x,
                   gint64 x_stride, const PlaitScalar *rows, gint64 stride, const gint64 *row, gint64 n, gint64 width)
{
  gint64 i = 0;

  for (; i + ROWS <= n; i += ROWS)
    dots_of_all (ROWS, queries, y + i, y_stride, scale, x, x_stride, rows, stride, row + i, width);
  for (; i < n; i++)
    dots_of_all (1, queries, y + i, y_stride, scale, x, x_stride, rows, stride, row + i, width);
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

/* Rows are taken one after another, so that what they share stays in registers. */
static inline __attribute__ ((always_inline)) void
additive_part (const int vectors, gint64 last, const PlaitAdditiveRows *job, gint64 column)
{
  Vector query[VECTORS], vector[VECTORS], dquery[VECTORS], dvector[VECTORS];

  UNROLL
  for (int v = 0; v < vectors; v++)
    {
      gint64 i = column + v * VECTOR_LENGTH, here = v == vectors - 1 ? last : VECTOR_LENGTH;

      query[v] = take (job->query + i, here);
      vector[v] = take (job->vector + i, here);
      dquery[v] = dvector[v] = (Vector){ 0 };
    }
  for (gint64 k = 0; k < job->n; k++)
    {
      const PlaitScalar *key = job->keys + job->row[k] * job->stride + column;
      PlaitScalar dscore = job->dscores[k];

      UNROLL
      for (int v = 0; v < vectors; v++)
        {
          gint64 here = v == vectors - 1 ? last : VECTOR_LENGTH;
          Vector t = vector_tanh (query[v] + take (key + v * VECTOR_LENGTH, here)), dt = dscore * vector[v];
          Vector dx = PLAIT_TERM (chosen_additive_one, dt) - PLAIT_TERM (chosen_additive_square, dt * t * t);

          dvector[v] += PLAIT_TERM (chosen_additive_vector, dscore * t);
          dquery[v] += PLAIT_TERM (chosen_additive_query, dx);
          if (job->dkeys)
            {
              PlaitScalar *to = job->dkeys + job->row[k] * job->dstride + column + v * VECTOR_LENGTH;

              put (to, take (to, here) + PLAIT_TERM (chosen_additive_key, dx), here);
            }
        }
    }
  UNROLL
  for (int v = 0; v < vectors; v++)
    {
      gint64 i = column + v * VECTOR_LENGTH, here = v == vectors - 1 ? last : VECTOR_LENGTH;

      if (job->dquery)
        put (job->dquery + i, take (job->dquery + i, here) + dquery[v], here);
      put (job->dvector + i, take (job->dvector + i, here) + dvector[v], here);
    }
}

void
KERNEL (additive_rows_backward) (const PlaitAdditiveRows *job, gint64 width)
{
  gint64 i = 0;

  for (; i + ADDITIVE_VECTORS * VECTOR_LENGTH <= width; i += ADDITIVE_VECTORS * VECTOR_LENGTH)
    additive_part (ADDITIVE_VECTORS, VECTOR_LENGTH, job, i);
  for (; i + VECTOR_LENGTH <= width; i += VECTOR_LENGTH)
    additive_part (1, VECTOR_LENGTH, job, i);
  if (i < width)
    additive_part (1, width - i, job, i);
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

/* exp (score - greatest) of a set that is one vector, divided by their sum: the bits of softmax. */
static inline __attribute__ ((always_inline)) Vector
softmax_of_few (Vector scores, gint64 n)
{
  const Vector lowest = vector_all (-(PlaitScalar)INFINITY);
  IntegerVector here = vector_lanes () < (VectorInteger)n;
  PlaitScalar greatest = vector_greatest (vector_maximum (vector_choose (here, scores, lowest), lowest));
  Vector x = vector_choose (here, vector_exp (scores - greatest), (Vector){ 0 });

  return 1 / vector_sum (x) * x;
}

/* Products of a query with @n rows that follow one another, @most at most. */
static inline __attribute__ ((always_inline)) Vector
products_of_few (const int most, const PlaitRowScores *from, const PlaitScalar *rows, gint64 n)
{
  const PlaitScalar *at[LANES];
  Vector sums[LANES];
  gint64 i = 0;

  UNROLL
  for (int k = 0; k < LANES; k++)
    sums[k] = (Vector){ 0 };
  UNROLL
  for (int k = 0; k < most; k++)
    at[k] = rows + MIN (k, n - 1) * from->stride;
  for (; i + VECTOR_LENGTH <= from->width; i += VECTOR_LENGTH)
    UNROLL
  for (int k = 0; k < most; k++)
    sums[k] += vector_load (from->query + i) * vector_load (at[k] + i);
  if (i < from->width)
    UNROLL
  for (int k = 0; k < most; k++)
    sums[k] += take (from->query + i, from->width - i) * take (at[k] + i, from->width - i);
  return from->scale * vector_sums (sums);
}

/* Scores of @n rows from @rows on, a vector of them at most. */
static inline __attribute__ ((always_inline)) Vector
scores_of_few (const PlaitRowScores *from, const PlaitScalar *rows, gint64 n)
{
  PlaitScalar scores[LANES] = { 0 };

  if (!from->vector && n <= LANES / 4)
    return products_of_few (LANES / 4, from, rows, n);
  if (!from->vector && n <= LANES / 2)
    return products_of_few (LANES / 2, from, rows, n);
  if (!from->vector)
    return products_of_few (LANES, from, rows, n);
  for (gint64 i = 0; i < n; i++)
    scores[i] = KERNEL (additive_score) (from->query, rows + i * from->stride, NULL, from->vector, from->width);
  return vector_load (scores);
}

void
KERNEL (weigh_siblings) (const PlaitRowScores *from, const PlaitSiblings *sets, gint64 n, PlaitScalar *weights,
                         PlaitScalar *path)
{
  for (gint64 s = 0; s < n; s++)
    {
      const PlaitScalar *rows = from->rows + sets[s].first * from->stride;
      gint64 number = sets[s].n;

      if (number > 0 && number <= VECTOR_LENGTH)
        {
          Vector x = softmax_of_few (scores_of_few (from, rows, number), number);

          put (weights, x, number);
          put (path, sets[s].path * x, number);
        }
      else
        {
          for (gint64 i = 0; i < number; i += VECTOR_LENGTH)
            {
              gint64 here = MIN (number - i, VECTOR_LENGTH);

              put (weights + i, scores_of_few (from, rows + i * from->stride, here), here);
            }
          softmax (weights, weights, number);
          for (gint64 i = 0; i < number; i++)
            path[i] = sets[s].path * weights[i];
        }
      weights += number;
      path += number;
    }
}

void
KERNEL (extent) (const gint64 *numbers, gint64 n, gint64 *least, gint64 *greatest)
{
  gint64 low = G_MAXINT64, high = -1;

  for (gint64 i = 0; i < n; i++)
    {
      low = MIN (low, numbers[i]);
      high = MAX (high, numbers[i]);
    }
  *least = low;
  *greatest = high;
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
