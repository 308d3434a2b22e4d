/* SPDX-License-Identifier: MIT */
#include "autograd/check.h"
#include "harness.h"
#include "models.h"
#include "train/update.h"

#include <math.h>
#include <string.h>

/*
 * The contract of plugins, held to whatever the registry finds: no plugin is named here, so a new one is tested by
 * being there. Each plugin stands in small models beside others, with each of its choices in turn.
 */

typedef struct
{
  PlaitRegistry *registry;
  PlaitPlugin *tokens;   /* some encoder of tokens, to stand beside what is tested */
  PlaitPlugin *trees;    /* some encoder of trees, or NULL */
  PlaitPlugin *levels;   /* some encoder of levels, or NULL */
  PlaitPlugin *combiner; /* some combiner */
} World;

/* A model that is held to the contract, and where its settings come from. */
typedef struct
{
  TestModel *model;
  guint n_sources;
} Case;

typedef void (*Hold) (const Case *held);

static World *
world_new (void)
{
  World *world = g_new0 (World, 1);

  world->registry = plait_registry_new ();
  for (guint i = 0; i < plait_registry_n_plugins (world->registry); i++)
    {
      PlaitPlugin *plugin = plait_registry_plugin (world->registry, i);
      GError *error = NULL;

      CHECK (plait_plugin_load (plugin, &error));
      CHECK_NO_ERROR (error);
      if (plugin->kind == PLAIT_PLUGIN_ENCODER && plugin->schema->provides_structure == PLAIT_STRUCTURE_TREE)
        world->trees = plugin;
      else if (plugin->kind == PLAIT_PLUGIN_ENCODER && plugin->schema->provides_structure == PLAIT_STRUCTURE_LEVELS)
        world->levels = plugin;
      else if (plugin->kind == PLAIT_PLUGIN_ENCODER && plugin->schema->input == PLAIT_INPUT_TOKENS
               && !plugin->schema->requires_leaves)
        world->tokens = plugin;
      if (plugin->kind == PLAIT_PLUGIN_COMBINER)
        world->combiner = plugin;
    }
  return world;
}

static void
world_free (World *world)
{
  plait_registry_free (world->registry);
  g_free (world);
}

/* A model in which @plugin stands with @settings: an encoder as first and last source, a combiner over three. FALSE if
 * they have no place in this decoder. */
static gboolean
hold_one (const World *world, PlaitPlugin *plugin, PlaitSettings *settings, guint decoder_number, Hold hold,
          GError **error)
{
  g_autoptr (PlaitSettings) token_settings = test_small_settings (world->tokens);
  g_autoptr (PlaitSettings) combiner_settings = test_small_settings (world->combiner);
  gboolean encoder = plugin->kind == PLAIT_PLUGIN_ENCODER;
  g_autoptr (PlaitSettings) tree_settings = world->trees ? test_small_settings (world->trees) : NULL;
  g_autoptr (PlaitSettings) level_settings = world->levels ? test_small_settings (world->levels) : NULL;
  TestSource beside = { .encoder = world->tokens, .settings = token_settings };
  TestSource trees = { world->trees, tree_settings, world->tokens, token_settings };
  TestSource levels = { world->levels, level_settings, world->tokens, token_settings };
  TestSource carrying = beside; /* what the plugin requires */
  TestSource tested = { .encoder = plugin, .settings = settings };
  gboolean coverage = plugin->kind == PLAIT_PLUGIN_COVERAGE;
  TestDecoder decoder = { world->combiner, combiner_settings, NULL, NULL, test_decoder (decoder_number) };
  TestSource sources[3];
  Case held = { .n_sources = 3 };

  if (!plait_schema_allows_decoder (plugin->schema, decoder_number < 2 ? "transformer" : "gru"))
    return FALSE;
  if (encoder && plugin->schema->requires_leaves)
    {
      tested.leaves = world->tokens;
      tested.leaves_settings = token_settings;
    }
  if (plugin->schema->requires_structure == PLAIT_STRUCTURE_TREE && world->trees)
    carrying = trees;
  if (plugin->schema->requires_structure == PLAIT_STRUCTURE_LEVELS && world->levels)
    carrying = levels;
  for (guint i = 0; i < 3; i++)
    sources[i] = encoder && i != 1 ? tested : plugin->schema->one_memory_is_enough && i == 1 ? beside : carrying;
  if (plugin->kind == PLAIT_PLUGIN_COMBINER)
    {
      decoder.combiner = plugin;
      decoder.combiner_settings = settings;
    }
  if (coverage)
    {
      decoder.coverage = plugin;
      decoder.coverage_settings = settings;
    }
  /* A seed with which no ReLU stands near its kink, where finite differences are wrong. */
  held.model = test_model_new (sources, 3, &decoder, 6, error);
  if (held.model)
    hold (&held);
  test_model_free (held.model);
  return held.model != NULL;
}

