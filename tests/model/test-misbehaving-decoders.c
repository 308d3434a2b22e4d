/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "autograd/internal.h"
#include "harness.h"
#include "interface/decoder.h"
#include "layers/parameter-set.h"
#include "models.h"
#include "process/crash.h"

/*
 * Decoder plugins that break their contract, each in one place: one faulty plugin in a line, with the message that it
 * ends in. tests/model/test-misbehaving.c has the other kinds.
 */

enum
{
  WIDTH = 8 /* decoder.width of the fixture */
};

/* Declarations of the valid decoder. */
typedef struct
{
  guint attend, convolve, scan, recur, cross, carried;
  PlaitCell cell;
} State;

/* Differences of this faulty decoder from a valid one. */
typedef struct
{
  gint64 (*memory_width) (gint64 width);
  gboolean (*build) (PlaitDecoding *decoding, const PlaitDecoderBuild *build, State *s, GError **error);
  void (*begin) (PlaitDecoding *decoding, const State *s, PlaitTape *tape);
  PlaitNode *(*decode) (PlaitDecoding *decoding, const State *s, PlaitTape *tape, PlaitNode *x);
  void (*step) (PlaitDecoding *decoding, const State *s, PlaitTape *tape, PlaitNode *x, PlaitNode **outputs);
  gboolean (*check_length) (GError **error);
} FaultyDecoder;

static FaultyDecoder faulty_decoder;

/*
 * A valid decoder, which uses each function once
 */

static const PlaitCausalSettings causal = { .heads = 2 };
static const PlaitCrossSettings crossing = { .query_width = WIDTH };

static gint64
memory_width (gconstpointer settings, gint64 width, const gint64 *widths, guint n)
{
  return faulty_decoder.memory_width ? faulty_decoder.memory_width (width) : width;
}

static gboolean
build (PlaitDecoding *decoding, const PlaitDecoderBuild *from, gconstpointer settings, gpointer state, GError **error)
{
  State *s = state;
  PlaitCellDeclaration cell = { .kind = PLAIT_CELL_GRU, .input_width = WIDTH, .width = WIDTH };

  s->attend = plait_decoding_declare_attend (decoding, "decoder/attend", &causal);
  s->convolve = plait_decoding_declare_convolve (decoding, "decoder/convolve", WIDTH, WIDTH, 2);
  s->scan = plait_decoding_declare_scan (decoding, WIDTH);
  s->cell = plait_cell_declare (from->parameters, "decoder/cell", &cell);
  s->recur = plait_decoding_declare_recur (decoding, &s->cell);
  s->cross = plait_decoding_declare_cross (decoding, "decoder/combiner/", &crossing);
  s->carried = plait_decoding_declare_carried (decoding, WIDTH);
  return !faulty_decoder.build || faulty_decoder.build (decoding, from, s, error);
}

static void
begin (PlaitDecoding *decoding, gconstpointer settings, gconstpointer state)
{
  if (faulty_decoder.begin)
    faulty_decoder.begin (decoding, state, plait_decoding_tape (decoding));
}

static void
take_step (PlaitDecoding *decoding, gconstpointer settings, gconstpointer state, PlaitNode *const *inputs,
           PlaitNode **outputs)
{
  const State *s = state;

  outputs[0] = inputs[0];
  if (faulty_decoder.step)
    faulty_decoder.step (decoding, s, plait_decoding_tape (decoding), inputs[0], outputs);
  else
    plait_decoding_carry (decoding, s->carried, plait_decoding_carried (decoding, s->carried));
}

