/* SPDX-License-Identifier: MIT */
#include "training/update.h"

#include "autograd/internal.h"
#include "corpus/batch.h"
#include "tensor/elementwise.h"
#include "training/all-reduce.h"
#include "layers/parameter-set.h"
#include "autograd/layer-operators.h"

#include <string.h>

/* A shard: some sentences of a batch, with its own tape and arena. */
typedef struct
{
  const PlaitUpdate *update;
  PlaitAllReduce *all_reduce; /* receives the progress of backward, or NULL */
  PlaitPool *pool;            /* owned; NULL if the shard uses the caller's tape */
  PlaitArena *arena;
  PlaitTape *tape;
  const PlaitBatch *batch;
  PlaitRandomKey dropout;
  gboolean keeps; /* TRUE: gradients stay on the tape */
  PlaitTrainingSums sums;
  GError *error;
} Shard;

struct PlaitUpdate
{
  const PlaitModel *model;
  PlaitTape *tape;
  const PlaitTrainSettings *settings;
  PlaitRanks *ranks;          /* NULL: a single process */
  PlaitAllReduce *all_reduce; /* NULL: a single process */
  double scale;               /* 1 / number of tokens or sentences of the update */
  gint64 first;               /* number of this process's first shard among all shards */
  gint64 n_shards;            /* number of shards in this process */
  Shard *shards;              /* [n_shards] */
};

static gboolean
is_cut (const PlaitUpdate *update)
{
  return update->settings->shards > 1;
}

PlaitUpdate *
plait_update_new (const PlaitModel *model, PlaitTape *tape, const PlaitTrainSettings *settings, PlaitRanks *ranks,
                  GError **error)
{
  g_autoptr (PlaitUpdate) update = g_new0 (PlaitUpdate, 1);
  guint processes = plait_ranks_size (ranks), own = plait_ranks_rank (ranks);
  gint64 first = settings->shards * own / processes, n = settings->shards * (own + 1) / processes - first;
  guint threads = plait_pool_threads (plait_tape_pool (tape));

  *update = (PlaitUpdate){ .model = model,
                           .tape = tape,
                           .settings = settings,
                           .ranks = ranks,
                           .first = first,
                           .n_shards = n,
                           .shards = g_new0 (Shard, n) };
  if (!plait_precision_check (plait_train_precision (settings), error))
    return NULL;
  if (processes > settings->shards)
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "there are %u processes, but train.shards is %jd: each process needs a shard of the batch; "
                            "set train.shards to %u or more, or start fewer processes",
                            processes, settings->shards, processes);
  if (ranks)
    update->all_reduce
        = plait_all_reduce_new (ranks, plait_model_parameters (model), plait_tape_pool (tape), (guint)n, error);
  if (ranks && !update->all_reduce)
    return NULL;
  for (gint64 i = 0; i < n; i++)
    {
      Shard *shard = &update->shards[i];

      shard->update = update;
      shard->all_reduce = update->all_reduce;
      if (!is_cut (update))
        {
          shard->arena = plait_tape_arena (tape);
          shard->tape = tape;
          continue;
        }
      shard->pool = plait_pool_new (MAX (1, threads / (guint)n), error);
      if (!shard->pool)
        return NULL;
      shard->arena = plait_arena_new ((gsize)settings->memory * 1024 * 1024 / (gsize)n);
      shard->tape = plait_tape_new (shard->pool, shard->arena);
    }
  return g_steal_pointer (&update);
}

void
plait_update_free (PlaitUpdate *update)
{
  if (!update)
    return;
  plait_all_reduce_free (update->all_reduce);
  for (gint64 i = 0; is_cut (update) && i < update->n_shards; i++)
    {
      plait_tape_free (update->shards[i].tape);
      plait_arena_free (update->shards[i].arena);
      plait_pool_free (update->shards[i].pool);
    }
  g_free (update->shards);
  g_free (update);
}

gsize
plait_update_peak (const PlaitUpdate *update)
{
  gsize peak = 0;

  for (gint64 i = 0; i < update->n_shards; i++)
    peak += plait_arena_peak (update->shards[i].arena);
  return peak;
}

/* Returns 1 / number of tokens, or sentences, of @batches, over which the loss is averaged. A weighted sentence counts
 * with its weight. */
