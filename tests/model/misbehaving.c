/* SPDX-License-Identifier: MIT */
#include "misbehaving.h"

#include "process/crash.h"
#include "search/search.h"

FaultyPlugin faulty_plugin;
double misbehaving_loss;

/*
 * Valid plugins
 */

static gboolean
build_combiner (PlaitCrossAttention *cross, gconstpointer settings, gpointer state, GError **error)
{
  PlaitAttendSettings attention = { PLAIT_DECODER_DROPOUT_RATES };

  plait_cross_declare_loss (cross, "sound", 0.5);
  for (guint i = 0; i < plait_cross_n_memories (cross); i++)
    {
      plait_cross_declare_residual (cross, i);
      plait_cross_declare_attend (cross, i, &attention);
    }
  if (faulty_plugin.prepare)
    plait_cross_declare_rows (cross, 0);
  return !faulty_plugin.cross || faulty_plugin.cross (cross, error);
}

static PlaitResidualStream
combine (PlaitCrossAttention *cross, gconstpointer settings, gconstpointer state, PlaitResidualStream x)
{
  if (faulty_plugin.combine)
    return faulty_plugin.combine (cross, plait_cross_tape (cross), x);
  for (guint i = 0; i < plait_cross_n_memories (cross); i++)
    x = plait_cross_residual (cross, i, x, plait_cross_attend (cross, i, plait_cross_normalise (cross, i, x)));
  return x;
}

static PlaitNode *
prepare_rows (gconstpointer settings, gconstpointer state, PlaitTape *tape, guint memory, const PlaitMemory *rows)
{
  return faulty_plugin.prepare ? faulty_plugin.prepare (tape, rows) : NULL;
}

static gboolean
build_encoder (const PlaitEncoderBuild *build, gconstpointer settings, gpointer state, PlaitEncoderShape *shape,
               GError **error)
{
  g_autofree char *name = g_strconcat (build->prefix, "out", NULL);

  *(PlaitLinear *)state = plait_linear_declare (build->parameters, name, build->input_width, build->model_width, FALSE);
  shape->n_memories = 1;
  shape->memories[0].width = build->model_width;
  shape->memories[0].structure = faulty_plugin.promised;
  shape->losses = (PlaitLosses){ 1, { { "sound", 0.5 } } };
  return !faulty_plugin.encoder || faulty_plugin.encoder (build, shape, error);
}

static void
encode (gconstpointer settings, gconstpointer state, PlaitEncoding *encoding)
{
  encoding->memories[0].rows = encoding->input->rows;
  encoding->memories[0].states = plait_linear_apply (encoding->tape, state, encoding->embedded, PLAIT_ACTIVATION_NONE);
  if (faulty_plugin.encode)
    faulty_plugin.encode (encoding, encoding->tape, &encoding->memories[0]);
}

static gboolean
check_length (gconstpointer settings, gconstpointer state, gint64 rows, GError **error)
{
  return !faulty_plugin.check_length || faulty_plugin.check_length (error);
}

static gboolean
check_input (gconstpointer settings, gconstpointer state, const PlaitInput *input, GError **error)
{
  return !faulty_plugin.check_input || faulty_plugin.check_input (error);
}

static gboolean
build_coverage (const PlaitCoverageBuild *build, gconstpointer settings, gpointer state, PlaitCoverageShape *shape,
                GError **error)
{
  *(gint64 *)state = build->score_width;
  shape->width = 2;
  shape->losses = (PlaitLosses){ 1, { { "sound", 0.5 } } };
  return !faulty_plugin.coverage || faulty_plugin.coverage (build, shape, error);
}

PlaitNode *
misbehaving_zeros (PlaitTape *tape, gint64 rows, gint64 width)
{
  PlaitTensor tensor
      = plait_tensor (plait_arena_new_array (plait_tape_arena (tape), PlaitScalar, rows * width + 1), rows, width);

  memset (tensor.data, 0, plait_tensor_size (tensor));
  return plait_leaf (tape, tensor, NULL);
}

