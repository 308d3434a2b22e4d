/* SPDX-License-Identifier: MIT */
#include "training/trainer-private.h"

#include <math.h>

#include "text/number.h"
#include "autograd/layer-operators.h"

/* Validation: the loss over the validation text, and the caller's metric of the translated validation text. */

typedef struct
{
  PlaitTrainer *trainer;
  const PlaitBatch *batch;
  PlaitModelSums sums;
} Pass;

static void
compute (gpointer data)
{
  Pass *pass = data;
  PlaitOutputLossOptions options = { .scale = 1 };

  plait_tape_begin (pass->trainer->tape, PLAIT_TAPE_EVALUATE, (PlaitRandomKey){ 0 });
  plait_model_loss (pass->trainer->setup.model, pass->trainer->tape, pass->batch, &options, &pass->sums, NULL, NULL);
}

static gboolean
pass_batch (PlaitTrainer *trainer, Pass *pass, GError **error)
{
  if (!plait_model_check_batch (trainer->setup.model, pass->batch, error))
    return FALSE;
  if (plait_arena_protect (trainer->arena, compute, pass, error))
    return TRUE;
  if (g_error_matches (*error, PLAIT_ERROR, PLAIT_ERROR_MEMORY))
    g_prefix_error (error,
                    "a validation batch of %jd sentences does not fit into memory; lower train.validation_batch: ",
                    pass->batch->n_sentences);
  return FALSE;
}

static PlaitIterator *
new_iterator (const PlaitTrainer *trainer, GError **error)
{
  return plait_iterator_new_by_length (trainer->setup.validation, trainer->setup.settings->validation_batch, error);
}

gboolean
plait_trainer_measure_validation_memory (PlaitTrainer *trainer, gsize *bytes, GError **error)
{
  g_autoptr (PlaitIterator) iterator = NULL;
  g_autoptr (PlaitBatch) batch = NULL;
  g_autoptr (PlaitBatch) truncated = NULL;
  GError *local = NULL;

  *bytes = 0;
  if (!trainer->setup.validation)
    return TRUE;
  iterator = new_iterator (trainer, error);
  batch = iterator ? plait_iterator_next (iterator, &local) : NULL;
  truncated = batch ? plait_trainer_truncated_batch (trainer, batch) : NULL;
  if (batch && pass_batch (trainer, &(Pass){ .trainer = trainer, .batch = truncated ? truncated : batch }, &local))
    *bytes = plait_arena_peak (trainer->arena);
  if (truncated)
    *bytes = (gsize)((double)*bytes * (double)plait_trainer_rows (batch) / (double)plait_trainer_rows (truncated));
  return plait_no_error (&local, error) && iterator;
}

/* Sums of one batch, or zeros if another process computes the batch. Integers are stored as doubles; they are below
 * 2^53. */
typedef struct
{
  PlaitLikelihood likelihood;
  double correct;
  double tokens;
  struct
  {
    double loss, items, correct;
  } columns[PLAIT_MAX_LOSS_COLUMNS]; /* sums of the losses that have items; other losses have 0 */
} BatchSums;

static BatchSums
sums_of (const PlaitModelSums *sums, gint64 tokens)
{
  BatchSums found
      = { { sums->words.negative_log_likelihood, sums->guessing }, (double)sums->words.correct, (double)tokens };

  for (guint i = 0; i < PLAIT_MAX_LOSS_COLUMNS; i++)
    if (sums->items[i].n > 0)
      {
        found.columns[i].loss = sums->losses[i];
        found.columns[i].items = (double)sums->items[i].n;
        found.columns[i].correct = (double)sums->items[i].correct;
      }
  return found;
}

