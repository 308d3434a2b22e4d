/* SPDX-License-Identifier: MIT */
#include "tensor/update.h"

#include <math.h>
#include <string.h>

#include "trial.h"

static PlaitScalar *
copy_vector (Trial *trial, const PlaitScalar *from, gint64 n)
{
  PlaitScalar *copy = trial_memory (trial, sizeof (PlaitScalar) * (gsize)n);

  memcpy (copy, from, sizeof (PlaitScalar) * (gsize)n);
  return copy;
}

static PlaitUpdateSlot
copy_slot (Trial *trial, const PlaitUpdateSlot *slot)
{
  PlaitUpdateSlot copy = { .n = slot->n };

  copy.value = copy_vector (trial, slot->value, slot->n);
  copy.gradient = copy_vector (trial, slot->gradient, slot->n);
  for (guint i = 0; i < 2; i++)
    copy.kept[i] = copy_vector (trial, slot->kept[i], slot->n);
  return copy;
}

static void
check_slots (Trial *trial, const PlaitUpdateSlot *slots, const PlaitUpdateSlot *slow)
{
  for (guint i = 0; i < 3; i++)
    {
      trial_check_vector (trial, "value", slots[i].value, slow[i].value, slots[i].n);
      trial_check_vector (trial, "first state", slots[i].kept[0], slow[i].kept[0], slots[i].n);
      trial_check_vector (trial, "second state", slots[i].kept[1], slow[i].kept[1], slots[i].n);
      trial_check_vector (trial, "gradient", slots[i].gradient, slow[i].gradient, slots[i].n);
    }
}

static void
adam_body (Trial *trial)
{
  PlaitUpdateSettings settings = { .rule = PLAIT_UPDATE_ADAM,
                                   .rate = .01,
                                   .beta1 = .9,
                                   .beta2 = .98,
                                   .epsilon = 1e-3,
                                   .weight_decay = trial_flip (trial) ? .05 : 0,
                                   .gradient_scale = .5,
                                   .step = trial_number (trial, 1, 9) };
  PlaitUpdateSlot slots[3], slow[3];
  double squares = 0;

  for (guint i = 0; i < 3; i++)
    {
      gint64 n = i == 1 ? trial_number (trial, 0, 3) : trial_number (trial, 1, 40000);
      PlaitScalar *v = trial_vector (trial, n);

      for (gint64 j = 0; j < n; j++)
        v[j] *= v[j];
      slots[i]
          = (PlaitUpdateSlot){ trial_vector (trial, n), trial_vector (trial, n), { trial_vector (trial, n), v }, n };
      slow[i] = copy_slot (trial, &slots[i]);
      for (gint64 j = 0; j < n; j++)
        {
          double g = (double)slow[i].gradient[j] * settings.gradient_scale, m, u, corrected;

          squares += (double)slow[i].gradient[j] * (double)slow[i].gradient[j];
          m = .9 * (double)slow[i].kept[0][j] + .1 * g;
          u = .98 * (double)slow[i].kept[1][j] + .02 * g * g;
          corrected = u / (1 - pow (.98, (double)settings.step));
          slow[i].kept[0][j] = (PlaitScalar)m;
          slow[i].kept[1][j] = (PlaitScalar)u;
          slow[i].value[j]
              = (PlaitScalar)((double)slow[i].value[j] * (1 - settings.rate * settings.weight_decay)
                              - settings.rate * m / (1 - pow (.9, (double)settings.step)) / (sqrt (corrected) + 1e-3));
          slow[i].gradient[j] = 0;
        }
    }
  CHECK_NEAR (plait_gradient_squared_norm (trial->pool, trial->arena, slots, 3) / (squares + 1),
              squares / (squares + 1), 1e-9);
  plait_update (trial->pool, slots, 3, &settings);
  check_slots (trial, slots, slow);
}

TEST_CASE (update, adam_equals_its_slow_twin)
{
  trial_run (adam_body, 4);
}

static void
adadelta_body (Trial *trial)
{
  PlaitUpdateSettings settings = { .rule = PLAIT_UPDATE_ADADELTA,
                                   .rate = trial_flip (trial) ? .5 : 1,
                                   .rho = .9,
                                   .epsilon = 1e-3,
                                   .weight_decay = trial_flip (trial) ? .05 : 0,
                                   .gradient_scale = .5 };
  PlaitUpdateSlot slots[3], slow[3];

  for (guint i = 0; i < 3; i++)
    {
      gint64 n = i == 1 ? trial_number (trial, 0, 3) : trial_number (trial, 1, 40000);
      PlaitScalar *kept[] = { trial_vector (trial, n), trial_vector (trial, n) };

      for (gint64 j = 0; j < n; j++)
        {
          kept[0][j] *= kept[0][j];
          kept[1][j] *= kept[1][j];
        }
      slots[i] = (PlaitUpdateSlot){ trial_vector (trial, n), trial_vector (trial, n), { kept[0], kept[1] }, n };
      slow[i] = copy_slot (trial, &slots[i]);
      for (gint64 j = 0; j < n; j++)
        {
          double g = (double)slow[i].gradient[j] * settings.gradient_scale;
          double squares = .9 * (double)slow[i].kept[0][j] + .1 * g * g;
          double update = -sqrt ((double)slow[i].kept[1][j] + 1e-3) / sqrt (squares + 1e-3) * g;

          slow[i].kept[0][j] = (PlaitScalar)squares;
          slow[i].kept[1][j] = (PlaitScalar)(.9 * (double)slow[i].kept[1][j] + .1 * update * update);
          slow[i].value[j] = (PlaitScalar)((double)slow[i].value[j] * (1 - settings.rate * settings.weight_decay)
                                           + settings.rate * update);
          slow[i].gradient[j] = 0;
        }
    }
  plait_update (trial->pool, slots, 3, &settings);
  check_slots (trial, slots, slow);
}

TEST_CASE (update, adadelta_equals_its_slow_twin)
{
  trial_run (adadelta_body, 4);
}

static void
strange_body (Trial *trial)
{
  PlaitScalar *gradient = trial_vector (trial, 40000);
  PlaitUpdateSlot slot = { .gradient = gradient, .n = 40000 };

  gradient[33333] = (PlaitScalar)NAN;
  CHECK (isnan (plait_gradient_squared_norm (trial->pool, trial->arena, &slot, 1)));
  gradient[33333] = (PlaitScalar)INFINITY;
  CHECK (isinf (plait_gradient_squared_norm (trial->pool, trial->arena, &slot, 1)));
  CHECK (plait_gradient_squared_norm (trial->pool, trial->arena, &slot, 0) == 0);
}

TEST_CASE (update, norm_keeps_nan)
{
  trial_run (strange_body, 1);
}
