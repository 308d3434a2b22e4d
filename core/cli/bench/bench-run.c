/* SPDX-License-Identifier: MIT */
#include "bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "autograd/internal.h"
#include "autograd/operators.h"
#include "text/json.h"
#include "files/memory.h"
#include "significance/statistics.h"
#include "tensor/blas.h"
#include "training/parameters.h"

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

/* What was measured. Arrays have an entry a timed step, @losses one a step, warm-up included. */
typedef struct
{
  guint threads;
  double *seconds;
  double *processor; /* seconds of processors, all threads together */
  double *exchange;  /* seconds between processes */
  double *sentences;
  double *tokens;
  double *flops;
  double *losses;
  gint64 peak;          /* bytes */
  gint64 loaded;        /* bytes */
  double rate;          /* FLOP/s */
  PlaitWorkTimes times; /* of all timed steps, where they are asked for */
} Figures;

/*
 * Printing
 */

/* The median of amounts[i] / seconds[i]. */
static double
median_rate (const double *amounts, const double *seconds, gint64 n)
{
  g_autofree double *rates = g_new (double, n);

  for (gint64 i = 0; i < n; i++)
    rates[i] = amounts[i] / seconds[i];
  return plait_median (rates, (gsize)n);
}

/* No number where nothing was counted. */
static double
known (double rate)
{
  return rate > 0 ? rate : NAN;
}

/* A part of the threads' time. */
typedef struct
{
  const char *name;
  gint64 time;
} Share;

enum
{
  N_SHARES = PLAIT_N_WORKS + 3,
};

static void
list_shares (const PlaitWorkTimes *times, Share shares[N_SHARES])
{
  guint n = 0;

  for (guint work = PLAIT_WORK_PRODUCTS; work < PLAIT_N_WORKS; work++)
    shares[n++] = (Share){ plait_work_name (work), times->works[work] };
  shares[n++] = (Share){ plait_work_name (PLAIT_WORK_OTHER), times->works[PLAIT_WORK_OTHER] };
  shares[n++] = (Share){ "handing over", times->hand_over };
  shares[n++] = (Share){ "waiting at the end of a run", times->waiting };
  shares[n++] = (Share){ "idle between runs", times->idle };
}

static void
print_shares_json (const Figures *figures, PlaitJson *json)
{
  Share shares[N_SHARES];

  list_shares (&figures->times, shares);
  plait_json_begin_object (json, "thread_seconds");
  for (guint i = 0; i < N_SHARES; i++)
    plait_json_real (json, shares[i].name, (double)shares[i].time / 1e9);
  plait_json_end_object (json);
}

static void
print_shares (const Figures *figures)
{
  Share shares[N_SHARES];

  list_shares (&figures->times, shares);
  printf ("share of the time of %u threads\n", figures->threads);
  for (guint i = 0; i < N_SHARES; i++)
    printf ("  %-28s%6.1f %%\n", shares[i].name, 100 * (double)shares[i].time / (double)MAX (figures->times.all, 1));
}

static void
print_json (const PlaitBenchOptions *options, const char *what, const Figures *figures)
{
  gint64 n = options->steps;
  g_autoptr (PlaitJson) json = plait_json_new_object ();

  plait_json_text (json, "program", "plait");
  plait_json_text (json, "version", PLAIT_VERSION);
  plait_json_text (json, "mode", options->mode);
  plait_json_text (json, "experiment", options->experiment->name);
  plait_json_texts (json, "set", options->overrides, -1);
  plait_json_text (json, "measured", what);
  plait_json_integer (json, "threads", figures->threads);
  plait_json_integer (json, "processes", plait_ranks_n (options->ranks));
  plait_json_real (json, "tokens_per_second", known (median_rate (figures->tokens, figures->seconds, n)));
  plait_json_real (json, "sentences_per_second", median_rate (figures->sentences, figures->seconds, n));
  plait_json_integer (json, "peak_bytes", figures->peak);
  plait_json_integer (json, "loaded_bytes", figures->loaded);
  plait_json_real (json, "sgemm_gflops", figures->rate / 1e9);
  plait_json_real (json, "share", known (median_rate (figures->flops, figures->seconds, n) / figures->rate));
  plait_json_integer (json, "warmup", options->warmup);
  plait_json_integer (json, "steps", n);
  plait_json_reals (json, "seconds_per_step", figures->seconds, n);
  plait_json_reals (json, "processor_seconds_per_step", figures->processor, n);
  if (options->ranks)
    plait_json_reals (json, "exchange_seconds_per_step", figures->exchange, n);
  plait_json_reals (json, "flop_per_step", figures->flops, n);
  plait_json_reals (json, "losses", figures->losses, figures->losses[0] != 0 ? options->warmup + n : 0);
  if (options->profile)
    print_shares_json (figures, json);
  plait_json_text (json, "core_type", plait_blas_description ());
  plait_json_print (json);
}

static void
print_line (const char *name, const char *format, double value)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  printf ("%-24s%s\n", name, g_ascii_formatd (number, sizeof number, format, value));
}

static void
print_text (const PlaitBenchOptions *options, const char *what, const Figures *figures)
{
  gint64 n = options->steps;

  printf ("%s: %s, %u threads\n", options->experiment->name, what, figures->threads);
  print_line ("milliseconds", "%.2f", 1e3 * plait_median (figures->seconds, (gsize)n));
  print_line ("processor milliseconds", "%.2f", 1e3 * plait_median (figures->processor, (gsize)n));
  if (options->ranks)
    print_line ("exchange, milliseconds", "%.2f", 1e3 * plait_median (figures->exchange, (gsize)n));
  if (figures->tokens[0] > 0)
    {
      print_line ("tokens/s", "%.1f", median_rate (figures->tokens, figures->seconds, n));
      print_line ("sentences/s", "%.2f", median_rate (figures->sentences, figures->seconds, n));
    }
  print_line ("peak memory, MiB", "%.1f", (double)figures->peak / 1048576);
  print_line ("sgemm, GFLOP/s", "%.1f", figures->rate / 1e9);
  if (figures->flops[0] > 0)
    print_line ("share of it reached", "%.3f", median_rate (figures->flops, figures->seconds, n) / figures->rate);
  printf ("medians of %jd after %jd; %s\n", n, options->warmup, plait_blas_description ());
  if (options->profile)
    print_shares (figures);
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
time_steps (const PlaitBenchWork *work, gpointer made, const PlaitBench *bench, Figures *figures, GError **error)
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
  Figures figures = {
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
    (options->json ? print_json : print_text) (options, what, &figures);
  return good;
}