static PlaitNode *
decode (PlaitDecoding *decoding, gconstpointer settings, gconstpointer state, PlaitNode *embedded)
{
  const State *s = state;
  PlaitTape *tape = plait_decoding_tape (decoding);
  PlaitNode *x = embedded, *stepped;

  if (faulty_decoder.decode)
    return faulty_decoder.decode (decoding, s, tape, x);
  x = plait_decoding_attend (decoding, s->attend, x);
  x = plait_decoding_convolve (decoding, s->convolve, x);
  x = plait_decoding_scan (decoding, s->scan, x, x);
  x = plait_decoding_recur (decoding, s->recur, plait_cell_project (tape, &s->cell, x));
  x = plait_decoding_cross (decoding, s->cross, x, NULL).query;
  plait_decoding_steps (decoding, take_step, &x, 1, &stepped, 1);
  return stepped;
}

static gboolean
check_length (gconstpointer settings, gconstpointer state, gint64 rows, GError **error)
{
  return !faulty_decoder.check_length || faulty_decoder.check_length (error);
}

/*
 * Running it
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
  const gint64 *const of_sources[] = { lengths };
  g_autoptr (PlaitBatch) batch = plait_fixture_batch (model, 0, 2, of_sources, targets);
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  g_autoptr (PlaitTape) tape = plait_tape_new (pool, arena);
  Pass pass = { tape, model, batch };

  return plait_model_check_batch (model->model, batch, error) && plait_arena_protect (arena, run_pass, &pass, error);
}

/* Builds the decoder into a model and runs it. */
static gboolean
release (GError **error)
{
  static const PlaitDecoderTable table = { .state_size = sizeof (State),
                                           .memory_width = memory_width,
                                           .build = build,
                                           .begin = begin,
                                           .decode = decode,
                                           .check_length = check_length };
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  PlaitPlugin *encoder = test_plugin (registry, PLAIT_PLUGIN_ENCODER, "bigru");
  PlaitPlugin *combiner = test_plugin (registry, PLAIT_PLUGIN_COMBINER, "serial");
  PlaitPlugin plugin = *test_plugin (registry, PLAIT_PLUGIN_DECODER, "transformer");
  PlaitPluginDescriptor descriptor = *plugin.descriptor;
  g_autoptr (PlaitSettings) settings = plait_fixture_settings (encoder);
  g_autoptr (PlaitSettings) combiner_settings = plait_fixture_settings (combiner);
  PlaitFixtureSource source = { .encoder = encoder, .settings = settings };
  PlaitFixtureDecoder decoder = plait_fixture_decoder_with (0, combiner, combiner_settings, NULL, NULL);

  descriptor.table = &table;
  plugin.descriptor = &descriptor;
  decoder.plugin = &plugin;
  g_autoptr (PlaitFixture) model = plait_fixture_new (&source, 1, &decoder, 3, error);
  return model && pass_over (model, error);
}

/* Checks that the faulty decoder fails with one message that names it and contains @sentence. */
static void
check_fault (const char *sentence)
{
  static const char who[] = "decoder \"transformer\" of [decoder]";
  g_autoptr (GError) error = NULL;

  CHECK (!release (&error));
  CHECK (!plait_crash_get_owner ().who);
  REQUIRE (error != NULL);
  CHECK (error->domain == PLAIT_ERROR);
  CHECK_CONTAINS (error->message, sentence);
  CHECK (!strchr (error->message, '\n'));
  CHECK (g_str_has_prefix (error->message, who));
  CHECK (!strstr (error->message + strlen (who), who));
}

TEST_CASE (misbehaving_decoders, the_sound_one_runs)
{
  faulty_decoder = (FaultyDecoder){ NULL };
  CHECK (release (NO_ERROR));
}

#define FUNCTION(type, name, arguments, returns, ...)                                                                  \
  static type name arguments                                                                                           \
  {                                                                                                                    \
    __VA_ARGS__;                                                                                                       \
    return returns;                                                                                                    \
  }
#define FAULT(name, where, sentence)                                                                                   \
  TEST_CASE (misbehaving_decoders, name)                                                                               \
  {                                                                                                                    \
    faulty_decoder = (FaultyDecoder){ .where = name };                                                                 \
    check_fault (sentence);                                                                                            \
  }

