/* SPDX-License-Identifier: MIT */
#include "autograd/internal.h"
#include "corpus/batch.h"
#include "harness.h"
#include "models.h"
#include "training/update.h"
#include "layers/parameter-set.h"

#include <math.h>
#include <string.h>

/* Tests of updates in shards: they give the gradients of the whole batch, and equal bits with any number of threads. */

#ifdef PLAIT_SCALAR_DOUBLE
#define AGREEMENT 1e-10
#else
#define AGREEMENT 1e-4
#endif

#define SENTENCES 6

/* Two neighbouring sentences lack the second source, so that a shard may have no sentence with it. */
static const gint64 first_lengths[SENTENCES] = { 4, 2, 1, 9, 3, 2 };
static const gint64 second_lengths[SENTENCES] = { 3, 5, 2, 0, 0, 4 };
static const gint64 *const lengths[] = { first_lengths, second_lengths };
static const gint64 targets[SENTENCES] = { 3, 1, 4, 2, 7, 1 };

/* Builds a model. If @recurrent: trees over a bigru, tree coverage and a recurrent decoder; otherwise only
 * Transformers. */
static PlaitFixture *
new_model (PlaitRegistry *registry, gboolean recurrent)
{
  PlaitPlugin *leaves = test_plugin (registry, PLAIT_PLUGIN_ENCODER, recurrent ? "bigru" : "transformer");
  PlaitPlugin *trees = test_plugin (registry, PLAIT_PLUGIN_ENCODER, "bitree-gru");
  PlaitPlugin *combiner = test_plugin (registry, PLAIT_PLUGIN_COMBINER, "serial");
  PlaitPlugin *coverage = test_plugin (registry, PLAIT_PLUGIN_COVERAGE, "tree");
  g_autoptr (PlaitSettings) leaf_settings = plait_fixture_settings (leaves);
  g_autoptr (PlaitSettings) tree_settings = plait_fixture_settings (trees);
  g_autoptr (PlaitSettings) combiner_settings = plait_fixture_settings (combiner);
  g_autoptr (PlaitSettings) coverage_settings = plait_fixture_settings (coverage);
  PlaitFixtureSource plain = { .encoder = leaves, .settings = leaf_settings };
  PlaitFixtureSource over = { trees, tree_settings, leaves, leaf_settings };
  PlaitFixtureSource sources[2] = { recurrent ? over : plain, recurrent ? over : plain };
  PlaitFixtureDecoder decoder = plait_fixture_decoder_with (recurrent ? 2 : 0, combiner, combiner_settings, NULL, NULL);
  PlaitFixture *model;

  CHECK (plait_settings_set (leaf_settings, "dropout", "0", NULL));
  if (!recurrent)
    CHECK (plait_settings_set (leaf_settings, "attention_dropout", "0", NULL));
  if (recurrent)
    {
      decoder.coverage = coverage;
      decoder.coverage_settings = coverage_settings;
    }
  model = plait_fixture_new (sources, 2, &decoder, 6, NO_ERROR);
  return model;
}

/* Results of an update: all gradients, one after the other, and the sums. */
typedef struct
{
  PlaitScalar *gradients;
  PlaitTrainingSums sums;
} Outcome;

static void
outcome_clear (Outcome *outcome)
{
  g_free (outcome->gradients);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Outcome, outcome_clear)

/* Returns the gradients that are on the tape, as one array. */
static PlaitScalar *
kept_gradients (const PlaitParameters *parameters, const PlaitTape *tape)
{
  PlaitScalar *all = g_new0 (PlaitScalar, plait_parameters_gradients (parameters).width);

  for (guint i = 0; i < plait_parameters_n (parameters); i++)
    {
      const PlaitParameter *parameter = plait_parameters_get (parameters, i);
      PlaitTensor kept = plait_tape_keyed_gradient (tape, parameter);

      for (gint64 row = 0; row < kept.rows && kept.data; row++)
        memcpy (all + parameter->offset + row * kept.width, plait_tensor_row (kept, row),
                (gsize)kept.width * sizeof *all);
    }
  return all;
}

