/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "autograd/internal.h"
#include "process/crash.h"
#include "harness.h"
#include "models.h"
#include "layers/layers.h"
#include "layers/parameter-set.h"
#include "autograd/layer-operators.h"
#include "layers/attention.h"
#include "layers/feed-forward.h"

/*
 * Plugins that break their contract, each in one place: one faulty plugin in a line, with the message that it ends in.
 * They are built into models and run. Plugins that fail to load are in tests/plugin/faulty.
 */
enum
{
  TRANSFORMER = 1 << 0,
  RECURRENT = 1 << 2,
  BOTH = TRANSFORMER | RECURRENT, /* indices of plait_fixture_decoder */
};

/* Differences of this faulty plugin from a valid one. */
typedef struct
{
  gboolean (*cross) (PlaitCrossAttention *cross, GError **error);
  PlaitResidualStream (*combine) (PlaitCrossAttention *cross, PlaitTape *tape, PlaitResidualStream x);
  PlaitNode *(*prepare) (PlaitTape *tape, const PlaitMemory *rows);
  gboolean (*encoder) (const PlaitEncoderBuild *build, PlaitEncoderShape *shape, GError **error);
  void (*encode) (PlaitEncoding *encoding, PlaitTape *tape, PlaitMemory *memory);
  gboolean (*check_length) (GError **error);
  gboolean (*check_input) (GError **error);
  PlaitStructure promised; /* structure in the encoder's schema */
  gboolean (*coverage) (const PlaitCoverageBuild *build, PlaitCoverageShape *shape, GError **error);
  PlaitNode *(*score) (const PlaitCoverageStep *step);
  PlaitNode *(*update) (const PlaitCoverageStep *step);
  PlaitNode *(*prepare_coverage) (PlaitTape *tape, const PlaitMemory *memory);
  gboolean covered; /* TRUE: the model has coverage */
} FaultyPlugin;

static FaultyPlugin faulty_plugin;

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

/* Returns a constant [rows, width] of zeros. */
static PlaitNode *
zeros (PlaitTape *tape, gint64 rows, gint64 width)
{
  PlaitTensor tensor
      = plait_tensor (plait_arena_new_array (plait_tape_arena (tape), PlaitScalar, rows * width + 1), rows, width);

  memset (tensor.data, 0, plait_tensor_size (tensor));
  return plait_leaf (tape, tensor, NULL);
}

/* Returns a constant [1, 1]. */
static PlaitNode *
number (PlaitTape *tape, double value)
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

  plait_tape_begin (pass->tape, PLAIT_TAPE_TRAIN, plait_random_key (1, "dropout", NULL, 1));
  plait_tape_backward (pass->tape,
                       plait_model_loss (pass->model->model, pass->tape, pass->batch, &options, &sums, NULL, NULL));
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

  return plait_model_check_batch (model->model, batch, error) && plait_arena_protect (arena, run_pass, &pass, error);
}

/* A plugin of the tree with another function table. */
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

/* Builds the faulty plugin into a model with decoder @i, and runs it. */
static gboolean
release (guint i, GError **error)
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
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  g_autofree Disguise *disguises = g_new0 (Disguise, 3);
  PlaitPlugin *encoder = disguise (&disguises[0], registry, PLAIT_PLUGIN_ENCODER, "bigru", &encoder_table);
  PlaitPlugin *combiner = disguise (&disguises[1], registry, PLAIT_PLUGIN_COMBINER, "serial", &combiner_table);
  PlaitPlugin *coverage = disguise (&disguises[2], registry, PLAIT_PLUGIN_COVERAGE, "word", &coverage_table);
  g_autoptr (PlaitSettings) settings = plait_fixture_settings (encoder);
  g_autoptr (PlaitSettings) combiner_settings = plait_fixture_settings (combiner);
  g_autoptr (PlaitSettings) coverage_settings = plait_fixture_settings (coverage);
  PlaitFixtureSource sources[]
      = { { .encoder = encoder, .settings = settings }, { .encoder = encoder, .settings = settings } };
  PlaitFixtureDecoder decoder = plait_fixture_decoder_with (i, combiner, combiner_settings,
                                                            faulty_plugin.covered ? coverage : NULL, coverage_settings);

  disguises[0].schema.provides_structure = faulty_plugin.promised;
  g_autoptr (PlaitFixture) model = plait_fixture_new (sources, 2, &decoder, 3, error);
  return model && pass_over (model, error);
}

/* Checks that the faulty plugin fails with one message that begins with @who and contains @sentence. */
static void
check_fault (guint decoders, const char *who, const char *sentence)
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

#define ENCODER "encoder \"bigru\" of [source first]"
#define COMBINER "combiner \"serial\" of [combiner]"
#define COVERAGE "coverage \"word\" of [coverage]"

TEST_CASE (misbehaving, the_sound_ones_run)
{
  for (guint i = 0; i < 4; i++)
    {
      CONTEXT ("%u", i);
      faulty_plugin = (FaultyPlugin){ .covered = i >= 2 };
      CHECK (release (i % 2 ? 2 : 0, NO_ERROR));
    }
}

#define FUNCTION(type, name, arguments, returns, ...)                                                                  \
  static type name arguments                                                                                           \
  {                                                                                                                    \
    __VA_ARGS__;                                                                                                       \
    return returns;                                                                                                    \
  }

/* Each line: name of the faulty plugin, its deed, its message after the name of the plugin. */
#define COMBINER_BUILD(name, deed, sentence)                                                                           \
  FUNCTION (gboolean, name, (PlaitCrossAttention * cross, GError * *error), TRUE, deed)                                \
  TEST_CASE (misbehaving_combiner_builds, name)                                                                        \
  {                                                                                                                    \
    faulty_plugin = (FaultyPlugin){ .cross = name };                                                                   \
    check_fault (BOTH, COMBINER, sentence);                                                                            \
  }
#define COMBINE_IN(decoders, name, deed, sentence)                                                                     \
  FUNCTION (PlaitResidualStream, name, (PlaitCrossAttention * cross, PlaitTape * tape, PlaitResidualStream x), x,      \
            deed)                                                                                                      \
  TEST_CASE (misbehaving_combiners, name)                                                                              \
  {                                                                                                                    \
    faulty_plugin = (FaultyPlugin){ .combine = name };                                                                 \
    check_fault (decoders, COMBINER ", combine", sentence);                                                            \
  }
#define COMBINE(name, deed, sentence) COMBINE_IN (BOTH, name, deed, sentence)
#define ENCODER_BUILD(name, deed, sentence)                                                                            \
  FUNCTION (gboolean, name, (const PlaitEncoderBuild *build, PlaitEncoderShape *shape, GError **error), TRUE, deed)    \
  TEST_CASE (misbehaving_encoders, name)                                                                               \
  {                                                                                                                    \
    faulty_plugin = (FaultyPlugin){ .encoder = name };                                                                 \
    check_fault (TRANSFORMER, ENCODER, sentence);                                                                      \
  }
#define ENCODE_WITH(structure, name, deed, sentence)                                                                   \
  FUNCTION (void, name, (PlaitEncoding * encoding, PlaitTape * tape, PlaitMemory * memory), , deed)                    \
  TEST_CASE (misbehaving_encoders, name)                                                                               \
  {                                                                                                                    \
    faulty_plugin = (FaultyPlugin){ .encode = name, .promised = structure };                                           \
    check_fault (TRANSFORMER, ENCODER ", encode", sentence);                                                           \
  }
