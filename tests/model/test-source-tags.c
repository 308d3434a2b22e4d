/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "contract/pass.h"
#include "corpus/batch.h"
#include "harness.h"
#include "layers/parameter-set.h"
#include "search/search.h"
#include "models.h"

/* Tags of source words that a model predicts besides its target: losses, gradients and predictions against sums in
 * doubles. */

#ifdef PLAIT_SCALAR_DOUBLE
#define AGREEMENT 1e-9
#else
#define AGREEMENT 1e-4
#endif

enum
{
  SENTENCES = PLAIT_PASS_SENTENCES,
  STREAMS = 3,
  MOST = 64, /* rows of a source */
};

/* The streams of tags: two of the first source, one of the second. */
static const PlaitFactorSpecification streams[STREAMS] = {
  { .name = "pos", .vocabulary_size = PLAIT_TOKEN_SPECIALS + 5, .weight = 0.5 },
  { .name = "ner", .vocabulary_size = PLAIT_TOKEN_SPECIALS + 2, .weight = 2 },
  { .name = "pos", .vocabulary_size = PLAIT_TOKEN_SPECIALS + 3, .weight = 1 },
};
static const char *const names[STREAMS]
    = { "source/first/tags/pos/", "source/first/tags/ner/", "source/second/tags/pos/" };
static const guint source_of[STREAMS] = { 0, 0, 1 };
static const double weights[SENTENCES] = { 1, 2.5, 0.5 };

typedef struct
{
  PlaitFixture *model;
  PlaitBatch *batch;
  gint32 ids[STREAMS][MOST];
  const gint32 *factors[STREAMS];
} Setup;

static void
setup_clear (Setup *setup)
{
  plait_batch_free (setup->batch);
  plait_fixture_free (setup->model);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Setup, setup_clear)

/* Sets the tags of the sources in the batch, or removes the tags. */
static void
set_tags (Setup *setup, gboolean tagged)
{
  for (guint i = 0; i < 2; i++)
    {
      PlaitInput *input = plait_batch_fill (PlaitInput, setup->batch->inputs) + i;

      input->factors = setup->factors + 2 * i;
      input->n_factors = tagged ? 2 - i : 0;
    }
}

/* Builds a model of two sources with the encoder @encoder. Each row has no tag, the unknown tag, or any other tag. */
static void
set_up (Setup *setup, const char *encoder, const char *leaves)
{
  PlaitRegistry *registry = test_registry ();
  PlaitPlugin *plugin = test_plugin (registry, PLAIT_PLUGIN_ENCODER, encoder);
  PlaitPlugin *inner = leaves ? test_plugin (registry, PLAIT_PLUGIN_ENCODER, leaves) : NULL;
  PlaitPlugin *combiner = test_plugin (registry, PLAIT_PLUGIN_COMBINER, "serial");
  g_autoptr (PlaitSettings) settings = plait_fixture_settings (plugin);
  g_autoptr (PlaitSettings) inner_settings = inner ? plait_fixture_settings (inner) : NULL;
  g_autoptr (PlaitSettings) combiner_settings = plait_fixture_settings (combiner);
  PlaitFixtureSource source = { plugin, settings, inner, inner_settings };
  PlaitFixtureSource sources[2] = { source, source };
  PlaitFixtureDecoder decoder
      = plait_fixture_decoder_with (PLAIT_FIXTURE_TRANSFORMER, combiner, combiner_settings, NULL, NULL);

  setup->model = plait_fixture_new (sources, 2, &decoder, 6, NO_ERROR);
  REQUIRE (setup->model != NULL);
  for (guint i = 0; i < 2; i++)
    {
      setup->model->sources[i].factors = streams + 2 * i;
      setup->model->sources[i].n_tags = 2 - i;
    }
  plait_model_free (setup->model->model);
  setup->model->model = plait_model_new (&setup->model->specification, NO_ERROR);
  REQUIRE (setup->model->model != NULL);
  plait_fixture_initialise (setup->model, 7);
  setup->batch = plait_pass_batch (setup->model, &plait_pass_missing);
  for (guint s = 0; s < SENTENCES; s++)
    plait_batch_fill (double, setup->batch->weights)[s] = weights[s];
  for (guint t = 0; t < STREAMS; t++)
    {
      const PlaitInput *input = &setup->batch->inputs[source_of[t]];

      setup->factors[t] = setup->ids[t];
      g_assert (plait_ragged_rows (input->rows) < MOST);
      for (gint64 row = 0; row < plait_ragged_rows (input->rows); row++)
        setup->ids[t][row] = row % 5 == 3 ? PLAIT_TOKEN_PAD
                             : row % 7 == 4
                                 ? PLAIT_TOKEN_UNKNOWN
                                 : (gint32)(PLAIT_TOKEN_SPECIALS
                                            + (row * row + t) % (streams[t].vocabulary_size - PLAIT_TOKEN_SPECIALS));
    }
  set_tags (setup, TRUE);
  CHECK (plait_model_check_batch (setup->model->model, setup->batch, NO_ERROR));
}

