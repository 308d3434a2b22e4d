/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "models.h"
#include "layers/parameter-set.h"
#include "autograd/layer-operators.h"

#include <math.h>
#include <string.h>

/* Tests of equalities of whole models that follow from their equations. */

#ifdef PLAIT_SCALAR_DOUBLE
#define AGREEMENT 1e-10
#else
#define AGREEMENT 1e-4
#endif

#define SENTENCES 3

/* Computes the losses of all target rows of @batch, and adds gradients to those of the parameters. */
static void
pass_over (const PlaitFixture *model, const PlaitBatch *batch, double *losses)
{
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  g_autoptr (PlaitTape) tape = plait_tape_new (pool, arena);
  PlaitOutputLossOptions options = { .scale = 1 };
  PlaitModelSums sums;

  plait_tape_begin (tape, PLAIT_TAPE_TRAIN, plait_random_key (1, "dropout", NULL, 1));
  plait_tape_backward (tape, plait_model_loss (model->model, tape, batch, &options, &sums, losses, NULL));
}

static void
check_near (PlaitTensor a, PlaitTensor b)
{
  for (gint64 row = 0; row < a.rows; row++)
    for (gint64 i = 0; i < a.width; i++)
      {
        double x = (double)plait_tensor_row (a, row)[i], y = (double)plait_tensor_row (b, row)[i];

        CHECK_NEAR (x, y, AGREEMENT * (1 + fabs (y)));
      }
}

static void
copy_value (PlaitParameter *to, const PlaitParameter *from)
{
  for (gint64 row = 0; row < from->value.rows; row++)
    memcpy (plait_tensor_row (to->value, row), plait_tensor_row (from->value, row),
            (gsize)from->value.width * sizeof (PlaitScalar));
}

/* If there is one source, serial, parallel and flat combination agree; if contexts are their own values, hierarchical
 * combination too. */

static const gint64 lengths[] = { 4, 2, 1 }, targets[] = { 3, 1, 4 };

static PlaitFixture *
one_source (PlaitRegistry *registry, const char *combiner, guint decoder_number)
{
  PlaitPlugin *encoder = test_plugin (registry, PLAIT_PLUGIN_ENCODER, "transformer");
  PlaitPlugin *plugin = test_plugin (registry, PLAIT_PLUGIN_COMBINER, combiner);
  g_autoptr (PlaitSettings) settings = plait_fixture_settings (encoder);
  g_autoptr (PlaitSettings) combiner_settings = plait_fixture_settings (plugin);
  PlaitFixtureSource source = { .encoder = encoder, .settings = settings };
  PlaitFixtureDecoder decoder = plait_fixture_decoder_with (decoder_number, plugin, combiner_settings, NULL, NULL);
  PlaitFixture *model;

  if (plait_schema_parameter (plugin->schema, "projections"))
    plait_settings_set (combiner_settings, "projections", "shared", NULL);
  model = plait_fixture_new (&source, 1, &decoder, 5, NO_ERROR);
  return model;
}

/* Returns the parameter of @model that corresponds to @name in a model with another combiner. Joint attention to one
 * memory corresponds to attention to this memory. */
static PlaitParameter *
counterpart (const PlaitFixture *model, const char *name)
{
  g_auto (GStrv) parts = g_strsplit (name, "/jointly/", 2);
  g_autofree char *other = g_strjoinv ("/attend/first/", parts);

  return plait_parameters_find (plait_model_parameters (model->model), other);
}

/* TRUE if the parameter belongs to attention over contexts, which has no effect if there is one context. */
static gboolean
is_of_contexts (const char *name)
{
  return strstr (name, "/contexts/") != NULL;
}

static void
check_agreement (PlaitRegistry *registry, const char *combiner, guint decoder)
{
  CONTEXT ("%s, decoder %u", combiner, decoder);
  const gint64 *const of_source[] = { lengths };
  g_autoptr (PlaitFixture) serial = one_source (registry, "serial", decoder);
  g_autoptr (PlaitFixture) other = one_source (registry, combiner, decoder);
  g_autoptr (PlaitBatch) batch = plait_fixture_batch (serial, 0, SENTENCES, of_source, targets);
  PlaitParameters *parameters = plait_model_parameters (other->model);
  double expected[32], losses[32];

  for (guint i = 0; i < plait_parameters_n (parameters); i++)
    {
      PlaitParameter *parameter = plait_parameters_get (parameters, i);
      const PlaitParameter *from = counterpart (serial, parameter->name);

      CHECK (from || is_of_contexts (parameter->name));
      if (from)
        copy_value (parameter, from);
    }
  plait_parameters_zero_gradients (parameters);
  plait_parameters_zero_gradients (plait_model_parameters (serial->model));
  pass_over (serial, batch, expected);
  pass_over (other, batch, losses);
  for (gint64 row = 0; row < plait_ragged_rows (batch->target_rows); row++)
    CHECK_NEAR (losses[row], expected[row], AGREEMENT * (1 + expected[row]));
  for (guint i = 0; i < plait_parameters_n (parameters); i++)
    {
      const PlaitParameter *parameter = plait_parameters_get (parameters, i);
      CONTEXT ("gradient of %s", parameter->name);

      if (!is_of_contexts (parameter->name))
        check_near (parameter->gradient, counterpart (serial, parameter->name)->gradient);
    }
}

