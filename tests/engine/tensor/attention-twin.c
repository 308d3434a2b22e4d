/* SPDX-License-Identifier: MIT */
#include "attention-twin.h"

#include <math.h>

double
slow_factor (const PlaitAttentionSettings *settings, gint64 row, guint head, gint64 key)
{
  guint32 low = (guint32)settings->key.state, high = (guint32)(settings->key.state >> 32);
  guint32 draws = plait_random_hash32 (low, high, (guint32)((guint64)row * settings->heads + head));

  return plait_random_hash32 (draws, high, (guint32)key) < (guint32)(settings->dropout * 0x1p32)
             ? 0
             : 1 / (1 - settings->dropout);
}

void
slow_weigh (Slow *slow, const PlaitScalar *query)
{
  double greatest = -INFINITY, sum = 0;

  for (gint64 j = 0; j < slow->n; j++)
    {
      slow->weights[j] = 0;
      if (!slow->keys[j])
        continue;
      if (slow->biases)
        slow->weights[j] = slow->biases[j];
      for (gint64 d = 0; d < slow->width; d++)
        slow->weights[j] += (double)query[d] * (double)slow->keys[j][d] * slow->scale;
      greatest = MAX (greatest, slow->weights[j]);
    }
  for (gint64 j = 0; j < slow->n; j++)
    {
      slow->weights[j] = !slow->keys[j] ? 0 : exp (slow->weights[j] - greatest);
      sum += slow->weights[j];
    }
  for (gint64 j = 0; j < slow->n && sum > 0; j++)
    slow->weights[j] /= sum;
}

void
slow_context (const Slow *slow, PlaitScalar *context)
{
  for (gint64 d = 0; d < slow->width; d++)
    {
      double sum = 0;

      for (gint64 j = 0; j < slow->n; j++)
        if (slow->keys[j])
          sum += slow->weights[j] * slow->factors[j] * (double)slow->values[j][d];
      context[d] = (PlaitScalar)sum;
    }
}

void
slow_backward (const Slow *slow, const PlaitScalar *query, const PlaitScalar *dcontext, PlaitScalar *dquery,
               PlaitScalar **dkeys, PlaitScalar **dvalues)
{
  double delta = 0, *changes = g_new0 (double, slow->n + 1);

  for (gint64 j = 0; j < slow->n; j++)
    for (gint64 d = 0; d < slow->width && slow->keys[j]; d++)
      {
        changes[j] += slow->factors[j] * (double)slow->values[j][d] * (double)dcontext[d];
        delta += slow->weights[j] * slow->factors[j] * (double)slow->values[j][d] * (double)dcontext[d];
      }
  for (gint64 j = 0; j < slow->n; j++)
    for (gint64 d = 0; d < slow->width && slow->keys[j]; d++)
      {
        double change = slow->weights[j] * (changes[j] - delta) * slow->scale;

        dquery[d] += (PlaitScalar)(change * (double)slow->keys[j][d]);
        dkeys[j][d] += (PlaitScalar)(change * (double)query[d]);
        dvalues[j][d] += (PlaitScalar)(slow->weights[j] * slow->factors[j] * (double)dcontext[d]);
      }
  g_free (changes);
}
