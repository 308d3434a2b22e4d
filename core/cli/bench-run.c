/* SPDX-License-Identifier: MIT */
#include "cli/bench.h"

#include <string.h>
#include <time.h>

#include "autograd/internal.h"
#include "autograd/operators.h"
#include "base/memory.h"
#include "model/search.h"
#include "tensor/blas.h"
#include "train/optimizer.h"
#include "train/parameters.h"
#include "train/update.h"

#define RATE_SECONDS .5
#define LEARNING_RATE 1e-4

typedef struct
{
  const PlaitBenchOptions *options;
  PlaitBenchFigures *figures;
  PlaitPool *pool;
  PlaitBenchData *data;
  PlaitBenchModel *model;
  PlaitBenchAttention *attention;
  PlaitTensor image;
  GPtrArray *batches; /* PlaitBatch */
  PlaitArena *arena;
  PlaitTape *tape;
  PlaitTrainSettings training;
  PlaitUpdate *update;
  PlaitOptimizer *optimizer;
  PlaitSearch *search;
  PlaitDecodeSettings searching;
} Run;

static void
run_clear (Run *run)
{
  plait_search_free (run->search);
  plait_optimizer_free (run->optimizer);
  plait_update_free (run->update);
  plait_tape_free (run->tape);
  plait_arena_free (run->arena);
  plait_bench_model_free (run->model);
  plait_bench_attention_free (run->attention);
  plait_bench_data_free (run->data);
  g_clear_pointer (&run->batches, g_ptr_array_unref);
  plait_pool_free (run->pool);
  g_free (run->image.data);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Run, run_clear)

void
plait_bench_figures_clear (PlaitBenchFigures *figures)
{
  g_free (figures->seconds);
  g_free (figures->processor);
  g_free (figures->sentences);
  g_free (figures->tokens);
  g_free (figures->flops);
  g_free (figures->losses);
}

/* The most memory that this process has had, in bytes; 0 where the system does not say. */
static gint64
peak_bytes (void)
{
  g_autofree char *status = NULL;
  const char *line;

  if (!g_file_get_contents ("/proc/self/status", &status, NULL, NULL))
    return 0;
  line = strstr (status, "VmHWM:");
  return line ? g_ascii_strtoll (line + strlen ("VmHWM:"), NULL, 10) * 1024 : 0;
}

/*
 * Data
 */

static void
batch_free (gpointer batch)
{
  plait_batch_free (batch);
}

/* The image that every batch of a size with images has, for its most sentences; no data for other sizes. */
static gboolean
make_image (Run *run, GError **error)
{
  const PlaitBenchSize *size = &run->options->size;
  gint64 sentences = run->options->part == PLAIT_BENCH_DECODE ? run->options->batch : size->batch;
  gint64 rows = sentences * size->image_positions, n = rows * size->image_width;
  PlaitRandomKey key = plait_random_key (1, "bench", "image", 0);

  if (n == 0)
    return TRUE;
  run->image
      = plait_tensor (plait_try_allocate ((gsize)n, sizeof (PlaitScalar), "an image", error), rows, size->image_width);
  for (gint64 i = 0; run->image.data && i < n; i++)
    run->image.data[i] = (PlaitScalar)plait_random_normal (key, (guint64)i);
  return run->image.data != NULL;
}

/* The data, and of them the batches that the steps go through, all made before the timing. */
static gboolean
make_batches (Run *run, GError **error)
{
  const PlaitBenchOptions *options = run->options;
  gboolean searching = options->part == PLAIT_BENCH_DECODE;

  run->data = options->data ? plait_bench_data_read (options->data, &options->size, error)
                            : plait_bench_data_draw (&options->size, 1);
  if (!run->data)
    return FALSE;
  if (searching)
    plait_bench_data_regroup (run->data, options->batch);
  if (!make_image (run, error))
    return FALSE;
  run->batches = g_ptr_array_new_with_free_func (batch_free);
  for (guint i = 0; i < MIN (plait_bench_data_batches (run->data), options->warmup + options->steps); i++)
    {
      PlaitBatch *batch = plait_bench_data_batch (run->data, &options->size, i, !searching, run->image, error);

      if (!batch)
        return FALSE;
      g_ptr_array_add (run->batches, batch);
    }
  return TRUE;
}

static guint
batch_of (const Run *run, gint64 step)
{
  return (guint)(step % plait_bench_data_batches (run->data));
}