TEST_CASE (identities, combiners_agree_over_one_source)
{
  PlaitRegistry *registry = test_registry ();

  for (guint d = 0; d < PLAIT_FIXTURE_DECODERS; d++)
    {
      check_agreement (registry, "parallel", d);
      check_agreement (registry, "flat", d);
    }
}

/* The softmax over a single context is 1. So attention over contexts that has no values of its own returns this
 * context. */
TEST_CASE (identities, hierarchical_agrees_over_one_source_in_recurrent_decoders)
{
  PlaitRegistry *registry = test_registry ();

  for (guint d = 2; d < PLAIT_FIXTURE_DECODERS; d++)
    check_agreement (registry, "hierarchical", d);
}

/*
 * Tied projections, which give key and value together, equal separate projections with equal weights. Scores are
 * additive, since separate keys of dot products have no bias.
 */

static PlaitFixture *
two_sources (PlaitRegistry *registry, const char *combiner, const char *projections, gboolean sentinel)
{
  PlaitPlugin *encoder = test_plugin (registry, PLAIT_PLUGIN_ENCODER, "bigru");
  PlaitPlugin *plugin = test_plugin (registry, PLAIT_PLUGIN_COMBINER, combiner);
  PlaitPlugin *coverage = test_plugin (registry, PLAIT_PLUGIN_COVERAGE, "word");
  g_autoptr (PlaitSettings) settings = plait_fixture_settings (encoder);
  g_autoptr (PlaitSettings) combiner_settings = plait_fixture_settings (plugin);
  g_autoptr (PlaitSettings) coverage_settings = plait_fixture_settings (coverage);
  PlaitFixtureSource source = { .encoder = encoder, .settings = settings }, sources[] = { source, source };
  PlaitFixtureDecoder decoder = plait_fixture_decoder_with (2, plugin, combiner_settings, coverage, coverage_settings);
  PlaitFixture *model;

  plait_settings_set (combiner_settings, "projections", projections, NULL);
  plait_settings_set (combiner_settings, "sentinel", sentinel ? "true" : "false", NULL);
  model = plait_fixture_new (sources, 2, &decoder, 5, NO_ERROR);
  return model;
}

/* Returns the parameter of @tied that corresponds to @name in a model with separate projections. */
static PlaitParameter *
tied_counterpart (const PlaitFixture *tied, const char *name)
{
  PlaitParameters *parameters = plait_model_parameters (tied->model);
  PlaitParameter *same = plait_parameters_find (parameters, name);
  g_auto (GStrv) parts = g_strsplit (name, "/value/", 2);
  g_autofree char *key = g_strjoinv ("/key/", parts);

  return same ? same : plait_parameters_find (parameters, key);
}

static void
check_tied (PlaitRegistry *registry, const char *combiner, gboolean sentinel)
{
  CONTEXT ("%s, sentinel %d", combiner, sentinel);
  static const gint64 second_lengths[] = { 3, 0, 5 };
  const gint64 *const of_sources[] = { lengths, second_lengths };
  g_autoptr (PlaitFixture) tied = two_sources (registry, combiner, "tied", sentinel);
  g_autoptr (PlaitFixture) separate = two_sources (registry, combiner, "separate", sentinel);
  g_autoptr (PlaitBatch) batch = NULL;
  PlaitParameters *from, *parameters;
  double expected[32], losses[32];

  REQUIRE (tied && separate);
  from = plait_model_parameters (tied->model);
  parameters = plait_model_parameters (separate->model);
  CHECK (plait_parameters_count (from, NULL) < plait_parameters_count (parameters, NULL));
  batch = plait_fixture_batch (tied, 0, SENTENCES, of_sources, targets);
  for (guint i = 0; i < plait_parameters_n (parameters); i++)
    {
      PlaitParameter *parameter = plait_parameters_get (parameters, i);
      const PlaitParameter *like = tied_counterpart (tied, parameter->name);
      CONTEXT ("%s", parameter->name);

      REQUIRE (like && like->value.rows == parameter->value.rows && like->value.width == parameter->value.width);
      copy_value (parameter, like);
    }
  plait_parameters_zero_gradients (from);
  plait_parameters_zero_gradients (parameters);
  pass_over (separate, batch, expected);
  pass_over (tied, batch, losses);
  for (gint64 row = 0; row < plait_ragged_rows (batch->target_rows); row++)
    CHECK_NEAR (losses[row], expected[row], AGREEMENT * (1 + expected[row]));
  /* The tied parameter has the sum of both gradients. Subtracting both must leave zeros. */
  for (guint i = 0; i < plait_parameters_n (parameters); i++)
    {
      const PlaitParameter *parameter = plait_parameters_get (parameters, i);
      PlaitTensor rest = tied_counterpart (tied, parameter->name)->gradient;

      for (gint64 row = 0; row < rest.rows; row++)
        for (gint64 j = 0; j < rest.width; j++)
          plait_tensor_row (rest, row)[j] -= plait_tensor_row (parameter->gradient, row)[j];
    }
  for (guint i = 0; i < plait_parameters_n (from); i++)
    {
      const PlaitParameter *parameter = plait_parameters_get (from, i);
      CONTEXT ("gradient of %s", parameter->name);

      for (gint64 row = 0; row < parameter->gradient.rows; row++)
        for (gint64 j = 0; j < parameter->gradient.width; j++)
          CHECK_NEAR (plait_tensor_row (parameter->gradient, row)[j], 0, AGREEMENT);
    }
}

