/* SPDX-License-Identifier: MIT */
#include "misbehaving.h"

/* Tests of faulty decoders. The valid one declares each primitive once. */

typedef struct
{
  PlaitParameters *parameters;
  guint attend;
  guint convolve;
  guint scan;
  PlaitCell cell;
  guint recur;
  guint cross;
  guint carried;
} Own;

/* Differences of the faulty decoder from the valid one. */
typedef struct
{
  gboolean (*build) (PlaitDecoding *decoding, const PlaitDecoderBuild *build, Own *own, GError **error);
  void (*begin) (PlaitDecoding *decoding, PlaitTape *tape, const Own *own);
  PlaitNode *(*decode) (PlaitDecoding *decoding, PlaitTape *tape, const Own *own, PlaitNode *x);
  void (*step) (PlaitDecoding *decoding, PlaitTape *tape, const Own *own, PlaitNode **outputs);
  gboolean (*check_length) (GError **error);
  gint64 memory_width; /* width that is returned, plus 100; 0: decoder.width */
  gboolean plain;      /* TRUE: the decoder has no carried rows */
} FaultyDecoder;

static FaultyDecoder faulty_decoder;

#define ATTEND_SETTINGS(...) (&(PlaitCausalSettings){ .heads = 2, __VA_ARGS__ })
#define CROSS_SETTINGS(query, tanh, scores)                                                                            \
  (&(PlaitCrossSettings){ .query_width = (query), .attention_width = (tanh), .score = (PlaitScoreFunction)(scores) })

static gboolean
build_decoder (PlaitDecoding *decoding, const PlaitDecoderBuild *build, gconstpointer settings, gpointer state,
               GError **error)
{
  const PlaitCellDeclaration cell = { .input_width = build->width, .width = build->width };
  Own *own = state;

  own->parameters = build->parameters;
  own->attend = plait_decoding_declare_attend (decoding, "decoder/attend", ATTEND_SETTINGS ());
  own->convolve = plait_decoding_declare_convolve (decoding, "decoder/convolve", build->width, build->width, 3);
  own->scan = plait_decoding_declare_scan (decoding, build->width);
  own->cell = plait_cell_declare (build->parameters, "decoder/cell", &cell);
  own->recur = plait_decoding_declare_recur (decoding, &own->cell);
  own->cross = plait_decoding_declare_cross (decoding, "decoder/combiner/", CROSS_SETTINGS (build->width, 4, 0));
  if (!faulty_decoder.plain)
    own->carried = plait_decoding_declare_carried (decoding, build->width);
  return !faulty_decoder.build || faulty_decoder.build (decoding, build, own, error);
}

static gint64
memory_width (gconstpointer settings, gint64 width, const gint64 *widths, guint n)
{
  return faulty_decoder.memory_width ? faulty_decoder.memory_width - 100 : width;
}

static gboolean
check_length (gconstpointer settings, gconstpointer state, gint64 rows, GError **error)
{
  return !faulty_decoder.check_length || faulty_decoder.check_length (error);
}

static void
begin (PlaitDecoding *decoding, gconstpointer settings, gconstpointer state)
{
  const Own *own = state;
  PlaitTape *tape = plait_decoding_tape (decoding);
  const PlaitMemory *memory = plait_decoding_memory (decoding, 0);

  plait_decoding_carry (decoding, own->carried, plait_memory_mean (tape, memory));
  if (faulty_decoder.begin)
    faulty_decoder.begin (decoding, tape, own);
}

static PlaitNode *
cross_of (PlaitDecoding *decoding, const Own *own, PlaitNode *x)
{
  PlaitResidualStream made = plait_decoding_cross (decoding, own->cross, x, NULL);

  return made.query ? made.query : made.context;
}

static void
step (PlaitDecoding *decoding, gconstpointer settings, gconstpointer state, PlaitNode *const *inputs,
      PlaitNode **outputs)
{
  const Own *own = state;
  PlaitTape *tape = plait_decoding_tape (decoding);
  PlaitNode *terms[] = { plait_decoding_carried (decoding, own->carried), inputs[0] };

  if (faulty_decoder.step)
    {
      outputs[0] = inputs[0];
      faulty_decoder.step (decoding, tape, own, outputs);
      return;
    }
  outputs[0] = cross_of (decoding, own, plait_add_n (tape, terms, 2));
  plait_decoding_carry (decoding, own->carried, outputs[0]);
}

#define STEPS(inputs, n) plait_decoding_steps (decoding, step, inputs, n, &y, 1)