static PlaitTensor
parameter_of (const Setup *setup, guint t, const char *name)
{
  g_autofree char *full = g_strconcat (names[t], name, NULL);

  return test_parameter (setup->model, full);
}

/* Expected results of one stream. */
typedef struct
{
  double loss, weighted; /* sum over the words, without and with the weights of sentences */
  PlaitLossItems items;
  double bias[8], table[8][64]; /* gradients of the weighted loss */
  gint32 best[MOST];            /* most probable tag of each row, from 0 */
} Expected;

/* Adds the word in row @row of the input to @expected. The row belongs to sentence @s and has the state @state. */
static void
add_word (const Setup *setup, guint t, gint64 s, gint64 row, const PlaitScalar *state, Expected *expected)
{
  PlaitTensor table = parameter_of (setup, t, "weight"), bias = parameter_of (setup, t, "bias");
  gint32 tag = setup->ids[t][row] - PLAIT_TOKEN_SPECIALS;
  double logits[8], total = 0;
  gint64 best = 0;

  for (gint64 k = 0; k < table.rows; k++)
    {
      logits[k] = (double)bias.data[k];
      for (gint64 c = 0; c < table.width; c++)
        logits[k] += (double)plait_tensor_row (table, k)[c] * (double)state[c];
      total += exp (logits[k]);
      best = logits[k] > logits[best] ? k : best;
    }
  expected->best[row] = (gint32)best;
  expected->items.n += setup->ids[t][row] >= PLAIT_TOKEN_UNKNOWN;
  if (tag < 0)
    return;
  expected->items.correct += tag == best;
  expected->loss += log (total) - logits[tag];
  expected->weighted += weights[s] * (log (total) - logits[tag]);
  for (gint64 k = 0; k < table.rows; k++)
    {
      double error = weights[s] * (exp (logits[k]) / total - (k == tag));

      expected->bias[k] += error;
      for (gint64 c = 0; c < table.width; c++)
        expected->table[k][c] += error * (double)state[c];
    }
}

/* Returns the expected results of stream @t for the memory @memory of its source. */
static Expected
expect_of (const Setup *setup, guint t, const PlaitMemory *memory)
{
  const PlaitInput *input = &setup->batch->inputs[source_of[t]];
  Expected expected = { 0 };

  CHECK_INT (memory->states->value.width, parameter_of (setup, t, "weight").width);
  for (gint64 s = 0; s < SENTENCES; s++)
    for (gint64 row = memory->rows.offsets[s]; row < memory->rows.offsets[s + 1]; row++)
      if (memory->links->token[row] >= 0)
        add_word (setup, t, s, input->rows.offsets[s] + memory->links->token[row],
                  plait_tensor_row (memory->states->value, row), &expected);
  return expected;
}

static Expected
expect (const Setup *setup, guint t)
{
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  g_autoptr (PlaitTape) tape = plait_tape_new (pool, arena);

  plait_tape_begin (tape, PLAIT_TAPE_EVALUATE, (PlaitRandomKey){ 0 });
  PlaitEncoderOutputs encoded = plait_model_encode (setup->model->model, tape, setup->batch, NULL);
  return expect_of (setup, t, &encoded.own[source_of[t]]);
}