/* A choice or a boolean other than the standard: with the Transformer, and where a decoder matters to the plugin with a
 * recurrent one too. One of them may refuse it, in words. */
static void
hold_choice (const World *world, PlaitPlugin *plugin, const char *parameter, const char *choice, Hold hold)
{
  guint last = plugin->kind == PLAIT_PLUGIN_ENCODER ? 0 : 2, times = 0;

  for (guint d = 0; d <= last; d += 2)
    {
      g_autoptr (PlaitSettings) settings = test_small_settings (plugin);
      GError *error = NULL;
      CONTEXT ("%s=%s, decoder %u", parameter, choice, d);

      CHECK (plait_settings_set (settings, parameter, choice, NULL));
      times += hold_one (world, plugin, settings, d, hold, &error);
      if (error)
        CHECK_ERROR (error, PLAIT_ERROR_INPUT, parameter);
    }
  CHECK (times > 0);
}

/* Each plugin with its small settings, with every other choice and boolean, and under every decoder. */
static void
hold_all (Hold hold)
{
  World *world = world_new ();

  for (guint i = 0; i < plait_registry_n_plugins (world->registry); i++)
    {
      PlaitPlugin *plugin = plait_registry_plugin (world->registry, i);
      CONTEXT ("%s %s", plait_plugin_kind_name (plugin->kind), plugin->name);

      for (guint d = 0; d < TEST_DECODERS; d++)
        {
          g_autoptr (PlaitSettings) settings = test_small_settings (plugin);
          GError *error = NULL;
          CONTEXT ("decoder %u", d);

          hold_one (world, plugin, settings, d, hold, &error);
          CHECK_NO_ERROR (error);
        }
      for (guint k = 0; k < plugin->schema->n_parameters; k++)
        {
          const PlaitSettingSpecification *parameter = plugin->schema->parameters[k];
          g_auto (GStrv) choices = NULL;

          if (parameter->type == PLAIT_SETTING_CHOICE)
            choices = g_strsplit (parameter->choices, ";", -1);
          else if (parameter->type == PLAIT_SETTING_BOOLEAN)
            choices = g_strsplit ("false;true", ";", -1);
          for (guint c = 0; choices && choices[c]; c++)
            if (!g_str_equal (choices[c], parameter->standard))
              hold_choice (world, plugin, parameter->name, choices[c], hold);
        }
    }
  world_free (world);
}

/* Three sentences; of the second the second source is missing, the third has a source alone. */
static const gint64 lengths_first[] = { 4, 2, 1 };
static const gint64 lengths_second[] = { 3, 0, 0 };
static const gint64 lengths_third[] = { 2, 5, 0 };
static const gint64 *const lengths[] = { lengths_first, lengths_second, lengths_third };
static const gint64 targets[] = { 3, 1, 4 };

typedef struct
{
  double losses[16];
  gint64 rows;
  gboolean finite;
} Outcome;

typedef struct
{
  const Case *held;
  const PlaitBatch *batch;
  PlaitTape *tape;
  gboolean backward;
  double losses[64];
} Pass;

static void
run_pass (gpointer data)
{
  Pass *pass = data;
  PlaitVocabularyLossOptions options = { .scale = 1 };
  PlaitModelSums sums;
  PlaitNode *root;

  plait_tape_begin (pass->tape, pass->backward ? PLAIT_TAPE_TRAIN : PLAIT_TAPE_EVALUATE,
                    plait_random_key (1, "dropout", NULL, 1));
  root = plait_model_loss (pass->held->model->model, pass->tape, pass->batch, &options, &sums, pass->losses, NULL);
  if (pass->backward)
    plait_tape_backward (pass->tape, root);
}