#define ENCODE(name, deed, sentence) ENCODE_WITH (PLAIT_STRUCTURE_NONE, name, deed, sentence)
#define COVERAGE_BUILD(name, deed, sentence)                                                                           \
  FUNCTION (gboolean, name, (const PlaitCoverageBuild *build, PlaitCoverageShape *shape, GError **error), TRUE, deed)  \
  TEST_CASE (misbehaving_coverages, name)                                                                              \
  {                                                                                                                    \
    faulty_plugin = (FaultyPlugin){ .covered = TRUE, .coverage = name };                                               \
    check_fault (BOTH, COVERAGE, sentence);                                                                            \
  }
#define COVERAGE_STEP(call, name, given, sentence)                                                                     \
  FUNCTION (PlaitNode *, name, (const PlaitCoverageStep *step), given, )                                               \
  TEST_CASE (misbehaving_coverages, name)                                                                              \
  {                                                                                                                    \
    faulty_plugin = (FaultyPlugin){ .covered = TRUE, .call = name };                                                   \
    check_fault (BOTH, COVERAGE ", " #call, sentence);                                                                 \
  }

/*
 * Combiners that declare invalid things
 */

#define FAIL g_set_error_literal (error, PLAIT_ERROR, PLAIT_ERROR_INPUT, "not to my taste")
#define ATTEND(...)                                                                                                    \
  plait_cross_declare_attend (cross, 0, &(PlaitAttendSettings){ PLAIT_DECODER_DROPOUT_RATES, __VA_ARGS__ })
#define NAMED(...) plait_cross_declare_attend (cross, 0, &(PlaitAttendSettings){ .name = "a", __VA_ARGS__ })
#define JOINTLY(...)                                                                                                   \
  plait_cross_declare_attend_jointly (cross, &(PlaitAttendSettings){ PLAIT_DECODER_DROPOUT_RATES, __VA_ARGS__ })
#define PARAMETER(name, rows, width)                                                                                   \
  plait_parameters_declare (plait_cross_parameters (cross), name, rows, width, PLAIT_ZEROS)
#define OWN_NAME own_name (cross)
#define OWN(rows, width, initial)                                                                                      \
  plait_parameters_declare (plait_cross_parameters (cross), OWN_NAME, rows, width, initial)
#define NOTHING ((PlaitContext){ NULL, NULL, NULL })
#define NO_QUERY ((PlaitResidualStream){ NULL, NULL })

/* Returns a valid name for a parameter of @cross, in memory that is not leaked if the combiner fails. */
static const char *
own_name (PlaitCrossAttention *cross)
{
  return plait_parameters_text (plait_cross_parameters (cross), plait_test_format ("%sa", plait_cross_prefix (cross)));
}

/* clang-format off */
COMBINER_BUILD (combiner_build_refuses_without_words, return FALSE, "build returned FALSE without an error: set one")
COMBINER_BUILD (combiner_build_accepts_with_an_error, FAIL, "build returned TRUE with an error (not to my taste)")
COMBINER_BUILD (combiner_build_refuses, FAIL; return FALSE, "not to my taste")
COMBINER_BUILD (slot_twice, plait_cross_declare_residual (cross, 0), "plait_cross_declare_residual: declares slot 0, but the next slot is 2")
COMBINER_BUILD (slot_left_out, plait_cross_declare_residual (cross, 3), "plait_cross_declare_residual: declares slot 3, but the next slot is 2")
COMBINER_BUILD (slots_without_end, for (guint i = 2; i < 300; i++) plait_cross_declare_residual (cross, i), "declares slot 256, but the next slot is 256 of at most 256")
COMBINER_BUILD (attention_twice, ATTEND (), "plait_cross_declare_attend: declares the same attention twice: declare each once, or give it a name")
COMBINER_BUILD (named_attention_twice, ATTEND (.name = "a"); ATTEND (.name = "a"), "declares the same attention twice: a")
COMBINER_BUILD (attention_of_a_bad_name, ATTEND (.name = "../a"), "plait_cross_declare_attend: \"../a\" cannot name an attention")
COMBINER_BUILD (attention_without_letters, ATTEND (.name = ""), "\"\" cannot name an attention")
COMBINER_BUILD (attention_of_a_taken_name, ATTEND (.name = "sentinel"), "\"sentinel\" cannot name an attention")
COMBINER_BUILD (attentions_without_end, for (guint i = 0; i < 300; i++) ATTEND (.name = ((char[]){ 'a', (char)('a' + i / 20), (char)('a' + i % 20), '\0' })), "declares more than 256 attentions")
COMBINER_BUILD (attention_to_no_memory, plait_cross_declare_attend (cross, 9, &(PlaitAttendSettings){ PLAIT_DECODER_DROPOUT_RATES, .name = "a" }), "plait_cross_declare_attend: there is no memory 9; memories are numbered 0 to 1")
COMBINER_BUILD (rows_of_no_memory, plait_cross_declare_rows (cross, 2), "plait_cross_declare_rows: there is no memory 2")
COMBINER_BUILD (looks_at_no_memory, plait_cross_memory (cross, 2), "plait_cross_memory: there is no memory 2")
COMBINER_BUILD (dropout_of_no_number, NAMED (.dropout = NAN), "asks for dropout=nan")
COMBINER_BUILD (dropout_of_all, NAMED (.dropout = 1), "asks for dropout=1")
COMBINER_BUILD (output_dropout_of_no_number, NAMED (.output_dropout = NAN), "output_dropout=nan")
COMBINER_BUILD (weights_of_all, JOINTLY (.weights = TRUE), "plait_cross_declare_attend_jointly: asks for weights, which only attention to one memory can return")
COMBINER_BUILD (heads_that_do_not_fit, ATTEND (.name = "a", .heads = 3), "3 heads ")
COMBINER_BUILD (sentinel_of_one_memory, ATTEND (.name = "a", .sentinel = TRUE), "cannot have a sentinel")
COMBINER_BUILD (five_losses, for (guint i = 0; i < 4; i++) plait_cross_declare_loss (cross, &"abcd"[i], 1), "declares 5 losses; a component can have up to 4")
COMBINER_BUILD (combiner_build_loss_twice, plait_cross_declare_loss (cross, "sound", 1), "declares the loss \"sound\" twice")
COMBINER_BUILD (combiner_build_loss_of_no_name, plait_cross_declare_loss (cross, NULL, 1), "declares a loss \"\", which is not a valid name")
COMBINER_BUILD (combiner_build_loss_of_a_bad_name, plait_cross_declare_loss (cross, "a/b", 1), "declares a loss \"a/b\", which is not a valid name")
COMBINER_BUILD (combiner_build_loss_of_no_weight, plait_cross_declare_loss (cross, "a", NAN), "gives its loss \"a\" the weight nan")
COMBINER_BUILD (parameter_without_name, PARAMETER ("", 1, 1), "build: \"\" is not a valid name for a parameter")
COMBINER_BUILD (parameter_outside, PARAMETER ("a/../b", 1, 1), "build: \"a/../b\" is not a valid name for a parameter")
COMBINER_BUILD (parameter_twice, OWN (2, 2, PLAIT_ZEROS); OWN (2, 2, PLAIT_ZEROS), "combiner/a is declared twice")
COMBINER_BUILD (parameter_of_another, PARAMETER ("decoder/own", 1, 1), "build: the parameter decoder/own is declared, but names here begin with decoder/")
COMBINER_BUILD (parameter_out_of_this_world, OWN ((gint64)1 << 40, (gint64)1 << 40, PLAIT_ZEROS), "combiner/a is declared as [1099511627776, 1099511627776], which no machine has memory for")
COMBINER_BUILD (begins_in_no_way, OWN (2, 2, ((PlaitInitial){ .kind = 77 })), "combiner/a has initial values of kind 77, which does not exist")
COMBINER_BUILD (begins_with_no_number, OWN (2, 2, PLAIT_NORMAL (NAN)), "combiner/a has initial values of size nan")
COMBINER_BUILD (begins_without_end, OWN (2, 2, PLAIT_UNIFORM (INFINITY)), "combiner/a has initial values of size inf")
COMBINER_BUILD (begins_below_nothing, OWN (2, 2, PLAIT_NORMAL (-1)), "combiner/a has initial values of size -1")
COMBINER_BUILD (blocks_that_do_not_divide, OWN (1, 2, PLAIT_BLOCKS (1, 50, 99, 3)), "combiner/a [1, 2] cannot be 3 blocks side by side")
COMBINER_BUILD (blocks_that_are_none, OWN (1, 2, PLAIT_BLOCKS (1, 50, 99, 2)), "combiner/a has initial values in blocks 50 to 99 of 2")
COMBINER_BUILD (blocks_the_wrong_way_round, OWN (1, 4, PLAIT_BLOCKS (1, 1, 0, 2)), "combiner/a has initial values in blocks 1 to 0 of 2")
COMBINER_BUILD (blocks_of_no_number, OWN (1, 4, PLAIT_BLOCKS (NAN, 0, 0, 2)), "combiner/a has initial values of size nan")
COMBINER_BUILD (glorot_of_too_many, OWN (2, 2, PLAIT_GLOROT_BLOCKS (3)), "combiner/a [2, 2] cannot be 3 blocks side by side")
COMBINER_BUILD (orthogonal_and_not_square, OWN (2, 3, PLAIT_ORTHOGONAL (1, 1)), "combiner/a [2, 3] has orthogonal initial values, but its blocks are not square")
COMBINER_BUILD (orthogonal_of_too_many, OWN (2, 6, PLAIT_ORTHOGONAL (3, 4)), "combiner/a [2, 6] cannot be 3 blocks side by side and 4 above one another")
COMBINER_BUILD (linear_of_no_blocks, plait_linear_declare_blocks (plait_cross_parameters (cross), OWN_NAME, 2, 2, 0, FALSE), "plait_linear_declare_blocks was called with wrong arguments")
COMBINER_BUILD (positions_in_no_way, plait_positions_declare (plait_cross_parameters (cross), OWN_NAME, 77, 4, 4), "plait_positions_declare was called with wrong arguments")
COMBINER_BUILD (positions_of_no_width, plait_positions_declare (plait_cross_parameters (cross), OWN_NAME, PLAIT_POSITIONS_HALVES, 4, -4), "plait_positions_declare was called with wrong arguments")
COMBINER_BUILD (positions_without_end, plait_positions_declare (plait_cross_parameters (cross), OWN_NAME, PLAIT_POSITIONS_HALVES, 4, (gint64)1 << 62), "plait_positions_declare was called with wrong arguments")
COMBINER_BUILD (feeds_by_no_activation, plait_feed_forward_declare (plait_cross_parameters (cross), OWN_NAME, 2, 2, 77, 0), "plait_feed_forward_declare was called with wrong arguments")
COMBINER_BUILD (feeds_by_a_choice_that_is_none, plait_feed_forward_declare (plait_cross_parameters (cross), OWN_NAME, 2, 2, plait_feed_forward_activation (77), 0), "plait_feed_forward_declare was called with wrong arguments")
COMBINER_BUILD (cell_of_no_kind, plait_cell_declare (plait_cross_parameters (cross), OWN_NAME, &(PlaitCellDeclaration){ .kind = 77, .input_width = 2, .width = 2 }), "plait_cell_declare was called with wrong arguments")
COMBINER_BUILD (cell_of_no_reset, plait_cell_declare (plait_cross_parameters (cross), OWN_NAME, &(PlaitCellDeclaration){ .reset = 77, .input_width = 2, .width = 2 }), "plait_cell_declare was called with wrong arguments")
COMBINER_BUILD (cell_that_forgets_no_number, plait_cell_declare (plait_cross_parameters (cross), OWN_NAME, &(PlaitCellDeclaration){ .kind = PLAIT_CELL_LSTM, .input_width = 2, .width = 2, .forget_bias = NAN }), "has initial values of size nan")
COMBINER_BUILD (stack_of_less_than_nothing, plait_recurrent_stack_declare (plait_cross_parameters (cross), OWN_NAME, &(PlaitRecurrentStackDeclaration){ .layers = -1, .cell = { .input_width = 2, .width = 2 } }), "plait_recurrent_stack_declare was called with wrong arguments")
COMBINER_BUILD (stack_without_end, plait_recurrent_stack_declare (plait_cross_parameters (cross), OWN_NAME, &(PlaitRecurrentStackDeclaration){ .layers = (gint64)1 << 60, .cell = { .input_width = 2, .width = 2 } }), "plait_recurrent_stack_declare was called with wrong arguments")
COMBINER_BUILD (stack_in_no_direction, plait_recurrent_stack_declare (plait_cross_parameters (cross), OWN_NAME, &(PlaitRecurrentStackDeclaration){ .layers = 1, .directions = 77, .cell = { .input_width = 2, .width = 2 } }), "plait_recurrent_stack_declare was called with wrong arguments")
COMBINER_BUILD (tree_unit_of_no_kind, plait_tree_unit_declare (plait_cross_parameters (cross), OWN_NAME, &(PlaitTreeUnitDeclaration){ .kind = 77, .width = 2 }), "plait_tree_unit_declare was called with wrong arguments")
COMBINER_BUILD (pyramid_of_less_than_nothing, plait_pyramid_declare (plait_cross_parameters (cross), OWN_NAME, &(PlaitPyramidDeclaration){ .block = 2, .levels = -1 }), "plait_pyramid_declare was called with wrong arguments")
COMBINER_BUILD (attention_of_no_heads, plait_attention_declare_self (plait_cross_parameters (cross), OWN_NAME, &(PlaitAttentionDeclaration){ .width = 2 }), "plait_attention_declare_self was called with wrong arguments")
COMBINER_BUILD (attention_that_is_not_asked_for, plait_cross_declare_attend (cross, 0, NULL), "plait_cross_declare_attend: the settings of the attention are NULL")
COMBINER_BUILD (projections_of_no_kind, NAMED (.projections = 77), "asks for unknown projections 77")
COMBINER_BUILD (allocates_by_itself, plait_parameters_allocate (plait_cross_parameters (cross), NULL), "build: calls plait_parameters_allocate, which only the host may call")
COMBINER_BUILD (frees_what_is_the_hosts, plait_parameters_free (plait_cross_parameters (cross)), "build: calls plait_parameters_free, which only the host may call")
COMBINER_BUILD (parameter_of_nothing, PARAMETER ("a", 0, 4), "build: the parameter a is declared as [0, 4]")
COMBINER_BUILD (linear_of_nothing, plait_linear_declare (plait_cross_parameters (cross), "a", -1, 4, TRUE), "build: the parameter a/weight is declared as [-1, 4]")
COMBINER_BUILD (takes_the_tape_in_build, plait_cross_tape (cross), "calls plait_cross_tape in build")
COMBINER_BUILD (normalises_in_build, plait_cross_normalise (cross, 0, NO_QUERY), "calls plait_cross_normalise in build")
COMBINER_BUILD (attends_in_build, plait_cross_attend (cross, 0, NO_QUERY), "calls plait_cross_attend_named in build")
COMBINER_BUILD (attends_jointly_in_build, plait_cross_attend_jointly (cross, NO_QUERY), "calls plait_cross_attend_jointly in build")
COMBINER_BUILD (attends_contexts_in_build, plait_cross_attend_contexts (cross, NO_QUERY, &NOTHING), "calls plait_cross_attend_contexts in build")
COMBINER_BUILD (sums_in_build, plait_cross_sum (cross, &NOTHING, 1), "calls plait_cross_sum in build")
COMBINER_BUILD (adds_in_build, plait_cross_residual (cross, 0, NO_QUERY, NOTHING), "calls plait_cross_residual in build")
COMBINER_BUILD (reads_rows_in_build, plait_cross_rows (cross, 0), "calls plait_cross_rows in build")
COMBINER_BUILD (pairs_in_build, plait_cross_pairs (cross, 0), "calls plait_cross_pairs in build")
COMBINER_BUILD (prepared_in_build, plait_cross_prepared (cross, 0), "calls plait_cross_prepared in build")
COMBINER_BUILD (heads_in_build, plait_cross_heads (cross, NULL, 0), "calls plait_cross_heads in build")
COMBINER_BUILD (weighs_in_build, plait_cross_sparse_weights (cross, NULL, 0, NO_QUERY, NULL), "calls plait_cross_sparse_weights in build")
COMBINER_BUILD (reads_in_build, plait_cross_sparse_context (cross, NULL, 0, NULL, NULL), "calls plait_cross_sparse_context in build")
COMBINER_BUILD (descends_in_build, plait_cross_descend (cross, NULL, 0, NO_QUERY, 1, FALSE), "calls plait_cross_descend in build")
COMBINER_BUILD (loss_in_build, plait_cross_add_loss (cross, "sound", NULL), "calls plait_cross_add_loss in build")

/*
 * Combiners that run otherwise than declared
 */

#define FEWER(node) plait_rows (tape, node, 0, (node)->value.rows - 1)
#define NARROWER(node) plait_columns (tape, node, 0, (node)->value.width - 1)
#define Q ((PlaitResidualStream){ x.query, NULL })
#define ALL_QUERIES (x.query->value.rows)

COMBINE (gives_nothing, return NO_QUERY, "gave NULL for a ")
COMBINE (gives_too_few_rows, x.context = plait_cross_attend (cross, 0, x).value; return ((PlaitResidualStream){ FEWER (x.query), FEWER (x.context) }), "gave a ")
COMBINE (gives_too_few_columns, x.context = plait_cross_attend (cross, 0, x).value; return ((PlaitResidualStream){ NARROWER (x.query), NARROWER (x.context) }), "expected [")
COMBINE_IN (RECURRENT, gives_no_context, return x, "gave NULL for a context")
COMBINE (attends_twice, plait_cross_attend (cross, 0, x); plait_cross_attend (cross, 0, x), "plait_cross_attend_named: this attention is called twice in a pass")
COMBINE (attends_by_another_name, plait_cross_attend_named (cross, "other", 0, x), "plait_cross_attend_named: no attention to this memory called other was declared")
COMBINE (attends_jointly_undeclared, plait_cross_attend_jointly (cross, x), "plait_cross_attend_jointly: no attention jointly without a name was declared")
COMBINE (attends_contexts_undeclared, plait_cross_attend_contexts (cross, x, &NOTHING), "plait_cross_attend_contexts: no attention over contexts without a name was declared")
COMBINE (attends_no_memory, plait_cross_attend (cross, 9, x), "there is no memory 9; memories are numbered 0 to 1")
COMBINE (attends_without_query, plait_cross_attend (cross, 0, NO_QUERY), "plait_cross_attend_named: the query is not [")
COMBINE (attends_with_fewer, plait_cross_attend (cross, 0, ((PlaitResidualStream){ FEWER (x.query), NULL })), "plait_cross_attend_named: the query is not [")
COMBINE (normalises_another_slot, plait_cross_normalise (cross, 9, x), "plait_cross_normalise: slot 9 was not declared")
COMBINE (normalises_nothing, plait_cross_normalise (cross, 0, NO_QUERY), "plait_cross_normalise: the query is not [")
COMBINE (adds_to_another_slot, plait_cross_residual (cross, 9, x, plait_cross_attend (cross, 0, x)), "plait_cross_residual: slot 9 was not declared")
COMBINE (adds_nothing, plait_cross_residual (cross, 0, x, NOTHING), "plait_cross_residual: context 0 is not [")
COMBINE (adds_to_nothing, plait_cross_residual (cross, 0, NO_QUERY, plait_cross_attend (cross, 0, x)), "plait_cross_residual: the query is not [")
COMBINE (sums_nothing, plait_cross_sum (cross, NULL, 0), "plait_cross_sum: receives no contexts")
COMBINE (sums_no_context, plait_cross_sum (cross, &NOTHING, 1), "plait_cross_sum: context 0 is not [")
COMBINE (asks_for_undeclared_queries, plait_cross_sentences (cross), "calls plait_cross_sentences without plait_cross_declare_queries: call that in build")
COMBINE (reads_undeclared_rows, plait_cross_rows (cross, 0), "plait_cross_rows: the rows of memory 0 were not declared")
COMBINE (reads_rows_of_no_memory, plait_cross_rows (cross, 7), "there is no memory 7")
COMBINE (pairs_with_no_memory, plait_cross_pairs (cross, 7), "there is no memory 7")
COMBINE (undeclared_prepared, plait_cross_prepared (cross, 0), "plait_cross_prepared: the rows of memory 0 were not declared")
COMBINE (declares_a_slot_late, plait_cross_declare_residual (cross, 0), "calls plait_cross_declare_residual while the model runs: declare in build")
COMBINE (declares_attention_late, ATTEND (.name = "a"), "calls plait_cross_declare_attend while the model runs")
COMBINE (declares_joint_attention_late, JOINTLY (), "calls plait_cross_declare_attend_jointly while the model runs")
COMBINE (declares_attention_over_contexts_late, plait_cross_declare_attend_contexts (cross, &(PlaitAttendSettings){ PLAIT_DECODER_DROPOUT_RATES }), "calls plait_cross_declare_attend_contexts while the model runs")
COMBINE (declares_rows_late, plait_cross_declare_rows (cross, 0), "calls plait_cross_declare_rows while the model runs")
COMBINE (declares_loss_late, plait_cross_declare_loss (cross, "a", 1), "calls plait_cross_declare_loss while the model runs")
COMBINE (parameters_late, plait_cross_parameters (cross), "calls plait_cross_parameters while the model runs")
COMBINE (declares_a_parameter_late, plait_parameters_declare (cross->declared->decoder->parameters, "late", 1, 1, PLAIT_ZEROS); return x.context ? x : plait_cross_residual (cross, 1, x, plait_cross_attend (cross, 0, x)), ": the parameter \"late\" is declared while the model runs: declare it in build")
COMBINE (prefix_late, plait_cross_prefix (cross), "calls plait_cross_prefix while the model runs")
COMBINE (adds_an_undeclared_loss, plait_cross_add_loss (cross, "other", zeros (tape, 1, 1)), "adds to the loss \"other\", which was not declared")
COMBINE (adds_a_wide_loss, plait_cross_add_loss (cross, "sound", zeros (tape, 1, 2)), "the loss \"sound\" is not a node [1, 1]")
COMBINE (adds_no_loss, plait_cross_add_loss (cross, "sound", NULL), "the loss \"sound\" is not a node [1, 1]")

/* Selects row @row for every query and each of @heads. */
static const PlaitSelectedRows *
choose (PlaitTape *tape, gint64 queries, guint heads, gint64 row)
{
  gint64 n = queries * heads, *numbers = plait_arena_new_array (plait_tape_arena (tape), gint64, 2 * n + 1);
  PlaitSelectedRows *selected = plait_arena_new_array (plait_tape_arena (tape), PlaitSelectedRows, 1);

  for (gint64 i = 0; i <= n; i++)
    numbers[i] = i;
  for (gint64 i = 0; i < n; i++)
    numbers[n + 1 + i] = row;
  *selected = (PlaitSelectedRows){ heads, { n, numbers }, { n, numbers }, numbers + n + 1 };
  return selected;
}

#define CHOSEN(heads, row) choose (tape, ALL_QUERIES, heads, row)
#define HEADS plait_cross_heads (cross, NULL, 0)

COMBINE (heads_of_no_attention, plait_cross_heads (cross, "a", 0), "plait_cross_heads: no attention to this memory called a was declared")
COMBINE (weighs_rows_of_another_sentence, plait_cross_sparse_weights (cross, NULL, 0, x, CHOSEN (HEADS, 4)), "plait_cross_sparse_weights: row 4 was selected, but the query's sentence has rows 0 to 2")
COMBINE (weighs_rows_that_are_none, plait_cross_sparse_weights (cross, NULL, 0, x, CHOSEN (HEADS, -1)), "plait_cross_sparse_weights: row -1 was selected")
COMBINE (weighs_for_other_heads, plait_cross_sparse_weights (cross, NULL, 0, x, CHOSEN (HEADS + 1, 0)), "plait_cross_sparse_weights: selects rows for ")
COMBINE (weighs_for_too_few, plait_cross_sparse_weights (cross, NULL, 0, x, choose (tape, ALL_QUERIES - 1, HEADS, 0)), "plait_cross_sparse_weights: selects rows for ")
COMBINE (weighs_without_query, plait_cross_sparse_weights (cross, NULL, 0, NO_QUERY, CHOSEN (HEADS, 0)), "plait_cross_sparse_weights: the query is not [")
COMBINE (descends_undeclared_rows, plait_cross_descend (cross, NULL, 0, x, 1, FALSE), "plait_cross_descend: the rows of memory 0 were not declared")
COMBINE (reads_without_weights, plait_cross_sparse_context (cross, NULL, 0, CHOSEN (HEADS, 0), NULL), "plait_cross_sparse_context")
COMBINE (reads_other_weights, plait_cross_sparse_context (cross, NULL, 0, CHOSEN (HEADS, 4), zeros (tape, 1, 1)), "plait_cross_sparse_context: row 4 was selected")

COMBINE (multiplies_other_shapes, plait_multiply (tape, x.query, FEWER (x.query)), "plait_multiply was given [")
COMBINE (divides_other_shapes, plait_divide (tape, x.query, FEWER (x.query)), "plait_divide was given [")
COMBINE (greatest_of_other_shapes, plait_maximum (tape, x.query, FEWER (x.query)), "plait_maximum was given [")
COMBINE (least_of_other_shapes, plait_minimum (tape, x.query, NARROWER (x.query)), "plait_minimum was given [")
COMBINE (scales_other_rows, plait_multiply_broadcast (tape, x.query, zeros (tape, x.query->value.rows + 1, 1)), "plait_multiply_broadcast was called with wrong arguments")
COMBINE (scales_rows_by_a_matrix, plait_multiply_broadcast (tape, x.query, x.query), "plait_multiply_broadcast was called with wrong arguments")
COMBINE (scales_other_columns, plait_multiply_broadcast (tape, x.query, zeros (tape, 1, x.query->value.width + 1)), "plait_multiply_broadcast was called with wrong arguments")
COMBINE (softmax_of_nothing, plait_softmax (tape, NULL), "plait_softmax was called with wrong arguments")
COMBINE (logarithm_of_nothing, plait_log (tape, NULL), "plait_log was called with wrong arguments")
COMBINE (exponential_of_nothing, plait_exp (tape, NULL), "plait_exp was called with wrong arguments")
COMBINE (sums_other_shapes, plait_add_n (tape, ((PlaitNode *[]){ x.query, NARROWER (x.query) }), 2), "plait_add_n was given [")
COMBINE (sums_no_terms, plait_add_n (tape, &x.query, 0), "plait_add_n was called with wrong arguments")
COMBINE (adds_another_shape, plait_residual (tape, x.query, NARROWER (x.query), 0), "plait_residual was given [")
COMBINE (product_of_other_widths, plait_linear (tape, x.query, zeros (tape, 3, 2), NULL, PLAIT_ACTIVATION_NONE), "plait_linear_dropout was called with wrong arguments")
COMBINE (bias_of_another_width, plait_linear (tape, x.query, zeros (tape, x.query->value.width, 2), zeros (tape, 1, 3), PLAIT_ACTIVATION_NONE), "plait_linear_dropout was called with wrong arguments")
COMBINE (columns_beyond_the_last, plait_columns (tape, x.query, 1, x.query->value.width), "plait_columns was called with wrong arguments")
COMBINE (columns_out_of_this_world, plait_columns (tape, x.query, G_MAXINT64, 1), "plait_columns was called with wrong arguments")
COMBINE (rows_before_the_first, plait_rows (tape, x.query, -1, 1), "plait_rows was called with wrong arguments")
COMBINE (rows_out_of_this_world, plait_rows (tape, x.query, G_MAXINT64, 1), "plait_rows was called with wrong arguments")
COMBINE (stands_other_rows_side_by_side, plait_concatenate_columns (tape, ((PlaitNode *[]){ x.query, FEWER (x.query) }), 2), "was called with wrong arguments")
COMBINE (stands_nothing_side_by_side, plait_concatenate_columns (tape, NULL, 0), "was called with wrong arguments")
COMBINE (gathers_rows_that_are_none, plait_gather_rows (tape, x.query, ((gint64[]){ 0, 99 }), 2), "was called with wrong arguments")
COMBINE (gathers_less_than_nothing, plait_gather_rows (tape, x.query, NULL, -1), "was called with wrong arguments")
COMBINE (drops_all, plait_dropout (tape, x.query, 1), "plait_dropout was called with wrong arguments")
COMBINE (drops_no_number, plait_residual (tape, x.query, x.query, NAN), "plait_residual was called with wrong arguments")
COMBINE (selects_from_another_shape, plait_select_rows (tape, (const guint8 *)"abcdefgh", x.query, NARROWER (x.query)), "plait_select_rows was called with wrong arguments")
COMBINE (norm_of_another_width, plait_layer_norm (tape, x.query, zeros (tape, 1, 1), zeros (tape, 1, 1), 0), "plait_layer_norm was called with wrong arguments")
COMBINE (embeds_words_that_are_none, plait_embed (tape, x.query, ((gint32[]){ 99 }), 1, 1), "plait_embed was called with wrong arguments")
COMBINE (pairs_of_other_sentences, plait_query_key_pairs (tape, ((PlaitRagged){ 1, (gint64[]){ 0, 1 } }), ((PlaitRagged){ 2, (gint64[]){ 0, 1, 2 } })), "plait_query_key_pairs was called with wrong arguments")
#define LEAF(...) plait_leaf (tape, ((PlaitTensor){ __VA_ARGS__ }), NULL)
static PlaitScalar some[16];
static void nowhere (PlaitTape *tape, PlaitNode *node) {}
static const PlaitOperator idle = { "idle", nowhere }, idler = { "idler", NULL };
COMBINE (leaf_of_nothing, LEAF (NULL, 2, 2, 2), "plait_leaf was called with wrong arguments")
COMBINE (leaf_of_no_stride, LEAF (some, 2, 2, 0), "plait_leaf was called with wrong arguments")
COMBINE (leaf_of_less_than_nothing, LEAF (some, -1, 2, 2), "plait_leaf was called with wrong arguments")
COMBINE (leaf_of_no_width, LEAF (some, 2, 0, 2), "plait_leaf was called with wrong arguments")
COMBINE (node_out_of_this_world, plait_tape_node (tape, &idle, (gint64)1 << 40, (gint64)1 << 40, NULL, 0, 0), "makes numbers [1099511627776, 1099511627776], which no machine has memory for")
COMBINE (node_beyond_all_numbers, plait_tape_node (tape, &idle, (gint64)1 << 40, 1 << 18, NULL, 0, 0), "which no machine has memory for")
COMBINE (node_that_does_not_go_back, plait_tape_node (tape, &idler, 1, 1, NULL, 0, 0), "plait_tape_node was called with wrong arguments")
COMBINE (node_of_inputs_that_are_not_there, plait_tape_node (tape, &idle, 1, 1, NULL, 3, 0), "plait_tape_node was called with wrong arguments")
COMBINE (activates_in_no_way, plait_activate (tape, x.query, 77), "plait_activate was called with wrong arguments")
COMBINE (product_with_no_activation, plait_linear (tape, x.query, zeros (tape, x.query->value.width, 2), NULL, 77), "was called with wrong arguments")
COMBINE (scales_by_no_number, plait_scale (tape, x.query, NAN), "plait_scale was called with wrong arguments")
COMBINE (scales_without_end, plait_scale (tape, x.query, INFINITY), "plait_scale was called with wrong arguments")
COMBINE (norm_without_number, plait_layer_norm (tape, x.query, zeros (tape, 1, x.query->value.width), zeros (tape, 1, x.query->value.width), NAN), "plait_layer_norm was called with wrong arguments")
COMBINE (gathers_windows_of_nothing, plait_gather_windows (tape, x.query, ((gint64[]){ 0 }), 1, 0), "plait_gather_windows was called with wrong arguments")
COMBINE (gathers_windows_without_end, plait_gather_windows (tape, x.query, ((gint64[]){ 0 }), 1, G_MAXINT64), "plait_gather_windows was called with wrong arguments")
COMBINE (scans_unequal_shapes, plait_scan (tape, zeros (tape, 3, 2), zeros (tape, 3, 4), NULL, ((PlaitRagged){ 1, (gint64[]){ 0, 3 } })), "plait_scan was given [3, 2] and [3, 4]: give it nodes of one shape")
COMBINE (scans_other_rows, plait_scan (tape, zeros (tape, 3, 2), zeros (tape, 3, 2), NULL, ((PlaitRagged){ 1, (gint64[]){ 0, 2 } })), "plait_scan was called with wrong arguments")
COMBINE (scans_from_other_states, plait_scan (tape, zeros (tape, 3, 2), zeros (tape, 3, 2), zeros (tape, 2, 2), ((PlaitRagged){ 1, (gint64[]){ 0, 3 } })), "plait_scan was called with wrong arguments")
COMBINE (rotates_a_half_pair, plait_rotate (tape, zeros (tape, 1, 6), ((gint64[]){ 0 }), 2, 10000), "plait_rotate was called with wrong arguments")
COMBINE (rotates_before_the_beginning, plait_rotate (tape, zeros (tape, 1, 4), ((gint64[]){ -1 }), 2, 10000), "plait_rotate was called with wrong arguments")
COMBINE (gathers_from_nothing, plait_gather_rows (tape, NULL, ((gint64[]){ 0 }), 1), "was called with wrong arguments")
COMBINE (embeds_less_than_nothing, plait_embed (tape, x.query, NULL, -1, 1), "was called with wrong arguments")
COMBINE (pairs_of_rows_that_fall, plait_query_key_pairs (tape, ((PlaitRagged){ 1, (gint64[]){ 0, -4 } }), ((PlaitRagged){ 1, (gint64[]){ 0, 1 } })), "plait_query_key_pairs was called with wrong arguments")
COMBINE (adds_through_a_slot_twice, for (guint i = 0; i < 2; i++) x = plait_cross_residual (cross, 0, x, ((PlaitContext){ zeros (tape, ALL_QUERIES, plait_cross_width (cross)), NULL, NULL })), "plait_cross_residual: slot 0 is used twice in a pass: declare another one")
COMBINE (adds_up_no_contexts, plait_cross_sum (cross, NULL, 2), "plait_cross_sum: context 0 is not [")
COMBINE (weighs_no_rows, plait_cross_sparse_weights (cross, NULL, 0, x, NULL), "plait_cross_sparse_weights: the selected rows are NULL")
COMBINE (begins_a_step, plait_tape_begin (tape, PLAIT_TAPE_TRAIN, plait_random_key (1, "a", NULL, 1)), "calls plait_tape_begin, which only the host may call")
COMBINE (goes_back_by_itself, plait_tape_backward (tape, zeros (tape, 1, 1)), "calls plait_tape_backward, which only the host may call")
COMBINE (frees_the_tape, plait_tape_free (tape), "calls plait_tape_free, which only the host may call")
COMBINE_IN (TRANSFORMER, adds_no_number_as_a_combiner_build_loss, plait_cross_add_loss (cross, "sound", number (tape, NAN)), "its loss \"sound\" is nan, although the loss of the targets is finite")
COMBINE (adds_to_a_loss_without_name, plait_cross_add_loss (cross, NULL, zeros (tape, 1, 1)), "adds to the loss \"\", which was not declared")
COMBINE (node_of_no_width, plait_tape_node (tape, NULL, 1, 0, NULL, 0, 0), "plait_tape_node was called with wrong arguments")

/*
 * Encoders
 */

#define WIDTH (build->model_width)

ENCODER_BUILD (encoder_refuses_without_words, return FALSE, "build returned FALSE without an error")
ENCODER_BUILD (encoder_accepts_with_an_error, FAIL, "build returned TRUE with an error (not to my taste)")
ENCODER_BUILD (no_memories, shape->n_memories = 0, "build declares 0 memories; declare 1 to 4")
ENCODER_BUILD (five_memories, shape->n_memories = 5, "build declares 5 memories; declare 1 to 4")
ENCODER_BUILD (memory_of_no_width, shape->memories[0].width = 0, "build declares memory 0 as 0 wide")
ENCODER_BUILD (memory_of_a_bad_name, shape->memories[0].name = "a b", "build calls a memory \"a b\", which is not a valid name")
ENCODER_BUILD (two_memories_of_a_name, shape->n_memories = 2; shape->memories[1] = shape->memories[0], "build declares two memories without a name")
ENCODER_BUILD (summary_of_less_than_nothing, shape->summary_width = -1, "build declares a summary -1 wide")
ENCODER_BUILD (encoder_with_five_losses, shape->losses.n = 5, "declares 5 losses; a component can have up to 4")
ENCODER_BUILD (encoder_loss_twice, shape->losses.n = 2; shape->losses.losses[1] = shape->losses.losses[0], "declares the loss \"sound\" twice")
ENCODER_BUILD (encoder_loss_of_no_weight, shape->losses.losses[0].weight = INFINITY, "gives its loss \"sound\" the weight inf")
ENCODER_BUILD (encoder_parameter_twice, for (guint i = 0; i < 2; i++) plait_linear_declare (build->parameters, "source/first/a", 2, 2, FALSE), "build: the parameter source/first/a/weight is declared twice")
ENCODER_BUILD (encoder_parameter_of_another, plait_linear_declare (build->parameters, "source/second/a", 2, 2, FALSE), "build: the parameter source/second/a/weight is declared, but names here begin with source/first/: put that before it")
ENCODER_BUILD (memory_out_of_this_world, shape->memories[0].width = (gint64)1 << 40, "build declares memory 0 as 1099511627776 wide; give at most 16777216 columns")
ENCODER_BUILD (summary_out_of_this_world, shape->summary_width = G_MAXINT64, "build declares a summary 9223372036854775807 wide; give at most")
ENCODER_BUILD (memory_of_no_structure, shape->memories[0].structure = 1024, "build declares memory 0 with the structure 0x400, which does not exist")

/* Links of a batch of two sentences with three rows and two. */
#define NONE { -1, -1, -1, -1, -1 }
static const gint64 no_links[] = NONE, outside[] = { 1, -1, 4, -1, -1 }, far[] = { 99, -1, -1, -1, -1 },
                    below[] = { -2, -1, -1, -1, -1 }, itself[] = { 0, -1, -1, -1, -1 }, circle[] = { 1, 2, 0, -1, -1 },
                    level_0[] = { 0, 0, 0, 0, 0 }, no_children[] = { 0, 0, 0, 0, 0 }, many[] = { 9, 0, 0, 0, 0 },
                    endless[] = { G_MAXINT64, 0, 0, 0, 0 }, first[] = { 1, -1, -1, -1, -1 },
                    negative[] = { -3, 0, 0, 0, 0 }, falling[] = { 0, 6, 5 };

static void
link_rows (PlaitTape *tape, PlaitMemory *memory, PlaitLinks links)
{
  PlaitLinks *copy = plait_arena_new_array (plait_tape_arena (tape), PlaitLinks, 1);

  *copy = links;
  memory->links = copy;
}

#define LINKS(...) link_rows (tape, memory, (PlaitLinks){ __VA_ARGS__ })
#define ENCODE_TREE(...) ENCODE_WITH (PLAIT_STRUCTURE_TREE, __VA_ARGS__)
#define ENCODE_LEVELS(...) ENCODE_WITH (PLAIT_STRUCTURE_LEVELS, __VA_ARGS__)

ENCODE (fills_no_memory, *memory = (PlaitMemory){ .states = NULL }, "left a memory unfilled")
ENCODE (starts_without_documents, plait_encoding_starts (encoding), "calls plait_encoding_starts without documents")
ENCODE (fills_without_states, memory->states = NULL, "left a memory unfilled")
ENCODE (fills_for_fewer_sentences, memory->rows.n = 1, "left a memory unfilled: give it states, and rows for each of 2 sentences")
ENCODE (rows_that_fall, memory->rows.offsets = falling, "gave sentence 1 of a memory a negative number of rows")
ENCODE (states_of_fewer_rows, memory->states = FEWER (memory->states), "gave states of a memory [4, 8], expected [5, 8]")
ENCODE (states_of_another_width, memory->states = NARROWER (memory->states), "gave states of a memory [5, 7], expected [5, 8]")
ENCODE (cells_of_another_width, memory->cells = NARROWER (memory->states), "gave cells of a memory [5, 7], expected [5, 8]")
ENCODE (adds_an_undeclared_encoder_loss, plait_encoding_add_loss (encoding, "other", zeros (tape, 1, 1)), "adds to the loss \"other\"")
ENCODE (adds_a_long_encoder_loss, plait_encoding_add_loss (encoding, "sound", zeros (tape, 3, 1)), "the loss \"sound\" is not a node [1, 1]")
ENCODE (adds_no_number_as_an_encoder_loss, plait_encoding_add_loss (encoding, "sound", number (tape, INFINITY)), "its loss \"sound\" is inf, although the loss of the targets is finite")
ENCODE (trees_without_leaves, plait_encoding_tree (encoding), "plait_encoding_tree")
ENCODE (looks_up_words_that_are_none, plait_gather_rows (tape, encoding->embedded, ((gint64[]){ 77 }), 1), "was called with wrong arguments")
ENCODE (links_outside_without_promise, LINKS (.next = outside), "the link \"next\" to row 4, which is not of its sentence")
ENCODE (tokens_out_of_their_sentence, LINKS (.token = far), "gave row 0 of a memory the link \"token\" to number 99, but there are 3")
ENCODE (tokens_before_the_first, LINKS (.token = below), "gave row 0 of a memory the link \"token\" to number -2")
ENCODE_TREE (tree_without_links, , "gave a memory without the links \"left\"")
ENCODE_TREE (tree_without_parents, LINKS (.left = no_links, .right = no_links), "gave a memory without the links \"parent\"")
ENCODE_TREE (tree_out_of_its_sentence, LINKS (.left = outside, .right = no_links, .parent = no_links), "gave row 2 of a memory the link \"left\" to row 4")
ENCODE_TREE (tree_out_of_the_batch, LINKS (.left = no_links, .right = far, .parent = no_links), "gave row 0 of a memory the link \"right\" to row 99")
ENCODE_TREE (tree_below_all, LINKS (.left = no_links, .right = no_links, .parent = below), "the link \"parent\" to row -2")
ENCODE_TREE (parent_of_itself, LINKS (.left = no_links, .right = no_links, .parent = itself), "gave a memory parents that form a cycle at row 0")
ENCODE_TREE (circle_of_parents, LINKS (.left = no_links, .right = no_links, .parent = circle), "gave a memory parents that form a cycle")
ENCODE_LEVELS (levels_without_links, , "gave a memory without the links \"parent\"")
ENCODE_LEVELS (levels_without_children, LINKS (.parent = no_links, .first_child = no_links, .level = level_0), "gave a memory of levels without the links \"n_children\"")
ENCODE_LEVELS (levels_without_level, LINKS (.parent = no_links, .first_child = no_links, .n_children = no_children), "gave a memory of levels without the links \"level\"")
ENCODE_LEVELS (too_many_children, LINKS (.parent = no_links, .first_child = first, .n_children = many, .level = level_0), "gave row 0 of a memory 9 children")
ENCODE_LEVELS (endless_children, LINKS (.parent = no_links, .first_child = first, .n_children = endless, .level = level_0), " children from row 1 on, which are not all in its sentence")
ENCODE_LEVELS (children_from_nowhere, LINKS (.parent = no_links, .first_child = no_links, .n_children = many, .level = level_0), "gave row 0 of a memory 9 children")
ENCODE_LEVELS (less_than_no_children, LINKS (.parent = no_links, .first_child = first, .n_children = negative, .level = level_0), "gave row 0 of a memory -3 children")
ENCODE_LEVELS (level_below_the_leaves, LINKS (.parent = no_links, .first_child = no_links, .n_children = no_children, .level = negative), "gave row 0 of a memory the level -3")

/* Structure promised, but not given. */
static gboolean
build_without_structure (const PlaitEncoderBuild *build, PlaitEncoderShape *shape, GError **error)
{
  shape->memories[0].structure = PLAIT_STRUCTURE_NONE;
  return TRUE;
}

static gboolean
build_with_summary (const PlaitEncoderBuild *build, PlaitEncoderShape *shape, GError **error)
{
  shape->summary_width = 4;
  return TRUE;
}

static void
give_wide_summary (PlaitEncoding *encoding, PlaitTape *tape, PlaitMemory *memory)
{
  encoding->summary = zeros (tape, encoding->input->rows.n, 5);
}

TEST_CASE (misbehaving_encoders, promises_that_are_not_kept)
{
  faulty_plugin = (FaultyPlugin){ .encoder = build_without_structure, .promised = PLAIT_STRUCTURE_TREE };
  check_fault (TRANSFORMER, ENCODER, "bigru.ini promises memories with tree, build declares memory 0 without");
  faulty_plugin.promised = PLAIT_STRUCTURE_LEVELS;
  check_fault (TRANSFORMER, ENCODER, "bigru.ini promises memories with levels, build declares memory 0 without");
  faulty_plugin = (FaultyPlugin){ .encoder = build_with_summary };
  check_fault (BOTH, ENCODER ", encode", "gave NULL for a summary: give a node [2, 4]");
  faulty_plugin.encode = give_wide_summary;
  check_fault (BOTH, ENCODER ", encode", "gave a summary [2, 5], expected [2, 4]");
}

static gboolean
refuse_without_words (GError **error)
{
  return FALSE;
}

static gboolean
accept_with_an_error (GError **error)
{
  FAIL;
  return TRUE;
}

TEST_CASE (misbehaving_encoders, refuses_sentences_without_words)
{
  faulty_plugin = (FaultyPlugin){ .check_length = refuse_without_words };
  check_fault (BOTH, ENCODER, "check_length returned FALSE without an error");
  faulty_plugin = (FaultyPlugin){ .check_input = refuse_without_words };
  check_fault (BOTH, ENCODER, "check_input returned FALSE without an error");
}

TEST_CASE (misbehaving_encoders, accepts_sentences_with_an_error)
{
  faulty_plugin = (FaultyPlugin){ .check_length = accept_with_an_error };
  check_fault (BOTH, ENCODER, "check_length returned TRUE with an error (not to my taste): return FALSE with it");
  faulty_plugin = (FaultyPlugin){ .check_input = accept_with_an_error };
  check_fault (BOTH, ENCODER, "check_input returned TRUE with an error (not to my taste): return FALSE with it");
}

/*
 * Coverages
 */

COVERAGE_BUILD (coverage_refuses_without_words, return FALSE, "build returned FALSE without an error")
COVERAGE_BUILD (coverage_accepts_with_an_error, FAIL, "build returned TRUE with an error (not to my taste)")
COVERAGE_BUILD (states_of_no_width, shape->width = 0, "build declares states 0 wide")
COVERAGE_BUILD (coverage_with_five_losses, shape->losses.n = 5, "declares 5 losses")
COVERAGE_BUILD (coverage_loss_of_a_bad_name, shape->losses.losses[0].name = "1", "declares a loss \"1\", which is not a valid name")
COVERAGE_BUILD (coverage_parameter_outside, plait_parameters_declare (build->parameters, "..", 1, 1, PLAIT_ZEROS), "build: \"..\" is not a valid name for a parameter")
COVERAGE_BUILD (states_out_of_this_world, shape->width = (gint64)1 << 40, "build declares states 1099511627776 wide; give at most 16777216 columns")
COVERAGE_BUILD (coverage_parameter_of_another, plait_parameters_declare (build->parameters, "decoder/a", 1, 1, PLAIT_ZEROS), "build: the parameter decoder/a is declared, but names here begin with ")
COVERAGE_STEP (update, adds_no_number_as_a_loss, (plait_coverage_add_loss (step, "sound", number (step->tape, NAN)), step->state), "its loss \"sound\" is nan, although the loss of the targets is finite")
COVERAGE_STEP (score, scores_nothing, NULL, "gave NULL for a score")
COVERAGE_STEP (score, scores_too_few, zeros (step->tape, step->n - 1, 1), "gave a score [")
COVERAGE_STEP (score, scores_too_wide, zeros (step->tape, step->n, 99), "expected [")
COVERAGE_STEP (score, loss_of_a_score, (plait_coverage_add_loss (step, "sound", zeros (step->tape, 1, 1)), NULL), "adds to a loss in score: add to it in update")
COVERAGE_STEP (update, updates_to_nothing, NULL, "gave NULL for states")
COVERAGE_STEP (update, updates_too_few, zeros (step->tape, step->n - 1, 2), "gave states [")
COVERAGE_STEP (update, updates_to_another_width, zeros (step->tape, step->n, 3), ", 3], expected [")
COVERAGE_STEP (update, adds_an_undeclared_coverage_loss, (plait_coverage_add_loss (step, "other", zeros (step->tape, 1, 1)), NULL), "adds to the loss \"other\"")
COVERAGE_STEP (update, adds_a_wide_coverage_loss, (plait_coverage_add_loss (step, "sound", step->state), NULL), "the loss \"sound\" is not a node [1, 1]")
COVERAGE_STEP (update, rows_of_too_few, plait_coverage_gather_rows (step, zeros (step->tape, 1, 2)), "was called with wrong arguments")
/* clang-format on */

static PlaitNode *
prepare_too_few (PlaitTape *tape, const PlaitMemory *memory)
{
  return FEWER (memory->states);
}

TEST_CASE (misbehaving_coverages, prepares_too_few)
{
  faulty_plugin = (FaultyPlugin){ .covered = TRUE, .prepare_coverage = prepare_too_few };
  check_fault (BOTH, COVERAGE ", prepare", "gave a prepared node [4, 8], expected [5, 8]");
}

TEST_CASE (misbehaving_combiners, prepares_too_few)
{
  faulty_plugin = (FaultyPlugin){ .prepare = prepare_too_few };
  check_fault (BOTH, COMBINER ", prepare", "gave a prepared node [4, 8], expected [5, 8]");
}