/* What step @step, timed as number @timed, works on. */
static void
count (const Run *run, gint64 step, gint64 timed)
{
  const PlaitBenchOptions *options = run->options;
  PlaitBenchFigures *figures = run->figures;
  guint index;
  const PlaitBatch *batch;

  if (!run->data)
    {
      figures->sentences[timed] = 1;
      return;
    }
  index = batch_of (run, step);
  batch = run->batches->pdata[index];
  figures->sentences[timed] = (double)batch->n_sentences;
  figures->flops[timed] = plait_bench_flops (run->data, options, index);
  if (options->part == PLAIT_BENCH_DECODE)
    figures->tokens[timed] = (double)(batch->n_sentences * options->size.decode_steps);
  else if (options->part == PLAIT_BENCH_ENCODE)
    figures->tokens[timed] = (double)plait_ragged_rows (batch->inputs[0].rows);
  else
    figures->tokens[timed] = (double)plait_ragged_rows (batch->target_rows);
}

/*
 * Steps. Each gives what losses are to have.
 */

typedef gboolean (*Step) (Run *run, gint64 step, double *loss, GError **error);

static gboolean
train (Run *run, gint64 step, double *loss, GError **error)
{
  PlaitBatch *batch = run->batches->pdata[batch_of (run, step)];
  PlaitTrainingSums sums = { 0 };

  if (!plait_update_gradients (run->update, &batch, 1, plait_random_key (1, "dropout", NULL, (guint64)step + 1), &sums,
                               error))
    return FALSE;
  plait_optimizer_update (run->optimizer, run->tape, step + 1, LEARNING_RATE);
  *loss = sums.negative_log_likelihood / (double)sums.tokens;
  return TRUE;
}

static gboolean
decode (Run *run, gint64 step, double *loss, GError **error)
{
  const PlaitBatch *batch = run->batches->pdata[batch_of (run, step)];
  PlaitHypotheses *found = plait_search_batch (run->search, batch, &run->searching, error);

  if (!found)
    return FALSE;
  plait_hypotheses_free (found, batch->n_sentences);
  *loss = 0;
  return TRUE;
}

/* One pass of a part of the model: what plait_arena_protect calls. */
typedef struct
{
  Run *run;
  gint64 step;
  double loss;
} Pass;

/* Backward from the sum of the numbers of @node, unless that is left out. */
static void
go_back (Pass *pass, PlaitNode *node)
{
  PlaitNode *root = plait_total (pass->run->tape, node);

  pass->loss = (double)plait_tape_value (pass->run->tape, root).data[0];
  if (pass->run->options->part != PLAIT_BENCH_ATTENDING)
    plait_tape_backward (pass->run->tape, root);
}

static void
begin_pass (const Pass *pass)
{
  PlaitTape *tape = pass->run->tape;

  if (pass->run->options->part == PLAIT_BENCH_ATTENDING)
    {
      plait_tape_begin (tape, PLAIT_TAPE_EVALUATE, (PlaitRandomKey){ 0 });
      return;
    }
  plait_tape_begin (tape, PLAIT_TAPE_TRAIN, plait_random_key (1, "dropout", NULL, (guint64)pass->step + 1));
  plait_tape_keep_gradients (tape);
}

static void
encode_pass (gpointer data)
{
  Pass *pass = data;
  const PlaitBatch *batch = pass->run->batches->pdata[batch_of (pass->run, pass->step)];

  begin_pass (pass);
  go_back (pass, plait_model_read (pass->run->model->model, pass->run->tape, batch, NULL).memories[0].states);
}

static void
attend_pass (gpointer data)
{
  Pass *pass = data;

  begin_pass (pass);
  go_back (pass, plait_bench_attention_step (pass->run->attention, pass->run->tape));
}

static gboolean
run_pass (Run *run, gint64 step, PlaitArenaCall call, double *loss, GError **error)
{
  Pass pass = { run, step, 0 };

  if (!plait_arena_protect (run->arena, call, &pass, error))
    return FALSE;
  *loss = pass.loss;
  return TRUE;
}

static gboolean
encode (Run *run, gint64 step, double *loss, GError **error)
{
  return run_pass (run, step, encode_pass, loss, error);
}

static gboolean
attend (Run *run, gint64 step, double *loss, GError **error)
{
  return run_pass (run, step, attend_pass, loss, error);
}

/*
 * Making ready
 */

static void
set_training (Run *run)
{
  plait_setting_group_defaults (&plait_train_group, &run->training);
  run->training.clip = 1;
  run->training.shards = run->options->shards;
  /* The recurrent systems of the papers are trained without it. */
  run->training.smoothing = run->options->size.hidden > 0 ? 0 : .1;
}

static void
set_searching (Run *run)
{
  plait_setting_group_defaults (&plait_decode_group, &run->searching);
  run->searching.beam = run->options->beam;
  run->searching.n_best = run->options->beam;
  /* All sentences take the same number of steps. */
  run->searching.minimum_length = run->searching.maximum_length = run->options->size.decode_steps;
  run->searching.maximum_ratio = 0;
}

