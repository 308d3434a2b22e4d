/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "recurrent-fixture.h"
#include "autograd/layer-operators.h"

#include <string.h>

/* Tests of three steps of whole recurrent decoders against the float64 reference: states, contexts, weights,
 * log-probabilities of words and all gradients. */

/* Returns the embeddings @y, extended by zeros to the width of the decoder. */
static PlaitNode *
widen (Bench *bench, PlaitNode *y, gint64 width)
{
  PlaitNode *parts[] = { y, bench_leaf (bench, y->value.rows, width - y->value.width, NULL) };

  return plait_concatenate_columns (bench->tape, parts, 2);
}

/* Results of the three steps, row by row. */
typedef struct
{
  PlaitScalar state[STEPS * 8];
  PlaitScalar cell[STEPS * 8];
  PlaitScalar context[STEPS * 8];
  PlaitScalar feed[STEPS * 8];
  PlaitScalar logits[STEPS * WORDS];
  PlaitScalar weights[MAX_MEMORIES][STEPS * 8];
  PlaitScalar contexts[STEPS * (MAX_MEMORIES + 1)]; /* weights of contexts; if attention over contexts has a sentinel,
                                                       it is the last */
  PlaitScalar sentinel[STEPS];
  PlaitNode *readouts[STEPS];
} Given;

/* Copies row 0 of @from to row @t of @to. */
static void
keep (PlaitScalar *to, gint64 t, PlaitTensor from)
{
  memcpy (to + t * from.width, from.data, (gsize)from.width * sizeof *to);
}

static void
keep_weights (Given *given, gint64 t, const PlaitAttentionRecord *record, const PlaitMemory *memories)
{
  guint n = record->n_memories;
  gboolean sentinel = record->sentinels[0].heads > 0;
  PlaitScalar *contexts = given->contexts + t * (n + sentinel);

  for (guint m = 0; m < n; m++)
    keep (given->weights[m], t,
          plait_tensor (plait_attention_record_find (record, 0, NULL, m)->weights, 1,
                        plait_ragged_rows (memories[m].rows)));
  if (record->contexts[0].heads > 0)
    keep (contexts, 0, plait_tensor (record->contexts[0].weights, 1, n));
  if (sentinel)
    contexts[n] = given->sentinel[t] = *record->sentinels[0].weights;
}

/* States before the first step. A member is NULL if the decoder does not have it. */
typedef struct
{
  PlaitNode *state;
  PlaitNode *cell;
  PlaitNode *readout;
} First;

/* Returns a handle for row @t of a target that reads the keys @keys. It continues @before; in the first step it begins
 * with @first. */
static PlaitDecoding *
decoding_of (Bench *bench, const RecurrentFixture *fixture, const PlaitEncoderOutputs *encoded,
             PlaitCrossAttentionKeys *keys, const PlaitDecoding *before, const First *first)
{
  static const gint64 one_query[] = { 0, 1 };
  const Recurrent *r = recurrent_fixture_state (fixture);
  guint n = fixture->decoder->n_primitives;
  PlaitDecoding *decoding = plait_arena_new_array (bench->arena, PlaitDecoding, 1);

  *decoding = (PlaitDecoding){ .decoder = fixture->decoder,
                               .phase = PLAIT_DECODING_DECODE,
                               .tape = bench->tape,
                               .encoded = encoded,
                               .rows = { 1, one_query },
                               .called = plait_arena_new_array0 (bench->arena, guint8, n),
                               .carried = plait_arena_new_array0 (bench->arena, PlaitNode *, n),
                               .keys = keys };
  decoding->pass = plait_cross_pass (bench->tape, encoded->memories, fixture->n_memories, decoding->rows,
                                     plait_attention_record_new (bench->arena, 1, fixture->n_memories, FALSE));
  if (before)
    memcpy (decoding->carried, before->carried, n * sizeof *decoding->carried);
  else
    {
      decoding->carried[r->states[0]] = first->state;
      if (first->cell)
        decoding->carried[r->cell_states[0]] = first->cell;
      if (first->readout)
        decoding->carried[r->fed] = first->readout;
    }
  return decoding;
}