static double
scale_of (const PlaitUpdate *update, PlaitBatch *const *batches, guint n)
{
  double total = 0;

  for (guint i = 0; i < n; i++)
    for (gint64 s = 0; s < batches[i]->n_sentences; s++)
      {
        gint64 rows = update->settings->loss_per ? 1 : plait_ragged_length (batches[i]->target_rows, s);

        total += (batches[i]->weights ? batches[i]->weights[s] : 1) * (double)rows;
      }
  return total > 0 ? 1 / total : 1;
}

/*
 * Functions for one shard
 */

static guint
number_of (const Shard *shard)
{
  return (guint)(shard - shard->update->shards);
}

static void
compute (gpointer data)
{
  Shard *shard = data;
  const PlaitUpdate *update = shard->update;
  PlaitOutputLossOptions options = { .smoothing = update->settings->smoothing,
                                     .others = update->settings->smoothing_over == 1,
                                     .scale = update->scale };
  PlaitModelSums found;
  PlaitNode *root;

  plait_tape_begin (shard->tape, PLAIT_TAPE_TRAIN, shard->dropout);
  plait_tape_set_precision (shard->tape, plait_train_precision (update->settings));
  if (shard->keeps)
    plait_tape_keep_gradients (shard->tape);
  if (update->settings->recompute == PLAIT_TRAIN_RECOMPUTE_LAYERS)
    plait_tape_enable_recompute (shard->tape);
  if (shard->all_reduce)
    plait_all_reduce_watch (shard->all_reduce, number_of (shard), shard->tape);
  root = plait_model_loss (update->model, shard->tape, shard->batch, &options, &found, NULL, NULL);
  plait_tape_backward (shard->tape, root);
  shard->sums = (PlaitTrainingSums){
    .loss = found.words.loss,
    .negative_log_likelihood = found.words.negative_log_likelihood,
    .update = { found.words.negative_log_likelihood, found.guessing },
    .auxiliary = found.auxiliary,
    .multiplications = plait_tape_multiplications (shard->tape),
    .correct = found.words.correct,
    .tokens = plait_ragged_rows (shard->batch->target_rows),
    .sentences = shard->batch->n_sentences,
  };
  memcpy (shard->sums.losses, found.losses, plait_model_losses (update->model)->n * sizeof *found.losses);
  memcpy (shard->sums.items, found.items, sizeof found.items);
}

static void
shard_piece (gpointer data, gint64 piece, guint thread)
{
  Shard *shard = (Shard *)data + piece;

  gboolean well = plait_arena_protect (shard->arena, compute, shard, &shard->error);

  if (shard->all_reduce)
    plait_all_reduce_shard_ended (shard->all_reduce, number_of (shard), well);
}

static void
add_sums (PlaitTrainingSums *sums, const PlaitTrainingSums *more)
{
  sums->loss += more->loss;
  sums->negative_log_likelihood += more->negative_log_likelihood;
  sums->update.negative_log_likelihood += more->update.negative_log_likelihood;
  sums->update.guessing += more->update.guessing;
  for (guint i = 0; i < PLAIT_MAX_LOSS_COLUMNS; i++)
    {
      sums->losses[i] += more->losses[i];
      sums->items[i].n += more->items[i].n;
      sums->items[i].correct += more->items[i].correct;
    }
  sums->auxiliary += more->auxiliary;
  sums->multiplications += more->multiplications;
  sums->correct += more->correct;
  sums->tokens += more->tokens;
  sums->sentences += more->sentences;
}

/* Adds the gradients of @parameter in the first @n shards to the gradient of @parameter if @added, else to the gradient
 * of the first shard that has one. Returns the sum, without data if there is no gradient to add to. */
static PlaitTensor
gather_one (const PlaitUpdate *update, gint64 n, const PlaitParameter *parameter, gboolean added)
{
  PlaitTensor sum = added ? parameter->gradient : (PlaitTensor){ 0 };

  for (gint64 i = 0; i < n; i++)
    {
      PlaitTensor own = plait_tape_keyed_gradient (update->shards[i].tape, parameter);

      if (!sum.data)
        sum = own;
      else if (own.data)
        plait_tensor_accumulate (plait_tape_pool (update->tape), sum, 1, 1, own);
    }
  return sum;
}

/* Sums the gradients of the first @n shards. If @added, adds them to the parameters' gradients; else the sums become
 * the gradients of update->tape. */