static PlaitNode *
decode (PlaitDecoding *decoding, gconstpointer settings, gconstpointer state, PlaitNode *x)
{
  const Own *own = state;
  PlaitTape *tape = plait_decoding_tape (decoding);
  PlaitNode *y;

  if (faulty_decoder.decode)
    return faulty_decoder.decode (decoding, tape, own, x);
  x = plait_decoding_attend (decoding, own->attend, x);
  x = plait_decoding_convolve (decoding, own->convolve, x);
  x = plait_decoding_scan (decoding, own->scan, plait_activate (tape, x, PLAIT_ACTIVATION_SIGMOID), x);
  x = plait_decoding_recur (decoding, own->recur, plait_cell_project (tape, &own->cell, x));
  if (faulty_decoder.plain)
    return cross_of (decoding, own, x);
  STEPS (&x, 1);
  return y;
}

static const PlaitDecoderTable table = { .state_size = sizeof (Own),
                                         .memory_width = memory_width,
                                         .build = build_decoder,
                                         .begin = begin,
                                         .decode = decode,
                                         .check_length = check_length };

enum
{
  HEADS = 1 << PLAIT_SCORES_HEADS,
  SCORES = 1 << PLAIT_SCORES_RECURRENT,
  EITHER = HEADS | SCORES,
};

/* Checks the faulty decoder with each kind of score in @scores. */
static void
check_decoder (guint scores, FaultyDecoder faulty, const char *who, const char *sentence)
{
  faulty_decoder = faulty;
  for (guint i = PLAIT_SCORES_HEADS; i <= PLAIT_SCORES_RECURRENT; i++)
    if (scores & 1u << i)
      {
        CONTEXT ("scores %u", i);
        faulty_plugin = (FaultyPlugin){ .decoder_table = &table, .scores = (PlaitCrossScores)i };
        check_fault (TRANSFORMER, who, sentence);
      }
}

/* Runs the valid decoder with each kind of score in @scores. */
static void
check_sound (guint scores, FaultyDecoder sound, gboolean recompute)
{
  faulty_decoder = sound;
  for (guint i = PLAIT_SCORES_HEADS; i <= PLAIT_SCORES_RECURRENT; i++)
    if (scores & 1u << i)
      {
        CONTEXT ("scores %u", i);
        faulty_plugin
            = (FaultyPlugin){ .decoder_table = &table, .scores = (PlaitCrossScores)i, .recompute = recompute };
        CHECK (release (0, NO_ERROR));
      }
}

TEST_CASE (misbehaving_decoders, the_sound_one_runs)
{
  check_sound (EITHER, (FaultyDecoder){ NULL }, FALSE);
  check_sound (EITHER, (FaultyDecoder){ .plain = TRUE }, FALSE);
  check_sound (EITHER, (FaultyDecoder){ NULL }, TRUE);
}

#define DECODER_BUILD_IN(scores, name, deed, sentence)                                                                 \
  FUNCTION (gboolean, name, (PlaitDecoding * decoding, const PlaitDecoderBuild *build, Own *own, GError **error),      \
            TRUE, deed)                                                                                                \
  TEST_CASE (misbehaving_decoder_builds, name)                                                                         \
  {                                                                                                                    \
    check_decoder (scores, (FaultyDecoder){ .build = name }, DECODER, sentence);                                       \
  }
#define DECODER_BUILD(name, deed, sentence) DECODER_BUILD_IN (EITHER, name, deed, sentence)
#define DECODE(name, deed, sentence)                                                                                   \
  FUNCTION (PlaitNode *, name, (PlaitDecoding * decoding, PlaitTape * tape, const Own *own, PlaitNode *x), x, deed)    \
  TEST_CASE (misbehaving_decoders, name)                                                                               \
  {                                                                                                                    \
    check_decoder (EITHER, (FaultyDecoder){ .decode = name }, DECODER ", decode", sentence);                           \
  }
#define STEP(name, deed, sentence)                                                                                     \
  FUNCTION (void, name, (PlaitDecoding * decoding, PlaitTape * tape, const Own *own, PlaitNode **outputs), , deed)     \
  TEST_CASE (misbehaving_decoder_steps, name)                                                                          \
  {                                                                                                                    \
    check_decoder (EITHER, (FaultyDecoder){ .step = name }, DECODER ", decode", sentence);                             \
  }
#define BEGIN(name, deed, sentence)                                                                                    \
  FUNCTION (void, name, (PlaitDecoding * decoding, PlaitTape * tape, const Own *own), , deed)                          \
  TEST_CASE (misbehaving_decoder_begins, name)                                                                         \
  {                                                                                                                    \
    check_decoder (EITHER, (FaultyDecoder){ .begin = name }, DECODER ", begin", sentence);                             \
  }

#define W (build->width)
#define HUGE_WIDTH ((gint64)1 << 40)

static PlaitNode *
layer_of_nothing (PlaitDecoding *decoding, gconstpointer settings, gconstpointer state, guint index, PlaitNode *x)
{
  return NULL;
}