/* Each line: name of the faulty decoder, its deed, its message after the name of the plugin. */
#define BUILD(name, deed, sentence)                                                                                    \
  FUNCTION (gboolean, name, (PlaitDecoding * decoding, const PlaitDecoderBuild *from, State *s, GError **error), TRUE, \
            deed)                                                                                                      \
  FAULT (name, build, sentence)
#define DECODE(name, deed, sentence)                                                                                   \
  FUNCTION (PlaitNode *, name, (PlaitDecoding * decoding, const State *s, PlaitTape *tape, PlaitNode *x), x, deed)     \
  FAULT (name, decode, sentence)
#define STEP(name, deed, sentence)                                                                                     \
  FUNCTION (void, name,                                                                                                \
            (PlaitDecoding * decoding, const State *s, PlaitTape *tape, PlaitNode *x, PlaitNode **outputs), , deed)    \
  FAULT (name, step, sentence)

/* Returns a constant [rows, width] of zeros. */
static PlaitNode *
zeros (PlaitTape *tape, gint64 rows, gint64 width)
{
  PlaitTensor tensor
      = plait_tensor (plait_arena_new_array (plait_tape_arena (tape), PlaitScalar, rows * width + 1), rows, width);

  memset (tensor.data, 0, plait_tensor_size (tensor));
  return plait_leaf (tape, tensor, NULL);
}

#define ROWS(decoding) (plait_ragged_rows (plait_decoding_rows (decoding)))
#define NO_NUMBER 99

/* clang-format off */
BUILD (decoder_refuses_without_words, return FALSE, "build returned FALSE without an error")
BUILD (decoder_accepts_with_an_error, plait_fail (error, PLAIT_ERROR_INPUT, "not to my taste"), "build returned TRUE with an error (not to my taste)")
BUILD (attends_below_a_foreign_name, plait_decoding_declare_attend (decoding, "source/first", &causal), "plait_decoding_declare_attend: the name \"source/first\" must begin with \"decoder/\"")
BUILD (attends_without_a_name, plait_decoding_declare_attend (decoding, NULL, &causal), "plait_decoding_declare_attend: the name \"\" must begin with \"decoder/\"")
BUILD (attends_with_odd_heads, plait_decoding_declare_attend (decoding, "decoder/odd", &(PlaitCausalSettings){ .heads = 3 }), "decoder.width=8 is not a multiple of decoder.heads=3")
BUILD (attends_without_heads, plait_decoding_declare_attend (decoding, "decoder/none", &(PlaitCausalSettings){ .heads = 0 }), "decoder.width=8 is not a multiple of decoder.heads=0")
BUILD (rotates_single_columns, plait_decoding_declare_attend (decoding, "decoder/rotary", &(PlaitCausalSettings){ .heads = 8, .positions = PLAIT_POSITIONS_ROTARY }), "decoder.positions=rotary: heads of 1 numbers cannot be rotated by pairs")
BUILD (looks_through_no_window, plait_decoding_declare_attend (decoding, "decoder/window", &(PlaitCausalSettings){ .heads = 2, .window = -1 }), "a window of at least 1, or 0")
BUILD (drops_all_weights, plait_decoding_declare_attend (decoding, "decoder/drops", &(PlaitCausalSettings){ .heads = 2, .dropout = 1 }), "dropout from 0 up to 1")
BUILD (crosses_below_a_foreign_name, plait_decoding_declare_cross (decoding, "combiner/", &crossing), "plait_decoding_declare_cross: the name \"combiner/\" must begin with \"decoder/\"")
BUILD (crosses_with_narrow_queries, plait_decoding_declare_cross (decoding, "decoder/narrow/", &(PlaitCrossSettings){ .query_width = 4 }), "plait_decoding_declare_cross: queries 4 wide and memories 8 wide")
BUILD (convolves_no_rows, plait_decoding_declare_convolve (decoding, "decoder/none", WIDTH, WIDTH, 0), "plait_decoding_declare_convolve: a convolution of 0 rows [8] to 8 numbers")
BUILD (convolves_to_nothing, plait_decoding_declare_convolve (decoding, "decoder/none", WIDTH, 0, 3), "plait_decoding_declare_convolve: a convolution of 3 rows [8] to 0 numbers")
BUILD (convolves_below_a_foreign_name, plait_decoding_declare_convolve (decoding, "output", WIDTH, WIDTH, 2), "plait_decoding_declare_convolve: the name \"output\" must begin with \"decoder/\"")
BUILD (scans_no_numbers, plait_decoding_declare_scan (decoding, 0), "plait_decoding_declare_scan: a state of 0 numbers")
BUILD (carries_nothing, plait_decoding_declare_carried (decoding, 0), "plait_decoding_declare_carried: rows 0 wide")
BUILD (declares_without_end, for (guint i = 0; i < 2000; i++) plait_decoding_declare_scan (decoding, 1), "declares more than 1024 functions")
BUILD (attends_in_build, plait_decoding_attend (decoding, s->attend, NULL), "calls plait_decoding_attend in build: call it in decode, since it computes")
BUILD (scans_in_build, plait_decoding_scan (decoding, s->scan, NULL, NULL), "calls plait_decoding_scan in build: call it in decode, since it computes")
BUILD (convolves_in_build, plait_decoding_convolve (decoding, s->convolve, NULL), "calls plait_decoding_convolve in build: call it in decode, since it computes")
BUILD (recurs_in_build, plait_decoding_recur (decoding, s->recur, NULL), "calls plait_decoding_recur in build: call it in decode, since it computes")
BUILD (crosses_in_build, plait_decoding_cross (decoding, s->cross, NULL, NULL), "calls plait_decoding_cross in build: call it in decode, since it computes")