PlaitNode *
misbehaving_number (PlaitTape *tape, double value)
{
  PlaitNode *node = zeros (tape, 1, 1);

  node->value.data[0] = (PlaitScalar)value;
  return node;
}

static PlaitNode *
score (gconstpointer settings, gconstpointer state, const PlaitCoverageStep *step)
{
  return faulty_plugin.score ? faulty_plugin.score (step) : zeros (step->tape, step->n, *(const gint64 *)state);
}

static PlaitNode *
update (gconstpointer settings, gconstpointer state, const PlaitCoverageStep *step)
{
  return faulty_plugin.update ? faulty_plugin.update (step) : step->state;
}

static PlaitNode *
prepare_coverage (gconstpointer settings, gconstpointer state, PlaitTape *tape, const PlaitMemory *memory)
{
  return faulty_plugin.prepare_coverage ? faulty_plugin.prepare_coverage (tape, memory) : NULL;
}

/*
 * Running a faulty plugin
 */

typedef struct
{
  PlaitTape *tape;
  const PlaitFixture *model;
  const PlaitBatch *batch;
} Pass;

static void
run_pass (gpointer data)
{
  const Pass *pass = data;
  PlaitOutputLossOptions options = { .scale = 1 };
  PlaitModelSums sums;
  PlaitNode *loss;

  plait_tape_begin (pass->tape, PLAIT_TAPE_TRAIN, plait_random_key (1, "dropout", NULL, 1));
  if (faulty_plugin.recompute)
    plait_tape_enable_recompute (pass->tape);
  loss = plait_model_loss (pass->model->model, pass->tape, pass->batch, &options, &sums, NULL, NULL);
  misbehaving_loss = (double)plait_tape_value (pass->tape, loss).data[0];
  plait_tape_backward (pass->tape, loss);
}

static gboolean
search (const PlaitFixture *model, PlaitPool *pool, const PlaitBatch *batch, GError **error)
{
  g_autoptr (PlaitSearch) search = plait_search_new (model->model, pool, PLAIT_PRECISION_FLOAT, 0, error);
  PlaitDecodeSettings settings;
  PlaitHypotheses *found;

  plait_setting_group_defaults (&plait_decode_group, &settings);
  settings.beam = settings.n_best = 3;
  settings.maximum_length = 4;
  found = search ? plait_search_batch (search, batch, &settings, error) : NULL;
  if (found)
    plait_hypotheses_free (found, 2);
  return found != NULL;
}

static gboolean
pass_over (const PlaitFixture *model, GError **error)
{
  static const gint64 lengths[] = { 3, 2 }, targets[] = { 2, 3 };
  const gint64 *const of_sources[] = { lengths, lengths };
  g_autoptr (PlaitBatch) batch = plait_fixture_batch (model, 0, 2, of_sources, targets);
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  g_autoptr (PlaitTape) tape = plait_tape_new (pool, arena);
  Pass pass = { tape, model, batch };

  return plait_model_check_batch (model->model, batch, error) && plait_arena_protect (arena, run_pass, &pass, error)
         && search (model, pool, batch, error);
}

/* One of plait's own plugins, with another table of functions. */
typedef struct
{
  PlaitPlugin plugin;
  PlaitPluginDescriptor descriptor;
  PlaitSchema schema;
} Disguise;

static PlaitPlugin *
disguise (Disguise *disguise, PlaitRegistry *registry, PlaitPluginKind kind, const char *name, gconstpointer table)
{
  disguise->plugin = *test_plugin (registry, kind, name);
  disguise->descriptor = *disguise->plugin.descriptor;
  disguise->descriptor.table = table;
  disguise->schema = *disguise->plugin.schema;
  disguise->schema.provides_summary = FALSE;
  disguise->plugin.descriptor = &disguise->descriptor;
  disguise->plugin.schema = &disguise->schema;
  return &disguise->plugin;
}

