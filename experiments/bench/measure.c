/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "text/json.h"
#include "files/memory.h"
#include "bench.h"
#include "significance/statistics.h"
#include "tensor/blas.h"

/* Times steps and prints the results. */

#define RATE_SECONDS .5

/* A timed step. */
typedef struct
{
  double seconds;
  double processor; /* seconds, summed over all threads */
  double exchange;  /* seconds of communication between processes */
  double sentences;
  double tokens;
  double flop;
} Timed;

typedef struct
{
  const BenchOptions *options;
  const char *mode;
  char *what;
  guint threads;
  Timed *timed;         /* [steps] */
  double *losses;       /* [warmup + steps] loss of each step */
  gint64 peak;          /* most memory of the process, bytes */
  gint64 loaded;        /* most memory before the model is made, bytes */
  double rate;          /* rate of matrix products, FLOP/s */
  PlaitWorkTimes times; /* profile of all timed steps, for --profile */
} Figures;

static void
figures_clear (Figures *figures)
{
  g_free (figures->what);
  g_free (figures->timed);
  g_free (figures->losses);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Figures, figures_clear)

/* Returns the numbers of the field at @offset of each timed step. (transfer full) */
static double *
numbers_of (const Figures *figures, gsize offset)
{
  double *numbers = g_new (double, figures->options->steps);

  for (gint64 i = 0; i < figures->options->steps; i++)
    numbers[i] = G_STRUCT_MEMBER (double, &figures->timed[i], offset);
  return numbers;
}

static double
median_of (const Figures *figures, gsize offset)
{
  g_autofree double *numbers = numbers_of (figures, offset);

  return plait_median (numbers, (gsize)figures->options->steps);
}

#define MEDIAN(figures, field) median_of (figures, G_STRUCT_OFFSET (Timed, field))

/* Returns the median, over steps, of the field at @offset per second. */
static double
rate_of (const Figures *figures, gsize offset)
{
  g_autofree double *rates = numbers_of (figures, offset);

  for (gint64 i = 0; i < figures->options->steps; i++)
    rates[i] /= figures->timed[i].seconds;
  return plait_median (rates, (gsize)figures->options->steps);
}

#define RATE(figures, field) rate_of (figures, G_STRUCT_OFFSET (Timed, field))

/* Returns NAN, which JSON prints as null, if nothing was counted. */
static double
known (double rate)
{
  return rate > 0 ? rate : NAN;
}

/* A share of the threads' time. */
typedef struct
{
  const char *name;
  gint64 time;
} Share;

enum
{
  N_SHARES = PLAIT_N_WORK_KINDS + 3,
};

static void
list_shares (const PlaitWorkTimes *times, Share shares[N_SHARES])
{
  guint n = 0;

  for (guint work = PLAIT_WORK_PRODUCTS; work < PLAIT_N_WORK_KINDS; work++)
    shares[n++] = (Share){ plait_work_name (work), times->works[work] };
  shares[n++] = (Share){ plait_work_name (PLAIT_WORK_OTHER), times->works[PLAIT_WORK_OTHER] };
  shares[n++] = (Share){ "handing over", times->dispatch };
  shares[n++] = (Share){ "waiting at the end of a run", times->waiting };
  shares[n++] = (Share){ "idle between runs", times->idle };
}

/* Adds an array @name with the field at @offset of each timed step. */
static void
add_numbers (PlaitJson *json, const char *name, const Figures *figures, gsize offset)
{
  g_autofree double *numbers = numbers_of (figures, offset);

  plait_json_reals (json, name, numbers, figures->options->steps);
}

#define ADD(json, name, figures, field) add_numbers (json, name, figures, G_STRUCT_OFFSET (Timed, field))

static void
print_json (const Figures *figures)
{
  const BenchOptions *options = figures->options;
  g_autofree char *machine = plait_blas_description (NULL);
  g_autoptr (PlaitJson) json = plait_json_new_object ();
  Share shares[N_SHARES];

  plait_json_text (json, "program", "plait");
  plait_json_text (json, "version", PLAIT_VERSION);
  plait_json_text (json, "mode", figures->mode);
  plait_json_text (json, "experiment", options->experiment->name);
  plait_json_begin_array (json, "set");
  for (const PlaitOverride *set = options->overrides; set && set->key; set++)
    {
      g_autofree char *text = plait_override_text (set);

      plait_json_text (json, NULL, text);
    }
  plait_json_end_array (json);
  plait_json_text (json, "measured", figures->what);
  plait_json_integer (json, "threads", figures->threads);
  plait_json_integer (json, "processes", plait_ranks_size (options->ranks));
  plait_json_real (json, "tokens_per_second", known (RATE (figures, tokens)));
  plait_json_real (json, "sentences_per_second", RATE (figures, sentences));
  plait_json_integer (json, "peak_bytes", figures->peak);
  plait_json_integer (json, "loaded_bytes", figures->loaded);
  plait_json_real (json, "sgemm_gflops", figures->rate / 1e9);
  plait_json_real (json, "share", known (RATE (figures, flop) / figures->rate));
  plait_json_integer (json, "warmup", options->warmup);
  plait_json_integer (json, "steps", options->steps);
  ADD (json, "seconds_per_step", figures, seconds);
  ADD (json, "processor_seconds_per_step", figures, processor);
  if (options->ranks)
    ADD (json, "exchange_seconds_per_step", figures, exchange);
  ADD (json, "flop_per_step", figures, flop);
  plait_json_reals (json, "losses", figures->losses, figures->losses[0] != 0 ? options->warmup + options->steps : 0);
  if (options->profile)
    {
      list_shares (&figures->times, shares);
      plait_json_begin_object (json, "thread_seconds");
      for (guint i = 0; i < N_SHARES; i++)
        plait_json_real (json, shares[i].name, (double)shares[i].time / 1e9);
      plait_json_end_object (json);
    }
  plait_json_text (json, "core_type", machine);
  plait_json_print (json);
}