static void
pass_over (const Case *held, const PlaitBatch *batch, guint threads, gboolean backward, double *losses)
{
  g_autoptr (PlaitPool) pool = plait_pool_new (threads, NULL);
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  g_autoptr (PlaitTape) tape = plait_tape_new (pool, arena);
  Pass pass = { held, batch, tape, backward, { 0 } };
  GError *error = NULL;

  CHECK (plait_arena_protect (arena, run_pass, &pass, &error));
  CHECK_NO_ERROR (error);
  memcpy (losses, pass.losses, plait_ragged_rows (batch->target_rows) * sizeof *losses);
}

static void
hold_finite (const Case *held)
{
  g_autoptr (PlaitBatch) batch = test_batch (held->model, 0, 3, lengths, targets);
  PlaitParameters *parameters = plait_model_parameters (held->model->model);
  PlaitTensor gradients = plait_parameters_gradients (parameters);
  double losses[64];
  double norm = 0;

  CHECK (plait_model_check_batch (held->model->model, batch, NULL));
  plait_parameters_zero_gradients (parameters);
  pass_over (held, batch, 1, TRUE, losses);
  for (gint64 row = 0; row < plait_ragged_rows (batch->target_rows); row++)
    CHECK (isfinite (losses[row]) && losses[row] > 0);
  for (gint64 i = 0; i < gradients.width; i++)
    norm += (double)gradients.data[i] * (double)gradients.data[i];
  CHECK (isfinite (norm) && norm > 0);
}

/* Shapes, missing sources and gradients are sound. */
TEST_CASE (contract, gives_finite_losses_and_gradients_with_missing_sources)
{
  hold_all (hold_finite);
}

static void
hold_independence (const Case *held)
{
  g_autoptr (PlaitBatch) batch = test_batch (held->model, 0, 3, lengths, targets);
  double together[64];
  double tolerance = sizeof (PlaitScalar) == sizeof (double) ? 1e-11 : 2e-5;

  pass_over (held, batch, 1, FALSE, together);
  for (gint64 s = 0; s < 3; s++)
    {
      const gint64 *const one[] = { lengths_first + s, lengths_second + s, lengths_third + s };
      g_autoptr (PlaitBatch) alone = test_batch (held->model, s, 1, one, targets + s);
      double losses[64];

      pass_over (held, alone, 1, FALSE, losses);
      for (gint64 t = 0; t <= targets[s]; t++)
        CHECK_NEAR (losses[t], together[batch->target_rows.offsets[s] + t], tolerance * (1 + losses[t]));
    }
}

/* A batch of three gives what three batches of one give: no sentence sees another. */
TEST_CASE (contract, reads_each_sentence_by_itself)
{
  hold_all (hold_independence);
}

static void
hold_repeatability (const Case *held)
{
  g_autoptr (PlaitBatch) batch = test_batch (held->model, 0, 3, lengths, targets);
  PlaitParameters *parameters = plait_model_parameters (held->model->model);
  PlaitTensor gradients = plait_parameters_gradients (parameters);
  g_autofree PlaitScalar *before = NULL;
  double losses[64];
  double again[64];

  plait_parameters_zero_gradients (parameters);
  pass_over (held, batch, 1, TRUE, losses);
  before = g_memdup2 (gradients.data, gradients.width * sizeof *before);
  for (guint threads = 1; threads <= 3; threads++)
    {
      CONTEXT ("%u threads", threads);

      plait_parameters_zero_gradients (parameters);
      pass_over (held, batch, threads, TRUE, again);
      CHECK (memcmp (losses, again, plait_ragged_rows (batch->target_rows) * sizeof *losses) == 0);
      CHECK (memcmp (before, gradients.data, gradients.width * sizeof *before) == 0);
    }
}

/* The same bits again, and with any number of threads. */
TEST_CASE (contract, repeats_to_the_bit_with_any_number_of_threads)
{
  hold_all (hold_repeatability);
}

static PlaitScalar *
update_in_shards (const Case *held, PlaitBatch *const *batches, guint n, guint threads)
{
  PlaitParameters *parameters = plait_model_parameters (held->model->model);
  PlaitTensor gradients = plait_parameters_gradients (parameters);
  g_autoptr (PlaitPool) pool = plait_pool_new (threads, NULL);
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  g_autoptr (PlaitTape) tape = plait_tape_new (pool, arena);
  g_autoptr (PlaitUpdate) update = NULL;
  PlaitTrainingSums sums = { 0 };
  PlaitTrainSettings settings;
  GError *error = NULL;

  plait_setting_group_defaults (&plait_train_group, &settings);
  settings.shards = 3;
  update = plait_update_new (held->model->model, tape, &settings, NULL);
  plait_parameters_zero_gradients (parameters);
  CHECK (plait_update_gradients (update, batches, n, plait_random_key (1, "dropout", NULL, 1), &sums, &error));
  CHECK_NO_ERROR (error);
  return g_memdup2 (gradients.data, gradients.width * sizeof (PlaitScalar));
}

