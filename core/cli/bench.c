/* SPDX-License-Identifier: MIT */
#include "cli/bench.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/number.h"
#include "cli/command.h"
#include "cli/options.h"
#include "model/search.h"
#include "tensor/blas.h"
#include "train/optimizer.h"
#include "train/update.h"

/* plait bench: whole training steps and whole searches at the sizes of the comparison with other programs. */

#define RATE_SECONDS .5

typedef struct
{
  gboolean training;
  gboolean json;
  const PlaitBenchSize *size;
  const char *combiner;
  gint64 steps;
  gint64 warmup;
  gint64 beam;
  gint64 batch;
  gint64 threads;
  double dropout;
} Options;

typedef struct
{
  const Options *options;
  PlaitPool *pool;
  PlaitBenchData *data;
  PlaitBenchModel *model;
  PlaitTensor image;
  GPtrArray *batches; /* PlaitBatch */
  double *seconds;    /* [steps] */
  double *processor;  /* [steps]: seconds of processors, all threads together */
  gint64 peak;        /* bytes */
  gint64 loaded;      /* bytes */
  double rate;        /* FLOP/s */
} Bench;

static void
bench_clear (Bench *bench)
{
  plait_bench_model_free (bench->model);
  plait_bench_data_free (bench->data);
  g_clear_pointer (&bench->batches, g_ptr_array_unref);
  plait_pool_free (bench->pool);
  g_free (bench->image.data);
  g_free (bench->seconds);
  g_free (bench->processor);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Bench, bench_clear)

/* The most memory that this process has had, in bytes; 0 where the system does not say. */
static gint64
peak_bytes (void)
{
  g_autofree char *status = NULL;
  const char *line;

  if (!g_file_get_contents ("/proc/self/status", &status, NULL, NULL))
    return 0;
  line = strstr (status, "VmHWM:");
  return line != NULL ? g_ascii_strtoll (line + strlen ("VmHWM:"), NULL, 10) * 1024 : 0;
}

static void
batch_free (gpointer batch)
{
  plait_batch_free (batch);
}

/* The image that every batch of a size with images has, for its most sentences; no data for other sizes. */
static gboolean
make_image (Bench *bench, GError **error)
{
  const PlaitBenchSize *size = bench->options->size;
  gint64 sentences = bench->options->training ? size->batch : bench->options->batch;
  gint64 rows = sentences * size->image_positions, n = rows * size->image_width;
  PlaitRandomKey key = plait_random_key (1, "bench", "image", 0);

  if (n == 0)
    return TRUE;
  bench->image
      = plait_tensor (plait_try_allocate ((gsize)n, sizeof (PlaitScalar), "an image", error), rows, size->image_width);
  for (gint64 i = 0; bench->image.data != NULL && i < n; i++)
    bench->image.data[i] = (PlaitScalar)plait_random_normal (key, (guint64)i);
  return bench->image.data != NULL;
}

/* The batches that the steps go through, all made before the timing. */
static gboolean
make_batches (Bench *bench, GError **error)
{
  const Options *options = bench->options;
  guint n = (guint)MIN (plait_bench_data_batches (bench->data), options->warmup + options->steps);

  bench->batches = g_ptr_array_new_with_free_func (batch_free);
  for (guint i = 0; i < n; i++)
    {
      PlaitBatch *batch
          = plait_bench_data_batch (bench->data, options->size, i, options->training, bench->image, error);

      if (batch == NULL)
        return FALSE;
      g_ptr_array_add (bench->batches, batch);
    }
  return TRUE;
}

