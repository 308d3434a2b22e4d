/* SPDX-License-Identifier: MIT */
#include "training/trainer.h"

#include "training/trainer-private.h"

#include <math.h>
#include <string.h>

#include "text/number.h"
#include "layers/parameter-set.h"

static PlaitIterator *
new_iterator (const PlaitTrainerSetup *setup, GError **error)
{
  PlaitIteratorSettings settings = {
    .order = PLAIT_ORDER_SHUFFLED,
    .unit = setup->settings->batch_unit,
    .size = setup->settings->batch,
    .window = setup->settings->window,
    .seed = setup->seed,
  };
  PlaitIterator *iterator = plait_iterator_new (setup->corpus, &settings, error);

  if (!iterator)
    g_prefix_error (error, "[train] batch=%jd: ", settings.size);
  return iterator;
}

PlaitTrainer *
plait_trainer_new (const PlaitTrainerSetup *setup, GError **error)
{
  g_autoptr (PlaitTrainer) trainer = g_new0 (PlaitTrainer, 1);
  const PlaitTrainSettings *settings = setup->settings;

  trainer->setup = *setup;
  trainer->parameters = plait_model_parameters (setup->model);
  trainer->arena = plait_arena_new ((gsize)settings->memory * 1024 * 1024);
  trainer->tape = plait_tape_new (setup->pool, trainer->arena);
  trainer->rows = g_array_new (FALSE, FALSE, sizeof (PlaitTrainingRow));
  trainer->validations = g_array_new (FALSE, FALSE, sizeof (PlaitValidationRow));
  trainer->recent = g_ptr_array_new_with_free_func (g_free);
  if (settings->epochs == 0 && settings->updates == 0)
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "[train]: epochs=0 and updates=0 would train for ever: set at least one of them above 0");
  trainer->update = plait_update_new (setup->model, trainer->tape, settings, setup->ranks, error);
  trainer->optimizer = trainer->update ? plait_optimizer_new (settings, trainer->parameters, error) : NULL;
  trainer->iterator = trainer->optimizer ? new_iterator (setup, error) : NULL;
  if (!trainer->iterator)
    return NULL;
  trainer->planned = settings->updates;
  if (settings->epochs > 0)
    {
      gint64 updates = plait_trainer_epoch_updates (trainer) * settings->epochs;

      trainer->planned = trainer->planned > 0 ? MIN (trainer->planned, updates) : updates;
    }
  return g_steal_pointer (&trainer);
}

void
plait_trainer_free (PlaitTrainer *trainer)
{
  if (!trainer)
    return;
  plait_iterator_free (trainer->iterator);
  plait_optimizer_free (trainer->optimizer);
  plait_update_free (trainer->update);
  plait_tape_free (trainer->tape);
  plait_arena_free (trainer->arena);
  g_array_unref (trainer->rows);
  g_array_unref (trainer->validations);
  g_ptr_array_unref (trainer->recent);
  g_free (trainer);
}

gint64
plait_trainer_epoch (const PlaitTrainer *trainer)
{
  gint64 epoch, position;

  plait_iterator_tell (trainer->iterator, &epoch, &position);
  return epoch + 1;
}

gboolean
plait_trainer_ends_epoch (const PlaitTrainer *trainer)
{
  gint64 epoch, position;

  plait_iterator_tell (trainer->iterator, &epoch, &position);
  return position >= plait_iterator_batches (trainer->iterator);
}

gint64
plait_trainer_epoch_updates (const PlaitTrainer *trainer)
{
  gint64 accumulate = trainer->setup.settings->accumulate;

  return (plait_iterator_batches (trainer->iterator) + accumulate - 1) / accumulate;
}

/* Returns the number of complete epochs. */
static gint64
count_epochs (const PlaitTrainer *trainer)
{
  return plait_trainer_epoch (trainer) - !plait_trainer_ends_epoch (trainer);
}

/* Adds the batches of the next update to @batches, which owns them. The last update of an epoch may have fewer batches,
 * so that no update spans two epochs. */