/* Sets in @row the means of the losses that have items. @batches has the sums of all batches. */
static void
set_means (const PlaitTrainer *trainer, const GArray *batches, PlaitValidationRow *row)
{
  for (guint i = 0; i < plait_model_losses (trainer->setup.model)->n; i++)
    {
      PlaitLossItems items = { 0 };
      double loss = 0;

      for (guint b = 0; b < batches->len; b++)
        {
          const BatchSums *batch = &g_array_index (batches, BatchSums, b);

          loss += batch->columns[i].loss;
          items.n += (gint64)batch->columns[i].items;
          items.correct += (gint64)batch->columns[i].correct;
        }
      row->means.losses[i] = plait_trainer_mean_loss (trainer, i, loss, items, 0, &row->means.accuracies[i]);
    }
}

/* Appends the sums of each batch to @sums. Process r of n appends zeros, except for batches r, r + n and so on. */
static gboolean
compute_batches (PlaitTrainer *trainer, GArray *sums, GError **error)
{
  PlaitRanks *ranks = trainer->setup.ranks;
  g_autoptr (PlaitIterator) iterator = new_iterator (trainer, error);
  GError *local = NULL;

  while (iterator && !local)
    {
      g_autoptr (PlaitBatch) batch = plait_iterator_next (iterator, &local);
      Pass pass = { .trainer = trainer, .batch = batch };
      gboolean own = sums->len % plait_ranks_size (ranks) == plait_ranks_rank (ranks);
      BatchSums found = { 0 };

      if (!batch)
        break;
      if (own && pass_batch (trainer, &pass, &local))
        found = sums_of (&pass.sums, plait_ragged_rows (batch->target_rows));
      g_array_append_val (sums, found);
    }
  return plait_no_error (&local, error) && iterator;
}

static gboolean
compute_loss (PlaitTrainer *trainer, PlaitValidationRow *row, GError **error)
{
  PlaitRanks *ranks = trainer->setup.ranks;
  g_autoptr (GArray) batches = g_array_new (FALSE, FALSE, sizeof (BatchSums));
  PlaitLikelihood sums = { 0 };
  double correct = 0, tokens = 0;
  char digits[PLAIT_NUMBER_LENGTH];

  if (!plait_ranks_agree (ranks, compute_batches (trainer, batches, error), error))
    return FALSE;
  plait_ranks_all_reduce (ranks, (double *)batches->data, batches->len * (sizeof (BatchSums) / sizeof (double)));
  for (guint i = 0; i < batches->len; i++)
    {
      const BatchSums *batch = &g_array_index (batches, BatchSums, i);

      sums.negative_log_likelihood += batch->likelihood.negative_log_likelihood;
      sums.guessing += batch->likelihood.guessing;
      correct += batch->correct;
      tokens += batch->tokens;
    }
  if (!isfinite (sums.negative_log_likelihood))
    return plait_ranks_agree (
        ranks,
        plait_fail (error, PLAIT_ERROR_FAILED,
                    "validation after update %jd: the loss is %s: training has diverged, or the validation data have "
                    "extreme values; lower train.learning_rate, raise train.warm_up, or check the data",
                    trainer->step, plait_format_double (digits, sums.negative_log_likelihood)),
        error);
  row->negative_log_likelihood = sums.negative_log_likelihood / MAX (1, tokens);
  row->perplexity = exp (row->negative_log_likelihood);
  row->accuracy = correct / MAX (1, tokens);
  set_means (trainer, batches, row);
  if (plait_model_specification (trainer->setup.model)->predict.kind == PLAIT_PREDICT_NUMBER)
    row->perplexity = row->accuracy = NAN;
  return plait_trainer_check_divergence (trainer, &sums, error);
}

gboolean
plait_trainer_validate (PlaitTrainer *trainer, PlaitValidationRow *row, GError **error)
{
  gboolean measured;

  *row = (PlaitValidationRow){ .step = trainer->step, .epoch = plait_trainer_epoch (trainer), .metric = NAN };
  if (!compute_loss (trainer, row, error))
    return FALSE;
  measured = !trainer->setup.callbacks.measure
             || trainer->setup.callbacks.measure (trainer->setup.callbacks.data, &row->metric, error);
  return plait_ranks_agree (trainer->setup.ranks, measured, error);
}