static guint
batch_of (const Bench *bench, gint64 step)
{
  return (guint)(step % plait_bench_data_batches (bench->data));
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

static void
note (Bench *bench, gint64 step, Moment start)
{
  Moment end = now ();
  gint64 timed = step - bench->options->warmup;

  if (timed < 0)
    return;
  bench->seconds[timed] = end.clock - start.clock;
  bench->processor[timed] = end.processor - start.processor;
}

static gboolean
train (Bench *bench, GError **error)
{
  PlaitModel *model = bench->model->model;
  PlaitTrainSettings settings;
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  g_autoptr (PlaitTape) tape = plait_tape_new (bench->pool, arena);
  g_autoptr (PlaitOptimizer) optimizer = NULL;
  PlaitTrainingSums sums = { 0 };

  plait_setting_group_defaults (&plait_train_group, &settings);
  settings.clip = 1;
  settings.smoothing = .1;
  optimizer = plait_optimizer_new (&settings, plait_model_parameters (model), error);
  if (optimizer == NULL)
    return FALSE;
  for (gint64 step = 0; step < bench->options->warmup + bench->options->steps; step++)
    {
      Moment start = now ();
      PlaitBatch *batch = bench->batches->pdata[batch_of (bench, step)];

      if (!plait_update_gradients (model, tape, &settings, &batch, 1,
                                   plait_random_key (1, "dropout", NULL, (guint64)step + 1), &sums, error))
        return FALSE;
      plait_optimizer_update (optimizer, tape, step + 1, 1e-4);
      note (bench, step, start);
    }
  bench->peak = peak_bytes ();
  return TRUE;
}

static gboolean
decode (Bench *bench, GError **error)
{
  PlaitDecodeSettings settings;
  g_autoptr (PlaitSearch) search = plait_search_new (bench->model->model, bench->pool, 0, error);

  if (search == NULL)
    return FALSE;
  plait_setting_group_defaults (&plait_decode_group, &settings);
  settings.beam = bench->options->beam;
  settings.n_best = settings.beam;
  /* All sentences take the same number of steps. */
  settings.minimum_length = settings.maximum_length = bench->options->size->decode_steps;
  settings.maximum_ratio = 0;
  for (gint64 step = 0; step < bench->options->warmup + bench->options->steps; step++)
    {
      Moment start = now ();
      const PlaitBatch *batch = bench->batches->pdata[batch_of (bench, step)];
      PlaitHypotheses *found = plait_search_batch (search, batch, &settings, error);

      if (found == NULL)
        return FALSE;
      plait_hypotheses_free (found, batch->n_sentences);
      note (bench, step, start);
    }
  bench->peak = peak_bytes ();
  return TRUE;
}

static gint
compare_numbers (gconstpointer a, gconstpointer b)
{
  double x = *(const double *)a, y = *(const double *)b;

  return x < y ? -1 : x > y;
}

static double
median (double *numbers, gint64 n)
{
  qsort (numbers, (gsize)n, sizeof *numbers, compare_numbers);
  return (numbers[(n - 1) / 2] + numbers[n / 2]) / 2;
}

/* What the timed steps did, a second. */
typedef enum
{
  PER_STEP,  /* seconds, not a rate */
  PROCESSOR, /* the same, of all threads together */
  SENTENCES,
  TOKENS,
  FLOPS,
} Quantity;

static double
median_of (const Bench *bench, Quantity quantity)
{
  const Options *options = bench->options;
  g_autofree double *numbers = g_new (double, options->steps);

  for (gint64 i = 0; i < options->steps; i++)
    {
      guint index = batch_of (bench, options->warmup + i);
      const PlaitBatch *batch = bench->batches->pdata[index];
      double amount = 1;

      if (quantity == SENTENCES)
        amount = (double)batch->n_sentences;
      else if (quantity == TOKENS)
        amount = options->training ? (double)plait_ragged_rows (batch->target_rows)
                                   : (double)(batch->n_sentences * options->size->decode_steps);
      else if (quantity == FLOPS)
        amount = plait_bench_flops (bench->data, options->size, index, options->combiner);
      numbers[i] = quantity == PER_STEP    ? bench->seconds[i]
                   : quantity == PROCESSOR ? bench->processor[i]
                                           : amount / bench->seconds[i];
    }
  return median (numbers, options->steps);
}

static void
print_seconds (PlaitJson *json, const char *name, const double *seconds, gint64 n)
{
  plait_json_begin_array (json, name);
  for (gint64 i = 0; i < n; i++)
    plait_json_real (json, NULL, seconds[i]);
  plait_json_end_array (json);
}

static void
print_json (const Bench *bench)
{
  const Options *options = bench->options;
  g_autoptr (PlaitJson) json = plait_json_new ();

  plait_json_begin_object (json, NULL);
  plait_json_text (json, "program", "plait");
  plait_json_text (json, "version", PLAIT_VERSION);
  plait_json_text (json, "size", options->size->name);
  plait_json_text (json, "mode", options->training ? "train" : "decode");
  plait_json_text (json, "combiner", options->combiner);
  if (options->training)
    plait_json_text (json, "beam", NULL);
  else
    plait_json_integer (json, "beam", options->beam);
  plait_json_integer (json, "batch", options->training ? options->size->batch : options->batch);
  plait_json_integer (json, "threads", plait_pool_threads (bench->pool));
  plait_json_real (json, "dropout", options->dropout);
  plait_json_real (json, "tokens_per_second", median_of (bench, TOKENS));
  plait_json_real (json, "sentences_per_second", median_of (bench, SENTENCES));
  plait_json_integer (json, "peak_bytes", bench->peak);
  plait_json_integer (json, "loaded_bytes", bench->loaded);
  plait_json_real (json, "sgemm_gflops", bench->rate / 1e9);
  if (options->training)
    plait_json_real (json, "share", median_of (bench, FLOPS) / bench->rate);
  else
    plait_json_text (json, "share", NULL);
  plait_json_integer (json, "warmup", options->warmup);
  plait_json_integer (json, "steps", options->steps);
  print_seconds (json, "seconds_per_step", bench->seconds, options->steps);
  print_seconds (json, "processor_seconds_per_step", bench->processor, options->steps);
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
print_text (const Bench *bench)
{
  const Options *options = bench->options;

  if (options->training)
    printf ("%s: a training step of %" G_GINT64_FORMAT " sentences, %s, %u threads\n", options->size->name,
            options->size->batch, options->combiner, plait_pool_threads (bench->pool));
  else
    printf ("%s: %" G_GINT64_FORMAT " steps of search with beam %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
            " sentences together, %s, %u threads\n",
            options->size->name, options->size->decode_steps, options->beam, options->batch, options->combiner,
            plait_pool_threads (bench->pool));
  print_line ("milliseconds", "%.2f", 1e3 * median_of (bench, PER_STEP));
  print_line ("processor milliseconds", "%.2f", 1e3 * median_of (bench, PROCESSOR));
  print_line ("target tokens/s", "%.1f", median_of (bench, TOKENS));
  print_line ("sentences/s", "%.2f", median_of (bench, SENTENCES));
  print_line ("peak memory, MiB", "%.1f", (double)bench->peak / 1048576);
  print_line ("sgemm, GFLOP/s", "%.1f", bench->rate / 1e9);
  if (options->training)
    print_line ("share of it reached", "%.3f", median_of (bench, FLOPS) / bench->rate);
  printf ("medians of %" G_GINT64_FORMAT " after %" G_GINT64_FORMAT "; %s\n", options->steps, options->warmup,
          plait_blas_description ());
}

static gboolean
run (const Options *options, const char *path, GError **error)
{
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  g_auto (Bench) bench = { .options = options };

  plait_blas_prepare ();
  bench.loaded = peak_bytes ();
  bench.data
      = path != NULL ? plait_bench_data_read (path, options->size, error) : plait_bench_data_draw (options->size, 1);
  if (bench.data == NULL)
    return FALSE;
  if (!options->training)
    plait_bench_data_regroup (bench.data, options->batch);
  bench.seconds = g_new0 (double, options->steps);
  bench.processor = g_new0 (double, options->steps);
  bench.pool = plait_pool_new ((guint)options->threads);
  bench.model = plait_bench_model_new (options->size, options->combiner, options->dropout, registry, bench.pool, error);
  if (bench.model == NULL || !make_image (&bench, error) || !make_batches (&bench, error)
      || !(options->training ? train (&bench, error) : decode (&bench, error)))
    return FALSE;
  bench.rate = plait_blas_rate (bench.pool, RATE_SECONDS);
  if (options->json)
    print_json (&bench);
  else
    print_text (&bench);
  return TRUE;
}

/* What the options are as texts. */
typedef struct
{
  char *size;
  char *data;
  char *combiner;
  char *steps;
  char *warmup;
  char *beam;
  char *batch;
  char *threads;
  char *dropout;
} Texts;

static void
texts_clear (Texts *texts)
{
  g_free (texts->size);
  g_free (texts->data);
  g_free (texts->combiner);
  g_free (texts->steps);
  g_free (texts->warmup);
  g_free (texts->beam);
  g_free (texts->batch);
  g_free (texts->threads);
  g_free (texts->dropout);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Texts, texts_clear)

static gboolean
read_options (const PlaitInvocation *invocation, const Texts *texts, Options *options, GError **error)
{
  const char *mode = invocation->arguments[0];

  options->training = g_str_equal (mode, "train");
  if (!options->training && !g_str_equal (mode, "decode"))
    return plait_fail (error, PLAIT_ERROR_INPUT, "plait bench cannot measure \"%s\"; expected train or decode", mode);
  options->size = plait_bench_size (texts->size != NULL ? texts->size : "small", error);
  if (options->size == NULL)
    return FALSE;
  options->combiner = texts->combiner != NULL ? texts->combiner : "serial";
  if (texts->dropout != NULL
      && (!plait_parse_double (texts->dropout, &options->dropout) || options->dropout < 0 || options->dropout > .95))
    return plait_fail (error, PLAIT_ERROR_INPUT, "--dropout cannot be \"%s\"; expected a number from 0 to 0.95",
                       texts->dropout);
  return plait_option_integer ("--steps", texts->steps, 1, 1000000, &options->steps, error)
         && plait_option_integer ("--warmup", texts->warmup, 0, 1000000, &options->warmup, error)
         && plait_option_integer ("--beam", texts->beam, 1, 1000, &options->beam, error)
         && plait_option_integer ("--batch", texts->batch, 1, 100000, &options->batch, error)
         && plait_option_integer ("--threads", texts->threads, 0, 1024, &options->threads, error);
}

gboolean
plait_command_bench (PlaitInvocation *invocation, GError **error)
{
  g_auto (Texts) texts = { 0 };
  Options options = { .steps = 10, .warmup = 2, .beam = 10, .batch = 16, .dropout = .1 };
  const GOptionEntry entries[] = {
    { "size", 's', 0, G_OPTION_ARG_FILENAME, &texts.size, "small (the default), msmt or mmt", "NAME" },
    { "data", 'd', 0, G_OPTION_ARG_FILENAME, &texts.data, "Token data; else such data are drawn", "FILE" },
    { "combiner", 'c', 0, G_OPTION_ARG_FILENAME, &texts.combiner, "Combiner plugin, serial by default", "NAME" },
    { "steps", 'n', 0, G_OPTION_ARG_FILENAME, &texts.steps, "Timed steps: updates, or batches searched; 10", "N" },
    { "warmup", 'w', 0, G_OPTION_ARG_FILENAME, &texts.warmup, "Steps before the timed ones; 2", "N" },
    { "dropout", 0, 0, G_OPTION_ARG_FILENAME, &texts.dropout, "Of embeddings and sub-layer outputs; 0.1", "P" },
    { "beam", 'b', 0, G_OPTION_ARG_FILENAME, &texts.beam, "Hypotheses a sentence; 10", "N" },
    { "batch", 0, 0, G_OPTION_ARG_FILENAME, &texts.batch, "Sentences searched together; 16", "N" },
    { "threads", 't', 0, G_OPTION_ARG_FILENAME, &texts.threads, "Threads; else as many as there are processors", "N" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print JSON", NULL },
    { NULL },
  };

  return plait_invocation_parse (invocation, entries, 1, 1, error) && read_options (invocation, &texts, &options, error)
         && run (&options, texts.data, error);
}