static PlaitNode *
layer_of_attention (PlaitDecoding *decoding, gconstpointer settings, gconstpointer state, guint index, PlaitNode *x)
{
  return plait_decoding_attend (decoding, ((const Own *)state)->attend, x);
}

/* clang-format off */
DECODER_BUILD (refuses_without_words, return FALSE, "build returned FALSE without an error: set an error")
DECODER_BUILD (accepts_with_an_error, FAIL, "build returned TRUE with an error (not to my taste)")
DECODER_BUILD (refuses, FAIL; return FALSE, "not to my taste")
DECODER_BUILD (parameter_outside, plait_linear_declare (build->parameters, "source/first/a", 2, 2, FALSE), "build: the parameter source/first/a/weight is declared, but its name must begin with decoder/")
DECODER_BUILD (attention_without_name, plait_decoding_declare_attend (decoding, NULL, ATTEND_SETTINGS ()), "plait_decoding_declare_attend: the name \"\" must begin with \"decoder/\"")
DECODER_BUILD (attention_outside, plait_decoding_declare_attend (decoding, "encoder/a", ATTEND_SETTINGS ()), "plait_decoding_declare_attend: the name \"encoder/a\" must begin with \"decoder/\"")
DECODER_BUILD (attention_twice, plait_decoding_declare_attend (decoding, "decoder/attend", ATTEND_SETTINGS ()), "build: the parameter decoder/attend/output/weight is declared twice")
DECODER_BUILD (attention_without_settings, plait_decoding_declare_attend (decoding, "decoder/a", NULL), "plait_decoding_declare_attend: the settings are NULL")
DECODER_BUILD (heads_that_do_not_divide, plait_decoding_declare_attend (decoding, "decoder/a", &(PlaitCausalSettings){ .heads = 3 }), "decoder.width=8 is not a multiple of decoder.heads=3")
DECODER_BUILD (no_heads, plait_decoding_declare_attend (decoding, "decoder/a", &(PlaitCausalSettings){ .heads = 0 }), "decoder.width=8 is not a multiple of decoder.heads=0")
DECODER_BUILD (heads_that_cannot_be_rotated, plait_decoding_declare_attend (decoding, "decoder/a", &(PlaitCausalSettings){ .heads = 8, .positions = PLAIT_POSITIONS_ROTARY }), "heads of 1 numbers cannot be rotated by pairs")
DECODER_BUILD (attention_dropout_of_no_number, plait_decoding_declare_attend (decoding, "decoder/a", ATTEND_SETTINGS (.dropout = NAN)), "plait_attention_declare_self was called with wrong arguments: it needs dropout")
DECODER_BUILD (attention_dropout_of_all, plait_decoding_declare_attend (decoding, "decoder/a", ATTEND_SETTINGS (.dropout = 1)), "plait_attention_declare_self was called with wrong arguments: it needs dropout")
DECODER_BUILD (window_before_the_row, plait_decoding_declare_attend (decoding, "decoder/a", ATTEND_SETTINGS (.window = -1)), "plait_attention_declare_self was called with wrong arguments: it needs a window")
DECODER_BUILD (cross_without_name, plait_decoding_declare_cross (decoding, NULL, CROSS_SETTINGS (build->width, 4, 0)), "plait_decoding_declare_cross: the name \"\" must begin with")
DECODER_BUILD (cross_outside, plait_decoding_declare_cross (decoding, "a/", CROSS_SETTINGS (build->width, 4, 0)), "plait_decoding_declare_cross: the name \"a/\" must begin with")
DECODER_BUILD (cross_without_end, plait_decoding_declare_cross (decoding, "decoder/a", CROSS_SETTINGS (build->width, 4, 0)), "plait_decoding_declare_cross: the name \"decoder/a\" must end with \"/\"")
DECODER_BUILD (cross_without_settings, plait_decoding_declare_cross (decoding, "decoder/a/", NULL), "plait_decoding_declare_cross: the settings are NULL")
DECODER_BUILD_IN (HEADS, cross_of_other_queries, plait_decoding_declare_cross (decoding, "decoder/a/", CROSS_SETTINGS (7, 4, 0)), "plait_decoding_declare_cross: queries 7 wide and memories 8 wide, but with attention=heads both must be as wide as the decoder, 8")
DECODER_BUILD_IN (SCORES, cross_of_no_queries, plait_decoding_declare_cross (decoding, "decoder/a/", CROSS_SETTINGS (0, 4, 0)), "plait_decoding_declare_cross: query_width=0 is out of range: give 1 to")
DECODER_BUILD_IN (SCORES, cross_of_unknown_scores, plait_decoding_declare_cross (decoding, "decoder/a/", CROSS_SETTINGS (W, 4, 77)), "plait_decoding_declare_cross: asks for the unknown score function 77")
DECODER_BUILD_IN (SCORES, cross_of_no_tanh, plait_decoding_declare_cross (decoding, "decoder/a/", CROSS_SETTINGS (W, -1, 0)), "plait_decoding_declare_cross: attention_width=-1 is out of range: give 1 to")
DECODER_BUILD_IN (SCORES, cross_of_unequal_dots, plait_decoding_declare_cross (decoding, "decoder/a/", CROSS_SETTINGS (7, 4, PLAIT_SCORE_DOT)), "plait_decoding_declare_cross: dot products of queries 7 wide with memories 8 wide")
DECODER_BUILD (convolution_of_no_rows, plait_decoding_declare_convolve (decoding, "decoder/a", W, W, 0), "plait_decoding_declare_convolve: size=0 is out of range: give 1 to 16777216")
DECODER_BUILD (convolution_of_no_input, plait_decoding_declare_convolve (decoding, "decoder/a", 0, W, 3), "plait_decoding_declare_convolve: in=0 is out of range: give 1 to")
DECODER_BUILD (convolution_of_less_than_no_output, plait_decoding_declare_convolve (decoding, "decoder/a", W, -1, 3), "plait_decoding_declare_convolve: out=-1 is out of range: give 1 to")
DECODER_BUILD (convolution_without_end, plait_decoding_declare_convolve (decoding, "decoder/a", W, W, G_MAXINT64), "plait_decoding_declare_convolve: size=9223372036854775807 is out of range: give 1 to")
DECODER_BUILD (convolution_outside, plait_decoding_declare_convolve (decoding, "a", W, W, 3), "plait_decoding_declare_convolve: the name \"a\" must begin with")
DECODER_BUILD (scan_of_nothing, plait_decoding_declare_scan (decoding, 0), "plait_decoding_declare_scan: width=0 is out of range: give 1 to")
DECODER_BUILD (scan_without_end, plait_decoding_declare_scan (decoding, HUGE_WIDTH), "plait_decoding_declare_scan: width=1099511627776 is out of range: give 1 to")
DECODER_BUILD (recurrence_of_no_cell, plait_decoding_declare_recur (decoding, NULL), "plait_decoding_declare_recur: the cell was not declared")
DECODER_BUILD (recurrence_of_an_empty_cell, plait_decoding_declare_recur (decoding, &(PlaitCell){ .declaration = { .width = 4 } }), "plait_decoding_declare_recur: the cell was not declared")
DECODER_BUILD (carried_rows_of_nothing, plait_decoding_declare_carried (decoding, -1), "plait_decoding_declare_carried: width=-1 is out of range: give 1 to")
DECODER_BUILD (carried_rows_without_end, plait_decoding_declare_carried (decoding, HUGE_WIDTH), "plait_decoding_declare_carried: width=1099511627776 is out of range: give 1 to")
DECODER_BUILD (functions_without_end, for (guint i = 0; i < 1100; i++) plait_decoding_declare_scan (decoding, W), "declares more than 1024 primitives")
DECODER_BUILD (takes_the_tape_in_build, plait_decoding_tape (decoding), "calls plait_decoding_tape in build: call it in begin")
DECODER_BUILD (rows_in_build, plait_decoding_rows (decoding), "calls plait_decoding_rows in build: call it in decode")
DECODER_BUILD (position_in_build, plait_decoding_first_position (decoding), "calls plait_decoding_first_position in build: call it in decode")
DECODER_BUILD (memory_in_build, plait_decoding_memory (decoding, 0), "calls plait_decoding_memory in build: call it in begin")
DECODER_BUILD (summary_in_build, plait_decoding_summary (decoding, 0), "calls plait_decoding_summary in build: call it in begin")
DECODER_BUILD (attends_in_build, plait_decoding_attend (decoding, own->attend, NULL), "calls plait_decoding_attend in build: call it in decode")
DECODER_BUILD (convolves_in_build, plait_decoding_convolve (decoding, own->convolve, NULL), "calls plait_decoding_convolve in build: call it in decode")
DECODER_BUILD (scans_in_build, plait_decoding_scan (decoding, own->scan, NULL, NULL), "calls plait_decoding_scan in build: call it in decode")
DECODER_BUILD (recurs_in_build, plait_decoding_recur (decoding, own->recur, NULL), "calls plait_decoding_recur in build: call it in decode")
DECODER_BUILD (crosses_in_build, plait_decoding_cross (decoding, own->cross, NULL, NULL), "calls plait_decoding_cross in build: call it in decode")
DECODER_BUILD (gate_input_in_build, plait_decoding_gate_input (decoding, own->cross, NULL), "calls plait_decoding_gate_input in build: call it in decode")
DECODER_BUILD (gate_in_build, plait_decoding_gate (decoding, own->cross, NULL, NULL), "calls plait_decoding_gate in build: call it in decode")
DECODER_BUILD (layer_in_build, plait_decoding_layer (decoding, layer_of_attention, 0, NULL), "calls plait_decoding_layer in build: call it in decode")
DECODER_BUILD (steps_in_build, PlaitNode *y = NULL; STEPS (NULL, 0), "calls plait_decoding_steps in build: call it in decode")
DECODER_BUILD (carried_in_build, plait_decoding_carried (decoding, own->carried), "calls plait_decoding_carried in build: call it in the step of plait_decoding_steps")
DECODER_BUILD (carries_in_build, plait_decoding_carry (decoding, own->carried, NULL), "calls plait_decoding_carry in build: call it in begin")

