/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "text/number.h"
#include "text/separators.h"
#include "bench.h"
#include "command/options.h"
#include "terminal/table-print.h"
#include "significance/statistics.h"
#include "cross-attention.h"
#include "tensor/blas.h"

/* A sample has enough steps for SAMPLE_SECONDS, at most MAX_IN_SAMPLE. */
#define SAMPLE_SECONDS .0002
#define MAX_IN_SAMPLE 1000
/* Accuracy, as a factor, of the length from which an experiment is faster. */
#define NEAR 1.2

typedef struct
{
  const BenchOptions *options;
  GArray *lengths; /* gint64 */
  GArray *batches;
  gint64 words;
  PlaitPool *pool;
  PlaitExperiment **experiments;
  guint n;
  PlaitTable *table;
} Comparison;

/* Cost of one step. */
typedef struct
{
  double seconds;
  double processor; /* seconds, summed over all threads */
  gint64 rows_weighed;
} Cost;

static void
comparison_clear (Comparison *bench)
{
  g_clear_pointer (&bench->lengths, g_array_unref);
  g_clear_pointer (&bench->batches, g_array_unref);
  for (guint i = 0; i < bench->n; i++)
    plait_experiment_free (bench->experiments[i]);
  g_free (bench->experiments);
  g_clear_pointer (&bench->table, plait_table_free);
  plait_pool_free (bench->pool);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Comparison, comparison_clear)

/* Runs @n steps. *@cost is their mean time, and the number of rows weighed in the last step. */
static gboolean
sample (BenchCrossAttention *attention, gint64 n, Cost *cost, GError **error)
{
  BenchMoment start = bench_now (), end;

  for (gint64 i = 0; i < n; i++)
    if (!bench_cross_attention_step (attention, &cost->rows_weighed, error))
      return FALSE;
  end = bench_now ();
  cost->seconds = (end.clock - start.clock) / (double)n;
  cost->processor = (end.processor - start.processor) / (double)n;
  return TRUE;
}

/* Measures medians over the samples; the number of rows weighed is that of one fixed step. Memories of long sentences
 * are large, so each length builds its own attention. */
static gboolean
measure (const Comparison *bench, guint which, gint64 length, gint64 batch, Cost *cost, GError **error)
{
  gint64 n = bench->options->steps, in_sample;
  Cost timed;
  g_autofree double *seconds = g_new (double, n), *processor = g_new (double, n);
  g_autoptr (BenchCrossAttention) attention
      = bench_cross_attention_new (bench->experiments[which], length, batch, bench->words, bench->pool, error);

  if (!attention || !sample (attention, 2, cost, error) || !sample (attention, 1, cost, error))
    return FALSE;
  in_sample = (gint64)CLAMP (SAMPLE_SECONDS / MAX (cost->seconds, 1e-9), 1, MAX_IN_SAMPLE);
  for (gint64 i = 0; i < n; i++)
    {
      if (!sample (attention, in_sample, &timed, error))
        return FALSE;
      seconds[i] = timed.seconds;
      processor[i] = timed.processor;
    }
  if (bench->options->parameters && !bench_cross_attention_write (attention, bench->options->parameters, error))
    return FALSE;
  cost->seconds = plait_median (seconds, (gsize)n);
  cost->processor = plait_median (processor, (gsize)n);
  return TRUE;
}

static void
add_row (const Comparison *bench, gint64 batch, gint64 length, guint which, const Cost *cost, double ratio)
{
  PlaitTable *table = bench->table;

  plait_table_integer (table, PLAIT_TABLE_PLAIN, batch);
  plait_table_integer (table, PLAIT_TABLE_PLAIN, length);
  plait_table_text (table, PLAIT_TABLE_NAME, bench->experiments[which]->name);
  plait_table_real (table, cost->seconds * 1e6);
  plait_table_real (table, cost->processor * 1e6);
  plait_table_real (table, ratio);
  if (cost->rows_weighed > 0)
    plait_table_integer (table, PLAIT_TABLE_PLAIN, cost->rows_weighed);
  else
    plait_table_none (table);
}

