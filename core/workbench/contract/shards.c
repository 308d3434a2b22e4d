/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "contract/case.h"
#include "contract/pass.h"
#include "training/update.h"
#include "layers/parameter-set.h"

/* Checks batches that are cut into shards, which run in the plugin at the same time. Shards must give equal bits with
 * any number of threads, and their gradients must add up to those of the whole batch. Layers that are recomputed in the
 * backward pass must give equal bits too. MAX_SHARDS is the largest number of shards that is tried. */

#define MAX_SHARDS 3

/* Returns the gradients of an update that cuts the batch into @shards shards. (transfer full) */
static PlaitScalar *
update (const PlaitContractCase *tested, const PlaitBatch *batch, gint64 shards, guint threads, gint recompute,
        GError **error)
{
  PlaitParameters *parameters = plait_model_parameters (tested->fixture->model);
  PlaitTensor gradients = plait_parameters_gradients (parameters);
  /* The batch is used twice, so that the gradients of the second pass are added to those of the first. */
  PlaitBatch *batches[] = { (PlaitBatch *)batch, (PlaitBatch *)batch };
  g_autoptr (PlaitPool) pool = plait_pool_new (threads, error);
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  g_autoptr (PlaitTape) tape = pool ? plait_tape_new (pool, arena) : NULL;
  PlaitTrainingSums sums = { 0 };
  PlaitTrainSettings settings; /* declared before @updating, whose end reads them */
  g_autoptr (PlaitUpdate) updating = NULL;

  if (!pool)
    return NULL;
  plait_setting_group_defaults (&plait_train_group, &settings);
  settings.shards = shards;
  settings.recompute = recompute;
  updating = plait_update_new (tested->fixture->model, tape, &settings, NULL, error);
  if (!updating)
    return NULL;
  plait_parameters_zero_gradients (parameters);
  if (!plait_update_gradients (updating, batches, G_N_ELEMENTS (batches), plait_random_key (1, "dropout", NULL, 1),
                               &sums, error))
    return NULL;
  return g_memdup2 (gradients.data, gradients.width * sizeof (PlaitScalar));
}

/* Sets *@adds_up to TRUE if the gradients of shards must add up to those of @batch. They need not if the plugin draws
 * random numbers, which differ between shards. They also need not if sentences affect each other, which another
 * property reports. */
static gboolean
add_up (const PlaitContractCase *tested, const PlaitPassLengths *lengths, const PlaitBatch *batch, gboolean *adds_up,
        GError **error)
{
  PlaitPass one;
  PlaitPass other;

  if (!plait_pass_run (tested->fixture, batch, PLAIT_TAPE_TRAIN, 1, 1, &one, error)
      || !plait_pass_run (tested->fixture, batch, PLAIT_TAPE_TRAIN, 1, 2, &other, error))
    return FALSE;
  *adds_up = memcmp (one.rows, other.rows, sizeof one.rows) == 0
             && plait_pass_equals_its_sentences (tested->fixture, lengths, NULL);
  return TRUE;
}

static gboolean
check_whole (const PlaitScalar *whole, const PlaitScalar *parts, gint64 n, gint64 shards, GError **error)
{
  double tolerance = sizeof (PlaitScalar) == sizeof (double) ? 1e-10 : 1e-4;
  double difference = 0;
  double norm = 0;

  for (gint64 i = 0; i < n; i++)
    {
      double apart = (double)whole[i] - (double)parts[i];

      difference += apart * apart;
      norm += (double)whole[i] * (double)whole[i];
    }
  return sqrt (difference) <= tolerance * sqrt (norm)
         || plait_fail (
             error, PLAIT_ERROR_FAILED,
             "the gradients of a batch in %jd shards differ by %.3g from those of the whole batch, relative to their "
             "norm, expected at most %.3g: a sentence must not depend on other sentences or on their number",
             shards, sqrt (difference / norm), tolerance);
}

static gboolean
check (PlaitContractCase *tested, GError **error)
{
  const PlaitPassLengths *lengths = plait_pass_lengths (tested->fixture);
  g_autoptr (PlaitBatch) batch = plait_pass_batch (tested->fixture, lengths);
  gint64 n = plait_parameters_gradients (plait_model_parameters (tested->fixture->model)).width;
  g_autofree PlaitScalar *whole = update (tested, batch, 1, 1, PLAIT_TRAIN_RECOMPUTE_OFF, error);
  g_autofree PlaitScalar *again = whole ? update (tested, batch, 1, 1, PLAIT_TRAIN_RECOMPUTE_LAYERS, error) : NULL;
  gboolean adds_up = FALSE;

  if (!again || !add_up (tested, lengths, batch, &adds_up, error))
    return FALSE;
  if (memcmp (whole, again, n * sizeof *whole) != 0)
    return plait_fail (error, PLAIT_ERROR_FAILED,
                       "the gradients differ if layers are computed again (train.recompute=layers), expected equal "
                       "bits: the result of a call must depend on its arguments only");
  for (gint64 shards = 2; shards <= MAX_SHARDS; shards++)
    {
      g_autofree PlaitScalar *one = update (tested, batch, shards, 1, PLAIT_TRAIN_RECOMPUTE_OFF, error);

      if (!one || (adds_up && !check_whole (whole, one, n, shards, error)))
        return FALSE;
      for (guint threads = 2; threads <= 3; threads++)
        {
          g_autofree PlaitScalar *more = update (tested, batch, shards, threads, PLAIT_TRAIN_RECOMPUTE_OFF, error);

          if (!more)
            return FALSE;
          if (memcmp (one, more, n * sizeof *one) != 0)
            return plait_fail (error, PLAIT_ERROR_FAILED,
                               "the gradients of a batch in %jd shards differ between one thread and %u, expected "
                               "equal bits: several threads run in the plugin at once, so it must not change variables "
                               "of the module or depend on the thread",
                               shards, threads);
        }
    }
  return TRUE;
}

const PlaitContractProperty plait_contract_shards = {
  .name = "shards",
  .summary = "Several shards of a batch can run in the plugin at once and give the gradients of the whole batch; "
             "layers computed again give equal bits",
  .check = check,
};