/*
 * Decoders that do not run as they declared
 */

DECODE (gives_nothing, return NULL, "gave NULL for states: give a node [")
DECODE (gives_too_few_rows, return FEWER (x), "gave states of the shape [")
DECODE (gives_too_few_columns, return NARROWER (x), ", 7], expected [")
DECODE (attention_late, plait_decoding_declare_attend (decoding, "decoder/a", ATTEND_SETTINGS ()), "calls plait_decoding_declare_attend in decode: call it in build")
DECODE (cross_late, plait_decoding_declare_cross (decoding, "decoder/a/", NULL), "calls plait_decoding_declare_cross in decode: call it in build")
DECODE (convolution_late, plait_decoding_declare_convolve (decoding, "decoder/a", 1, 1, 1), "calls plait_decoding_declare_convolve in decode: call it in build")
DECODE (scan_late, plait_decoding_declare_scan (decoding, 1), "calls plait_decoding_declare_scan in decode: call it in build")
DECODE (recurrence_late, plait_decoding_declare_recur (decoding, &own->cell), "calls plait_decoding_declare_recur in decode: call it in build")
DECODE (carried_late, plait_decoding_declare_carried (decoding, 1), "calls plait_decoding_declare_carried in decode: call it in build")
DECODE (parameter_late, plait_parameters_declare (own->parameters, "decoder/late", 1, 1, PLAIT_ZEROS); return cross_of (decoding, own, x), "the parameter \"decoder/late\" is declared while the model runs")
DECODE (attends_undeclared, plait_decoding_attend (decoding, 77, x), "plait_decoding_attend: 77 is not the number of a declared self-attention")
DECODE (attends_by_a_convolution, plait_decoding_attend (decoding, own->convolve, x), "plait_decoding_attend: 1 is not the number of a declared self-attention")
DECODE (convolves_undeclared, plait_decoding_convolve (decoding, own->attend, x), "plait_decoding_convolve: 0 is not the number of a declared convolution")
DECODE (scans_undeclared, plait_decoding_scan (decoding, own->attend, x, x), "plait_decoding_scan: 0 is not the number of a declared linear recurrence")
DECODE (recurs_undeclared, plait_decoding_recur (decoding, own->attend, x), "plait_decoding_recur: 0 is not the number of a declared recurrence")
DECODE (crosses_undeclared, plait_decoding_cross (decoding, own->attend, x, NULL), "plait_decoding_cross: 0 is not the number of a declared cross-attention")
DECODE (gate_input_undeclared, plait_decoding_gate_input (decoding, own->attend, x), "plait_decoding_gate_input: 0 is not the number of a declared cross-attention")
DECODE (gate_undeclared, plait_decoding_gate (decoding, 99, x, x), "plait_decoding_gate: 99 is not the number of a declared cross-attention")
DECODE (attends_twice, for (guint i = 0; i < 2; i++) x = plait_decoding_attend (decoding, own->attend, x), "plait_decoding_attend: called twice for the self-attention 0 in one pass: declare a second one")
DECODE (convolves_twice, for (guint i = 0; i < 2; i++) x = plait_decoding_convolve (decoding, own->convolve, x), "plait_decoding_convolve: called twice for the convolution 1")
DECODE (scans_twice, for (guint i = 0; i < 2; i++) x = plait_decoding_scan (decoding, own->scan, x, x), "plait_decoding_scan: called twice for the linear recurrence 2")
DECODE (crosses_twice, for (guint i = 0; i < 2; i++) x = cross_of (decoding, own, x), "plait_decoding_cross: called twice for the cross-attention 4")
DECODE (attends_to_nothing, plait_decoding_attend (decoding, own->attend, NULL), "plait_decoding_attend: got a node [0, 0], expected [")
DECODE (attends_for_too_few, plait_decoding_attend (decoding, own->attend, FEWER (x)), "plait_decoding_attend: got a node [")
DECODE (convolves_too_little, plait_decoding_convolve (decoding, own->convolve, NARROWER (x)), "plait_decoding_convolve: got a node [")
DECODE (scans_too_little, plait_decoding_scan (decoding, own->scan, x, NARROWER (x)), "plait_decoding_scan: got a node [")
DECODE (scans_from_nothing, plait_decoding_scan (decoding, own->scan, NULL, x), "plait_decoding_scan: got a node [0, 0], expected [")
DECODE (recurs_without_projection, plait_decoding_recur (decoding, own->recur, x), ", 8], expected [")
DECODE (crosses_with_narrow_queries, plait_decoding_cross (decoding, own->cross, NARROWER (x), NULL), "plait_decoding_cross: got a node [")
DECODE (gate_of_nothing, plait_decoding_gate_input (decoding, own->cross, NULL), "plait_decoding_gate_input: got a node [0, 0], expected [")
DECODE (memory_in_decode, plait_decoding_memory (decoding, 0), "calls plait_decoding_memory in decode: call it in begin")
DECODE (summary_in_decode, plait_decoding_summary (decoding, 0), "calls plait_decoding_summary in decode: call it in begin")
DECODE (carried_in_decode, plait_decoding_carried (decoding, own->carried), "calls plait_decoding_carried in decode: call it in the step of plait_decoding_steps")
DECODE (carries_in_decode, plait_decoding_carry (decoding, own->carried, x), "calls plait_decoding_carry in decode: call it in begin")
DECODE (carried_after_steps, PlaitNode *y; STEPS (&x, 1); plait_decoding_carried (decoding, own->carried), "calls plait_decoding_carried in decode: call it in the step of plait_decoding_steps")
DECODE (layer_without_function, plait_decoding_layer (decoding, NULL, 0, x), "plait_decoding_layer was called with wrong arguments")
DECODE (layer_of_no_node, plait_decoding_layer (decoding, layer_of_nothing, 3, x), "layer 3 gave NULL: give a node")
DECODE (layers_that_share, for (guint i = 0; i < 2; i++) x = plait_decoding_layer (decoding, layer_of_attention, i, x), "plait_decoding_attend: called twice")
DECODE (steps_without_function, plait_decoding_steps (decoding, NULL, &x, 1, &x, 1), "plait_decoding_steps was called with wrong arguments")
DECODE (steps_without_inputs, plait_decoding_steps (decoding, step, NULL, 1, &x, 1), "plait_decoding_steps was called with wrong arguments")
DECODE (steps_without_outputs, plait_decoding_steps (decoding, step, &x, 1, NULL, 1), "plait_decoding_steps was called with wrong arguments")
DECODE (steps_twice, PlaitNode *y; STEPS (&x, 1); STEPS (&x, 1), "calls plait_decoding_steps twice in one pass")
DECODE (steps_over_too_few, PlaitNode *y; PlaitNode *fewer = FEWER (x); STEPS (&fewer, 1), "plait_decoding_steps: input 0 has ")
DECODE (begins_a_pass, plait_tape_begin (tape, PLAIT_TAPE_TRAIN, plait_random_key (1, "a", NULL, 1)), "calls plait_tape_begin, which only the host may call")