gboolean
misbehaving_release (guint i, GError **error)
{
  static const PlaitEncoderTable encoder_table = { .state_size = sizeof (PlaitLinear),
                                                   .build = build_encoder,
                                                   .encode = encode,
                                                   .check_length = check_length,
                                                   .check_input = check_input };
  static const PlaitCombinerTable combiner_table
      = { .build = build_combiner, .prepare = prepare_rows, .combine = combine };
  static const PlaitCoverageTable coverage_table = { .state_size = sizeof (gint64),
                                                     .build = build_coverage,
                                                     .prepare = prepare_coverage,
                                                     .score = score,
                                                     .update = update };
  PlaitRegistry *registry = test_registry ();
  g_autofree Disguise *disguises = g_new0 (Disguise, 5);
  PlaitPlugin *encoder = disguise (&disguises[0], registry, PLAIT_PLUGIN_ENCODER, "bigru", &encoder_table);
  PlaitPlugin *combiner = disguise (&disguises[1], registry, PLAIT_PLUGIN_COMBINER, "serial", &combiner_table);
  PlaitPlugin *coverage = disguise (&disguises[2], registry, PLAIT_PLUGIN_COVERAGE, "word", &coverage_table);
  PlaitPlugin *own_decoder
      = disguise (&disguises[3], registry, PLAIT_PLUGIN_DECODER, "transformer", faulty_plugin.decoder_table);
  PlaitPlugin *own_output
      = disguise (&disguises[4], registry, PLAIT_PLUGIN_OUTPUT, "softmax", faulty_plugin.output_table);
  g_autoptr (PlaitSettings) settings = plait_fixture_settings (encoder);
  g_autoptr (PlaitSettings) decoder_settings = plait_fixture_settings (own_decoder);
  g_autoptr (PlaitSettings) output_settings = plait_fixture_settings (own_output);
  g_autoptr (PlaitSettings) combiner_settings = plait_fixture_settings (combiner);
  g_autoptr (PlaitSettings) coverage_settings = plait_fixture_settings (coverage);
  PlaitFixtureSource sources[]
      = { { .encoder = encoder, .settings = settings }, { .encoder = encoder, .settings = settings } };
  PlaitFixtureDecoder decoder = plait_fixture_decoder_with (i, combiner, combiner_settings,
                                                            faulty_plugin.covered ? coverage : NULL, coverage_settings);

  disguises[0].schema.provides_structure = faulty_plugin.promised;
  disguises[3].schema.scores = faulty_plugin.scores;
  if (faulty_plugin.decoder_table)
    {
      decoder.plugin = own_decoder;
      decoder.plugin_settings = decoder_settings;
    }
  if (faulty_plugin.output_table)
    {
      decoder.output = own_output;
      decoder.output_settings = output_settings;
    }
  g_autoptr (PlaitFixture) model = plait_fixture_new (sources, 2, &decoder, 3, error);
  return model && pass_over (model, error);
}

void
misbehaving_check (guint decoders, const char *who, const char *sentence)
{
  for (guint i = 0; i < PLAIT_FIXTURE_DECODERS; i++)
    {
      CONTEXT ("decoder %u", i);
      g_autoptr (GError) error = NULL;
      const char *after;

      if (!(decoders & 1u << i))
        continue;
      CHECK (!release (i, &error));
      CHECK (!plait_crash_get_owner ().who);
      REQUIRE (error != NULL);
      CHECK (error->domain == PLAIT_ERROR);
      CHECK_CONTAINS (error->message, sentence);
      CHECK (!strchr (error->message, '\n'));
      REQUIRE (g_str_has_prefix (error->message, who));
      after = error->message + strlen (who);
      CHECK (g_str_has_prefix (after, ", ") || g_str_has_prefix (after, ": ") || g_str_has_prefix (after, " "));
      CHECK (!strstr (after, who));
    }
}

TEST_CASE (misbehaving, the_sound_ones_run)
{
  for (guint i = 0; i < 4; i++)
    {
      CONTEXT ("%u", i);
      faulty_plugin = (FaultyPlugin){ .covered = i >= 2 };
      CHECK (misbehaving_release (i % 2 ? 2 : 0, NO_ERROR));
    }
}
