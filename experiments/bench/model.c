/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "autograd/internal.h"
#include "autograd/operators.h"
#include "bench.h"
#include "corpus/iterator.h"
#include "layers/parameter-set.h"
#include "search/search.h"
#include "setup/limits.h"
#include "training/optimizer.h"
#include "training/parameters.h"
#include "training/update.h"

/* Steps of an experiment's whole model: training, search, encoders. */

typedef struct
{
  Bench bench;
  PlaitRandomBatches *data;
  PlaitExperimentModel *experiment_model;
  GPtrArray *others; /* (element-type PlaitExperimentModel) further members of an ensemble; NULL: none */
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
  g_clear_pointer (&model->others, g_ptr_array_unref);
  plait_experiment_model_free (model->experiment_model);
  plait_random_batches_free (model->data);
  g_free (model);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Model, model_free)

/* Makes batches of random token data, or of the given file. (transfer full) */
static PlaitRandomBatches *
new_batches (const BenchOptions *options, gboolean search, gint64 max, GError **error)
{
  g_autoptr (PlaitTuples) tuples = plait_tuples_new (options->experiment, error);

  return tuples
                 && (options->data ? bench_read_tokens (tuples, options->data, error)
                                   : plait_tuples_draw (tuples, error))
             ? plait_tuples_batch (tuples, search, max, error)
             : NULL;
}

static gboolean
write_parameters (const PlaitParameters *parameters, const char *path, GError **error)
{
  g_autoptr (PlaitStore) store = plait_store_create (path, error);

  return store && plait_parameters_write (parameters, store, "/parameters", error) && plait_store_commit (store, error);
}

/* Makes the model with its initial values and batches for all steps, @each batches for a step. (transfer full) */
static Model *
make_model (const Bench *bench, gboolean search, gint64 each, GError **error)
{
  const BenchOptions *options = bench->options;
  g_autoptr (Model) model = g_new0 (Model, 1);

  model->bench = *bench;
  model->data = new_batches (options, search, (options->warmup + options->steps) * each, error);
  model->experiment_model = model->data ? plait_random_batches_model (options->experiment, error) : NULL;
  if (!model->experiment_model)
    return NULL;
  const PlaitParameters *parameters = plait_model_parameters (model->experiment_model->model);
  if (!plait_limits_check_memory (parameters, error))
    return NULL;
  plait_experiment_model_initialise (model->experiment_model, bench->pool);
  for (guint i = 0; i < model->data->batches->len; i++)
    if (!plait_model_check_batch (model->experiment_model->model, model->data->batches->pdata[i], error))
      return NULL;
  if (options->parameters && !write_parameters (parameters, options->parameters, error))
    return NULL;
  return g_steal_pointer (&model);
}

static PlaitBatch *
batch_of (const Model *model, gint64 number)
{
  return model->data->batches->pdata[number % model->data->batches->len];
}

/* Describes the decoder, for the end of a description. (transfer full) */
static char *
describe_decoder (const PlaitDecoderSettings *decoder)
{
  return g_str_equal (decoder->coverage, "none")
             ? g_strdup (decoder->combiner)
             : g_strdup_printf ("%s, coverage %s", decoder->combiner, decoder->coverage);
}

/* Describes the size of a batch, such as "64 sentences". (transfer full) */
static char *
describe_batch (const PlaitTrainSettings *train)
{
  return g_strdup_printf ("%jd %s", train->batch, train->batch_unit == PLAIT_BATCH_BY_TOKENS ? "tokens" : "sentences");
}

static gpointer
make_trained (const Bench *bench, GError **error)
{
  const PlaitTrainSettings *train = &bench->options->experiment->train;
  g_autoptr (Model) model = make_model (bench, FALSE, train->accumulate, error);

  if (!model)
    return NULL;
  model->update = plait_update_new (model->experiment_model->model, bench->tape, train, bench->options->ranks, error);
  if (!model->update)
    return NULL;
  model->optimizer = plait_optimizer_new (train, plait_model_parameters (model->experiment_model->model), error);
  return model->optimizer ? g_steal_pointer (&model) : NULL;
}

static gboolean
train (gpointer made, gint64 step, BenchStep *done, GError **error)
{
  Model *model = made;
  const BenchOptions *options = model->bench.options;
  const PlaitExperiment *experiment = options->experiment;
  gint64 n = experiment->train.accumulate;
  g_autofree PlaitBatch **batches = g_new (PlaitBatch *, n);
  PlaitTrainingSums sums = { 0 };
  double rate = plait_learning_rate (&experiment->train, step + 1, experiment->decoder.width,
                                     MAX (experiment->train.updates, options->warmup + options->steps), 0);

  for (gint64 i = 0; i < n; i++)
    batches[i] = batch_of (model, step * n + i);
  if (!plait_update_gradients (
          model->update, batches, (guint)n,
          plait_random_key ((guint64)experiment->experiment.seed, "dropout", NULL, (guint64)step + 1), &sums, error))
    return FALSE;
  plait_optimizer_update (model->optimizer, model->bench.tape, step + 1, rate);
  *done = (BenchStep){ (double)sums.sentences, (double)sums.tokens, sums.multiplications,
                       sums.loss / (double)sums.tokens };
  return TRUE;
}

static char *
describe_training (const BenchOptions *options)
{
  const PlaitExperiment *experiment = options->experiment;
  g_autofree char *batch = describe_batch (&experiment->train), *decoder = describe_decoder (&experiment->decoder);

  return g_strdup_printf ("a training step of %s, %s%s", batch, decoder,
                          experiment->train.precision == PLAIT_TRAIN_PRECISION_FLOAT ? "" : ", in bfloat16");
}