/* Only search notices that these calls depend on the position. */
#define FIRST (plait_decoding_first_position (decoding) == 0)
DECODE (crosses_never, return x, "declares cross-attention 0 and does not call plait_decoding_cross for it: call it in each pass")
DECODE (attends_once, if (FIRST) x = plait_decoding_attend (decoding, own->attend, x); return cross_of (decoding, own, x), "uses the self-attention 0 in some steps of a search only: use it in each step")
DECODE (convolves_once, if (FIRST) x = plait_decoding_convolve (decoding, own->convolve, x); return cross_of (decoding, own, x), "uses the convolution 1 in some steps of a search only")
DECODE (crosses_once, if (FIRST) return cross_of (decoding, own, x), "declares cross-attention 0 and does not call plait_decoding_cross for it")
DECODE (steps_once, PlaitNode *y; if (FIRST) { STEPS (&x, 1); return y; } cross_of (decoding, own, x), "uses the carried rows 5 in some steps of a search only")

/*
 * Decoders whose steps are wrong
 */

STEP (step_of_nothing, outputs[0] = NULL, "output 0 of its step has 0 rows, expected 2")
STEP (step_of_too_few, outputs[0] = FEWER (outputs[0]), "output 0 of its step has 1 rows, expected 2")
STEP (step_of_too_many, outputs[0] = zeros (tape, 3, 8), "output 0 of its step has 3 rows, expected 2")
STEP (steps_of_unequal_widths, if (plait_decoding_first_position (decoding) > 0) outputs[0] = NARROWER (outputs[0]), "output 0 of its step is 7 wide, in the first step 8")
STEP (step_that_never_crosses, outputs[0] = plait_scale (tape, outputs[0], 1), "declares cross-attention 0 and does not call plait_decoding_cross for it")
STEP (crosses_in_the_first_step, if (FIRST) outputs[0] = cross_of (decoding, own, outputs[0]), "uses the cross-attention 4 in some steps of a target only: use it in each step")
STEP (attends_in_a_step, plait_decoding_attend (decoding, own->attend, outputs[0]), "calls plait_decoding_attend in the step of plait_decoding_steps: call it in decode")
STEP (convolves_in_a_step, plait_decoding_convolve (decoding, own->convolve, outputs[0]), "calls plait_decoding_convolve in the step of plait_decoding_steps: call it in decode")
STEP (scans_in_a_step, plait_decoding_scan (decoding, own->scan, outputs[0], outputs[0]), "calls plait_decoding_scan in the step of plait_decoding_steps: call it in decode")
STEP (recurs_in_a_step, plait_decoding_recur (decoding, own->recur, outputs[0]), "calls plait_decoding_recur in the step of plait_decoding_steps: call it in decode")
STEP (steps_in_a_step, PlaitNode *y; STEPS (outputs, 1), "calls plait_decoding_steps in the step of plait_decoding_steps: call it in decode")
STEP (memory_in_a_step, plait_decoding_memory (decoding, 0), "calls plait_decoding_memory in the step of plait_decoding_steps: call it in begin")
STEP (declares_in_a_step, plait_decoding_declare_scan (decoding, 1), "calls plait_decoding_declare_scan in the step of plait_decoding_steps: call it in build")
STEP (crosses_twice_in_a_step, for (guint i = 0; i < 2; i++) cross_of (decoding, own, outputs[0]), "plait_decoding_cross: called twice for the cross-attention 4")
STEP (crosses_for_too_few, cross_of (decoding, own, FEWER (outputs[0])), "plait_decoding_cross: got a node [1, 8], expected [2, 8]")
STEP (carries_nothing, plait_decoding_carry (decoding, own->carried, NULL), "plait_decoding_carry: got rows [0, 0], expected [2, 8]")
STEP (carries_too_few, plait_decoding_carry (decoding, own->carried, FEWER (outputs[0])), "plait_decoding_carry: got rows [1, 8], expected [2, 8]")
STEP (carries_too_little, plait_decoding_carry (decoding, own->carried, NARROWER (outputs[0])), "plait_decoding_carry: got rows [2, 7], expected [2, 8]")
STEP (carries_undeclared, plait_decoding_carry (decoding, own->cross, outputs[0]), "plait_decoding_carry: 4 is not the number of declared carried rows")
STEP (reads_undeclared_rows, plait_decoding_carried (decoding, 99), "plait_decoding_carried: 99 is not the number of declared carried rows")