DECODE (no_states, return NULL, "states")
DECODE (too_few_states, return plait_rows (tape, x, 0, ROWS (decoding) - 1), "states")
DECODE (states_of_another_width, return plait_columns (tape, x, 0, 3), "states")
DECODE (declares_while_it_runs, plait_decoding_declare_scan (decoding, 3), "calls plait_decoding_declare_scan while the model runs: declare in build")
DECODE (attends_twice, for (guint i = 0; i < 2; i++) x = plait_decoding_attend (decoding, s->attend, x), "plait_decoding_attend: called twice for the self-attention 0 in one pass: declare a second one")
DECODE (scans_twice, for (guint i = 0; i < 2; i++) x = plait_decoding_scan (decoding, s->scan, x, x), "plait_decoding_scan: called twice for the linear recurrence 2 in one pass")
DECODE (attends_with_another_number, plait_decoding_attend (decoding, s->scan, x), "plait_decoding_attend: 2 is not the number of a declared self-attention: use the number that build received")
DECODE (scans_with_no_number, plait_decoding_scan (decoding, NO_NUMBER, x, x), "plait_decoding_scan: 99 is not the number of a declared linear recurrence")
DECODE (crosses_with_no_number, plait_decoding_cross (decoding, NO_NUMBER, x, NULL), "plait_decoding_cross: 99 is not the number of a declared cross-attention")
DECODE (gates_with_no_number, plait_decoding_gate_input (decoding, NO_NUMBER, x), "plait_decoding_gate_input: 99 is not the number of a declared cross-attention")
DECODE (attends_nothing, plait_decoding_attend (decoding, s->attend, NULL), "plait_decoding_attend: got a node [0, 0], expected [")
DECODE (attends_narrow_rows, plait_decoding_attend (decoding, s->attend, plait_columns (tape, x, 0, 3)), "plait_decoding_attend: got a node [7, 3], expected [7, 8]")
DECODE (convolves_few_rows, plait_decoding_convolve (decoding, s->convolve, plait_rows (tape, x, 0, 1)), "plait_decoding_convolve: got a node [1, 8], expected [7, 8]")
DECODE (scans_narrow_factors, plait_decoding_scan (decoding, s->scan, plait_columns (tape, x, 0, 1), x), "plait_decoding_scan: got a node [7, 1], expected [7, 8]")
DECODE (scans_no_summands, plait_decoding_scan (decoding, s->scan, x, NULL), "plait_decoding_scan: got a node [0, 0], expected [7, 8]")
DECODE (recurs_without_projection, plait_decoding_recur (decoding, s->recur, x), "plait_decoding_recur: got a node [7, 8], expected [7, 24]")
DECODE (crosses_with_narrow_rows, plait_decoding_cross (decoding, s->cross, zeros (tape, 5, 4), NULL), "plait_decoding_cross: got a node [5, 4], expected [7, 8]")
DECODE (reads_a_memory_too_many, plait_decoding_memory (decoding, 1), "plait_decoding_memory: there is no memory 1; memories are numbered 0 to 0")
DECODE (reads_a_summary_too_many, plait_decoding_summary (decoding, 7), "plait_decoding_summary: there is no summary 7")
DECODE (reads_carried_rows_outside_steps, plait_decoding_carried (decoding, s->carried), "calls plait_decoding_carried outside a step")