static gboolean
write_parameters (const PlaitParameters *parameters, const char *path, GError **error)
{
  g_autoptr (PlaitStore) store = plait_store_create (path, error);

  return store && plait_parameters_write (parameters, store, "/parameters", error) && plait_store_commit (store, error);
}

/* The model or the attention, and what the steps need beside it. */
static gboolean
make_model (Run *run, PlaitRegistry *registry, GError **error)
{
  const PlaitBenchOptions *options = run->options;
  PlaitParameters *parameters;

  if (options->part == PLAIT_BENCH_ATTEND || options->part == PLAIT_BENCH_ATTENDING)
    {
      run->attention = plait_bench_attention_new (options, registry, run->pool, error);
      if (!run->attention)
        return FALSE;
      parameters = plait_bench_attention_parameters (run->attention);
    }
  else
    {
      run->model = options->size.hidden > 0 ? plait_bench_recurrent_new (options, registry, run->pool, error)
                                            : plait_bench_model_new (options, registry, run->pool, error);
      if (!run->model)
        return FALSE;
      parameters = plait_model_parameters (run->model->model);
    }
  if (options->parameters && !write_parameters (parameters, options->parameters, error))
    return FALSE;
  run->arena = plait_arena_new (0);
  run->tape = plait_tape_new (run->pool, run->arena);
  if (options->part == PLAIT_BENCH_TRAIN)
    {
      set_training (run);
      run->update = plait_update_new (run->model->model, run->tape, &run->training, error);
      run->optimizer = run->update ? plait_optimizer_new (&run->training, parameters, error) : NULL;
      return run->optimizer != NULL;
    }
  if (options->part == PLAIT_BENCH_DECODE)
    {
      set_searching (run);
      run->search = plait_search_new (run->model->model, run->pool, 0, error);
      return run->search != NULL;
    }
  return TRUE;
}

/* Seconds on the clock, and seconds that the process has spent on processors. */
typedef struct
{
  double clock;
  double processor;
} Moment;

static Moment
now (void)
{
  struct timespec clock, processor;

  clock_gettime (CLOCK_MONOTONIC, &clock);
  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &processor);
  return (Moment){ (double)clock.tv_sec + (double)clock.tv_nsec / 1e9,
                   (double)processor.tv_sec + (double)processor.tv_nsec / 1e9 };
}

static gboolean
time_steps (Run *run, GError **error)
{
  static const Step steps[] = {
    [PLAIT_BENCH_TRAIN] = train,   [PLAIT_BENCH_DECODE] = decode,    [PLAIT_BENCH_ENCODE] = encode,
    [PLAIT_BENCH_ATTEND] = attend, [PLAIT_BENCH_ATTENDING] = attend,
  };
  PlaitBenchFigures *figures = run->figures;

  for (gint64 step = 0; step < run->options->warmup + run->options->steps; step++)
    {
      Moment start = now (), end;
      gint64 timed = step - run->options->warmup;

      if (!steps[run->options->part](run, step, &figures->losses[step], error))
        return FALSE;
      end = now ();
      if (timed < 0)
        continue;
      figures->seconds[timed] = end.clock - start.clock;
      figures->processor[timed] = end.processor - start.processor;
      count (run, step, timed);
    }
  figures->peak = peak_bytes ();
  return TRUE;
}

gboolean
plait_bench_run (const PlaitBenchOptions *options, PlaitBenchFigures *figures, GError **error)
{
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  g_auto (Run) run = { .options = options, .figures = figures };
  gboolean attention = options->part == PLAIT_BENCH_ATTEND || options->part == PLAIT_BENCH_ATTENDING;

  plait_blas_prepare ();
  *figures = (PlaitBenchFigures){
    .seconds = g_new0 (double, options->steps),
    .processor = g_new0 (double, options->steps),
    .sentences = g_new0 (double, options->steps),
    .tokens = g_new0 (double, options->steps),
    .flops = g_new0 (double, options->steps),
    .losses = g_new0 (double, options->warmup + options->steps),
    .loaded = peak_bytes (),
  };
  run.pool = plait_pool_new ((guint)options->threads, error);
  if (!run.pool || !plait_blas_reserve (run.pool, error))
    return FALSE;
  figures->threads = plait_pool_threads (run.pool);
  if (!attention && !make_batches (&run, error))
    return FALSE;
  if (!make_model (&run, registry, error) || !time_steps (&run, error))
    return FALSE;
  return plait_blas_rate (run.pool, RATE_SECONDS, &figures->rate, error);
}
