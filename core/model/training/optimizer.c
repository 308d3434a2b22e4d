/* SPDX-License-Identifier: MIT */
#include "training/optimizer.h"

#include "autograd/internal.h"
#include "files/memory.h"
#include "tensor/update.h"
#include "training/parameters.h"
#include "layers/parameter-set.h"

#include <math.h>

struct PlaitOptimizer
{
  const PlaitTrainSettings *settings;
  PlaitParameters *parameters;
  PlaitScalar *kept[2]; /* arrays with one scalar for each element of the parameters, such as Adam's moments */
  guint n_kept;         /* number of arrays in @kept */
  gint64 n;             /* number of elements in all parameters, and in each array of @kept */
};

/* Returns the number of moments of each parameter; @settings NULL: the largest number. */
static guint
count_moments (const PlaitTrainSettings *settings)
{
  return settings && settings->optimizer == PLAIT_TRAIN_OPTIMIZER_LION ? 1 : 2;
}

PlaitOptimizer *
plait_optimizer_new (const PlaitTrainSettings *settings, PlaitParameters *parameters, GError **error)
{
  g_autoptr (PlaitOptimizer) optimizer = g_new0 (PlaitOptimizer, 1);

  optimizer->settings = settings;
  optimizer->parameters = parameters;
  optimizer->n = plait_parameters_gradients (parameters).width;
  optimizer->n_kept = count_moments (settings);
  for (guint i = 0; i < optimizer->n_kept; i++)
    {
      optimizer->kept[i] = plait_pages_allocate (sizeof (PlaitScalar) * (gsize)optimizer->n);
      if (!optimizer->kept[i])
        return plait_fail_null (error, PLAIT_ERROR_MEMORY,
                                "the moments of the optimizer need %zu bytes, which the system cannot allocate: lower "
                                "decoder.width or the vocabulary's size",
                                plait_optimizer_bytes (settings, parameters));
    }
  return g_steal_pointer (&optimizer);
}

void
plait_optimizer_free (PlaitOptimizer *optimizer)
{
  if (!optimizer)
    return;
  for (guint i = 0; i < optimizer->n_kept; i++)
    plait_pages_free (optimizer->kept[i], sizeof (PlaitScalar) * (gsize)optimizer->n);
  g_free (optimizer);
}

gsize
plait_optimizer_bytes (const PlaitTrainSettings *settings, const PlaitParameters *parameters)
{
  return count_moments (settings) * sizeof (PlaitScalar) * (gsize)plait_parameters_gradients (parameters).width;
}

/* Returns one slot for all parameters end to end, with the parameters' own gradients. */
static PlaitUpdateSlot
all_parameters (const PlaitOptimizer *optimizer)
{
  return (PlaitUpdateSlot){
    .value = plait_parameters_values (optimizer->parameters).data,
    .gradient = plait_parameters_gradients (optimizer->parameters).data,
    .kept = { optimizer->kept[0], optimizer->kept[1] },
    .n = optimizer->n,
  };
}

/* Returns a slot for each parameter, with the gradient that @tape keeps. If @tape has no gradient of a parameter, the
 * slot has the parameter's own gradient: zero, or with several processes the sum over them. */
static PlaitUpdateSlot *
kept_gradients (const PlaitOptimizer *optimizer, PlaitTape *tape, guint *n)
{
  PlaitUpdateSlot *slots;

  *n = plait_parameters_n (optimizer->parameters);
  slots = plait_arena_new_array (plait_tape_arena (tape), PlaitUpdateSlot, *n);
  for (guint i = 0; i < *n; i++)
    {
      const PlaitParameter *parameter = plait_parameters_get (optimizer->parameters, i);
      PlaitTensor gradient = plait_tape_keyed_gradient (tape, parameter);

      slots[i] = (PlaitUpdateSlot){
        .value = parameter->value.data,
        .gradient = gradient.data ? gradient.data : parameter->gradient.data,
        .kept = { optimizer->kept[0] + parameter->offset,
                  optimizer->kept[1] ? optimizer->kept[1] + parameter->offset : NULL },
        .n = parameter->value.rows * parameter->value.width,
      };
    }
  return slots;
}