static Outcome
update_in (gint precision, gint loss_per, const PlaitFixture *model, gint64 shards, guint threads,
           PlaitBatch *const *batches, guint n)
{
  PlaitParameters *parameters = plait_model_parameters (model->model);
  g_autoptr (PlaitPool) pool = plait_pool_new (threads, NULL);
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  g_autoptr (PlaitTape) tape = plait_tape_new (pool, arena);
  PlaitTrainSettings settings; /* declared before @work, whose end reads them */
  g_autoptr (PlaitUpdate) work = NULL;
  PlaitTensor all = plait_parameters_gradients (parameters);
  Outcome outcome = { 0 };

  plait_setting_group_defaults (&plait_train_group, &settings);
  settings.shards = shards;
  settings.precision = precision;
  settings.loss_per = loss_per;
  plait_parameters_zero_gradients (parameters);
  work = plait_update_new (model->model, tape, &settings, NULL, NULL);
  /* Run the update twice: the first must have no effect on the second. */
  for (guint i = 0; i < 2; i++)
    {
      outcome.sums = (PlaitTrainingSums){ 0 };
      if (n > 1)
        plait_parameters_zero_gradients (parameters);
      CHECK (
          plait_update_gradients (work, batches, n, plait_random_key (1, "dropout", NULL, 1), &outcome.sums, NO_ERROR));
    }
  CHECK (plait_tape_keeps_gradients (tape) == (n == 1));
  CHECK (plait_update_peak (work) > 0);
  outcome.gradients
      = n == 1 ? kept_gradients (parameters, tape) : g_memdup2 (all.data, (gsize)all.width * sizeof *all.data);
  return outcome;
}

static Outcome
update (const PlaitFixture *model, gint64 shards, guint threads, PlaitBatch *const *batches, guint n)
{
  return update_in (PLAIT_TRAIN_PRECISION_FLOAT, PLAIT_TRAIN_LOSS_PER_TOKEN, model, shards, threads, batches, n);
}

static void
check_near (const Outcome *a, const Outcome *b, gint64 n)
{
  double largest = 0;

  for (gint64 i = 0; i < n; i++)
    {
      largest = MAX (largest, fabs ((double)b->gradients[i]));
      CHECK_NEAR ((double)a->gradients[i], (double)b->gradients[i], AGREEMENT);
    }
  CHECK (largest > 1e-3);
  CHECK_NEAR (a->sums.loss, b->sums.loss, AGREEMENT * b->sums.loss);
  CHECK_NEAR (a->sums.negative_log_likelihood, b->sums.negative_log_likelihood, AGREEMENT * b->sums.loss);
  CHECK (a->sums.tokens == b->sums.tokens && a->sums.sentences == b->sums.sentences);
  CHECK (a->sums.correct == b->sums.correct);
}

static void
check_shards (const PlaitFixture *model, PlaitBatch *const *batches, guint n)
{
  gint64 width = plait_parameters_gradients (plait_model_parameters (model->model)).width;
  g_auto (Outcome) whole = update (model, 1, 2, batches, n);

  for (gint64 shards = 2; shards <= SENTENCES + 2; shards++)
    {
      g_auto (Outcome) one = update (model, shards, 1, batches, n);
      CONTEXT ("%d shards of %u batches", (int)shards, n);

      check_near (&one, &whole, width);
      for (guint threads = 2; threads <= 5; threads++)
        {
          g_auto (Outcome) more = update (model, shards, threads, batches, n);
          CONTEXT ("%u threads", threads);

          CHECK (memcmp (more.gradients, one.gradients, (gsize)width * sizeof *one.gradients) == 0);
          CHECK (more.sums.loss == one.sums.loss);
        }
    }
}