/*
 * Decoders that are wrong before the first step
 */

BEGIN (begins_with_nothing, plait_decoding_carry (decoding, own->carried, NULL), "plait_decoding_carry: got rows [0, 0], expected [2, 8]")
BEGIN (begins_with_too_few, plait_decoding_carry (decoding, own->carried, zeros (tape, 1, 8)), "plait_decoding_carry: got rows [1, 8], expected [2, 8]")
BEGIN (begins_too_wide, plait_decoding_carry (decoding, own->carried, zeros (tape, 2, 9)), "plait_decoding_carry: got rows [2, 9], expected [2, 8]")
BEGIN (begins_undeclared, plait_decoding_carry (decoding, 77, zeros (tape, 2, 8)), "plait_decoding_carry: 77 is not the number of declared carried rows")
BEGIN (reads_carried_rows, plait_decoding_carried (decoding, own->carried), "calls plait_decoding_carried in begin: call it in the step of plait_decoding_steps")
BEGIN (attends_in_begin, plait_decoding_attend (decoding, own->attend, zeros (tape, 2, 8)), "calls plait_decoding_attend in begin: call it in decode")
BEGIN (crosses_in_begin, cross_of (decoding, own, zeros (tape, 2, 8)), "calls plait_decoding_cross in begin: call it in decode")
BEGIN (gate_in_begin, plait_decoding_gate_input (decoding, own->cross, zeros (tape, 2, 8)), "calls plait_decoding_gate_input in begin: call it in decode")
BEGIN (layer_in_begin, plait_decoding_layer (decoding, layer_of_attention, 0, zeros (tape, 2, 8)), "calls plait_decoding_layer in begin: call it in decode")
BEGIN (steps_in_begin, PlaitNode *y; STEPS (NULL, 0), "calls plait_decoding_steps in begin: call it in decode")
BEGIN (rows_in_begin, plait_decoding_rows (decoding), "calls plait_decoding_rows in begin: call it in decode")
BEGIN (memory_that_does_not_exist, plait_decoding_memory (decoding, 2), "plait_decoding_memory: there is no memory 2; memories are numbered 0 to 1")
BEGIN (summary_that_does_not_exist, plait_decoding_summary (decoding, 0), "plait_decoding_summary: there is no summary 0; this model has 0")
/* clang-format on */

