/* SPDX-License-Identifier: MIT */
#include "train/update.h"

typedef struct
{
  const PlaitModel *model;
  PlaitTape *tape;
  const PlaitTrainSettings *settings;
  PlaitBatch *const *batches;
  guint n;
  PlaitRandomKey dropout;
  PlaitTrainingSums *sums;
  double scale;
  guint at; /* the batch that is being computed, for messages */
} Update;

/* One over what the loss is the mean of. */
static double
scale_of (const Update *update)
{
  gint64 tokens = 0;
  gint64 sentences = 0;

  for (guint i = 0; i < update->n; i++)
    {
      tokens += plait_ragged_rows (update->batches[i]->target_rows);
      sentences += update->batches[i]->n_sentences;
    }
  return 1.0 / (double)MAX (1, update->settings->loss_per ? sentences : tokens);
}

static void
compute (gpointer data)
{
  Update *update = data;
  PlaitTrainingSums *sums = update->sums;
  PlaitVocabularyLossOptions options = { .smoothing = update->settings->smoothing,
                                         .others = update->settings->smoothing_over == 1,
                                         .scale = update->scale };

  for (update->at = 0; update->at < update->n; update->at++)
    {
      const PlaitBatch *batch = update->batches[update->at];
      PlaitVocabularyLossSums found;
      PlaitNode *root;

      plait_tape_begin (update->tape, PLAIT_TAPE_TRAIN, plait_random_subkey (update->dropout, update->at));
      root = plait_model_loss (update->model, update->tape, batch, &options, &found, NULL, NULL);
      sums->auxiliary += (double)root->value.data[0] / update->scale - found.loss;
      plait_tape_backward (update->tape, root);
      sums->loss += found.loss;
      sums->negative_log_likelihood += found.negative_log_likelihood;
      sums->correct += found.correct;
      sums->tokens += plait_ragged_rows (batch->target_rows);
      sums->sentences += batch->n_sentences;
    }
}

static gboolean
does_not_fit (const PlaitBatch *batch, const GError *cause, GError **error)
{
  gint64 rows = 0;

  for (gint64 i = 0; i < batch->n_sources; i++)
    rows += plait_ragged_rows (batch->inputs[i].rows);
  return plait_fail (error, PLAIT_ERROR_MEMORY,
                     "a batch of %" G_GINT64_FORMAT " sentences with %" G_GINT64_FORMAT
                     " source rows and %" G_GINT64_FORMAT
                     " target rows does not fit (%s): lower train.batch, or raise train.accumulate with it",
                     batch->n_sentences, rows, plait_ragged_rows (batch->target_rows), cause->message);
}

gboolean
plait_update_gradients (const PlaitModel *model, PlaitTape *tape, const PlaitTrainSettings *settings,
                        PlaitBatch *const *batches, guint n, PlaitRandomKey dropout, PlaitTrainingSums *sums,
                        GError **error)
{
  g_autoptr (GError) cause = NULL;
  Update update = { model, tape, settings, batches, n, dropout, sums };

  update.scale = scale_of (&update);
  if (plait_arena_protect (plait_tape_arena (tape), compute, &update, &cause))
    return TRUE;
  return does_not_fit (batches[MIN (update.at, n - 1)], cause, error);
}