/* Checks the gradients of the parameters of stream @t, after a pass. */
static void
check_gradients (const Setup *setup, guint t, const Expected *expected)
{
  g_autofree char *table = g_strconcat (names[t], "weight", NULL), *bias = g_strconcat (names[t], "bias", NULL);
  const PlaitParameters *parameters = plait_model_parameters (setup->model->model);
  PlaitTensor of_table = plait_parameters_find (parameters, table)->gradient;
  PlaitTensor of_bias = plait_parameters_find (parameters, bias)->gradient;

  for (gint64 k = 0; k < of_table.rows; k++)
    {
      CHECK_NEAR ((double)of_bias.data[k], streams[t].weight * expected->bias[k], AGREEMENT * 10);
      for (gint64 c = 0; c < of_table.width; c++)
        CHECK_NEAR ((double)plait_tensor_row (of_table, k)[c], streams[t].weight * expected->table[k][c],
                    AGREEMENT * 10);
    }
}

/* Checks the model with the encoder @encoder and the inner encoder @leaves, or NULL. */
static void
check_encoder (const char *encoder, const char *leaves)
{
  g_auto (Setup) setup = { 0 };
  PlaitPass with, without;
  const PlaitSourceTags *tags;
  double auxiliary = 0, weighted = 0;
  guint n;
  CONTEXT ("encoder %s", encoder);

  set_up (&setup, encoder, leaves);
  set_tags (&setup, FALSE);
  CHECK (plait_model_check_batch (setup.model->model, setup.batch, NO_ERROR));
  CHECK (plait_pass_run (setup.model, setup.batch, PLAIT_TAPE_CHECK, 1, 1, &without, NO_ERROR));
  CHECK (without.sums.auxiliary == 0);
  set_tags (&setup, TRUE);
  CHECK (plait_pass_run (setup.model, setup.batch, PLAIT_TAPE_CHECK, 2, 1, &with, NO_ERROR));
  tags = plait_model_tags (setup.model->model, &n);
  CHECK_INT (n, STREAMS);
  for (guint t = 0; t < n; t++)
    {
      Expected expected = expect (&setup, t);
      CONTEXT ("stream %u", t);

      CHECK_NEAR (with.sums.losses[tags[t].column], expected.loss, AGREEMENT * expected.loss);
      CHECK_INT (with.sums.items[tags[t].column].n, expected.items.n);
      CHECK_INT (with.sums.items[tags[t].column].correct, expected.items.correct);
      CHECK (expected.items.n > 3 && expected.items.correct < expected.items.n);
      check_gradients (&setup, t, &expected);
      auxiliary += streams[t].weight * expected.loss;
      weighted += streams[t].weight * expected.weighted;
    }
  CHECK_NEAR (with.sums.auxiliary, auxiliary, AGREEMENT * auxiliary);
  CHECK (with.sums.words.loss == without.sums.words.loss);
  CHECK (weighted > 1);
  CHECK (plait_pass_has_gradients (setup.model, setup.batch, PLAIT_TAPE_CHECK, 3, NO_ERROR));
}

TEST_CASE (source_tags, have_the_losses_and_gradients_of_a_softmax)
{
  check_encoder ("transformer", NULL);
  check_encoder ("bigru", NULL);
  check_encoder ("bilstm", NULL);
  check_encoder ("bitree-gru", "bigru");
  check_encoder ("pyramid", "transformer");
}

/* The criterion has the losses of tags, weighted and scaled. */
TEST_CASE (source_tags, are_summands_of_the_criterion)
{
  g_auto (Setup) setup = { 0 };
  g_autoptr (PlaitPool) pool = plait_pool_new (2, NULL);
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  g_autoptr (PlaitTape) tape = plait_tape_new (pool, arena);
  double roots[2], expected = 0;

  set_up (&setup, "bigru", NULL);
  for (guint t = 0; t < STREAMS; t++)
    expected += 0.25 * streams[t].weight * expect (&setup, t).weighted;
  for (guint i = 0; i < 2; i++)
    {
      PlaitOutputLossOptions options = { .scale = 0.25 };
      PlaitModelSums sums;

      set_tags (&setup, i > 0);
      plait_tape_begin (tape, PLAIT_TAPE_TRAIN, (PlaitRandomKey){ 0 });
      roots[i] = (double)plait_tape_value (
                     tape, plait_model_loss (setup.model->model, tape, setup.batch, &options, &sums, NULL, NULL))
                     .data[0];
    }
  CHECK_NEAR (roots[1] - roots[0], expected, 10 * AGREEMENT * expected);
}