static void
check_decoder (gboolean recurrent)
{
  PlaitRegistry *registry = test_registry ();
  g_autoptr (PlaitFixture) model = new_model (registry, recurrent);
  const gint64 *const rest[] = { first_lengths + 1, second_lengths + 1 };
  g_autoptr (PlaitBatch) batch = plait_fixture_batch (model, 0, SENTENCES, lengths, targets);
  g_autoptr (PlaitBatch) other = plait_fixture_batch (model, 1, SENTENCES - 2, rest, targets + 1);
  PlaitBatch *batches[] = { batch, other };

  check_shards (model, batches, 1);
  check_shards (model, batches, 2);
}

TEST_CASE (update, has_the_gradients_of_the_whole_batch_in_shards)
{
  check_decoder (FALSE);
}

TEST_CASE (update, has_them_over_trees_with_coverage_too)
{
  check_decoder (TRUE);
}

/* Sentences with the weights 1, 3 and 2 count as if they came once, three times and twice. */
TEST_CASE (update, counts_a_sentence_as_often_as_its_weight_says)
{
  static const double weights[SENTENCES] = { 1, 3, 1, 2, 1, 1 };
  static const gint units[] = { PLAIT_TRAIN_LOSS_PER_TOKEN, PLAIT_TRAIN_LOSS_PER_SENTENCE };
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();

  for (guint kind = 0; kind < 2; kind++)
    for (guint u = 0; u < G_N_ELEMENTS (units); u++)
      {
        g_autoptr (PlaitFixture) model = new_model (registry, kind == 1);
        gint64 width = plait_parameters_gradients (plait_model_parameters (model->model)).width;
        g_autoptr (PlaitBatch) batch = plait_fixture_batch (model, 0, SENTENCES, lengths, targets);
        g_autoptr (PlaitBatch) thrice = plait_batch_slice (batch, 1, 1, NO_ERROR);
        g_autoptr (PlaitBatch) twice = plait_batch_slice (batch, 3, 1, NO_ERROR);
        PlaitBatch *repeated[] = { batch, thrice, thrice, twice };
        g_auto (Outcome) expected = update_in (PLAIT_TRAIN_PRECISION_FLOAT, units[u], model, 1, 1, repeated, 4);
        CONTEXT ("model %u, unit %u", kind, u);

        for (guint i = 0; i < SENTENCES; i++)
          plait_batch_fill (double, batch->weights)[i] = weights[i];
        for (gint64 shards = 1; shards <= 3; shards += 2)
          {
            g_auto (Outcome) weighted = update_in (PLAIT_TRAIN_PRECISION_FLOAT, units[u], model, shards, 2, &batch, 1);
            double apart = 0, largest = 0;

            for (gint64 i = 0; i < width; i++)
              {
                apart = MAX (apart, fabs ((double)(weighted.gradients[i] - expected.gradients[i])));
                largest = MAX (largest, fabs ((double)expected.gradients[i]));
              }
            CHECK (largest > 1e-3 && apart < AGREEMENT * largest);
            CHECK_INT (weighted.sums.sentences, SENTENCES);
          }
      }
}

/* Returns the distance between the gradients of @a and @b, divided by the norm of those of @b. */
static double
distance (const Outcome *a, const Outcome *b, gint64 n)
{
  double apart = 0, all = 0;

  for (gint64 i = 0; i < n; i++)
    {
      apart += pow ((double)(a->gradients[i] - b->gradients[i]), 2);
      all += pow ((double)b->gradients[i], 2);
    }
  return sqrt (apart / all);
}

/* A factor in bfloat16 has a relative error of at most 1/256. After a few layers, the gradients have about half of
 * that. */