/* Runs the steps over @embedded, beginning with @first. Returns the sum of all results times their cotangents, the root
 * of the backward pass. */
static PlaitNode *
run (Bench *bench, const RecurrentFixture *fixture, PlaitMemory *memories, const First *first, PlaitNode *embedded,
     Given *given)
{
  const Recurrent *r = recurrent_fixture_state (fixture);
  const char *name = fixture->the_case->name;
  PlaitTape *tape = bench->tape;
  PlaitEncoderOutputs encoded = { .memories = memories, .n_memories = fixture->n_memories };
  PlaitCrossAttentionKeys *keys
      = plait_arena_new_array0 (bench->arena, PlaitCrossAttentionKeys, fixture->decoder->n_primitives);
  PlaitDecoding *decoding = NULL;
  PlaitNode *terms[STEPS * 3];
  guint n = 0;

  keys[r->cross] = plait_cross_project (recurrent_fixture_cross (fixture), tape, memories);
  for (gint64 t = 0; t < STEPS; t++)
    {
      PlaitNode *row = plait_rows (tape, embedded, t, 1), *inputs[RECURRENT_INPUTS], *outputs[RECURRENT_OUTPUTS];
      PlaitNode *readout, *logits, *cell = NULL;

      decoding = decoding_of (bench, fixture, &encoded, keys, decoding, first);
      recurrent_inputs (decoding, r, row, inputs);
      plait_decoding_steps (decoding, recurrent_step, inputs, RECURRENT_INPUTS, outputs, RECURRENT_OUTPUTS);
      readout = first->readout ? outputs[RECURRENT_OUTPUT_STATE]
                               : recurrent_read_out (r, tape, outputs[RECURRENT_OUTPUT_STATE], row,
                                                     outputs[RECURRENT_OUTPUT_CONTEXT]);
      given->readouts[t] = readout;
      logits = plait_linear_apply (tape, &fixture->output, readout, PLAIT_ACTIVATION_NONE);
      keep (given->state, t, decoding->carried[r->states[0]]->value);
      keep (given->logits, t, logits->value);
      keep_weights (given, t, decoding->pass.record, memories);
      terms[n++] = reference_weigh (bench, logits, name, "logits", t);
      terms[n++] = reference_weigh (bench, decoding->carried[r->states[0]], name, "state", t);
      if (first->cell)
        {
          cell = decoding->carried[r->cell_states[0]];
          keep (given->cell, t, cell->value);
        }
      if (first->readout)
        {
          keep (given->feed, t, readout->value);
          terms[n++] = plait_add_n (tape,
                                    (PlaitNode *[]){ reference_weigh (bench, readout, name, "feed", t),
                                                     reference_weigh (bench, cell, name, "cell", t) },
                                    2);
          continue;
        }
      gint64 width = reference (name, "outputs/context")->width;
      PlaitNode *whole = outputs[RECURRENT_OUTPUT_CONTEXT], *context = plait_columns (tape, whole, 0, width);

      memcpy (given->context + t * width, context->value.data, (gsize)width * sizeof (PlaitScalar));
      terms[n++] = reference_weigh (bench, context, name, "context", t);
      for (gint64 i = width; i < whole->value.width; i++)
        CHECK (plait_tensor_row (whole->value, 0)[i] == 0);
    }
  return plait_add_n (tape, terms, n);
}

static PlaitNode *
input_of (Bench *bench, const RecurrentCase *the_case, const char *path)
{
  return reference_input (bench, the_case->name, path + strlen ("inputs/"));
}