/* The memory links each row to a token. Here, the rows of a sentence are in the opposite order of its tokens. */
TEST_CASE (source_tags, follow_the_links_of_rows)
{
  g_auto (Setup) setup = { 0 };
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  g_autoptr (PlaitTape) tape = plait_tape_new (pool, arena);
  gint64 token[MOST];
  const PlaitLinks links = { .token = token };
  PlaitLossItems items;
  double loss;
  guint n;

  set_up (&setup, "transformer", NULL);
  plait_tape_begin (tape, PLAIT_TAPE_TRAIN, (PlaitRandomKey){ 0 });
  PlaitEncoderOutputs encoded = plait_model_encode (setup.model->model, tape, setup.batch, NULL);
  PlaitMemory *memory = &encoded.own[0];
  for (gint64 s = 0; s < SENTENCES; s++)
    for (gint64 i = 0; i < plait_ragged_length (memory->rows, s); i++)
      token[memory->rows.offsets[s] + i] = plait_ragged_length (memory->rows, s) - 1 - i;
  memory->links = &links;
  Expected expected = expect_of (&setup, 0, memory), straight = expect (&setup, 0);
  CHECK (
      plait_source_tags_loss (plait_model_tags (setup.model->model, &n), tape, setup.batch, &encoded, 1, &loss, &items)
      != NULL);
  CHECK_NEAR (loss, expected.loss, AGREEMENT * loss);
  CHECK_INT (items.correct, expected.items.correct);
  CHECK (fabs (expected.loss - straight.loss) > 1e-3);
}

TEST_CASE (source_tags, are_predicted_for_each_token)
{
  g_auto (Setup) setup = { 0 };
  g_autoptr (PlaitPool) pool = plait_pool_new (2, NULL);
  PlaitEncoderOutputs outputs;

  set_up (&setup, "bitree-gru", "bigru");
  plait_batch_fill (gint32, setup.batch->inputs[0].tokens)[1] = PLAIT_TOKEN_EOS;
  g_autoptr (PlaitSearch) search = plait_search_new (setup.model->model, pool, PLAIT_PRECISION_FLOAT, 0, NO_ERROR);
  Expected expected[STREAMS] = { expect (&setup, 0), expect (&setup, 1), expect (&setup, 2) };
  set_tags (&setup, FALSE);
  REQUIRE (plait_search_encode (search, setup.batch, &outputs, NO_ERROR));
  for (guint t = 0; t < STREAMS; t++)
    {
      const PlaitInput *input = &setup.batch->inputs[source_of[t]];

      for (gint64 row = 0; row < plait_ragged_rows (input->rows); row++)
        CHECK_INT (outputs.tags[t][row], input->tokens[row] < PLAIT_TOKEN_UNKNOWN
                                             ? PLAIT_TOKEN_PAD
                                             : PLAIT_TOKEN_SPECIALS + expected[t].best[row]);
    }
}

TEST_CASE (source_tags, are_not_predicted_without_numbers)
{
  g_auto (Setup) setup = { 0 };
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
  g_autoptr (GError) error = NULL;
  PlaitEncoderOutputs outputs;

  set_up (&setup, "transformer", NULL);
  PlaitTensor bias = test_parameter (setup.model, "source/second/tags/pos/bias");
  for (gint64 k = 0; k < bias.width; k++)
    bias.data[k] = (PlaitScalar)NAN;
  g_autoptr (PlaitSearch) search = plait_search_new (setup.model->model, pool, PLAIT_PRECISION_FLOAT, 0, NO_ERROR);
  CHECK (!plait_search_encode (search, setup.batch, &outputs, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "[source second] tags: the model gives no tag a probability");
}

TEST_CASE (source_tags, are_refused_in_words)
{
  g_auto (Setup) setup = { 0 };
  g_autoptr (GError) error = NULL, none = NULL;
  PlaitFactorSpecification empty = { .name = "pos", .vocabulary_size = PLAIT_TOKEN_SPECIALS, .weight = 1 };

  set_up (&setup, "transformer", NULL);
  setup.ids[1][0] = PLAIT_TOKEN_SPECIALS + 2;
  CHECK (!plait_model_check_batch (setup.model->model, setup.batch, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "ner, sentence 1: token id 6 is outside the vocabulary of 6 pieces");
  setup.model->sources[1].factors = &empty;
  CHECK (!plait_model_new (&setup.model->specification, &none));
  CHECK_ERROR (none, PLAIT_ERROR_INPUT, "[source second] tags: the vocabulary of pos has no tags");
}