/* The combiner reports that its parameters exist already. */
FUNCTION (gboolean, cross_twice, (PlaitDecoding * decoding, const PlaitDecoderBuild *build, Own *own, GError **error),
          TRUE, plait_decoding_declare_cross (decoding, "decoder/combiner/", CROSS_SETTINGS (W, 4, 0)))

TEST_CASE (misbehaving_decoder_builds, cross_twice)
{
  check_decoder (EITHER, (FaultyDecoder){ .build = cross_twice }, COMBINER ", build",
                 "is declared twice: give the two different names");
}

FUNCTION (PlaitNode *, steps_without_carried_rows,
          (PlaitDecoding * decoding, PlaitTape *tape, const Own *own, PlaitNode *x), x, PlaitNode *y;
          STEPS (&x, 1))

TEST_CASE (misbehaving_decoders, steps_without_carried_rows)
{
  check_decoder (EITHER, (FaultyDecoder){ .decode = steps_without_carried_rows, .plain = TRUE }, DECODER ", decode",
                 "calls plait_decoding_steps without carried rows: declare some with plait_decoding_declare_carried");
}

TEST_CASE (misbehaving_decoders, memories_of_a_wrong_width)
{
  static const struct
  {
    guint scores;
    gint64 width;
    const char *sentence;
  } faults[] = {
    { EITHER, 0, "memory_width returned 0; return 1 to 16777216 columns" },
    { EITHER, -1, "memory_width returned -1; return 1 to" },
    { EITHER, HUGE_WIDTH, "memory_width returned 1099511627776; return 1 to" },
    { HEADS, 5, "queries 8 wide and memories 5 wide, but with attention=heads both must be as wide as the decoder, 8" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (faults); i++)
    check_decoder (faults[i].scores, (FaultyDecoder){ .memory_width = faults[i].width + 100 }, DECODER,
                   faults[i].sentence);
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

TEST_CASE (misbehaving_decoders, answers_about_lengths)
{
  check_decoder (EITHER, (FaultyDecoder){ .check_length = refuse_without_words }, DECODER,
                 "check_length returned FALSE without an error");
  check_decoder (EITHER, (FaultyDecoder){ .check_length = accept_with_an_error }, DECODER,
                 "check_length returned TRUE with an error (not to my taste): return FALSE with an error");
}

/*
 * Layers that the host computes again, although they make no node of their own, or contain other such layers
 */

static PlaitNode *
layer_of_its_input (PlaitDecoding *decoding, gconstpointer settings, gconstpointer state, guint index, PlaitNode *x)
{
  return x;
}

static PlaitNode *
layer_of_a_view (PlaitDecoding *decoding, gconstpointer settings, gconstpointer state, guint index, PlaitNode *x)
{
  PlaitTape *tape = plait_decoding_tape (decoding);

  return plait_columns (tape, plait_concatenate_columns (tape, (PlaitNode *[]){ x, x }, 2), 4, x->value.width);
}

static PlaitNode *
layer_of_layers (PlaitDecoding *decoding, gconstpointer settings, gconstpointer state, guint index, PlaitNode *x)
{
  x = plait_decoding_layer (decoding, layer_of_a_view, 0, x);
  return plait_decoding_layer (decoding, layer_of_attention, 1, x);
}

FUNCTION (PlaitNode *, unusual_layers, (PlaitDecoding * decoding, PlaitTape *tape, const Own *own, PlaitNode *x),
          cross_of (decoding, own, x), x = plait_decoding_layer (decoding, layer_of_its_input, 0, x);
          x = plait_decoding_layer (decoding, layer_of_a_view, 1, x);
          x = plait_decoding_layer (decoding, layer_of_layers, 2, x))
FUNCTION (void, layer_in_a_step, (PlaitDecoding * decoding, PlaitTape *tape, const Own *own, PlaitNode **outputs), ,
          outputs[0] = cross_of (decoding, own, plait_decoding_layer (decoding, layer_of_a_view, 0, outputs[0])))

TEST_CASE (misbehaving_decoders, unusual_layers_run)
{
  for (guint recompute = 0; recompute < 2; recompute++)
    {
      check_sound (EITHER, (FaultyDecoder){ .decode = unusual_layers, .plain = TRUE }, recompute);
      check_sound (EITHER, (FaultyDecoder){ .step = layer_in_a_step }, recompute);
    }
}