static void
hold_shards (const Case *held)
{
  g_autoptr (PlaitBatch) batch = test_batch (held->model, 0, 3, lengths, targets);
  PlaitBatch *batches[] = { batch, batch };
  gint64 n = plait_parameters_gradients (plait_model_parameters (held->model->model)).width;
  g_autofree PlaitScalar *one = update_in_shards (held, batches, 2, 1);
  double norm = 0;

  for (guint threads = 2; threads <= 3; threads++)
    {
      g_autofree PlaitScalar *more = update_in_shards (held, batches, 2, threads);

      CHECK (memcmp (one, more, n * sizeof *one) == 0);
    }
  for (gint64 i = 0; i < n; i++)
    norm += (double)one[i] * (double)one[i];
  CHECK (isfinite (norm) && norm > 0);
}

/* Several parts of a batch may be in a plugin at the same time. */
TEST_CASE (contract, computes_shards_of_a_batch_at_the_same_time)
{
  hold_all (hold_shards);
}

typedef struct
{
  const Case *held;
  const PlaitBatch *batch;
} Build;

static PlaitNode *
build_loss (PlaitTape *tape, PlaitNode *const *leaves, gpointer data)
{
  const Build *build = data;
  PlaitVocabularyLossOptions options = { .scale = 0.25, .smoothing = 0.1 };
  PlaitModelSums sums;

  return plait_model_loss (build->held->model->model, tape, build->batch, &options, &sums, NULL, NULL);
}

static void
hold_gradients (const Case *held)
{
  g_autoptr (PlaitBatch) batch = test_batch (held->model, 0, 3, lengths, targets);
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
  PlaitParameters *parameters = plait_model_parameters (held->model->model);
  guint n = plait_parameters_n (parameters);
  g_autofree PlaitCheckLeaf *leaves = g_new0 (PlaitCheckLeaf, n);
  Build build = { held, batch };
  PlaitGradientCheck check = {
    .build = build_loss,
    .data = &build,
    .leaves = leaves,
    .n_leaves = n,
    .mode = PLAIT_TAPE_CHECK,
    .key = plait_random_key (3, "sample", NULL, 0),
    .sample = 2,
  };
  GError *error = NULL;

  for (guint i = 0; i < n; i++)
    {
      PlaitParameter *parameter = plait_parameters_get (parameters, i);

      leaves[i] = (PlaitCheckLeaf){ parameter->name, parameter->value, parameter->gradient };
    }
  CHECK (plait_check_gradients (&check, pool, &error));
  CHECK_NO_ERROR (error);
}

/* Every parameter's gradient against finite differences, through the whole model. */
TEST_CASE (contract, has_the_gradients_of_finite_differences)
{
  if (sizeof (PlaitScalar) != sizeof (double))
    SKIP_TEST ("finite differences of a whole model need -Dscalar=double, under which this runs too");
  hold_all (hold_gradients);
}

static void
hold_missing (const Case *held)
{
  const gint64 none[] = { 0, 0, 0 };
  const gint64 *const with[] = { lengths_first, none, lengths_third };
  g_autoptr (PlaitBatch) batch = test_batch (held->model, 0, 3, with, targets);
  g_autoptr (PlaitBatch) empty = NULL;
  const gint64 *const without[] = { none, none, none };
  double losses[64];

  pass_over (held, batch, 1, FALSE, losses);
  for (gint64 row = 0; row < plait_ragged_rows (batch->target_rows); row++)
    CHECK (isfinite (losses[row]));
  empty = test_batch (held->model, 0, 3, without, targets);
  for (guint i = 0; i < held->n_sources; i++)
    ((PlaitInput *)empty->inputs)[i].features = (PlaitTensor){ NULL, 0, 0, 0 }; /* no file told the width */
  pass_over (held, empty, 1, FALSE, losses);
  for (gint64 row = 0; row < plait_ragged_rows (empty->target_rows); row++)
    CHECK (isfinite (losses[row]));
}

/* A source that is missing for a whole batch, and all of them. */
TEST_CASE (contract, lets_whole_sources_be_missing)
{
  hold_all (hold_missing);
}