TEST_CASE (identities, libovicky2017_tied_projections_are_separate_ones_of_equal_weights)
{
  PlaitRegistry *registry = test_registry ();

  for (guint sentinel = 0; sentinel < 2; sentinel++)
    {
      check_tied (registry, "flat", sentinel);
      check_tied (registry, "hierarchical", sentinel);
    }
}

/*
 * A batch gives what its single sentences give, with trees and coverage.
 */

static void
check_batch (PlaitRegistry *registry, const char *encoder_name, const char *coverage_name, const char *combiner_name)
{
  CONTEXT ("%s, %s, %s", encoder_name, coverage_name, combiner_name);
  static const gint64 second_lengths[] = { 3, 0, 5 };
  const gint64 *const of_sources[] = { lengths, second_lengths };
  PlaitPlugin *encoder = test_plugin (registry, PLAIT_PLUGIN_ENCODER, encoder_name);
  PlaitPlugin *leaves = test_plugin (registry, PLAIT_PLUGIN_ENCODER, "bigru");
  PlaitPlugin *combiner = test_plugin (registry, PLAIT_PLUGIN_COMBINER, combiner_name);
  PlaitPlugin *coverage = test_plugin (registry, PLAIT_PLUGIN_COVERAGE, coverage_name);
  g_autoptr (PlaitSettings) settings = plait_fixture_settings (encoder);
  g_autoptr (PlaitSettings) leaves_settings = plait_fixture_settings (leaves);
  g_autoptr (PlaitSettings) combiner_settings = plait_fixture_settings (combiner);
  g_autoptr (PlaitSettings) coverage_settings = plait_fixture_settings (coverage);
  PlaitFixtureSource source = { encoder, settings, leaves, leaves_settings }, sources[] = { source, source };
  PlaitFixtureDecoder decoder
      = plait_fixture_decoder_with (4, combiner, combiner_settings, coverage, coverage_settings);
  g_autoptr (PlaitFixture) model = plait_fixture_new (sources, 2, &decoder, 3, NO_ERROR);
  g_autoptr (PlaitBatch) batch = NULL;
  g_autofree PlaitScalar *together = NULL;
  PlaitParameters *parameters;
  PlaitTensor gradients;
  double losses[32];

  REQUIRE (model != NULL);
  parameters = plait_model_parameters (model->model);
  gradients = plait_parameters_gradients (parameters);
  batch = plait_fixture_batch (model, 0, SENTENCES, of_sources, targets);
  plait_parameters_zero_gradients (parameters);
  pass_over (model, batch, losses);
  together = g_memdup2 (gradients.data, (gsize)gradients.width * sizeof *together);
  plait_parameters_zero_gradients (parameters);
  for (gint64 s = 0; s < SENTENCES; s++)
    {
      const gint64 *const of_one[] = { lengths + s, second_lengths + s };
      g_autoptr (PlaitBatch) alone = plait_fixture_batch (model, s, 1, of_one, targets + s);
      double own[32];

      pass_over (model, alone, own);
      for (gint64 t = 0; t <= targets[s]; t++)
        CHECK_NEAR (own[t], losses[batch->target_rows.offsets[s] + t], AGREEMENT * (1 + own[t]));
    }
  check_near (gradients, plait_tensor (together, 1, gradients.width));
}

TEST_CASE (identities, a_batch_is_its_sentences_over_trees_with_coverage)
{
  static const char *const encoders[] = { "tree-gru", "tree-lstm", "bitree-gru", "bitree-lex" };
  static const char *const coverages[] = { "word", "tree" };
  PlaitRegistry *registry = test_registry ();

  for (guint e = 0; e < G_N_ELEMENTS (encoders); e++)
    for (guint c = 0; c < G_N_ELEMENTS (coverages); c++)
      check_batch (registry, encoders[e], coverages[c], (e + c) % 2 ? "flat" : "hierarchical");
}