double
plait_optimizer_update (PlaitOptimizer *optimizer, PlaitTape *tape, gint64 step, double rate)
{
  const PlaitTrainSettings *settings = optimizer->settings;
  PlaitPool *pool = plait_tape_pool (tape);
  PlaitUpdateSlot all = all_parameters (optimizer);
  PlaitUpdateSlot *slots = &all;
  guint n = 1;
  gboolean keep = plait_tape_keeps_gradients (tape), adadelta = settings->optimizer == PLAIT_TRAIN_OPTIMIZER_ADADELTA;
  PlaitUpdateSettings update = {
    .rule = adadelta                                            ? PLAIT_UPDATE_ADADELTA
            : settings->optimizer == PLAIT_TRAIN_OPTIMIZER_LION ? PLAIT_UPDATE_LION
                                                                : PLAIT_UPDATE_ADAM,
    .rate = rate,
    .beta1 = settings->beta1,
    .beta2 = settings->beta2,
    .rho = settings->rho,
    .epsilon = adadelta ? settings->adadelta_epsilon : settings->epsilon,
    .weight_decay = settings->weight_decay,
    .step = step,
    .keep = keep,
  };
  double norm;

  if (keep)
    slots = kept_gradients (optimizer, tape, &n);
  norm = sqrt (plait_gradient_squared_norm (pool, plait_tape_arena (tape), slots, n));
  if (!isfinite (norm))
    return norm;
  plait_parameters_write_values (optimizer->parameters);
  update.gradient_scale = settings->clip > 0 && norm > settings->clip ? settings->clip / norm : 1;
  /* Epsilon is added before bias correction: (sqrt (v) + epsilon) / sqrt (c) = sqrt (v / c) + epsilon / sqrt (c). */
  if (!adadelta && settings->epsilon_place == 1)
    update.epsilon /= sqrt (1 - pow (update.beta2, (double)step));
  plait_update (pool, slots, n, &update);
  return norm;
}

/* An array of moments: its name in files, and the range of its elements. A squared gradient may overflow to infinity,
 * so infinity is in the range of squares. */
typedef struct
{
  const char *name;
  PlaitRange range;
} Kept;

static Kept
describe_kept (const PlaitOptimizer *optimizer, guint i)
{
  const PlaitRange squares = { 0, INFINITY };

  if (optimizer->settings->optimizer == PLAIT_TRAIN_OPTIMIZER_ADADELTA)
    return (Kept){ i == 0 ? "squared_gradients" : "squared_updates", squares };
  return i == 0 ? (Kept){ "first", plait_range_finite } : (Kept){ "second", squares };
}

gboolean
plait_optimizer_write (const PlaitOptimizer *optimizer, PlaitStore *store, const char *path, GError **error)
{
  for (guint i = 0; i < optimizer->n_kept; i++)
    {
      g_autofree char *below = g_strdup_printf ("%s/%s", path, describe_kept (optimizer, i).name);

      if (!plait_parameters_write_array (optimizer->parameters, optimizer->kept[i], store, below, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
plait_optimizer_read (PlaitOptimizer *optimizer, PlaitStore *store, const char *path, GError **error)
{
  for (guint i = 0; i < plait_parameters_n (optimizer->parameters); i++)
    if (!plait_optimizer_read_one (optimizer, plait_parameters_get (optimizer->parameters, i), store, path, error))
      return FALSE;
  return TRUE;
}

gboolean
plait_optimizer_read_one (PlaitOptimizer *optimizer, const PlaitParameter *parameter, PlaitStore *store,
                          const char *path, GError **error)
{
  for (guint i = 0; i < optimizer->n_kept; i++)
    {
      Kept kept = describe_kept (optimizer, i);
      g_autofree char *below = g_strdup_printf ("%s/%s", path, kept.name);

      if (!plait_parameter_read_array (parameter, optimizer->kept[i], kept.range, store, below, error))
        return FALSE;
    }
  return TRUE;
}
