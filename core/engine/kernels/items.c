/* SPDX-License-Identifier: MIT */
#include "kernels/partial-vectors.h"
#include "kernels/variant.h"
#include "kernels/gradient-terms.h"

#include "process/random.h"

/* Attention of one row to the few items of this row, for all heads. */

static gboolean
is_present (const PlaitItemsJob *job, guint item, gint64 row)
{
  return !job->present || !job->present[item] || job->present[item][row];
}

static PlaitScalar
scale_of (const PlaitItemsJob *job, gint64 width)
{
  return job->settings->scale != 0 ? (PlaitScalar)job->settings->scale : 1 / (PlaitScalar)sqrt ((double)width);
}

/* Writes the softmax weights [n] of the items for the head at @column. They are 0 for absent items. */
static void
weigh (const PlaitItemsJob *job, gint64 row, gint64 column, gint64 width, PlaitScalar *weights)
{
  const PlaitScalar *query = plait_tensor_row (job->queries, row) + column;
  PlaitScalar scale = scale_of (job, width), greatest = -(PlaitScalar)INFINITY, sum = 0;

  for (guint j = 0; j < job->n; j++)
    if (is_present (job, j, row))
      {
        weights[j] = product_of (query, plait_tensor_row (job->keys[j], row) + column, width) * scale;
        greatest = weights[j] > greatest ? weights[j] : greatest;
      }
  for (guint j = 0; j < job->n; j++)
    {
#ifdef PLAIT_SCALAR_DOUBLE
      weights[j] = is_present (job, j, row) ? exp (weights[j] - greatest) : 0;
#else
      weights[j] = is_present (job, j, row) ? expf (weights[j] - greatest) : 0;
#endif
      sum += weights[j];
    }
  for (guint j = 0; j < job->n; j++)
    weights[j] = is_present (job, j, row) ? weights[j] / sum : 0;
}

/* Returns the dropout factor of the weight of item @item: 0 if dropped. */
static PlaitScalar
factor_of (const PlaitItemsJob *job, gint64 row, guint head, guint item)
{
  const PlaitAttentionSettings *settings = job->settings;
  PlaitMask mask = plait_mask (settings->key, settings->dropout);
  guint32 key;

  if (settings->dropout == 0)
    return 1;
  key = plait_random_hash32 (mask.key, mask.key2, (guint32)((guint64)row * settings->heads + head));
  return plait_random_hash32 (key, mask.key2, item) < mask.threshold ? 0 : mask.kept;
}

void
KERNEL (items_forward) (const PlaitItemsJob *job, gint64 row, PlaitScalar *scratch)
{
  guint heads = job->settings->heads;
  gint64 width = job->queries.width / heads;

  for (guint head = 0; head < heads; head++)
    {
      PlaitScalar *context = plait_tensor_row (job->context, row) + head * width;

      weigh (job, row, head * width, width, scratch);
      if (job->weights)
        memcpy (job->weights + (head * job->queries.rows + row) * job->n, scratch, sizeof (PlaitScalar) * job->n);
      memset (context, 0, sizeof (PlaitScalar) * (gsize)width);
      for (guint j = 0; j < job->n; j++)
        if (is_present (job, j, row))
          KERNEL (accumulate)
      (context, 1, scratch[j] * factor_of (job, row, head, j), plait_tensor_row (job->values[j], row) + head * width,
       width);
    }
}

/* Computes target = beta * target + factor * x for @width columns of @row, with 0 instead of factor * x if not
 * @present. */
static void
write_gradient (const PlaitGradientTarget *target, gint64 row, gint64 column, gint64 width, PlaitScalar factor,
                const PlaitScalar *x, gboolean present)
{
  PlaitScalar *to;

  if (!target->gradient.data)
    return;
  to = plait_tensor_row (target->gradient, row) + column;
  if (present)
    KERNEL (accumulate) (to, target->beta, factor, x, width);
  else if (target->beta == 0)
    memset (to, 0, sizeof (PlaitScalar) * (gsize)width);
}

void
KERNEL (items_backward) (const PlaitItemsJob *job, gint64 row, PlaitScalar *scratch)
{
  guint heads = job->settings->heads;
  gint64 width = job->queries.width / heads;
  PlaitScalar *weights = scratch, *dscores = scratch + job->n, scale = scale_of (job, width);

  for (guint head = 0; head < heads; head++)
    {
      gint64 column = head * width;
      const PlaitScalar *query = plait_tensor_row (job->queries, row) + column;
      const PlaitScalar *dcontext = plait_tensor_row (job->dcontext, row) + column;
      PlaitGradientTarget dqueries = job->dqueries;
      PlaitScalar delta = 0;

      weigh (job, row, column, width, weights);
      for (guint j = 0; j < job->n; j++)
        {
          dscores[j] = is_present (job, j, row)
                           ? factor_of (job, row, head, j)
                                 * product_of (dcontext, plait_tensor_row (job->values[j], row) + column, width)
                           : 0;
          delta += weights[j] * dscores[j];
        }
      for (guint j = 0; j < job->n; j++)
        dscores[j] = weights[j]
                     * (PLAIT_GRADIENT_TERM (items_attention_weight, dscores[j])
                        - PLAIT_GRADIENT_TERM (items_attention_normaliser, delta))
                     * scale;

      write_gradient (&dqueries, row, column, width, 0, NULL, FALSE);
      dqueries.beta = 1;
      for (guint j = 0; j < job->n; j++)
        write_gradient (&dqueries, row, column, width, PLAIT_GRADIENT_TERM (items_attention_query, dscores[j]),
                        plait_tensor_row (job->keys[j], row) + column, is_present (job, j, row));
      for (guint j = 0; j < job->n; j++)
        {
          gboolean present = is_present (job, j, row);

          write_gradient (&job->dkeys[j], row, column, width, PLAIT_GRADIENT_TERM (items_attention_key, dscores[j]),
                          query, present);
          write_gradient (&job->dvalues[j], row, column, width,
                          PLAIT_GRADIENT_TERM (items_attention_value, weights[j] * factor_of (job, row, head, j)),
                          dcontext, present);
        }
    }
}
