/* SPDX-License-Identifier: MIT */
#include "train/optimizer.h"

#include "autograd/internal.h"
#include "base/memory.h"
#include "tensor/update.h"
#include "train/parameters.h"

#include <math.h>

struct PlaitOptimizer
{
  PlaitAdamSettings adam;
  double clip;
  gboolean uncorrected; /* epsilon joins the root of the second moment before its bias correction */
  PlaitParameters *parameters;
  PlaitScalar *moments[2];
  gint64 n; /* numbers with a gradient */
};

PlaitOptimizer *
plait_optimizer_new (const PlaitTrainSettings *settings, PlaitParameters *parameters, GError **error)
{
  g_autoptr (PlaitOptimizer) optimizer = g_new0 (PlaitOptimizer, 1);

  optimizer->adam = (PlaitAdamSettings){
    .beta1 = settings->beta1,
    .beta2 = settings->beta2,
    .epsilon = settings->epsilon,
    .weight_decay = settings->weight_decay,
  };
  optimizer->clip = settings->clip;
  optimizer->uncorrected = settings->epsilon_place == 1;
  optimizer->parameters = parameters;
  optimizer->n = plait_parameters_gradients (parameters).width;
  for (guint i = 0; i < 2; i++)
    {
      optimizer->moments[i] = plait_pages_take (sizeof (PlaitScalar) * (gsize)optimizer->n);
      if (!optimizer->moments[i])
        {
          plait_fail (error, PLAIT_ERROR_MEMORY,
                      "the optimizer's moments need %" G_GSIZE_FORMAT
                      " bytes, which the system does not give: lower decoder.width or the vocabulary's size",
                      plait_optimizer_bytes (parameters));
          return NULL;
        }
    }
  return g_steal_pointer (&optimizer);
}

void
plait_optimizer_free (PlaitOptimizer *optimizer)
{
  if (!optimizer)
    return;
  for (guint i = 0; i < 2; i++)
    plait_pages_give_back (optimizer->moments[i], sizeof (PlaitScalar) * (gsize)optimizer->n);
  g_free (optimizer);
}

gsize
plait_optimizer_bytes (const PlaitParameters *parameters)
{
  return 2 * sizeof (PlaitScalar) * (gsize)plait_parameters_gradients (parameters).width;
}

/* All gradients of the parameters as they stand, one after the other. */
static PlaitAdamSlot
all_parameters (const PlaitOptimizer *optimizer)
{
  return (PlaitAdamSlot){
    .value = plait_parameters_values (optimizer->parameters).data,
    .gradient = plait_parameters_gradients (optimizer->parameters).data,
    .first_moment = optimizer->moments[0],
    .second_moment = optimizer->moments[1],
    .n = optimizer->n,
  };
}

/* A slot a parameter, with the gradient that @tape keeps. Where none has arrived, that of the parameters is zero. */
static PlaitAdamSlot *
kept_gradients (const PlaitOptimizer *optimizer, PlaitTape *tape, guint *n)
{
  guint parameters = plait_parameters_n (optimizer->parameters);
  PlaitAdamSlot *slots = plait_arena_new_array (plait_tape_arena (tape), PlaitAdamSlot, parameters);

  *n = 0;
  for (guint i = 0; i < parameters; i++)
    {
      const PlaitParameter *parameter = plait_parameters_get (optimizer->parameters, i);
      PlaitTensor gradient = plait_tape_keyed_gradient (tape, parameter);

      if (!parameter->frozen)
        slots[(*n)++] = (PlaitAdamSlot){
          .value = parameter->value.data,
          .gradient = gradient.data != NULL ? gradient.data : parameter->gradient.data,
          .first_moment = optimizer->moments[0] + parameter->offset,
          .second_moment = optimizer->moments[1] + parameter->offset,
          .n = parameter->value.rows * parameter->value.width,
        };
    }
  return slots;
}

double
plait_optimizer_update (PlaitOptimizer *optimizer, PlaitTape *tape, gint64 step, double rate)
{
  PlaitAdamSlot all = all_parameters (optimizer);
  PlaitAdamSlot *slots = &all;
  guint n = 1;
  PlaitAdamSettings adam = optimizer->adam;
  double norm;

  adam.keep = plait_tape_keeps_gradients (tape);
  if (adam.keep)
    slots = kept_gradients (optimizer, tape, &n);
  norm = sqrt (plait_gradient_squared_norm (plait_tape_pool (tape), plait_tape_arena (tape), slots, n));
  if (!isfinite (norm))
    return norm;
  plait_parameters_write_values (optimizer->parameters);
  adam.step = step;
  adam.rate = rate;
  if (optimizer->uncorrected)
    adam.epsilon /= sqrt (1 - pow (adam.beta2, (double)step));
  adam.gradient_scale = optimizer->clip > 0 && norm > optimizer->clip ? optimizer->clip / norm : 1;
  plait_adam_update (plait_tape_pool (tape), slots, n, &adam);
  return norm;
}

static const char *const moment_names[] = { "first", "second" };

gboolean
plait_optimizer_write (const PlaitOptimizer *optimizer, PlaitStore *store, const char *path, GError **error)
{
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *below = g_strdup_printf ("%s/%s", path, moment_names[i]);

      if (!plait_parameters_write_array (optimizer->parameters, optimizer->moments[i], optimizer->n, store, below,
                                         error))
        return FALSE;
    }
  return TRUE;
}

gboolean
plait_optimizer_read (PlaitOptimizer *optimizer, PlaitStore *store, const char *path, GError **error)
{
  /* The square of a gradient may overflow; Adam goes on with that. */
  const PlaitRange ranges[] = { plait_range_finite, { 0, INFINITY } };

  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *below = g_strdup_printf ("%s/%s", path, moment_names[i]);

      if (!plait_parameters_read_array (optimizer->parameters, optimizer->moments[i], optimizer->n, ranges[i], store,
                                        below, error))
        return FALSE;
    }
  return TRUE;
}