static void
gather (const PlaitUpdate *update, gint64 n, gboolean added)
{
  const PlaitParameters *parameters = plait_model_parameters (update->model);

  for (guint i = 0; i < plait_parameters_n (parameters); i++)
    {
      const PlaitParameter *parameter = plait_parameters_get (parameters, i);
      PlaitTensor sum = gather_one (update, n, parameter, added);

      if (sum.data && !added)
        plait_parameter_node (update->tape, parameter)->gradient = sum;
    }
}

/*
 * Functions that sum over processes
 */

/* Adds the sums of the shards of all processes to @sums, in the order of shards, as gradients are summed
 * (training/all-reduce.h). @n: number of shards of this process. Each process keeps its own seconds. */
static void
all_reduce_sums (const PlaitUpdate *update, gint64 n, PlaitTrainingSums *sums)
{
  guint own = plait_ranks_rank (update->ranks), last = plait_ranks_size (update->ranks) - 1;
  double seconds = sums->seconds;

  if (own > 0)
    plait_ranks_receive (update->ranks, sums, sizeof *sums);
  for (gint64 i = 0; i < n; i++)
    add_sums (sums, &update->shards[i].sums);
  if (own < last)
    plait_ranks_send (update->ranks, sums, sizeof *sums);
  plait_ranks_broadcast (update->ranks, sums, sizeof *sums, last);
  sums->seconds = seconds;
}

/*
 * Functions for one batch
 */

/* Returns the number of source rows of the first @n sentences. */
static gint64
source_rows (const PlaitBatch *batch, gint64 n)
{
  gint64 rows = 0;

  for (gint64 i = 0; i < batch->n_sources; i++)
    rows += batch->inputs[i].rows.offsets[n];
  return rows;
}

static gint64
all_rows (const PlaitBatch *batch, gint64 n)
{
  return source_rows (batch, n) + batch->target_rows.offsets[n];
}

/* Returns the sentence before which shard @shard of @n ends; the shard begins at sentence @first. The number of rows
 * before the end is as close as possible to (@shard + 1) / @n of all rows of the batch. */
static gint64
end_of (const PlaitBatch *batch, gint64 first, gint64 shard, gint64 n)
{
  gint64 last = batch->n_sentences - (n - 1 - shard), end = first + 1;
  double goal = (double)all_rows (batch, batch->n_sentences) * (double)(shard + 1) / (double)n;

  if (shard == n - 1)
    return batch->n_sentences;
  while (end < last && (double)(all_rows (batch, end) + all_rows (batch, end + 1)) < 2 * goal)
    end++;
  return end;
}

/* Assigns the sentences of @batch to the shards of this process, and sets *@n to the number of its shards that have
 * sentences. */
static gboolean
cut (PlaitUpdate *update, const PlaitBatch *batch, GPtrArray *kept, gint64 *n, GError **error)
{
  gint64 all = MIN (update->settings->shards, batch->n_sentences), first = 0;

  *n = CLAMP (all - update->first, 0, update->n_shards);
  if (!is_cut (update))
    {
      update->shards->batch = batch;
      return TRUE;
    }
  for (gint64 i = 0; i < update->first + *n; i++)
    {
      gint64 end = end_of (batch, first, i, all);

      if (i >= update->first)
        {
          PlaitBatch *own = plait_batch_slice (batch, first, end - first, error);

          if (!own)
            return FALSE;
          g_ptr_array_add (kept, own);
          update->shards[i - update->first].batch = own;
        }
      first = end;
    }
  return TRUE;
}

/* Returns the memory in bytes of a step over the first @n sentences of @batch; 0 if there is not enough memory. */
static gsize
bytes_of_first (const PlaitUpdate *update, const PlaitBatch *batch, gint64 n)
{
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  g_autoptr (PlaitTape) tape = plait_tape_new (plait_tape_pool (update->tape), arena);
  g_autoptr (PlaitBatch) first = plait_batch_slice (batch, 0, n, NULL);
  Shard shard = { .update = update, .arena = arena, .tape = tape, .batch = first, .keeps = update->shards->keeps };

  return first && plait_arena_protect (arena, compute, &shard, NULL) ? plait_arena_peak (arena) : 0;
}

/* Returns an estimate of the memory in bytes of a step over @batch, or 0 if it is unknown: a linear extrapolation from
 * one eighth and one quarter of the sentences. */
