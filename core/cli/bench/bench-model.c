/* SPDX-License-Identifier: MIT */
#include "bench/bench.h"

#include <math.h>

#include "autograd/internal.h"
#include "corpus/iterator.h"
#include "setup/fit.h"
#include "setup/system.h"
#include "search/search.h"
#include "training/optimizer.h"
#include "training/update.h"

/* The experiment's model as a whole: training steps, searches, encoders. */

typedef struct
{
  PlaitBench bench;
  PlaitBenchData *data;
  PlaitSystem *system;
  PlaitUpdate *update;
  PlaitOptimizer *optimizer;
  PlaitSearch *search;
  PlaitDecodeSettings searching;
} Model;

static void
model_free (gpointer data)
{
  Model *model = data;

  plait_search_free (model->search);
  plait_optimizer_free (model->optimizer);
  plait_update_free (model->update);
  plait_system_free (model->system);
  plait_bench_data_free (model->data);
  g_free (model);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Model, model_free)

PlaitSystem *
plait_bench_system (const PlaitExperiment *experiment, GError **error)
{
  g_autofree gint64 *widths = g_new0 (gint64, experiment->n_sources);

  for (guint i = 0; i < experiment->n_sources; i++)
    if (experiment->sources[i].kind == PLAIT_INPUT_FEATURES)
      widths[i] = experiment->bench.feature_width;
  return plait_system_new (experiment, NULL, widths, error);
}

/* The model with its initial values, and batches for it; a step takes @each of them. */
static Model *
make_model (const PlaitBench *bench, gboolean search, gint64 each, GError **error)
{
  const PlaitBenchOptions *options = bench->options;
  g_autoptr (Model) model = g_new0 (Model, 1);

  model->bench = *bench;
  model->data
      = plait_bench_data_new (options, search, (guint)MIN ((options->warmup + options->steps) * each, G_MAXINT), error);
  if (!model->data)
    return NULL;
  model->system = plait_bench_system (options->experiment, error);
  if (!model->system || !plait_fit_memory (plait_model_parameters (model->system->model), error))
    return NULL;
  plait_system_initialise (model->system, bench->pool);
  for (guint i = 0; i < model->data->batches->len; i++)
    if (!plait_model_check_batch (model->system->model, model->data->batches->pdata[i], error))
      return NULL;
  if (!plait_bench_write_parameters (bench, plait_model_parameters (model->system->model), error))
    return NULL;
  return g_steal_pointer (&model);
}

static PlaitBatch *
batch_of (const Model *model, gint64 number)
{
  return model->data->batches->pdata[number % model->data->batches->len];
}

/* What follows the numbers of a description. */
static char *
describe_decoder (const PlaitDecoderSettings *decoder)
{
  return g_str_equal (decoder->coverage, "none")
             ? g_strdup (decoder->combiner)
             : g_strdup_printf ("%s, coverage %s", decoder->combiner, decoder->coverage);
}

/* "64 sentences". */
static char *
describe_batch (const PlaitTrainSettings *train)
{
  return g_strdup_printf ("%jd %s", train->batch, train->batch_unit == PLAIT_BATCH_BY_TOKENS ? "tokens" : "sentences");
}

/*
 * Training
 */

static gpointer
make_trained (const PlaitBench *bench, GError **error)
{
  const PlaitTrainSettings *train = &bench->options->experiment->train;
  g_autoptr (Model) model = make_model (bench, FALSE, train->accumulate, error);

  if (!model)
    return NULL;
  model->update = plait_update_new (model->system->model, bench->tape, train, bench->options->ranks, error);
  if (!model->update)
    return NULL;
  model->optimizer = plait_optimizer_new (train, plait_model_parameters (model->system->model), error);
  return model->optimizer ? g_steal_pointer (&model) : NULL;
}

static gboolean
train (gpointer made, gint64 step, PlaitBenchStep *done, GError **error)
{
  Model *model = made;
  const PlaitBenchOptions *options = model->bench.options;
  const PlaitExperiment *experiment = options->experiment;
  gint64 n = experiment->train.accumulate;
  g_autofree PlaitBatch **batches = g_new (PlaitBatch *, n);
  PlaitTrainingSums sums = { 0 };
  double rate = plait_learning_rate (&experiment->train, step + 1, experiment->decoder.width,
                                     MAX (experiment->train.updates, options->warmup + options->steps));

  for (gint64 i = 0; i < n; i++)
    batches[i] = batch_of (model, step * n + i);
  if (!plait_update_gradients (
          model->update, batches, (guint)n,
          plait_random_key ((guint64)experiment->experiment.seed, "dropout", NULL, (guint64)step + 1), &sums, error))
    return FALSE;
  plait_optimizer_update (model->optimizer, model->bench.tape, step + 1, rate);
  *done = (PlaitBenchStep){ (double)sums.sentences, (double)sums.tokens, sums.multiplications,
                            sums.negative_log_likelihood / (double)sums.tokens };
  return TRUE;
}