STEP (attends_in_a_step, plait_decoding_attend (decoding, s->attend, x), "calls plait_decoding_attend in a step: call it in decode, or carry rows")
STEP (convolves_in_a_step, plait_decoding_convolve (decoding, s->convolve, x), "calls plait_decoding_convolve in a step: call it in decode, or carry rows")
STEP (scans_in_a_step, plait_decoding_scan (decoding, s->scan, x, x), "calls plait_decoding_scan in a step: call it in decode, or carry rows")
STEP (gives_no_output, outputs[0] = NULL, "output 0 of its step has 0 rows, expected 2")
STEP (gives_a_row_too_many, outputs[0] = zeros (tape, 3, WIDTH), "output 0 of its step has 3 rows, expected 2")
STEP (carries_narrow_rows, plait_decoding_carry (decoding, s->carried, plait_columns (tape, x, 0, 2)), "plait_decoding_carry: got rows [2, 2], expected [2, 8]")
STEP (carries_no_rows, plait_decoding_carry (decoding, s->carried, NULL), "plait_decoding_carry: got rows [0, 0], expected [2, 8]")
STEP (carries_with_no_number, plait_decoding_carry (decoding, NO_NUMBER, x), "plait_decoding_carry: 99 is not the number of a declared carried rows")

FUNCTION (void, begins_with_narrow_rows, (PlaitDecoding *decoding, const State *s, PlaitTape *tape), , plait_decoding_carry (decoding, s->carried, zeros (tape, 2, 3)))
FAULT (begins_with_narrow_rows, begin, ", begin: plait_decoding_carry: got rows [2, 3], expected [2, 8]")
FUNCTION (gboolean, refuses_lengths_without_words, (GError **error), FALSE, (void)0)
FAULT (refuses_lengths_without_words, check_length, "check_length returned FALSE without an error")
FUNCTION (gboolean, accepts_lengths_with_an_error, (GError **error), TRUE, plait_fail (error, PLAIT_ERROR_INPUT, "not to my taste"))
FAULT (accepts_lengths_with_an_error, check_length, "check_length returned TRUE with an error (not to my taste)")
FUNCTION (gint64, memories_of_no_width, (gint64 width), 0, (void)0)
FAULT (memories_of_no_width, memory_width, ", memory_width returned 0: return at least 1")
FUNCTION (gint64, memories_below_no_width, (gint64 width), -5, (void)0)
FAULT (memories_below_no_width, memory_width, ", memory_width returned -5: return at least 1")
/* clang-format on */
