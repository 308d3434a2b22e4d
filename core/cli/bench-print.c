/* SPDX-License-Identifier: MIT */
#include "cli/bench.h"

#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "evaluate/statistics.h"
#include "tensor/blas.h"

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

/* The times of @figures in order, named; returns how many. */
static guint
list_times (const PlaitBenchFigures *figures, const char **names, gint64 *times)
{
  guint n = 0;

  for (guint work = PLAIT_WORK_PRODUCTS; work < PLAIT_N_WORKS; work++)
    {
      names[n] = plait_work_name (work);
      times[n++] = figures->times.works[work];
    }
  names[n] = plait_work_name (PLAIT_WORK_OTHER);
  times[n++] = figures->times.works[PLAIT_WORK_OTHER];
  names[n] = "handing over";
  times[n++] = figures->times.hand_over;
  names[n] = "waiting at the end of a run";
  times[n++] = figures->times.waiting;
  names[n] = "idle between runs";
  times[n++] = figures->times.idle;
  return n;
}

#define MOST_TIMES (PLAIT_N_WORKS + 3)

static void
print_times_json (const PlaitBenchFigures *figures, PlaitJson *json)
{
  const char *names[MOST_TIMES];
  gint64 times[MOST_TIMES];
  guint n = list_times (figures, names, times);

  plait_json_begin_object (json, "thread_seconds");
  for (guint i = 0; i < n; i++)
    plait_json_real (json, names[i], (double)times[i] / 1e9);
  plait_json_end_object (json);
}

static void
print_times (const PlaitBenchFigures *figures)
{
  const char *names[MOST_TIMES];
  gint64 times[MOST_TIMES];
  guint n = list_times (figures, names, times);

  printf ("share of the time of %u threads\n", figures->threads);
  for (guint i = 0; i < n; i++)
    printf ("  %-28s%6.1f %%\n", names[i], 100 * (double)times[i] / (double)MAX (figures->times.all, 1));
}

static void
print_json (const PlaitBenchOptions *options, const char *what, const PlaitBenchFigures *figures)
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
    print_times_json (figures, json);
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
print_text (const PlaitBenchOptions *options, const char *what, const PlaitBenchFigures *figures)
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
  printf ("medians of %" G_GINT64_FORMAT " after %" G_GINT64_FORMAT "; %s\n", n, options->warmup,
          plait_blas_description ());
  if (options->profile)
    print_times (figures);
}

void
plait_bench_print (const PlaitBenchOptions *options, const char *what, const PlaitBenchFigures *figures)
{
  if (options->json)
    print_json (options, what, figures);
  else
    print_text (options, what, figures);
}