static gboolean
next_batches (PlaitTrainer *trainer, GPtrArray *batches, GError **error)
{
  for (gint64 i = 0; i < trainer->setup.settings->accumulate && (i == 0 || !plait_trainer_ends_epoch (trainer)); i++)
    {
      PlaitBatch *batch = plait_iterator_next (trainer->iterator, error);

      if (!batch)
        return FALSE;
      g_ptr_array_add (batches, batch);
      if (!plait_model_check_batch (trainer->setup.model, batch, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
compute_gradients (PlaitTrainer *trainer, const GPtrArray *batches, GError **error)
{
  const PlaitTrainerSetup *setup = &trainer->setup;

  plait_model_set_update (setup->model, trainer->step + 1);
  return plait_update_gradients (trainer->update, (PlaitBatch **)batches->pdata, batches->len,
                                 plait_random_key (setup->seed, "dropout", NULL, (guint64)trainer->step + 1),
                                 &trainer->sums, error);
}

/* Counts the update, and whether its gradients were clipped. */
static void
note_clipping (PlaitTrainer *trainer)
{
  double clip = trainer->setup.settings->clip;
  gboolean clipped = clip > 0 && trainer->gradient_norm > clip;

  trainer->clipping.updates++;
  trainer->clipping.clipped += clipped;
  trainer->row_clipping.updates++;
  trainer->row_clipping.clipped += clipped;
}

static double
share_of_clipped (const PlaitClipping *clipping)
{
  return clipping->updates > 0 ? (double)clipping->clipped / (double)clipping->updates : 0;
}

/* Makes one update from the next batches. */
static gboolean
make_update (PlaitTrainer *trainer, GError **error)
{
  const PlaitTrainerSetup *setup = &trainer->setup;
  g_autoptr (GPtrArray) batches = g_ptr_array_new_with_free_func ((GDestroyNotify)plait_batch_free);
  gint64 start = g_get_monotonic_time ();
  gint64 tokens = trainer->sums.tokens;
  gint64 step = trainer->begun + trainer->step + 1; /* step of the optimizer */
  double loss = trainer->sums.loss;
  double all_reduced = plait_ranks_seconds (setup->ranks);
  double seconds;
  char digits[2][PLAIT_NUMBER_LENGTH];

  trainer->sums.update = (PlaitLikelihood){ 0 };
  if (!plait_ranks_agree (setup->ranks, next_batches (trainer, batches, error), error)
      || !compute_gradients (trainer, batches, error))
    return FALSE;
  trainer->learning_rate = plait_learning_rate (setup->settings, step, setup->width, trainer->planned, trainer->drops);
  trainer->gradient_norm = plait_optimizer_update (trainer->optimizer, trainer->tape, step, trainer->learning_rate);
  /* The norm and the loss are equal in all processes, so all processes come here. */
  if (!isfinite (trainer->gradient_norm) || !isfinite (trainer->sums.loss - loss))
    return plait_ranks_agree (setup->ranks,
                              plait_fail (error, PLAIT_ERROR_FAILED,
                                          "update %jd: the loss is %s and the norm of the gradients %s: training has "
                                          "diverged; lower train.learning_rate or raise train.warm_up",
                                          trainer->step + 1, plait_format_double (digits[0], trainer->sums.loss - loss),
                                          plait_format_double (digits[1], trainer->gradient_norm)),
                              error);
  trainer->step++;
  note_clipping (trainer);
  plait_trainer_note_likelihood (trainer);
  tokens = trainer->sums.tokens - tokens;
  trainer->target_tokens += tokens;
  seconds = (double)(g_get_monotonic_time () - start) / 1e6;
  trainer->seconds += seconds;
  trainer->all_reduce_seconds += plait_ranks_seconds (setup->ranks) - all_reduced;
  trainer->sums.seconds += seconds;
  return TRUE;
}

double
plait_trainer_mean_loss (const PlaitTrainer *trainer, guint i, double loss, PlaitLossItems items, gint64 sentences,
                         double *accuracy)
{
  *accuracy = items.n > 0 ? (double)items.correct / (double)items.n : NAN;
  if (!plait_model_losses (trainer->setup.model)->columns[i].accuracy)
    return loss / (double)MAX (1, sentences);
  return items.n > 0 ? loss / (double)items.n : NAN;
}

/* Adds a row for the updates since the previous row. If log_every does not ask for the row, keeps the sums: the row is
 * added only because training ends, and a longer training can make the full row (plait_trainer_read). */
static void
add_row (PlaitTrainer *trainer)
{
  const PlaitTrainingSums *sums = &trainer->sums;
  double tokens = (double)MAX (1, sums->tokens);
  PlaitTrainingRow row = {
    .step = trainer->step,
    .epoch = plait_trainer_epoch (trainer),
    .loss = sums->loss / tokens,
    .negative_log_likelihood = sums->negative_log_likelihood / tokens,
    .auxiliary = sums->auxiliary / (double)MAX (1, sums->sentences),
    .accuracy = (double)sums->correct / tokens,
    .learning_rate = trainer->learning_rate,
    .gradient_norm = trainer->gradient_norm,
    .clipped = share_of_clipped (&trainer->row_clipping),
    .target_tokens = trainer->target_tokens,
    .seconds = trainer->seconds,
    .target_tokens_per_second = (double)sums->tokens / MAX (sums->seconds, 1e-9),
  };

  for (guint i = 0; i < plait_model_losses (trainer->setup.model)->n; i++)
    row.means.losses[i] = plait_trainer_mean_loss (trainer, i, sums->losses[i], sums->items[i], sums->sentences,
                                                   &row.means.accuracies[i]);
  g_array_append_val (trainer->rows, row);
  plait_trainer_note_update (trainer, trainer->rows->len - 1);
  if (trainer->step % trainer->setup.settings->log_every == 0)
    {
      memset (&trainer->sums, 0, sizeof trainer->sums);
      trainer->row_clipping = (PlaitClipping){ 0 };
    }
}

static void
show_progress (const PlaitTrainer *trainer)
{
  const PlaitTrainingSums *sums = &trainer->sums;
  const PlaitTrainingRow *row
      = trainer->rows->len ? &g_array_index (trainer->rows, PlaitTrainingRow, trainer->rows->len - 1) : NULL;
  double loss = sums->tokens ? sums->loss / (double)sums->tokens : row ? row->loss : 0;
  double rate = sums->tokens ? (double)sums->tokens / MAX (sums->seconds, 1e-9)
                : row        ? row->target_tokens_per_second
                             : 0;
  double left = trainer->seconds / (double)MAX (1, trainer->step) * (double)(trainer->planned - trainer->step);
  g_autofree char *duration = plait_log_duration (left);
  gboolean estimated = trainer->step > 1; /* the first update also allocates memory, which takes long */

  plait_log_progress (trainer->setup.log, "update %jd of %jd, epoch %jd: loss %.3f, %.0f target tokens/s%s%s%s",
                      trainer->step, trainer->planned, plait_trainer_epoch (trainer), loss, rate, estimated ? ", " : "",
                      estimated ? duration : "", estimated ? " left" : "");
}

/* Lowers the rate of the schedule plateau if validation has stalled. @best: the last validation is the best. */
static void
note_plateau (PlaitTrainer *trainer, gboolean best)
{
  const PlaitTrainSettings *settings = trainer->setup.settings;

  if (settings->schedule != PLAIT_TRAIN_SCHEDULE_PLATEAU)
    return;
  trainer->stalled = best ? 0 : trainer->stalled + 1;
  if (trainer->stalled < settings->plateau_patience)
    return;
  trainer->stalled = 0;
  trainer->drops++;
  plait_log_info (trainer->setup.log,
                  "update %jd: validation has stalled; the learning rate falls to %g times its highest value, but not "
                  "below train.minimum_rate",
                  trainer->step, pow (settings->plateau_factor, (double)trainer->drops));
}

/* Copies the current parameters for the average. */
static void
keep_recent (PlaitTrainer *trainer)
{
  gint64 limit = trainer->setup.settings->average;
  PlaitTensor values = plait_parameters_values (trainer->parameters);

  if (limit == 0)
    return;
  if (trainer->recent->len == (guint)limit)
    g_ptr_array_remove_index (trainer->recent, 0);
  g_ptr_array_add (trainer->recent, g_memdup2 (values.data, (gsize)values.width * sizeof (PlaitScalar)));
}

static gboolean
checkpoint (PlaitTrainer *trainer, gboolean best, gboolean interrupted, GError **error)
{
  const PlaitTrainerCallbacks *callbacks = &trainer->setup.callbacks;
  gboolean written = !callbacks->checkpoint || callbacks->checkpoint (callbacks->data, best, interrupted, error);

  return plait_ranks_agree (trainer->setup.ranks, written, error);
}

/* TRUE if @row is better than all earlier validations. */
static gboolean
is_best (const PlaitTrainer *trainer, const PlaitValidationRow *row)
{
  const PlaitValidationRow *best = NULL;

  for (guint i = trainer->validations->len; i > 0 && !best; i--)
    if (g_array_index (trainer->validations, PlaitValidationRow, i - 1).best)
      best = &g_array_index (trainer->validations, PlaitValidationRow, i - 1);
  if (!best)
    return TRUE;
  if (trainer->setup.settings->best_by != PLAIT_TRAIN_BEST_BY_METRIC)
    return row->negative_log_likelihood < best->negative_log_likelihood;
  return trainer->setup.callbacks.larger_is_better ? row->metric > best->metric : row->metric < best->metric;
}

static gboolean
validate (PlaitTrainer *trainer, GError **error)
{
  const PlaitTrainSettings *settings = trainer->setup.settings;
  PlaitValidationRow row;
  const PlaitLossColumns *losses = plait_model_losses (trainer->setup.model);
  g_autofree char *metric = NULL, *likelihood = NULL;
  g_autoptr (GString) accuracies = g_string_new (NULL);

  if (!plait_trainer_validate (trainer, &row, error))
    return FALSE;
  row.best = is_best (trainer, &row);
  trainer->stale = row.best ? 0 : trainer->stale + 1;
  note_plateau (trainer, row.best);
  g_array_append_val (trainer->validations, row);
  plait_trainer_note_validation (trainer, trainer->validations->len - 1);
  keep_recent (trainer);
  if (!isnan (row.metric))
    metric = g_strdup_printf (", %s %.2f", settings->metric, row.metric);
  if (!isnan (row.perplexity))
    likelihood = g_strdup_printf (", perplexity %.3f, accuracy %.3f", row.perplexity, row.accuracy);
  for (guint i = 0; i < losses->n; i++)
    if (losses->columns[i].accuracy && !isnan (row.means.accuracies[i]))
      g_string_append_printf (accuracies, ", %s %.3f", losses->columns[i].accuracy, row.means.accuracies[i]);
  plait_log_info (trainer->setup.log, "update %jd: validation loss %.4f%s%s%s%s", row.step, row.negative_log_likelihood,
                  likelihood ? likelihood : "", accuracies->str, metric ? metric : "", row.best ? " (best)" : "");
  return checkpoint (trainer, row.best, FALSE, error);
}

/* Does what is due after an update: adds a row to the table of updates, validates and writes checkpoints. @epochs:
 * number of epochs completed before the update. */
static gboolean
after_update (PlaitTrainer *trainer, gint64 epochs, gboolean last, GError **error)
{
  const PlaitTrainSettings *settings = trainer->setup.settings;
  gboolean due;

  if (last || trainer->step % settings->log_every == 0)
    add_row (trainer);
  show_progress (trainer);
  due = settings->validate_every > 0 ? trainer->step % settings->validate_every == 0 : count_epochs (trainer) > epochs;
  if (trainer->setup.validation && (due || last))
    return validate (trainer, error);
  if (last && !plait_trainer_check_divergence (trainer, NULL, error))
    return FALSE;
  if (last || (settings->checkpoint_every > 0 && trainer->step % settings->checkpoint_every == 0))
    return checkpoint (trainer, FALSE, FALSE, error);
  return TRUE;
}

static gboolean
is_complete (const PlaitTrainer *trainer)
{
  const PlaitTrainSettings *settings = trainer->setup.settings;

  return (settings->updates > 0 && trainer->step >= settings->updates)
         || (settings->epochs > 0 && count_epochs (trainer) >= settings->epochs);
}

static gboolean
is_stale (const PlaitTrainer *trainer)
{
  const PlaitTrainSettings *settings = trainer->setup.settings;

  return settings->patience > 0 && trainer->stale >= settings->patience;
}

/* Logs which share of the updates' time was spent on communication between processes. @before: value of
 * trainer->seconds when this process began to train. */
static void
log_all_reduce (const PlaitTrainer *trainer, double before)
{
  double all_reduce = trainer->all_reduce_seconds, all = trainer->seconds - before;

  if (trainer->setup.ranks && all > 0)
    plait_log_info (trainer->setup.log,
                    "%u processes: %.0f %% of the updates' time was spent on communication and waiting",
                    plait_ranks_size (trainer->setup.ranks), 100 * all_reduce / all);
}

gboolean
plait_trainer_run (PlaitTrainer *trainer, PlaitTrainingEnd *end, GError **error)
{
  const gint *stop = trainer->setup.stop;
  gint64 limit = trainer->setup.limit;
  double seconds = trainer->seconds;

  *end = PLAIT_TRAINING_CONTINUES;
  while (*end == PLAIT_TRAINING_CONTINUES)
    {
      gint64 epochs = count_epochs (trainer);

      if (is_complete (trainer))
        *end = PLAIT_TRAINING_COMPLETE;
      else if (is_stale (trainer))
        *end = PLAIT_TRAINING_STOPPED_EARLY;
      else if (plait_ranks_any (trainer->setup.ranks, stop && g_atomic_int_get (stop))
               || (limit > 0 && trainer->step >= limit))
        {
          *end = PLAIT_TRAINING_INTERRUPTED;
          plait_log_progress_end (trainer->setup.log);
          return checkpoint (trainer, FALSE, TRUE, error);
        }
      else if (!make_update (trainer, error) || !after_update (trainer, epochs, is_complete (trainer), error))
        {
          plait_log_progress_end (trainer->setup.log);
          return FALSE;
        }
    }
  plait_log_progress_end (trainer->setup.log);
  log_all_reduce (trainer, seconds);
  if (trainer->setup.settings->clip > 0 && trainer->clipping.updates > 0)
    plait_log_info (trainer->setup.log, "gradients were clipped in %.0f %% of the updates",
                    100 * share_of_clipped (&trainer->clipping));
  return TRUE;
}

gboolean
plait_trainer_measure_speed (PlaitTrainer *trainer, double seconds, gint64 max_updates, PlaitTrainerSpeed *speed,
                             GError **error)
{
  const PlaitTrainSettings *settings = trainer->setup.settings;
  gint64 every = settings->validate_every, n = 0;

  if (!make_update (trainer, error))
    return FALSE;
  trainer->seconds = 0;
  memset (&trainer->sums, 0, sizeof trainer->sums);
  for (; n == 0 || (n < max_updates && trainer->seconds < seconds); n++)
    if (!make_update (trainer, error))
      return FALSE;
  speed->update = trainer->seconds / (double)n;
  speed->sentence = trainer->seconds / (double)MAX (1, trainer->sums.sentences);
  if (every == 0)
    every = plait_trainer_epoch_updates (trainer);
  speed->validations = trainer->setup.validation ? (trainer->planned + every - 1) / every : 0;
  return TRUE;
}

gsize
plait_trainer_fixed_bytes (const PlaitTrainer *trainer)
{
  gint64 n = plait_parameters_values (trainer->parameters).width * (1 + trainer->setup.settings->average);

  if (trainer->setup.settings->accumulate > 1)
    n += plait_parameters_gradients (trainer->parameters).width;
  return sizeof (PlaitScalar) * (gsize)n + plait_optimizer_bytes (trainer->setup.settings, trainer->parameters);
}

gint64
plait_trainer_planned_updates (const PlaitTrainer *trainer)
{
  return trainer->planned;
}

gint64
plait_trainer_step (const PlaitTrainer *trainer)
{
  return trainer->step;
}

gboolean
plait_trainer_has_ended (const PlaitTrainer *trainer)
{
  return is_complete (trainer) || is_stale (trainer);
}

PlaitScalar *
plait_trainer_average (const PlaitTrainer *trainer)
{
  gint64 n = plait_parameters_values (trainer->parameters).width;
  PlaitScalar *average;

  if (trainer->recent->len == 0)
    return NULL;
  average = g_new (PlaitScalar, n);
  for (gint64 i = 0; i < n; i++)
    {
      double sum = 0;

      for (guint k = 0; k < trainer->recent->len; k++)
        sum += (double)((const PlaitScalar *)trainer->recent->pdata[k])[i];
      average[i] = (PlaitScalar)(sum / trainer->recent->len);
    }
  return average;
}
