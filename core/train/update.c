/* SPDX-License-Identifier: MIT */
#include "train/update.h"

#include "autograd/internal.h"

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
      PlaitModelSums found;
      PlaitNode *root;

      plait_tape_begin (update->tape, PLAIT_TAPE_TRAIN, plait_random_subkey (update->dropout, update->at));
      if (update->n == 1)
        plait_tape_keep_gradients (update->tape);
      root = plait_model_loss (update->model, update->tape, batch, &options, &found, NULL, NULL);
      plait_tape_backward (update->tape, root);
      sums->auxiliary += found.auxiliary;
      sums->loss += found.words.loss;
      sums->negative_log_likelihood += found.words.negative_log_likelihood;
      sums->correct += found.words.correct;
      sums->tokens += plait_ragged_rows (batch->target_rows);
      sums->sentences += batch->n_sentences;
    }
}

static gint64
all_rows (const PlaitBatch *batch)
{
  gint64 rows = plait_ragged_rows (batch->target_rows);

  for (gint64 i = 0; i < batch->n_sources; i++)
    rows += plait_ragged_rows (batch->inputs[i].rows);
  return rows;
}

/* What a step over the first @n sentences of @batch takes, and how many rows they have. 0 if that does not fit either.
 */
static gsize
bytes_of_part (const Update *update, const PlaitBatch *batch, gint64 n, gint64 *rows)
{
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  g_autoptr (PlaitTape) tape = plait_tape_new (plait_tape_pool (update->tape), arena);
  g_autofree PlaitInput *inputs = g_memdup2 (batch->inputs, (gsize)batch->n_sources * sizeof *inputs);
  g_autofree PlaitTrees *trees = g_new (PlaitTrees, batch->n_sources);
  PlaitBatch part = *batch;
  PlaitBatch *only = &part;
  PlaitTrainingSums sums = { 0 };
  Update smaller = *update;

  part.n_sentences = part.target_rows.n = n;
  part.inputs = inputs;
  for (gint64 i = 0; i < batch->n_sources; i++)
    {
      inputs[i].rows.n = n;
      inputs[i].features.rows = plait_ragged_rows (inputs[i].rows);
      if (inputs[i].trees != NULL)
        {
          trees[i] = *inputs[i].trees;
          trees[i].nodes.n = n;
          inputs[i].trees = &trees[i];
        }
    }
  *rows = all_rows (&part);
  smaller.tape = tape;
  smaller.batches = &only;
  smaller.n = 1;
  smaller.sums = &sums;
  return plait_arena_protect (arena, compute, &smaller, NULL) ? plait_arena_peak (arena) : 0;
}

/* What a step over @batch would take: a line through what an eighth and a quarter of its sentences take. 0: unknown. */
static gsize
estimate (const Update *update, const PlaitBatch *batch)
{
  gint64 eighth = batch->n_sentences / 8;
  gint64 less_rows;
  gint64 more_rows;
  gsize less;
  gsize more;
  double slope;

  if (eighth < 1)
    return 0;
  less = bytes_of_part (update, batch, eighth, &less_rows);
  more = less ? bytes_of_part (update, batch, 2 * eighth, &more_rows) : 0;
  if (more == 0 || more_rows <= less_rows)
    return 0;
  slope = more > less ? (double)(more - less) / (double)(more_rows - less_rows) : (double)more / (double)more_rows;
  return more + (gsize)(slope * (double)(all_rows (batch) - more_rows));
}

static gboolean
does_not_fit (const Update *update, const PlaitBatch *batch, const GError *cause, GError **error)
{
  gint64 target_rows = plait_ragged_rows (batch->target_rows);
  gsize bytes = estimate (update, batch);
  g_autofree char *needs
      = bytes ? g_strdup_printf ("needs about %.0f MiB and ", (double)bytes / 1024 / 1024) : g_strdup ("");

  return plait_fail (error, PLAIT_ERROR_MEMORY,
                     "a batch of %" G_GINT64_FORMAT " sentences with %" G_GINT64_FORMAT
                     " source rows and %" G_GINT64_FORMAT
                     " target rows %sdoes not fit (%s): lower train.batch, or raise train.accumulate with it",
                     batch->n_sentences, all_rows (batch) - target_rows, target_rows, needs, cause->message);
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
  return does_not_fit (&update, batches[MIN (update.at, n - 1)], cause, error);
}