/* Adds a note with the length, between @slower and @faster, from which experiment @which is faster than the first
 * one. */
static gboolean
find_crossing (const Comparison *bench, guint which, gint64 batch, gint64 slower, gint64 faster, GError **error)
{
  while (faster - slower > 1 && (double)faster > NEAR * (double)slower)
    {
      gint64 middle = CLAMP ((gint64)sqrt ((double)slower * (double)faster), slower + 1, faster - 1);
      Cost first, other;

      if (!measure (bench, 0, middle, batch, &first, error) || !measure (bench, which, middle, batch, &other, error))
        return FALSE;
      if (other.seconds <= first.seconds)
        faster = middle;
      else
        slower = middle;
    }
  g_autofree char *note = g_strdup_printf ("%s is faster than %s from about %jd rows on, batch %jd.",
                                           bench->experiments[which]->name, bench->experiments[0]->name, faster, batch);
  plait_table_note (bench->table, note);
  return TRUE;
}

/* TRUE if an experiment, by its @ratios to the first one, is faster at the longest lengths. Sets *@slower and *@faster
 * to the lengths between which it becomes faster; *@slower is 1 if it is faster at all lengths. */
static gboolean
is_crossed (const GArray *lengths, const double *ratios, gint64 *slower, gint64 *faster)
{
  guint i = lengths->len;

  while (i > 0 && ratios[i - 1] >= 1)
    i--;
  *slower = i > 0 ? g_array_index (lengths, gint64, i - 1) : 1;
  *faster = i < lengths->len ? g_array_index (lengths, gint64, i) : 0;
  return i < lengths->len;
}

static gboolean
measure_batch (const Comparison *bench, gint64 batch, GError **error)
{
  const GArray *lengths = bench->lengths;
  g_autofree double *ratios = g_new (double, bench->n * lengths->len);

  for (guint i = 0; i < lengths->len; i++)
    {
      gint64 length = g_array_index (lengths, gint64, i);
      Cost first, cost;

      for (guint which = 0; which < bench->n; which++)
        {
          double *ratio = &ratios[which * lengths->len + i];

          if (!measure (bench, which, length, batch, &cost, error))
            return FALSE;
          if (which == 0)
            first = cost;
          *ratio = first.seconds / cost.seconds;
          add_row (bench, batch, length, which, &cost, *ratio);
        }
    }
  for (guint which = 1; which < bench->n; which++)
    {
      gint64 slower, faster;

      if (is_crossed (lengths, ratios + which * lengths->len, &slower, &faster)
          && !find_crossing (bench, which, batch, slower, faster, error))
        return FALSE;
    }
  return TRUE;
}

static PlaitTable *
new_table (void)
{
  PlaitTable *table = plait_table_new ();

  plait_table_column (table, PLAIT_TABLE_COUNTS, "batch");
  plait_table_column (table, PLAIT_TABLE_COUNTS, "rows");
  plait_table_column (table, PLAIT_TABLE_WORDS, "experiment");
  plait_table_column (table, PLAIT_TABLE_NUMBERS, "us")->format = "%.1f";
  plait_table_column (table, PLAIT_TABLE_NUMBERS, "processor us")->format = "%.1f";
  plait_table_column (table, PLAIT_TABLE_NUMBERS, "times as fast");
  plait_table_column (table, PLAIT_TABLE_COUNTS, "weighed");
  return table;
}

static void
print (const Comparison *bench)
{
  const BenchOptions *options = bench->options;
  guint threads = plait_pool_threads (bench->pool);
  g_autoptr (PlaitJson) json = NULL;

  if (options->json)
    {
      json = plait_json_new_object ();
      plait_json_text (json, "program", "plait");
      plait_json_text (json, "version", PLAIT_VERSION);
      plait_json_integer (json, "words", bench->words);
      plait_json_integer (json, "threads", threads);
      plait_json_integer (json, "samples", options->steps);
      plait_table_add_json (bench->table, json);
      plait_json_texts (json, "notes", (const char *const *)bench->table->notes->pdata, bench->table->notes->len);
      g_autofree char *machine = plait_blas_description (NULL);
      plait_json_text (json, "core_type", machine ? machine : "");
      plait_json_print (json);
      return;
    }
  g_autoptr (PlaitTerminal) terminal = plait_terminal_new ();
  if (bench->words > 0)
    plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN,
                         "attention over targets of %jd words, forward and backward, %u thread%s\n", bench->words,
                         threads, threads == 1 ? "" : "s");
  else
    plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "a step of attention in search, %u thread%s\n", threads,
                         threads == 1 ? "" : "s");
  plait_table_print (bench->table, terminal);
}

