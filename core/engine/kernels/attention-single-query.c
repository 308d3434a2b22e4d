/* SPDX-License-Identifier: MIT */
#include "kernels/attention-piece.h"

/*
 * Attention of one query, as in a step of search: all heads, one memory, rows read in place. With one query,
 * transposing the keys for the register tile would cost more than the products.
 */

static inline const PlaitScalar *
row_of (const PlaitAttentionMemory *memory, PlaitTensor tensor, gint64 sentence, gint64 i)
{
  gint64 at = memory->rows.offsets[sentence] + i;

  return plait_tensor_row (tensor, memory->gather ? memory->gather[at] : at);
}

/* Writes scores [heads][stride] of the query with @n keys from key @start on, unscaled. A head is @vectors vectors
 * wide. */
static inline __attribute__ ((always_inline)) void
score (const PlaitAttentionJob *job, gint64 sentence, const PlaitScalar *query, PlaitScalar *scores, gint64 start,
       gint64 n, gint64 stride, const int vectors)
{
  const PlaitAttentionMemory *memory = &job->memories[0];

  for (gint64 first = 0; first < n; first += VECTOR_LENGTH)
    {
      const PlaitScalar *keys[VECTOR_BYTES / sizeof (PlaitScalar)];

      for (gint64 i = 0; i < VECTOR_LENGTH; i++)
        keys[i] = row_of (memory, memory->keys, sentence, start + MIN (first + i, n - 1));
      for (guint head = 0; head < job->settings->heads; head++)
        {
          gint64 column = (gint64)head * vectors * VECTOR_LENGTH;
          Vector part[VECTOR_BYTES / sizeof (PlaitScalar)];

          UNROLL
          for (gint64 i = 0; i < VECTOR_LENGTH; i++)
            {
              part[i] = vector_load (query + column) * vector_load (keys[i] + column);
              UNROLL
              for (int v = 1; v < vectors; v++)
                part[i] += vector_load (query + column + v * VECTOR_LENGTH)
                           * vector_load (keys[i] + column + v * VECTOR_LENGTH);
            }
          vector_store (scores + head * stride + first, vector_sums (part));
        }
    }
}

/* Replaces @n scores by exp (scale * (score - greatest)), and the padding up to a whole vector by zeros. Returns the
 * inverse of their sum. */
static PlaitScalar
softmax (PlaitScalar *scores, gint64 n, PlaitScalar scale)
{
  const Vector lowest = vector_all (-(PlaitScalar)INFINITY);
  const IntegerVector lanes = vector_lanes ();
  Vector greatest = lowest, sum = { 0 };
  PlaitScalar shift;

  for (gint64 i = 0; i < n; i += VECTOR_LENGTH)
    {
      IntegerVector here = lanes < (VectorInteger)MIN (n - i, VECTOR_LENGTH);

      greatest = vector_maximum (greatest, vector_choose (here, vector_load (scores + i), lowest));
    }
  shift = vector_greatest (greatest) * scale;
  for (gint64 i = 0; i < n; i += VECTOR_LENGTH)
    {
      IntegerVector here = lanes < (VectorInteger)MIN (n - i, VECTOR_LENGTH);
      Vector weight = vector_choose (here, vector_exp (vector_load (scores + i) * scale - shift), (Vector){ 0 });

      sum += weight;
      vector_store (scores + i, weight);
    }
  return 1 / vector_sum (sum);
}

/* Writes context = factor * sum of weights[i] times value number @start + i, for the head at @column, which is @vectors
 * vectors wide. */
static inline __attribute__ ((always_inline)) void
read_values (const PlaitAttentionJob *job, gint64 sentence, const PlaitScalar *weights, gint64 start, gint64 n,
             gint64 column, PlaitScalar factor, PlaitScalar *context, const int vectors)
{
  const PlaitAttentionMemory *memory = &job->memories[0];
  Vector even[8], odd[8];
  gint64 i = 0;

  UNROLL
  for (int v = 0; v < vectors; v++)
    even[v] = odd[v] = (Vector){ 0 };
  for (; i + 2 <= n; i += 2)
    {
      const PlaitScalar *first = row_of (memory, memory->values, sentence, start + i) + column;
      const PlaitScalar *second = row_of (memory, memory->values, sentence, start + i + 1) + column;

      UNROLL
      for (int v = 0; v < vectors; v++)
        {
          even[v] += weights[i] * vector_load (first + v * VECTOR_LENGTH);
          odd[v] += weights[i + 1] * vector_load (second + v * VECTOR_LENGTH);
        }
    }
  if (i < n)
    {
      const PlaitScalar *first = row_of (memory, memory->values, sentence, start + i) + column;

      UNROLL
      for (int v = 0; v < vectors; v++)
        even[v] += weights[i] * vector_load (first + v * VECTOR_LENGTH);
    }
  UNROLL
  for (int v = 0; v < vectors; v++)
    vector_store (context + column + v * VECTOR_LENGTH, factor * (even[v] + odd[v]));
}

/* Subtracts the linear bias of head @head from its @n unscaled scores. The query has the position of the last key. */
static void
add_bias (const PlaitAttentionJob *job, guint head, PlaitScalar *scores, gint64 n, PlaitScalar scale)
{
  const Vector lanes = __builtin_convertvector(vector_lanes (), Vector);
  PlaitScalar slope = (PlaitScalar)plait_attention_slope (job->settings->heads, head) / scale;

  for (gint64 i = 0; i < n; i += VECTOR_LENGTH)
    vector_store (scores + i, vector_load (scores + i) - slope * ((PlaitScalar)(n - 1 - i) - lanes));
}

static inline __attribute__ ((always_inline)) void
attend (const PlaitAttentionJob *job, gint64 sentence, PlaitScalar *scores, const int vectors)
{
  gint64 row = job->query_rows.offsets[sentence], keys = plait_ragged_length (job->memories[0].rows, sentence);
  gint64 start = RELATIVE && job->settings->window > 0 ? MAX (keys - job->settings->window, 0) : 0, n = keys - start;
  gint64 stride = whole_vectors (n);
  PlaitScalar *context = plait_tensor_row (job->context, row);
  PlaitScalar scale = (PlaitScalar)job->settings->scale;

  if (n == 0)
    {
      memset (context, 0, sizeof (PlaitScalar) * (gsize)job->context.width);
      return;
    }
  if (scale == 0)
    scale = 1 / (PlaitScalar)sqrt ((double)(vectors * VECTOR_LENGTH));
  score (job, sentence, plait_tensor_row (job->queries, row), scores, start, n, stride, vectors);
  for (guint head = 0; head < job->settings->heads; head++)
    {
      PlaitScalar *own = scores + head * stride, factor;

      if (RELATIVE && job->settings->linear_bias)
        add_bias (job, head, own, n, scale);
      factor = softmax (own, n, scale);
      read_values (job, sentence, own, start, n, (gint64)head * vectors * VECTOR_LENGTH, factor, context, vectors);
    }
}

gboolean
ATTENTION (single_query) (const PlaitAttentionJob *job, gint64 sentence, PlaitScalar *scores)
{
  gint64 width = job->queries.width / job->settings->heads;

  if (width == VECTOR_LENGTH)
    attend (job, sentence, scores, 1);
  else if (width == 2 * VECTOR_LENGTH)
    attend (job, sentence, scores, 2);
  else if (width == 4 * VECTOR_LENGTH)
    attend (job, sentence, scores, 4);
  else if (width == 8 * VECTOR_LENGTH)
    attend (job, sentence, scores, 8);
  else
    return FALSE;
  return TRUE;
}
