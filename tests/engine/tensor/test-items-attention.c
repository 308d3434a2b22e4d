/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "attention-twin.h"

static void
items_body (Trial *trial)
{
  gint64 rows = trial_number (trial, 0, 120), head_width = trial_number (trial, 1, 40);
  guint n = (guint)trial_number (trial, 1, 5);
  PlaitAttentionSettings settings = { .heads = (guint)trial_number (trial, 1, 3),
                                      .dropout = trial_flip (trial) ? .3 : 0,
                                      .key = plait_random_subkey (trial->key, 5) };
  gint64 width = head_width * settings.heads;
  PlaitTensor queries = trial_tensor (trial, rows, width), context = trial_rubbish (trial, rows, width), slow_contexts;
  PlaitTensor dcontext = trial_tensor (trial, rows, width), keys[5], values[5], slow_dkeys[5], slow_dvalues[5], slow_dq;
  PlaitScalar beta = (PlaitScalar)trial_number (trial, 0, 1);
  PlaitGradientTarget dq = { .beta = beta }, dkeys[5], dvalues[5];
  PlaitScalar *weights = trial_vector (trial, rows * n * settings.heads);
  PlaitScalar *slow_weights = trial_vector (trial, rows * n * settings.heads);
  const guint8 *present[5];
  PlaitItemsJob job = { .context = context,
                        .queries = queries,
                        .keys = keys,
                        .values = values,
                        .present = present,
                        .n = n,
                        .settings = &settings,
                        .weights = weights,
                        .dcontext = dcontext,
                        .dkeys = dkeys,
                        .dvalues = dvalues };

  slow_contexts = trial_tensor (trial, rows, width);
  dq.gradient = trial_target (trial, rows, width, beta, &slow_dq);
  for (guint j = 0; j < n; j++)
    {
      keys[j] = trial_tensor (trial, rows, width);
      values[j] = trial_tensor (trial, rows, width);
      present[j] = trial_flip (trial) ? trial_bytes (trial, rows) : NULL;
      dkeys[j].beta = dvalues[j].beta = beta;
      dkeys[j].gradient = trial_target (trial, rows, width, beta, &slow_dkeys[j]);
      dvalues[j].gradient = trial_target (trial, rows, width, beta, &slow_dvalues[j]);
    }
  job.dqueries = dq;
  plait_items_attention_forward (trial->pool, &job);
  plait_items_attention_backward (trial->pool, &job);
  for (gint64 r = 0; r < rows && trial_compares (); r++)
    for (guint head = 0; head < settings.heads; head++)
      {
        gint64 column = head * head_width;
        const PlaitScalar *key[5] = { NULL }, *value[5] = { NULL };
        PlaitScalar *dkey[5], *dvalue[5];
        double weight[5], factors[5];
        Slow slow = { n, key, value, weight, factors, 1 / sqrt ((double)head_width), head_width };

        for (guint j = 0; j < n; j++)
          if (!present[j] || present[j][r])
            {
              key[j] = plait_tensor_row (keys[j], r) + column;
              value[j] = plait_tensor_row (values[j], r) + column;
              dkey[j] = plait_tensor_row (slow_dkeys[j], r) + column;
              dvalue[j] = plait_tensor_row (slow_dvalues[j], r) + column;
              factors[j] = slow_factor (&settings, r, head, j);
            }
        slow_weigh (&slow, plait_tensor_row (queries, r) + column);
        slow_context (&slow, plait_tensor_row (slow_contexts, r) + column);
        for (guint j = 0; j < n; j++)
          slow_weights[(head * rows + r) * n + j] = (PlaitScalar)weight[j];
        slow_backward (&slow, plait_tensor_row (queries, r) + column, plait_tensor_row (dcontext, r) + column,
                       plait_tensor_row (slow_dq, r) + column, dkey, dvalue);
      }
  trial_check (trial, "context", context, slow_contexts);
  trial_check_vector (trial, "weights", weights, slow_weights, rows * n * settings.heads);
  trial_check (trial, "dqueries", dq.gradient, slow_dq);
  for (guint j = 0; j < n; j++)
    {
      trial_check (trial, "dkeys", dkeys[j].gradient, slow_dkeys[j]);
      trial_check (trial, "dvalues", dvalues[j].gradient, slow_dvalues[j]);
    }
}

TEST_CASE (items_attention, equals_its_slow_twin)
{
  trial_run (items_body, 20);
}
