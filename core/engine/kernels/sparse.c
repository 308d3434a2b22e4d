/* SPDX-License-Identifier: MIT */
#include "kernels/variant.h"
#include "kernels/partial-vectors.h"
#include "kernels/gradient-terms.h"

/* Kernels for queries with selected rows of a memory. Selected row i is at rows + row[i] * stride. */

/* Number of rows whose products with a query are summed at once. */
#define ROWS 4

/* Number of vectors of a row that stay in registers in sum_rows and spread_rows. */
#define VECTORS 8
/* Number of vectors of a row that stay in registers in backward of additive scores, where each vector needs four
 * registers. */
#if defined(__AVX512F__) || defined(__ARM_NEON)
#define ADDITIVE_VECTORS 4
#else
#define ADDITIVE_VECTORS 1
#endif

static inline __attribute__ ((always_inline)) void
dots (const int n, PlaitScalar *y, PlaitScalar scale, const PlaitScalar *x, const PlaitScalar *rows, gint64 stride,
      const gint64 *row, gint64 width)
{
  Vector sums[ROWS];
  gint64 i = 0;

  UNROLL
  for (int k = 0; k < n; k++)
    sums[k] = (Vector){ 0 };
  for (; i + VECTOR_LENGTH <= width; i += VECTOR_LENGTH)
    UNROLL
  for (int k = 0; k < n; k++)
    sums[k] += vector_load (x + i) * vector_load (rows + row[k] * stride + i);
  if (i < width)
    UNROLL
  for (int k = 0; k < n; k++)
    sums[k] += take (x + i, width - i) * take (rows + row[k] * stride + i, width - i);
  UNROLL
  for (int k = 0; k < n; k++)
    y[k] = scale * vector_sum (sums[k]);
}

void
KERNEL (dot_rows) (PlaitScalar *y, PlaitScalar scale, const PlaitScalar *x, const PlaitScalar *rows, gint64 stride,
                   const gint64 *row, gint64 n, gint64 width)
{
  gint64 i = 0;

  for (; i + ROWS <= n; i += ROWS)
    dots (ROWS, y + i, scale, x, rows, stride, row + i, width);
  for (; i < n; i++)
    dots (1, y + i, scale, x, rows, stride, row + i, width);
}

/* Computes @vectors vectors of the sum of rows; the last vector has @last elements. */
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

/* Calls @part for columns @i .. @width - 1, with as many vectors at once as fit into registers. */
#define EACH_PART(part, i, width, ...)                                                                                 \
  for (; i + VECTORS * VECTOR_LENGTH <= width; i += VECTORS * VECTOR_LENGTH)                                           \
    part (VECTORS, VECTOR_LENGTH, __VA_ARGS__);                                                                        \
  for (; i + VECTORS / 2 * VECTOR_LENGTH <= width; i += VECTORS / 2 * VECTOR_LENGTH)                                   \
    part (VECTORS / 2, VECTOR_LENGTH, __VA_ARGS__);                                                                    \
  for (; i + VECTORS / 4 * VECTOR_LENGTH <= width; i += VECTORS / 4 * VECTOR_LENGTH)                                   \
    part (VECTORS / 4, VECTOR_LENGTH, __VA_ARGS__);                                                                    \
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