static gsize
estimate (const PlaitUpdate *update, const PlaitBatch *batch)
{
  gint64 eighth = batch->n_sentences / 8;
  gint64 less_rows = all_rows (batch, eighth);
  gint64 more_rows = all_rows (batch, 2 * eighth);
  gsize less;
  gsize more;
  double slope;

  if (eighth < 1)
    return 0;
  less = bytes_of_first (update, batch, eighth);
  more = less ? bytes_of_first (update, batch, 2 * eighth) : 0;
  if (more == 0 || more_rows <= less_rows)
    return 0;
  slope = more > less ? (double)(more - less) / (double)(more_rows - less_rows) : (double)more / (double)more_rows;
  return more + (gsize)(slope * (double)(all_rows (batch, batch->n_sentences) - more_rows));
}

static gboolean
does_not_fit (const PlaitUpdate *update, const PlaitBatch *batch, const GError *cause, GError **error)
{
  gint64 n = batch->n_sentences;
  gsize bytes = estimate (update, batch);
  g_autofree char *needs
      = bytes ? g_strdup_printf ("needs about %.0f MiB and ", (double)bytes / 1024 / 1024) : g_strdup ("");

  return plait_fail (error, PLAIT_ERROR_MEMORY,
                     "a batch of %jd sentences with %jd source rows and %jd target rows %sdoes not fit into memory; "
                     "lower train.batch, and raise train.accumulate to keep the updates equal (%s)",
                     n, source_rows (batch, n), plait_ragged_rows (batch->target_rows), needs, cause->message);
}

/* Computes forward and backward of @shards shards of @batch, which is batch @at of the @n batches of an update. */
static gboolean
compute_shards (PlaitUpdate *update, const PlaitBatch *batch, gint64 shards, guint at, guint n, PlaitRandomKey dropout,
                GError **error)
{
  for (gint64 i = 0; i < shards; i++)
    {
      Shard *shard = &update->shards[i];

      shard->dropout = plait_random_subkey (dropout, (guint64)(at * update->settings->shards + update->first + i));
      shard->keeps = n == 1 || is_cut (update);
    }
  plait_pool_run (plait_tape_pool (update->tape), shards, shard_piece, update->shards);
  for (gint64 i = 0; i < shards; i++)
    {
      g_autoptr (GError) cause = g_steal_pointer (&update->shards[i].error);

      if (!cause)
        continue;
      for (; i < shards; i++)
        g_clear_error (&update->shards[i].error);
      if (g_error_matches (cause, PLAIT_ERROR, PLAIT_ERROR_MEMORY))
        return does_not_fit (update, batch, cause, error);
      return plait_no_error (&cause, error);
    }
  return TRUE;
}

static gboolean
compute_batch (PlaitUpdate *update, const PlaitBatch *batch, guint at, guint n, PlaitRandomKey dropout,
               PlaitTrainingSums *sums, GError **error)
{
  g_autoptr (GPtrArray) own = g_ptr_array_new_with_free_func ((GDestroyNotify)plait_batch_free);
  gint64 shards;
  gboolean well = cut (update, batch, own, &shards, error);

  if (!well)
    shards = 0;
  if (update->all_reduce)
    plait_all_reduce_begin (update->all_reduce, (guint)shards);
  well = well && compute_shards (update, batch, shards, at, n, dropout, error);
  if (update->all_reduce)
    plait_all_reduce_end (update->all_reduce);
  if (!plait_ranks_agree (update->ranks, well, error))
    return FALSE;
  if (update->ranks)
    {
      all_reduce_sums (update, shards, sums);
      return TRUE;
    }
  for (gint64 i = 0; i < shards; i++)
    add_sums (sums, &update->shards[i].sums);
  if (is_cut (update))
    gather (update, shards, n > 1);
  return TRUE;
}

gboolean
plait_update_gradients (PlaitUpdate *update, PlaitBatch *const *batches, guint n, PlaitRandomKey dropout,
                        PlaitTrainingSums *sums, GError **error)
{
  update->scale = scale_of (update, batches, n);
  if (is_cut (update))
    {
      plait_tape_begin (update->tape, PLAIT_TAPE_TRAIN, dropout);
      if (n == 1)
        plait_tape_keep_gradients (update->tape);
      /* The all-reduce adds to the parameters' gradients, so they must be zero. The optimizer does not set them to zero
       * after an update of one batch. */
      if (update->ranks)
        plait_parameters_zero_gradients (plait_model_parameters (update->model));
    }
  for (guint i = 0; i < n; i++)
    if (!compute_batch (update, batches[i], i, n, dropout, sums, error))
      return FALSE;
  return TRUE;
}
