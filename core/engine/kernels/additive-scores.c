/* SPDX-License-Identifier: MIT */
#include "kernels/variant.h"
#include "kernels/partial-vectors.h"
#include "kernels/gradient-terms.h"

PlaitScalar
KERNEL (dot) (const PlaitScalar *x, const PlaitScalar *y, gint64 n)
{
  Vector sum = { 0 }, other = { 0 };
  gint64 i = 0;

  for (; i + 2 * VECTOR_LENGTH <= n; i += 2 * VECTOR_LENGTH)
    {
      sum += vector_load (x + i) * vector_load (y + i);
      other += vector_load (x + i + VECTOR_LENGTH) * vector_load (y + i + VECTOR_LENGTH);
    }
  for (; i < n; i += VECTOR_LENGTH)
    {
      gint64 here = MIN (n - i, VECTOR_LENGTH);

      sum += take (x + i, here) * take (y + i, here);
    }
  return vector_sum (sum + other);
}

/* Returns tanh (query + key + extra) for elements @i .. @i + @here - 1; @extra NULL: zeros. */
static inline __attribute__ ((always_inline)) Vector
hidden (const PlaitScalar *query, const PlaitScalar *key, const PlaitScalar *extra, gint64 i, gint64 here)
{
  Vector x = take (query + i, here) + take (key + i, here);

  if (extra)
    x += take (extra + i, here);
  return vector_tanh (x);
}

PlaitScalar
KERNEL (additive_score) (const PlaitScalar *query, const PlaitScalar *key, const PlaitScalar *extra,
                         const PlaitScalar *vector, gint64 n)
{
  Vector sum = { 0 };
  gint64 i = 0;

  for (; i + VECTOR_LENGTH <= n; i += VECTOR_LENGTH)
    sum += hidden (query, key, extra, i, VECTOR_LENGTH) * vector_load (vector + i);
  if (i < n)
    sum += hidden (query, key, extra, i, n - i) * take (vector + i, n - i);
  return vector_sum (sum);
}

static inline __attribute__ ((always_inline)) void
add_part (PlaitScalar *to, gboolean replaces, Vector x, gint64 here)
{
  put (to, replaces ? x : take (to, here) + x, here);
}

static inline __attribute__ ((always_inline)) void
backward_part (const PlaitAdditivePair *to, PlaitScalar dscore, const PlaitAdditivePair *from, gint64 i, gint64 here)
{
  Vector t = hidden (from->query, from->key, from->extra, i, here);
  Vector dt = dscore * take (from->vector + i, here);
  Vector dx = PLAIT_GRADIENT_TERM (additive_scores_one, dt) - PLAIT_GRADIENT_TERM (additive_scores_square, dt * t * t);

  if (to->vector)
    add_part (to->vector + i, FALSE, PLAIT_GRADIENT_TERM (additive_scores_vector, dscore * t), here);
  if (to->query)
    add_part (to->query + i, FALSE, PLAIT_GRADIENT_TERM (additive_scores_query, dx), here);
  if (to->key)
    add_part (to->key + i, to->replaces_key, PLAIT_GRADIENT_TERM (additive_scores_key, dx), here);
  if (to->extra)
    add_part (to->extra + i, to->replaces_extra, PLAIT_GRADIENT_TERM (additive_scores_extra, dx), here);
}

void
KERNEL (additive_score_backward) (const PlaitAdditivePair *to, PlaitScalar dscore, const PlaitAdditivePair *from,
                                  gint64 n)
{
  gint64 i = 0;

  for (; i + VECTOR_LENGTH <= n; i += VECTOR_LENGTH)
    backward_part (to, dscore, from, i, VECTOR_LENGTH);
  if (i < n)
    backward_part (to, dscore, from, i, n - i);
}