static void
check_bfloat16 (gboolean recurrent)
{
  PlaitRegistry *registry = test_registry ();
  g_autoptr (PlaitFixture) model = new_model (registry, recurrent);
  gint64 width = plait_parameters_gradients (plait_model_parameters (model->model)).width;
  g_autoptr (PlaitBatch) batch = plait_fixture_batch (model, 0, SENTENCES, lengths, targets);
  gint precisions[] = { PLAIT_TRAIN_PRECISION_BFLOAT16_EMULATED, PLAIT_TRAIN_PRECISION_BFLOAT16 };
  g_auto (Outcome) exact = update (model, 1, 1, &batch, 1);
  g_auto (Outcome) emulated
      = update_in (PLAIT_TRAIN_PRECISION_BFLOAT16_EMULATED, PLAIT_TRAIN_LOSS_PER_TOKEN, model, 1, 1, &batch, 1);

  CHECK (distance (&emulated, &exact, width) < 1. / 64);
  CHECK (distance (&emulated, &exact, width) > 1. / 16384);
  CHECK_NEAR (emulated.sums.loss, exact.sums.loss, .002 * exact.sums.loss);
  CHECK (emulated.sums.loss != exact.sums.loss);
  for (guint i = 0; i < G_N_ELEMENTS (precisions); i++)
    for (guint threads = 1; threads <= 3; threads++)
      {
        CONTEXT ("precision %u, %u threads", i, threads);
        if (!plait_precision_runs_here (plait_train_precision (&(PlaitTrainSettings){ .precision = precisions[i] })))
          continue;
        g_auto (Outcome) found = update_in (precisions[i], PLAIT_TRAIN_LOSS_PER_TOKEN, model, 1, threads, &batch, 1);

        CHECK (memcmp (found.gradients, emulated.gradients, (gsize)width * sizeof *found.gradients) == 0);
        CHECK (found.sums.loss == emulated.sums.loss);
      }
}

TEST_CASE (update, has_nearly_the_same_gradients_in_bfloat16)
{
  check_bfloat16 (FALSE);
}

TEST_CASE (update, has_them_in_bfloat16_over_trees_with_coverage_too)
{
  check_bfloat16 (TRUE);
}

/* If all sentences lack a source, the parameters of the source have zero gradients. */
static void
check_absent (gboolean recurrent)
{
  static const gint64 nothing[SENTENCES] = { 0 };
  const gint64 *const absent[] = { first_lengths, nothing };
  PlaitRegistry *registry = test_registry ();
  g_autoptr (PlaitFixture) model = new_model (registry, recurrent);
  const PlaitParameters *parameters = plait_model_parameters (model->model);
  g_autoptr (PlaitBatch) batch = plait_fixture_batch (model, 0, SENTENCES, absent, targets);
  g_auto (Outcome) outcome = update (model, 1, 1, &batch, 1);
  gint64 zero = 0, more = 0;

  for (guint i = 0; i < plait_parameters_n (parameters); i++)
    {
      const PlaitParameter *parameter = plait_parameters_get (parameters, i);
      gboolean second = g_str_has_prefix (parameter->name, "source/second/");

      for (gint64 k = 0; k < parameter->value.rows * parameter->value.width; k++)
        {
          double gradient = outcome.gradients[parameter->offset + k];

          zero += second && gradient == 0;
          more += g_str_has_prefix (parameter->name, "source/first/") && gradient != 0;
          CHECK (!second || gradient == 0);
        }
    }
  CHECK (zero > 0 && more > 0);
}

TEST_CASE (update, gives_no_gradient_to_a_source_that_is_absent)
{
  check_absent (FALSE);
  check_absent (TRUE);
}

static void
check_ragged (PlaitRagged a, PlaitRagged b)
{
  CHECK (a.n == b.n && memcmp (a.offsets, b.offsets, (gsize)(a.n + 1) * sizeof *a.offsets) == 0);
}

static void
check_input (const PlaitInput *a, const PlaitInput *b)
{
  gsize nodes = (gsize)plait_ragged_rows (b->trees->nodes);

  CHECK (a->kind == b->kind && a->name == b->name && a->n_missing == b->n_missing);
  check_ragged (a->rows, b->rows);
  CHECK (memcmp (a->tokens, b->tokens, (gsize)plait_ragged_rows (b->rows) * sizeof *a->tokens) == 0);
  check_ragged (a->trees->nodes, b->trees->nodes);
  CHECK (memcmp (a->trees->left, b->trees->left, nodes * sizeof *a->trees->left) == 0);
  CHECK (memcmp (a->trees->right, b->trees->right, nodes * sizeof *a->trees->right) == 0);
  for (gsize i = 0; i < nodes; i++)
    CHECK_STRING (a->trees->labels[i], b->trees->labels[i]);
}