/* Checks the negative log-probabilities of three words, computed as the training loss is. */
static void
check_losses (Bench *bench, const RecurrentFixture *fixture, const Given *given)
{
  static const gint32 words[STEPS] = { 3, 7, 0 };
  const double *expected = reference (fixture->the_case->name, "outputs/losses")->numbers;
  PlaitOutputLossOptions options = { .scale = 1 };
  PlaitOutputLossSums sums;
  PlaitTensor weight = fixture->output.weight->value, table = bench_tensor (bench, WORDS, weight.rows, NULL);
  PlaitNode *states = plait_concatenate_rows (bench->tape, given->readouts, STEPS);
  double losses[STEPS];

  for (gint64 word = 0; word < WORDS; word++)
    for (gint64 i = 0; i < weight.rows; i++)
      plait_tensor_row (table, word)[i] = plait_tensor_row (weight, i)[word];
  plait_output_loss (bench->tape, states, plait_leaf (bench->tape, table, NULL),
                     plait_leaf (bench->tape, fixture->output.bias->value, NULL), words, &options, &sums, losses);
  for (guint t = 0; t < STEPS; t++)
    CHECK_NEAR (losses[t], expected[t], NEAR);
  CHECK_NEAR (sums.negative_log_likelihood, expected[0] + expected[1] + expected[2], NEAR);
}

/* Checks values and gradients of the case. @visit_decoder visits the weights. */
static void
check_steps (const RecurrentCase *the_case, void (*visit_decoder) (const RecurrentFixture *fixture), gboolean losses)
{
  CONTEXT ("%s", the_case->name);
  g_auto (RecurrentFixture) fixture = { NULL };
  g_auto (Bench) bench = { NULL };
  gint64 offsets[MAX_MEMORIES][2] = { { 0 } };
  PlaitMemory memories[MAX_MEMORIES] = { { NULL } };
  PlaitNode *y, *s0, *c0 = NULL, *feed = NULL, *root;
  Given given = { 0 };

  recurrent_fixture_build (&fixture, the_case);
  /* Start the bench, which starts threads, after the plugins were tried in a forked child: AddressSanitizer does not
   * survive a fork while threads start. */
  bench = bench_new (1);
  visit_decoder (&fixture);
  bench_begin (&bench, PLAIT_TAPE_CHECK);
  for (guint i = 0; i < fixture.n_memories; i++)
    {
      memories[i] = (PlaitMemory){ .states = input_of (&bench, the_case, the_case->inputs[i]) };
      offsets[i][1] = memories[i].states->value.rows;
      memories[i].rows = (PlaitRagged){ 1, offsets[i] };
    }
  y = reference_input (&bench, the_case->name, "y");
  s0 = reference_input (&bench, the_case->name, "s0");
  if (recurrent_fixture_state (&fixture)->settings.cell == PLAIT_CELL_LSTM)
    c0 = reference_input (&bench, the_case->name, "c0");
  if (recurrent_fixture_state (&fixture)->settings.input_feeding)
    feed = reference_input (&bench, the_case->name, "feed");
  root
      = run (&bench, &fixture, memories, &(First){ s0, c0, feed }, widen (&bench, y, the_case->settings.width), &given);
  reference_check_output (given.state, the_case->name, "state");
  reference_check_output (given.logits, the_case->name, "logits");
  if (feed)
    reference_check_output (given.feed, the_case->name, "feed");
  else
    reference_check_output (given.context, the_case->name, "context");
  if (c0)
    reference_check_output (given.cell, the_case->name, "cell");
  for (guint i = 0; i < fixture.n_memories; i++)
    if (offsets[i][1] > 0)
      reference_check_output (given.weights[i], the_case->name, the_case->weights[i]);
  if (test_declared_attention (recurrent_fixture_cross (&fixture), PLAIT_ATTEND_CONTEXTS, 0))
    reference_check_output (given.contexts, the_case->name, "level2");
  else if (the_case->sentinel)
    reference_check_output (given.sentinel, the_case->name, "psi");
  if (losses)
    check_losses (&bench, &fixture, &given);
  plait_tape_backward (bench.tape, root);
  fixture.checking = TRUE;
  visit_decoder (&fixture);
  reference_check_input (y, the_case->name, "y");
  reference_check_input (s0, the_case->name, "s0");
  if (c0)
    reference_check_input (c0, the_case->name, "c0");
  if (feed)
    reference_check_input (feed, the_case->name, "feed");
  for (guint i = 0; i < fixture.n_memories; i++)
    reference_check_input (memories[i].states, the_case->name, the_case->inputs[i] + strlen ("inputs/"));
}

/* Returns the case recurrent/NAME: a plain or conditional GRU decoder over one memory of four rows, or over two
 * memories. */