static void
print_line (const char *name, const char *format, double value)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  printf ("%-24s%s\n", name, g_ascii_formatd (number, sizeof number, format, value));
}

static void
print_text (const Figures *figures)
{
  g_autofree char *machine = plait_blas_description (NULL);
  const BenchOptions *options = figures->options;
  Share shares[N_SHARES];

  printf ("%s: %s, %u threads\n", options->experiment->name, figures->what, figures->threads);
  print_line ("milliseconds", "%.2f", 1e3 * MEDIAN (figures, seconds));
  print_line ("processor milliseconds", "%.2f", 1e3 * MEDIAN (figures, processor));
  if (options->ranks)
    print_line ("exchange, milliseconds", "%.2f", 1e3 * MEDIAN (figures, exchange));
  print_line ("tokens/s", "%.1f", RATE (figures, tokens));
  print_line ("sentences/s", "%.2f", RATE (figures, sentences));
  print_line ("peak memory, MiB", "%.1f", (double)figures->peak / 1048576);
  print_line ("sgemm, GFLOP/s", "%.1f", figures->rate / 1e9);
  if (figures->timed[0].flop > 0)
    print_line ("share of it reached", "%.3f", RATE (figures, flop) / figures->rate);
  printf ("medians of %jd after %jd; %s\n", options->steps, options->warmup, machine);
  if (!options->profile)
    return;
  list_shares (&figures->times, shares);
  printf ("share of the time of %u threads\n", figures->threads);
  for (guint i = 0; i < N_SHARES; i++)
    printf ("  %-28s%6.1f %%\n", shares[i].name, 100 * (double)shares[i].time / (double)MAX (figures->times.all, 1));
}

/* Returns the most memory that this process has held, in bytes. */
static gint64
peak_bytes (void)
{
  gsize held, max;

  plait_memory_of_process (getpid (), &held, &max);
  return (gint64)max;
}

BenchMoment
bench_now (void)
{
  struct timespec clock, processor;

  clock_gettime (CLOCK_MONOTONIC, &clock);
  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &processor);
  return (BenchMoment){ (double)clock.tv_sec + (double)clock.tv_nsec / 1e9,
                        (double)processor.tv_sec + (double)processor.tv_nsec / 1e9 };
}

static gboolean
time_steps (const BenchWork *work, gpointer made, const Bench *bench, Figures *figures, GError **error)
{
  const BenchOptions *options = bench->options;

  for (gint64 step = 0; step < options->warmup + options->steps; step++)
    {
      gint64 timed = step - options->warmup;
      BenchStep done = { 0 };

      if (timed == 0 && options->profile)
        plait_pool_profile (bench->pool);
      BenchMoment start = bench_now (), end;
      double exchanged = plait_ranks_seconds (options->ranks);

      if (!work->step (made, step, &done, error))
        return FALSE;
      end = bench_now ();
      figures->losses[step] = done.loss;
      if (timed >= 0)
        figures->timed[timed] = (Timed){
          .seconds = end.clock - start.clock,
          .processor = end.processor - start.processor,
          .exchange = plait_ranks_seconds (options->ranks) - exchanged,
          .sentences = done.sentences,
          .tokens = done.tokens,
          .flop = 2 * done.multiplications,
        };
    }
  if (options->profile)
    figures->times = plait_pool_times (bench->pool);
  figures->peak = peak_bytes ();
  return TRUE;
}

gboolean
bench_time (const BenchWork *work, const BenchOptions *options, GError **error)
{
  g_auto (Figures) figures = {
    .options = options,
    .mode = work->mode,
    .what = work->describe (options),
    .timed = g_new (Timed, options->steps),
    .losses = g_new (double, options->warmup + options->steps),
  };

  figures.loaded = peak_bytes ();
  g_autoptr (PlaitPool) pool = plait_pool_new ((guint)options->threads, error);
  if (!pool || !plait_blas_reserve (pool, error))
    return FALSE;
  figures.threads = plait_pool_threads (pool);
  g_autoptr (PlaitArena) arena = plait_arena_new ((gsize)options->experiment->train.memory * 1024 * 1024);
  g_autoptr (PlaitTape) tape = plait_tape_new (pool, arena);
  const Bench bench = { options, pool, arena, tape };
  gpointer made = work->make (&bench, error);
  gboolean good = plait_ranks_agree (options->ranks, made != NULL, error)
                  && time_steps (work, made, &bench, &figures, error)
                  && plait_blas_rate (pool, RATE_SECONDS, &figures.rate, error);
  if (made)
    work->free (made);
  if (good && plait_ranks_is_first (options->ranks))
    (options->json ? print_json : print_text) (&figures);
  return good;
}