static gboolean
is_number (const char *text, gconstpointer data)
{
  gint64 number;

  (void)data;
  return plait_parse_integer (text, &number);
}

/* Parses "100,1000", the value of @option, into *numbers: increasing integers of at least 1. */
static gboolean
read_numbers (const char *option, const char *text, GArray **numbers, GError **error)
{
  g_auto (GStrv) each = g_strsplit (text, ",", -1);
  g_autofree char *mended = plait_separators_mend (text, ",", is_number, NULL);
  gint64 number, before = 0;

  *numbers = g_array_new (FALSE, FALSE, sizeof (gint64));
  if (mended)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s cannot be \"%s\"; did you mean \"%s\"?", option, text, mended);
  for (guint i = 0; each[i]; i++, before = number)
    {
      if (!plait_parse_integer (each[i], &number) || number <= before || number > 10000000)
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "%s cannot be \"%s\"; expected increasing integers from 1 to 10000000, such as 100,1000",
                           option, text);
      g_array_append_val (*numbers, number);
    }
  return TRUE;
}

/* Checks that --parameters is used for exactly one step of search. */
static gboolean
check_written (const Comparison *bench, GError **error)
{
  return (!bench->options->parameters
          || (bench->n == 1 && bench->lengths->len == 1 && bench->batches->len == 1 && bench->words == 0))
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "--parameters writes one step of search; give one file, one number for --lengths and one for "
                        "--batch, and leave --words out");
}

/* Returns the powers of ten from 100 on, below @longest, and @longest. (transfer full) */
static char *
usual_lengths (gint64 longest)
{
  g_autoptr (GString) lengths = g_string_new (NULL);

  for (gint64 length = 100; length < longest; length *= 10)
    g_string_append_printf (lengths, "%jd,", length);
  g_string_append_printf (lengths, "%jd", longest);
  return g_string_free (g_steal_pointer (&lengths), FALSE);
}

static gboolean
read_options (Comparison *bench, const BenchSteps *steps, GError **error)
{
  g_autofree char *usual = usual_lengths (bench->experiments[0]->bench.positions);

  bench->words = steps->words;
  return read_numbers ("--lengths", steps->lengths ? steps->lengths : usual, &bench->lengths, error)
         && read_numbers ("--batch", steps->batches ? steps->batches : "1", &bench->batches, error)
         && check_written (bench, error);
}

static gboolean
load (Comparison *bench, PlaitRegistry *registry, const char *const *files, GError **error)
{
  bench->experiments = g_new0 (PlaitExperiment *, g_strv_length ((char **)files));
  for (; files[bench->n]; bench->n++)
    {
      bench->experiments[bench->n] = bench_load (files[bench->n], bench->options, registry, error);
      if (!bench->experiments[bench->n])
        return FALSE;
    }
  return TRUE;
}

gboolean
bench_steps (const BenchSteps *steps, const char *const *files, const BenchOptions *options, GError **error)
{
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  g_auto (Comparison) bench = { .options = options };

  if (!load (&bench, registry, files, error) || !read_options (&bench, steps, error))
    return FALSE;
  bench.pool = plait_pool_new ((guint)options->threads, error);
  if (!bench.pool || !plait_blas_reserve (bench.pool, error))
    return FALSE;
  bench.table = new_table ();
  for (guint i = 0; i < bench.batches->len; i++)
    if (!measure_batch (&bench, g_array_index (bench.batches, gint64, i), error))
      return FALSE;
  print (&bench);
  return TRUE;
}