static RecurrentCase
gru_case (const char *name, const char *combiner, const char *projections)
{
  gboolean conditional = strstr (name, "/conditional_") != NULL;
  RecurrentCase the_case = {
    .name = name,
    .combiner = combiner,
    .projections = projections,
    .sentinel = strstr (name, "_sentinel_") != NULL,
    .inputs = { "inputs/memory0", g_str_has_suffix (name, "_4") ? NULL : "inputs/memory1" },
    .weights = { "weights0", "weights1" },
    .memory_width = 8,
    .settings = plait_fixture_decoder (PLAIT_FIXTURE_GRU).settings,
    .parameters = conditional ? "layers=1 state_width=6 attention_width=7 initial=zero query=intermediate reset=after"
                              : "layers=1 state_width=6 attention_width=7 initial=zero",
  };

  the_case.settings.width = 7;
  return the_case;
}

static void
check_gru (const char *name, const char *combiner, const char *projections)
{
  RecurrentCase the_case = gru_case (name, combiner, projections);

  check_steps (&the_case, recurrent_fixture_visit_gru, FALSE);
}

/* The probability of a target is the product of the probabilities of its words, each of which is a softmax. (Equation 2
 * describes the encoder.) */
TEST_CASE (recurrent_steps, chen2017_equations_1_and_3_probability_of_words)
{
  RecurrentCase the_case = gru_case ("recurrent/plain_serial_4", "serial", NULL);

  check_steps (&the_case, recurrent_fixture_visit_gru, TRUE);
}

/* Checks state, context, weights and scores of attention. */
TEST_CASE (recurrent_steps, chen2017_equations_4_to_7_sequential_attention)
{
  check_gru ("recurrent/plain_serial_4", "serial", NULL);
}

TEST_CASE (recurrent_steps, parallel_sums_contexts)
{
  check_gru ("recurrent/plain_parallel_32", "parallel", NULL);
}

TEST_CASE (recurrent_steps, dl4mt_conditional_gru)
{
  check_gru ("recurrent/conditional_parallel_32", "parallel", NULL);
}

TEST_CASE (recurrent_steps, serial_refines_the_query)
{
  check_gru ("recurrent/plain_serial_32", "serial", NULL);
  check_gru ("recurrent/conditional_serial_30", "serial", NULL);
}

TEST_CASE (recurrent_steps, libovicky2017_equations_6_to_8_flat)
{
  check_gru ("recurrent/plain_flat_30", "flat", "separate");
  check_gru ("recurrent/conditional_flat_32", "flat", "separate");
}

TEST_CASE (recurrent_steps, flat_with_one_projection_for_all)
{
  check_gru ("recurrent/plain_flat_shared_32", "flat", "shared");
}

TEST_CASE (recurrent_steps, libovicky2017_equations_9_and_10_hierarchical)
{
  check_gru ("recurrent/plain_hierarchical_32", "hierarchical", NULL);
  check_gru ("recurrent/conditional_hierarchical_30", "hierarchical", NULL);
}

TEST_CASE (recurrent_steps, libovicky2017_sentinel_in_one_softmax)
{
  check_gru ("recurrent/plain_flat_sentinel_32", "flat", "separate");
  check_gru ("recurrent/conditional_flat_sentinel_30", "flat", "separate");
}

TEST_CASE (recurrent_steps, libovicky2017_sentinel_over_contexts)
{
  check_gru ("recurrent/plain_hierarchical_sentinel_30", "hierarchical", "separate");
  check_gru ("recurrent/conditional_hierarchical_sentinel_32", "hierarchical", NULL);
}

TEST_CASE (recurrent_steps, luong2015_section_3_input_feeding_lstm)
{
  RecurrentCase the_case = {
    .name = "recurrent/luong",
    .combiner = "serial",
    .inputs = { "inputs/m" },
    .weights = { "weights" },
    .memory_width = STATE,
    .settings = plait_fixture_decoder (PLAIT_FIXTURE_LSTM).settings,
    .parameters = "layers=1 query=current attention=dot input_feeding=true readout=attentional initial=zero",
  };

  the_case.settings.width = STATE;
  check_steps (&the_case, recurrent_fixture_visit_luong, FALSE);
}
