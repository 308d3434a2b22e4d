/* SPDX-License-Identifier: MIT */
#include "cli/bench.h"

#include <stdio.h>

#include "base/json.h"
#include "tensor/blas.h"

static gint
compare_numbers (gconstpointer a, gconstpointer b)
{
  double x = *(const double *)a, y = *(const double *)b;

  return x < y ? -1 : x > y;
}

/* The median of amounts[i] / seconds[i]; of the seconds themselves where @amounts is NULL. */
static double
median (const double *amounts, const double *seconds, gint64 n)
{
  g_autofree double *numbers = g_new (double, n);

  for (gint64 i = 0; i < n; i++)
    numbers[i] = amounts ? amounts[i] / seconds[i] : seconds[i];
  qsort (numbers, (gsize)n, sizeof *numbers, compare_numbers);
  return (numbers[(n - 1) / 2] + numbers[n / 2]) / 2;
}

static gboolean
is_attention (const PlaitBenchOptions *options)
{
  return options->part == PLAIT_BENCH_ATTEND || options->part == PLAIT_BENCH_ATTENDING;
}

static const char *
part_name (PlaitBenchPart part)
{
  switch (part)
    {
    case PLAIT_BENCH_ENCODE:
      return "encoder";
    case PLAIT_BENCH_ATTEND:
      return "attention";
    case PLAIT_BENCH_ATTENDING:
      return "attention-forward";
    default:
      return "step";
    }
}

static gint64
sentences_of (const PlaitBenchOptions *options)
{
  return options->part == PLAIT_BENCH_DECODE ? options->batch : is_attention (options) ? 1 : options->size.batch;
}

static void
print_numbers (PlaitJson *json, const char *name, const double *numbers, gint64 n)
{
  plait_json_begin_array (json, name);
  for (gint64 i = 0; i < n; i++)
    plait_json_real (json, NULL, numbers[i]);
  plait_json_end_array (json);
}

static void
print_rate (PlaitJson *json, const char *name, gboolean known, double rate)
{
  if (known)
    plait_json_real (json, name, rate);
  else
    plait_json_text (json, name, NULL);
}

static void
print_json (const PlaitBenchOptions *options, const PlaitBenchFigures *figures)
{
  gboolean searching = options->part == PLAIT_BENCH_DECODE, attention = is_attention (options);
  gboolean recurrent = options->size.hidden > 0;
  gint64 n = options->steps;
  g_autoptr (PlaitJson) json = plait_json_new ();

  plait_json_begin_object (json, NULL);
  plait_json_text (json, "program", "plait");
  plait_json_text (json, "version", PLAIT_VERSION);
  plait_json_text (json, "size", options->size.name);
  plait_json_text (json, "mode", options->mode);
  plait_json_text (json, "part", part_name (options->part));
  plait_json_text (json, "combiner", options->combiner);
  plait_json_text (json, "coverage", recurrent ? options->coverage : NULL);
  plait_json_text (json, "reset", recurrent ? options->reset : NULL);
  if (searching)
    plait_json_integer (json, "beam", options->beam);
  else
    plait_json_text (json, "beam", NULL);
  if (attention)
    plait_json_integer (json, "positions", options->positions);
  else
    plait_json_text (json, "positions", NULL);
  plait_json_integer (json, "batch", sentences_of (options));
  plait_json_integer (json, "threads", figures->threads);
  plait_json_integer (json, "shards", options->shards);
  plait_json_real (json, "dropout", options->dropout);
  print_rate (json, "tokens_per_second", !attention, median (figures->tokens, figures->seconds, n));
  plait_json_real (json, "sentences_per_second", median (figures->sentences, figures->seconds, n));
  plait_json_integer (json, "peak_bytes", figures->peak);
  plait_json_integer (json, "loaded_bytes", figures->loaded);
  plait_json_real (json, "sgemm_gflops", figures->rate / 1e9);
  print_rate (json, "share", !searching && !attention, median (figures->flops, figures->seconds, n) / figures->rate);
  plait_json_integer (json, "warmup", options->warmup);
  plait_json_integer (json, "steps", n);
  print_numbers (json, "seconds_per_step", figures->seconds, n);
  print_numbers (json, "processor_seconds_per_step", figures->processor, n);
  print_numbers (json, "losses", figures->losses, searching ? 0 : options->warmup + n);
  plait_json_text (json, "core_type", plait_blas_description ());
  plait_json_end_object (json);
  fputs (plait_json_string (json), stdout);
}

static void
print_line (const char *name, const char *format, double value)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  printf ("%-24s%s\n", name, g_ascii_formatd (number, sizeof number, format, value));
}

static void
print_heading (const PlaitBenchOptions *options, guint threads)
{
  const PlaitBenchSize *size = &options->size;

  printf ("%s: ", size->name);
  switch (options->part)
    {
    case PLAIT_BENCH_TRAIN:
      printf ("a training step of %" G_GINT64_FORMAT " sentences%s, %s, ", size->batch,
              size->trees ? " with trees" : "", options->combiner);
      if (size->hidden > 0)
        printf ("coverage %s, ", options->coverage);
      break;
    case PLAIT_BENCH_DECODE:
      printf ("%" G_GINT64_FORMAT " steps of search with beam %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
              " sentences together, %s, ",
              size->decode_steps, options->beam, options->batch, options->combiner);
      break;
    case PLAIT_BENCH_ENCODE:
      printf ("the encoder over %" G_GINT64_FORMAT " sentences%s, forward and backward, ", size->batch,
              size->trees ? " with trees" : "");
      break;
    case PLAIT_BENCH_ATTEND:
    case PLAIT_BENCH_ATTENDING:
      printf ("a step of additive attention over %" G_GINT64_FORMAT " positions, forward%s, ", options->positions,
              options->part == PLAIT_BENCH_ATTEND ? " and backward" : "");
    }
  printf ("%u threads\n", threads);
}

static void
print_text (const PlaitBenchOptions *options, const PlaitBenchFigures *figures)
{
  gint64 n = options->steps;

  print_heading (options, figures->threads);
  print_line ("milliseconds", "%.2f", 1e3 * median (NULL, figures->seconds, n));
  print_line ("processor milliseconds", "%.2f", 1e3 * median (NULL, figures->processor, n));
  if (!is_attention (options))
    {
      print_line (options->part == PLAIT_BENCH_ENCODE ? "source tokens/s" : "target tokens/s", "%.1f",
                  median (figures->tokens, figures->seconds, n));
      print_line ("sentences/s", "%.2f", median (figures->sentences, figures->seconds, n));
    }
  print_line ("peak memory, MiB", "%.1f", (double)figures->peak / 1048576);
  print_line ("sgemm, GFLOP/s", "%.1f", figures->rate / 1e9);
  if (options->part != PLAIT_BENCH_DECODE && !is_attention (options))
    print_line ("share of it reached", "%.3f", median (figures->flops, figures->seconds, n) / figures->rate);
  printf ("medians of %" G_GINT64_FORMAT " after %" G_GINT64_FORMAT "; %s\n", n, options->warmup,
          plait_blas_description ());
}

void
plait_bench_print (const PlaitBenchOptions *options, const PlaitBenchFigures *figures)
{
  if (options->json)
    print_json (options, figures);
  else
    print_text (options, figures);
}