static char *
describe_training (const PlaitBenchOptions *options)
{
  const PlaitExperiment *experiment = options->experiment;
  g_autofree char *batch = describe_batch (&experiment->train), *decoder = describe_decoder (&experiment->decoder);

  return g_strdup_printf ("a training step of %s, %s%s", batch, decoder,
                          experiment->train.precision == PLAIT_TRAIN_FLOAT ? "" : ", in bfloat16");
}

const PlaitBenchWork plait_bench_train = { make_trained, train, model_free, describe_training };

/*
 * Search
 */

/* All sentences take the same number of steps. */
static gint64
search_steps (const PlaitExperiment *experiment)
{
  return (gint64)round (experiment->bench.mean_length);
}

static gpointer
make_searched (const PlaitBench *bench, GError **error)
{
  const PlaitExperiment *experiment = bench->options->experiment;
  g_autoptr (Model) model = make_model (bench, TRUE, 1, error);

  if (!model)
    return NULL;
  model->searching = experiment->decode;
  model->searching.minimum_length = model->searching.maximum_length = search_steps (experiment);
  model->searching.maximum_ratio = 0;
  model->search
      = plait_search_new (model->system->model, bench->pool, (PlaitPrecision)model->searching.precision, 0, error);
  return model->search ? g_steal_pointer (&model) : NULL;
}

static gboolean
decode (gpointer made, gint64 step, PlaitBenchStep *done, GError **error)
{
  Model *model = made;
  const PlaitBatch *batch = batch_of (model, step);
  PlaitHypotheses *found = plait_search_batch (model->search, batch, &model->searching, error);

  if (!found)
    return FALSE;
  plait_hypotheses_free (found, batch->n_sentences);
  done->sentences = (double)batch->n_sentences;
  done->tokens = (double)(batch->n_sentences * model->searching.maximum_length);
  return TRUE;
}

static char *
describe_search (const PlaitBenchOptions *options)
{
  const PlaitExperiment *experiment = options->experiment;
  g_autofree char *decoder = describe_decoder (&experiment->decoder);

  return g_strdup_printf ("%jd steps of search with beam %jd, %jd sentences together, %s", search_steps (experiment),
                          experiment->decode.beam, experiment->decode.batch, decoder);
}

const PlaitBenchWork plait_bench_decode = { make_searched, decode, model_free, describe_search };

/*
 * Encoders
 */

static gpointer
make_encoded (const PlaitBench *bench, GError **error)
{
  return make_model (bench, FALSE, 1, error);
}

typedef struct
{
  const Model *model;
  gint64 step;
  PlaitBenchStep *done;
} Pass;

static void
encode_pass (gpointer data)
{
  Pass *pass = data;
  const PlaitBench *bench = &pass->model->bench;
  PlaitArena *arena = plait_tape_arena (bench->tape);
  PlaitReading reading;
  PlaitNode **states;

  plait_bench_begin (bench, pass->step);
  reading = plait_model_read (pass->model->system->model, bench->tape, batch_of (pass->model, pass->step), NULL);
  states = plait_arena_new_array (arena, PlaitNode *, reading.n_memories);
  for (guint i = 0; i < reading.n_memories; i++)
    states[i] = reading.memories[i].states;
  plait_bench_end (bench, states, reading.n_memories, pass->done);
}

static gboolean
encode (gpointer made, gint64 step, PlaitBenchStep *done, GError **error)
{
  Model *model = made;
  const PlaitBatch *batch = batch_of (model, step);
  Pass pass = { model, step, done };

  done->sentences = (double)batch->n_sentences;
  for (gint64 i = 0; i < batch->n_sources; i++)
    if (plait_input_kind_is_text (batch->inputs[i].kind))
      done->tokens += (double)plait_ragged_rows (batch->inputs[i].rows);
  return plait_arena_protect (model->bench.arena, encode_pass, &pass, error);
}

static char *
describe_encoders (const PlaitBenchOptions *options)
{
  g_autofree char *batch = describe_batch (&options->experiment->train);

  return g_strdup_printf ("the encoders over %s, forward%s", batch, options->forward ? "" : " and backward");
}

const PlaitBenchWork plait_bench_encode = { make_encoded, encode, model_free, describe_encoders };
