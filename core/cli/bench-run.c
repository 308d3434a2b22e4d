/* SPDX-License-Identifier: MIT */
#include "cli/bench.h"

#include <time.h>
#include <unistd.h>

#include "autograd/internal.h"
#include "autograd/operators.h"
#include "base/memory.h"
#include "tensor/blas.h"
#include "train/parameters.h"

#define RATE_SECONDS .5

/*
 * Steps of parts
 */

void
plait_bench_begin (const PlaitBench *bench, gint64 step)
{
  guint64 seed = (guint64)bench->options->experiment->experiment.seed;

  if (bench->options->forward)
    {
      plait_tape_begin (bench->tape, PLAIT_TAPE_EVALUATE, (PlaitRandomKey){ 0 });
      return;
    }
  plait_tape_begin (bench->tape, PLAIT_TAPE_TRAIN, plait_random_key (seed, "dropout", NULL, (guint64)step + 1));
  plait_tape_keep_gradients (bench->tape);
}

void
plait_bench_end (const PlaitBench *bench, PlaitNode *const *nodes, guint n, PlaitBenchStep *done)
{
  PlaitNode *root = plait_total (bench->tape, nodes[0]);

  for (guint i = 1; i < n; i++)
    root = plait_sum (bench->tape, (PlaitNode *[]){ root, plait_total (bench->tape, nodes[i]) }, 2);
  done->loss = (double)plait_tape_value (bench->tape, root).data[0];
  if (!bench->options->forward)
    plait_tape_backward (bench->tape, root);
  done->multiplications = plait_tape_multiplications (bench->tape);
}

gboolean
plait_bench_write_parameters (const PlaitBench *bench, const PlaitParameters *parameters, GError **error)
{
  g_autoptr (PlaitStore) store = NULL;

  if (!bench->options->parameters)
    return TRUE;
  store = plait_store_create (bench->options->parameters, error);
  return store && plait_parameters_write (parameters, store, "/parameters", error) && plait_store_commit (store, error);
}

/*
 * Timing
 */

/* The most memory that this process has had, in bytes. */
static gint64
peak_bytes (void)
{
  gsize held, most;

  plait_memory_of_process (getpid (), &held, &most);
  return (gint64)most;
}

PlaitBenchMoment
plait_bench_now (void)
{
  struct timespec clock, processor;

  clock_gettime (CLOCK_MONOTONIC, &clock);
  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &processor);
  return (PlaitBenchMoment){ (double)clock.tv_sec + (double)clock.tv_nsec / 1e9,
                             (double)processor.tv_sec + (double)processor.tv_nsec / 1e9 };
}

static gboolean
time_steps (const PlaitBenchWork *work, gpointer made, const PlaitBench *bench, PlaitBenchFigures *figures,
            GError **error)
{
  const PlaitBenchOptions *options = bench->options;

  for (gint64 step = 0; step < options->warmup + options->steps; step++)
    {
      gint64 timed = step - options->warmup;
      PlaitBenchStep done = { 0 };

      if (timed == 0 && options->profile)
        plait_pool_watch (bench->pool);
      PlaitBenchMoment start = plait_bench_now (), end;
      double exchanged = plait_ranks_seconds (options->ranks);

      if (!work->step (made, step, &done, error))
        return FALSE;
      end = plait_bench_now ();
      figures->losses[step] = done.loss;
      if (timed < 0)
        continue;
      figures->seconds[timed] = end.clock - start.clock;
      figures->processor[timed] = end.processor - start.processor;
      figures->exchange[timed] = plait_ranks_seconds (options->ranks) - exchanged;
      figures->sentences[timed] = done.sentences;
      figures->tokens[timed] = done.tokens;
      figures->flops[timed] = 2 * done.multiplications;
    }
  if (options->profile)
    figures->times = plait_pool_times (bench->pool);
  figures->peak = peak_bytes ();
  return TRUE;
}

gboolean
plait_bench_time (const PlaitBenchWork *work, const PlaitBenchOptions *options, GError **error)
{
  g_autoptr (PlaitPool) pool = NULL;
  g_autoptr (PlaitArena) arena = NULL;
  g_autoptr (PlaitTape) tape = NULL;
  g_autofree char *what = work->describe (options);
  gint64 n = options->steps;
  g_autofree double *numbers = g_new0 (double, 7 * n + options->warmup);
  PlaitBenchFigures figures = {
    .seconds = numbers,
    .processor = numbers + n,
    .exchange = numbers + 2 * n,
    .sentences = numbers + 3 * n,
    .tokens = numbers + 4 * n,
    .flops = numbers + 5 * n,
    .losses = numbers + 6 * n,
  };
  gpointer made;
  gboolean good;

  plait_blas_prepare ();
  figures.loaded = peak_bytes ();
  pool = plait_pool_new (options->threads, error);
  if (!pool || !plait_blas_reserve (pool, error))
    return FALSE;
  figures.threads = plait_pool_threads (pool);
  arena = plait_arena_new ((gsize)options->experiment->train.memory * 1024 * 1024);
  tape = plait_tape_new (pool, arena);
  const PlaitBench bench = { options, pool, arena, tape };
  made = work->make (&bench, error);
  if (!plait_ranks_agree (options->ranks, made != NULL, error))
    {
      if (made)
        work->free (made);
      return FALSE;
    }
  good = time_steps (work, made, &bench, &figures, error) && plait_blas_rate (pool, RATE_SECONDS, &figures.rate, error);
  work->free (made);
  if (good && plait_ranks_is_first (options->ranks))
    plait_bench_print (options, what, &figures);
  return good;
}