/* Adds the gradients for @vectors vectors of columns. Visits the rows one after another, so that query, vector and
 * their gradients stay in registers. */
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
          Vector dx = PLAIT_GRADIENT_TERM (sparse_additive_scores_one, dt)
                      - PLAIT_GRADIENT_TERM (sparse_additive_scores_square, dt * t * t);

          dvector[v] += PLAIT_GRADIENT_TERM (sparse_additive_scores_vector, dscore * t);
          dquery[v] += PLAIT_GRADIENT_TERM (sparse_additive_scores_query, dx);
          if (job->dkeys)
            {
              PlaitScalar *to = job->dkeys + job->row[k] * job->dstride + column + v * VECTOR_LENGTH;

              put (to, take (to, here) + PLAIT_GRADIENT_TERM (sparse_additive_scores_key, dx), here);
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

/* Writes the softmax of @n scores. If a score is NaN, all weights are NaN. */
static inline __attribute__ ((always_inline)) void
softmax (PlaitScalar *weights, const PlaitScalar *scores, gint64 n)
{
  const PlaitScalar lowest = -(PlaitScalar)INFINITY;
  Vector most = vector_all (lowest), sum = { 0 };
  PlaitScalar greatest, factor;

  for (gint64 i = 0; i < n; i += VECTOR_LENGTH)
    most = vector_maximum (vector_load_partial (scores + i, MIN (n - i, VECTOR_LENGTH), lowest), most);
  greatest = vector_greatest (most);
  for (gint64 i = 0; i < n; i += VECTOR_LENGTH)
    {
      gint64 here = MIN (n - i, VECTOR_LENGTH);
      Vector x = vector_exp (vector_load_partial (scores + i, here, lowest) - greatest);

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

/* Returns a vector whose lanes sum to the dot product of two rows. The rows are @vectors vectors wide, or @width
 * scalars if @vectors is 0. */
static inline __attribute__ ((always_inline)) Vector
product_of_rows (const int vectors, const PlaitScalar *x, const PlaitScalar *y, gint64 width)
{
  Vector sum = { 0 };
  gint64 i = 0;

  UNROLL
  for (int v = 0; v < vectors; v++)
    sum += vector_load (x + v * VECTOR_LENGTH) * vector_load (y + v * VECTOR_LENGTH);
  for (; vectors == 0 && i + VECTOR_LENGTH <= width; i += VECTOR_LENGTH)
    sum += vector_load (x + i) * vector_load (y + i);
  if (vectors == 0 && i < width)
    sum += take (x + i, width - i) * take (y + i, width - i);
  return sum;
}

/* Returns one vector with the scores of the query with the rows of @n sets: lane s * group + i is row i of set s. Each
 * set has at most @group rows. Unused lanes repeat the last row or the last set. */
static inline __attribute__ ((always_inline)) Vector
products (const int group, const int vectors, const PlaitRowScores *from, const PlaitSiblings *sets, gint64 n)
{
  Vector sums[LANES];

  UNROLL
  for (int i = 0; i < LANES; i++)
    {
      const PlaitSiblings *set = &sets[MIN (i / group, n - 1)];
      gint64 row = set->first + MIN (i % group, MAX (set->n, 1) - 1);

      sums[i] = product_of_rows (vectors, from->query + set->column, from->rows + set->column + row * from->stride,
                                 from->width);
    }
  return from->scale * vector_sums (sums);
}

/* One step of a sum or a maximum over each group of @group neighbouring lanes. After all steps, each lane has the
 * result of its group. */
#define ADD_WITHIN(distance)                                                                                           \
  if ((distance) < group)                                                                                              \
    sum += SHUFFLE (sum, sum, FROM_SWAPPED, distance);
#define COMPARE_WITHIN(distance)                                                                                       \
  if ((distance) < group)                                                                                              \
    greatest = vector_maximum (greatest, SHUFFLE (greatest, greatest, FROM_SWAPPED, distance));

static inline PlaitScalar
additive_score_of (const PlaitRowScores *from, const PlaitSiblings *set, gint64 i)
{
  return KERNEL (additive_score) (from->query + set->column, from->rows + (set->first + i) * from->stride + set->column,
                                  NULL, from->vector, from->width);
}

/* Computes the softmax of @n sets of at most @group rows in one vector. Gives the same bits as softmax. Writes @group
 * scalars for each set, also for a set of fewer rows. */
static inline __attribute__ ((always_inline)) void
weigh_together (const int group, const int vectors, const PlaitRowScores *from, const PlaitSiblings *sets, gint64 n,
                PlaitScalar *weights, PlaitScalar *path)
{
  PlaitScalar scores[LANES] = { 0 }, paths[LANES];
  const Vector lowest = vector_all (-(PlaitScalar)INFINITY);
  const IntegerVector lanes = vector_lanes ();
  IntegerVector here = lanes < 0;
  Vector above = { 0 }, x, greatest, sum;

  for (gint64 s = 0; s < n; s++)
    {
      here |= (lanes >= (VectorInteger)(s * group)) & (lanes < (VectorInteger)(s * group + sets[s].n));
      above = vector_choose (lanes >= (VectorInteger)(s * group), vector_all (sets[s].path), above);
      for (gint64 i = 0; from->vector && i < sets[s].n; i++)
        scores[s * group + i] = additive_score_of (from, &sets[s], i);
    }
  x = vector_choose (here, from->vector ? vector_load (scores) : products (group, vectors, from, sets, n), lowest);
  greatest = vector_maximum (x, lowest);
  EACH_DISTANCE (COMPARE_WITHIN)
  x = vector_choose (here, vector_exp (x - greatest), (Vector){ 0 });
  sum = x;
  EACH_DISTANCE (ADD_WITHIN)
  x = 1 / sum * x;
  vector_store (scores, x);
  vector_store (paths, above * x);
  for (gint64 s = 0; s < n; s++)
    {
      memcpy (weights + sets[s].offset, scores + s * group, sizeof (PlaitScalar) * (gsize)group);
      memcpy (path + sets[s].offset, paths + s * group, sizeof (PlaitScalar) * (gsize)group);
    }
}

/* Computes the softmax of a set with any number of rows. */
static void
weigh_many (const PlaitRowScores *from, const PlaitSiblings *set, PlaitScalar *weights, PlaitScalar *path)
{
  for (gint64 i = 0; i < set->n; i += VECTOR_LENGTH)
    {
      PlaitSiblings part = { set->first + i, MIN (set->n - i, VECTOR_LENGTH), set->column };

      for (gint64 k = 0; from->vector && k < part.n; k++)
        weights[i + k] = additive_score_of (from, &part, k);
      if (!from->vector)
        put (weights + i, products (LANES, 0, from, &part, 1), part.n);
    }
  softmax (weights, weights, set->n);
  for (gint64 i = 0; i < set->n; i++)
    path[i] = set->path * weights[i];
}

/* Calls weigh_together for @n sets, as many at a time as fit into a vector. */
static inline __attribute__ ((always_inline)) void
weigh_few (const int group, const int vectors, const PlaitRowScores *from, const PlaitSiblings *sets, gint64 n,
           PlaitScalar *weights, PlaitScalar *path)
{
  for (gint64 s = 0; s < n; s += LANES / group)
    weigh_together (group, vectors, from, sets + s, MIN (n - s, LANES / group), weights, path);
}

static inline __attribute__ ((always_inline)) void
weigh_sets (const int vectors, gint64 most, const PlaitRowScores *from, const PlaitSiblings *sets, gint64 n,
            PlaitScalar *weights, PlaitScalar *path)
{
  if (LANES >= 4 && most <= LANES / 4)
    weigh_few (MAX (1, LANES / 4), vectors, from, sets, n, weights, path);
  else if (most <= LANES / 2)
    weigh_few (LANES / 2, vectors, from, sets, n, weights, path);
  else
    weigh_few (LANES, vectors, from, sets, n, weights, path);
}

void
KERNEL (weigh_siblings) (const PlaitRowScores *from, const PlaitSiblings *sets, gint64 n, PlaitScalar *weights,
                         PlaitScalar *path)
{
  gint64 most = 0;

  for (gint64 s = 0; s < n; s++)
    most = MAX (most, sets[s].n);
  if (most > LANES)
    for (gint64 s = 0; s < n; s++)
      weigh_many (from, &sets[s], weights + sets[s].offset, path + sets[s].offset);
  else if (most > 0 && from->width == 2 * VECTOR_LENGTH)
    weigh_sets (2, most, from, sets, n, weights, path);
  else if (most > 0 && from->width == 4 * VECTOR_LENGTH)
    weigh_sets (4, most, from, sets, n, weights, path);
  else if (most > 0)
    weigh_sets (0, most, from, sets, n, weights, path);
}

/* The rank of a lane is the number of lanes with a greater value, plus the number of earlier lanes with an equal value.
 * All ranks are counted at once, without waiting for the best lane so far. Floats are compared as integers: with the
 * magnitude of negative floats inverted, their bits have the order of the floats. Subtracting 1 in later lanes lets an
 * earlier lane with an equal value count. NaN counts as -infinity. */
guint32
KERNEL (best_lanes) (const PlaitScalar *x, gint64 n, gint64 most)
{
  const Vector lowest = vector_all (-(PlaitScalar)INFINITY), one = vector_all (1);
  const IntegerVector lanes = vector_lanes ();
  const gint sign = 8 * sizeof (VectorInteger) - 1;
  Vector numbers = vector_load_partial (x, n, -(PlaitScalar)INFINITY);
  IntegerVector order, ranks = { 0 };
  VectorInteger each[LANES];

  if (n <= most)
    return (guint32)((G_GUINT64_CONSTANT (1) << n) - 1);
  order = (IntegerVector)(vector_choose (numbers == numbers, numbers, lowest) + vector_all (0));
  order ^= (order >> sign) & ~(IntegerVector)vector_all (-(PlaitScalar)0);
  memcpy (each, &order, sizeof each);
  for (VectorInteger i = 0; i < n; i++)
    ranks -= each[i] > order + (lanes > i);
  return vector_at_least (vector_choose (ranks < (VectorInteger)most, one, -one), 1);
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
  sum = PLAIT_GRADIENT_TERM (sparse_softmax_normaliser, vector_sum (sums));
  for (gint64 i = 0; i < n; i += VECTOR_LENGTH)
    {
      gint64 here = MIN (n - i, VECTOR_LENGTH);
      Vector x
          = take (weights + i, here) * (PLAIT_GRADIENT_TERM (sparse_softmax_weight, take (dweights + i, here)) - sum);

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