/* In plait_fixture_batch(), the contents of a sentence depend on its number. So a cut batch must equal batches of its
 * sentences. */
TEST_CASE (update, cuts_a_batch_into_the_batches_that_its_sentences_make)
{
  PlaitRegistry *registry = test_registry ();
  g_autoptr (PlaitFixture) model = new_model (registry, TRUE);
  g_autoptr (PlaitBatch) batch = plait_fixture_batch (model, 0, SENTENCES, lengths, targets);

  for (gint64 first = 0; first < SENTENCES; first++)
    for (gint64 n = 1; first + n <= SENTENCES; n++)
      {
        const gint64 *const own[] = { first_lengths + first, second_lengths + first };
        g_autoptr (PlaitBatch) expected = plait_fixture_batch (model, first, n, own, targets + first);
        g_autoptr (PlaitBatch) part = plait_batch_slice (batch, first, n, NULL);
        gsize bytes = (gsize)plait_ragged_rows (expected->target_rows) * sizeof (gint32);
        CONTEXT ("%d sentences from %d on", (int)n, (int)first);

        CHECK (part->n_sentences == n && part->n_sources == 2);
        for (guint i = 0; i < 2; i++)
          check_input (&part->inputs[i], &expected->inputs[i]);
        check_ragged (part->target_rows, expected->target_rows);
        CHECK (memcmp (part->target_inputs, expected->target_inputs, bytes) == 0);
        CHECK (memcmp (part->target_outputs, expected->target_outputs, bytes) == 0);
        CHECK (memcmp (part->sentence, expected->sentence, (gsize)n * sizeof *part->sentence) == 0);
      }
}

#define MANY 40

/* A batch that does not fit into memory fails with an estimate of the memory it needs. The next batch is computed. */
TEST_CASE (update, says_which_batch_does_not_fit_into_its_shards)
{
  PlaitRegistry *registry = test_registry ();
  g_autoptr (PlaitFixture) model = new_model (registry, TRUE);
  g_autoptr (PlaitPool) pool = plait_pool_new (2, NULL);
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  g_autoptr (PlaitTape) tape = plait_tape_new (pool, arena);
  PlaitTrainSettings settings; /* before the update, which reads it until it is freed */
  g_autoptr (PlaitUpdate) work = NULL;
  g_autoptr (PlaitBatch) small = plait_fixture_batch (model, 0, SENTENCES, lengths, targets);
  gint64 long_lengths[MANY], long_targets[MANY];
  const gint64 *const all[] = { long_lengths, long_lengths };
  PlaitTrainingSums sums = { 0 };
  PlaitBatch *large;
  GError *error = NULL;

  for (guint i = 0; i < MANY; i++)
    long_lengths[i] = long_targets[i] = 40;
  large = plait_fixture_batch (model, 0, MANY, all, long_targets);
  plait_setting_group_defaults (&plait_train_group, &settings);
  settings.shards = 3;
  settings.memory = 24;
  work = plait_update_new (model->model, tape, &settings, NULL, NULL);
  CHECK (!plait_update_gradients (work, &large, 1, plait_random_key (1, "dropout", NULL, 1), &sums, &error));
  CHECK_ERROR (error, PLAIT_ERROR_MEMORY,
               "a batch of 40 sentences with 3200 source rows and 1640 target rows needs about");
  CHECK (sums.tokens == 0);
  CHECK (plait_update_gradients (work, &small, 1, plait_random_key (1, "dropout", NULL, 1), &sums, NO_ERROR));
  CHECK (sums.sentences == SENTENCES);
  plait_batch_free (large);
}