const BenchWork bench_train = { "train", make_trained, train, model_free, describe_training };

/* Returns the number of search steps of each sentence. */
static gint64
search_steps (const PlaitExperiment *experiment)
{
  return (gint64)round (experiment->bench.mean_length);
}

/* Creates the search with the number of models in @members of the options. Model i has the seed of the experiment plus
 * i. */
static PlaitSearch *
new_search (Model *model, GError **error)
{
  const BenchOptions *options = model->bench.options;
  const PlaitExperiment *experiment = options->experiment;
  guint n = (guint)options->members;
  g_autofree PlaitSearchMember *members = g_new (PlaitSearchMember, n);

  model->others = g_ptr_array_new_with_free_func ((GDestroyNotify)plait_experiment_model_free);
  for (guint i = 0; i < n; i++)
    {
      PlaitExperimentModel *member = i == 0 ? model->experiment_model : plait_random_batches_model (experiment, error);

      if (!member)
        return NULL;
      members[i] = (PlaitSearchMember){ member->model, model->searching.precision, 1.0 / n };
      if (i == 0)
        continue;
      g_ptr_array_add (model->others, member);
      plait_experiment_model_initialise (member, model->bench.pool);
      plait_parameters_initialise (plait_model_parameters (member->model), model->bench.pool,
                                   (guint64)experiment->experiment.seed + i);
    }
  return plait_search_new_ensemble (members, n, PLAIT_ENSEMBLE_MEAN, model->bench.pool, 0, error);
}

static gpointer
make_searched (const Bench *bench, GError **error)
{
  const PlaitExperiment *experiment = bench->options->experiment;
  g_autoptr (Model) model = make_model (bench, TRUE, 1, error);

  if (!model)
    return NULL;
  model->searching = experiment->decode;
  model->searching.minimum_length = model->searching.maximum_length = search_steps (experiment);
  model->searching.maximum_ratio = 0;
  model->search = new_search (model, error);
  return model->search ? g_steal_pointer (&model) : NULL;
}

/* Returns the mean score of all hypotheses of @found [@n]. */
static double
mean_score (const PlaitHypotheses *found, gint64 n)
{
  double sum = 0, count = 0;

  for (gint64 s = 0; s < n; s++)
    for (guint i = 0; i < found[s].n; i++, count++)
      sum += found[s].hypotheses[i].score;
  return sum / count;
}

static gboolean
decode (gpointer made, gint64 step, BenchStep *done, GError **error)
{
  Model *model = made;
  const PlaitBatch *batch = batch_of (model, step);
  gint64 members = model->bench.options->members;
  PlaitBatch all = *batch; /* the sources once for each member */
  g_autofree PlaitInput *inputs = g_new (PlaitInput, members * batch->n_sources);

  for (gint64 i = 0; i < members * batch->n_sources; i++)
    inputs[i] = batch->inputs[i % batch->n_sources];
  all.inputs = inputs;
  all.n_sources *= members;
  PlaitHypotheses *found = plait_search_batch (model->search, &all, &model->searching, error);

  if (!found)
    return FALSE;
  done->loss = -mean_score (found, batch->n_sentences);
  plait_hypotheses_free (found, batch->n_sentences);
  done->sentences = (double)batch->n_sentences;
  done->tokens = (double)(batch->n_sentences * model->searching.maximum_length);
  return TRUE;
}

static char *
describe_search (const BenchOptions *options)
{
  const PlaitExperiment *experiment = options->experiment;
  g_autofree char *decoder = describe_decoder (&experiment->decoder);

  return g_strdup_printf ("%jd steps of search with beam %jd, %jd sentences together, %s", search_steps (experiment),
                          experiment->decode.beam, experiment->decode.batch, decoder);
}

const BenchWork bench_decode = { "decode", make_searched, decode, model_free, describe_search };

static gpointer
make_encoded (const Bench *bench, GError **error)
{
  return make_model (bench, FALSE, 1, error);
}

typedef struct
{
  const Model *model;
  gint64 step;
  BenchStep *done;
} Pass;

static void
encode_pass (gpointer data)
{
  Pass *pass = data;
  const BenchOptions *options = pass->model->bench.options;
  PlaitTape *tape = pass->model->bench.tape;
  guint64 seed = (guint64)options->experiment->experiment.seed;

  if (options->forward)
    plait_tape_begin (tape, PLAIT_TAPE_EVALUATE, (PlaitRandomKey){ 0 });
  else
    {
      plait_tape_begin (tape, PLAIT_TAPE_TRAIN, plait_random_key (seed, "dropout", NULL, (guint64)pass->step + 1));
      plait_tape_keep_gradients (tape);
    }
  PlaitEncoderOutputs encoded
      = plait_model_encode (pass->model->experiment_model->model, tape, batch_of (pass->model, pass->step), NULL);
  PlaitNode *root = plait_reduce_sum (tape, encoded.memories[0].states);
  for (guint i = 1; i < encoded.n_memories; i++)
    root = plait_add_n (tape, (PlaitNode *[]){ root, plait_reduce_sum (tape, encoded.memories[i].states) }, 2);
  pass->done->loss = (double)plait_tape_value (tape, root).data[0];
  if (!options->forward)
    plait_tape_backward (tape, root);
  pass->done->multiplications = plait_tape_multiplications (tape);
}

static gboolean
encode (gpointer made, gint64 step, BenchStep *done, GError **error)
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
describe_encoders (const BenchOptions *options)
{
  g_autofree char *batch = describe_batch (&options->experiment->train);

  return g_strdup_printf ("the encoders over %s, forward%s", batch, options->forward ? "" : " and backward");
}

const BenchWork bench_encode = { "encode", make_encoded, encode, model_free, describe_encoders };
