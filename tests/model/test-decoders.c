/* SPDX-License-Identifier: MIT */
#include "contract/pass.h"
#include "corpus/batch.h"
#include "decoders/decoder.h"
#include "layers/parameter-set.h"
#include "reference.h"
#include "search-fixture.h"

#include <string.h>

/*
 * Tests of convolutional decoders (Gehring et al. 2017) and of minGRU (Feng et al. 2024) against the float64 reference,
 * step by step, and in search. test-recurrent-steps.c tests the other recurrent decoders.
 */

enum
{
  WIDTH = 8,
  ROWS = 5,
  WORDS = PLAIT_TOKEN_SPECIALS + ROWS
};

typedef struct
{
  const char *the_case;
  const char *plugin;
  const char *parameters;
  gint norm;
  /* Parameters of the reference: each has a name there, and a parameter and column here. */
  const struct
  {
    const char *theirs;
    const char *ours;
    gint64 column;
  } places[32];
} DecoderCase;

static const DecoderCase cases[] = {
  { "decoder/convolutional",
    "convolutional",
    "layers=2 kernel=3 positions=none",
    PLAIT_DECODER_NORM_PRE,
    { { "0/Wc", "decoder/layer/0/convolution/weight" },
      { "0/bc", "decoder/layer/0/convolution/bias" },
      { "0/Wd", "decoder/layer/0/query/weight" },
      { "0/bd", "decoder/layer/0/query/bias" },
      { "1/Wc", "decoder/layer/1/convolution/weight" },
      { "1/bc", "decoder/layer/1/convolution/bias" },
      { "1/Wd", "decoder/layer/1/query/weight" },
      { "1/bd", "decoder/layer/1/query/bias" } } },
#define MINGRU                                                                                                         \
  { "rnn/Wz", "decoder/layer/0/recurrence/gate/weight" }, { "rnn/bz", "decoder/layer/0/recurrence/gate/bias" },        \
      { "rnn/Wh", "decoder/layer/0/recurrence/candidate/weight" },                                                     \
      { "rnn/bh", "decoder/layer/0/recurrence/candidate/bias" }, { "ln1/g", "decoder/layer/0/recurrence_norm/gain" },  \
      { "ln1/b", "decoder/layer/0/recurrence_norm/bias" },                                                             \
      { "combiner/ln/0/g", "decoder/layer/0/combiner/normalise/0/gain" },                                              \
      { "combiner/ln/0/b", "decoder/layer/0/combiner/normalise/0/bias" },                                              \
      { "combiner/attend/0/Wq", "decoder/layer/0/combiner/attend/m/query/weight" },                                    \
      { "combiner/attend/0/Wk", "decoder/layer/0/combiner/attend/m/key_value/weight" },                                \
      { "combiner/attend/0/Wv", "decoder/layer/0/combiner/attend/m/key_value/weight", WIDTH },                         \
      { "combiner/attend/0/Wo", "decoder/layer/0/combiner/attend/m/output/weight" },                                   \
      { "ln3/g", "decoder/layer/0/feed_forward_norm/gain" }, { "ln3/b", "decoder/layer/0/feed_forward_norm/bias" },    \
      { "ff/W1", "decoder/layer/0/feed_forward/inner/weight" },                                                        \
      { "ff/b1", "decoder/layer/0/feed_forward/inner/bias" },                                                          \
      { "ff/W2", "decoder/layer/0/feed_forward/outer/weight" },                                                        \
  {                                                                                                                    \
    "ff/b2", "decoder/layer/0/feed_forward/outer/bias"                                                                 \
  }
  { "decoder/mingru_pre_2",
    "mingru",
    "layers=1 expansion=2 feed_forward=12 activation=relu feed_forward_dropout=0",
    PLAIT_DECODER_NORM_PRE,
    { MINGRU,
      { "rnn/Wo", "decoder/layer/0/recurrence/output/weight" },
      { "rnn/bo", "decoder/layer/0/recurrence/output/bias" },
      { "norm/g", "decoder/norm/gain" },
      { "norm/b", "decoder/norm/bias" } } },
  { "decoder/mingru_post_1",
    "mingru",
    "layers=1 expansion=1 feed_forward=12 activation=relu feed_forward_dropout=0",
    PLAIT_DECODER_NORM_POST,
    { MINGRU,
      { "combiner/attend/0/bq", "decoder/layer/0/combiner/attend/m/query/bias" },
      { "combiner/attend/0/bk", "decoder/layer/0/combiner/attend/m/key_value/bias" },
      { "combiner/attend/0/bv", "decoder/layer/0/combiner/attend/m/key_value/bias", WIDTH },
      { "combiner/attend/0/bo", "decoder/layer/0/combiner/attend/m/output/bias" } } },
};

/* A decoder with the parameters of one case. */
typedef struct
{
  PlaitRegistry *registry;
  PlaitParameters *parameters;
  PlaitDecoderSettings settings;
  PlaitComponent *plugin;
  PlaitComponent *combiner;
  PlaitLossColumns losses;
  PlaitMemorySpecification memory;
  PlaitEmbedding embedding;
  PlaitDecoder *decoder;
} Built;

static void
built_clear (Built *built)
{
  plait_parameters_free (built->parameters);
  plait_component_free (built->plugin);
  plait_component_free (built->combiner);
  plait_loss_columns_clear (&built->losses);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Built, built_clear)

/* Returns settings of @plugin with the values in @text. (transfer full) */
static PlaitSettings *
settings_of (PlaitPlugin *plugin, const char *text)
{
  PlaitSettings *settings = plait_fixture_settings (plugin);
  g_auto (GStrv) pairs = g_strsplit (text, " ", -1);

  for (guint i = 0; pairs[i]; i++)
    {
      g_auto (GStrv) pair = g_strsplit (pairs[i], "=", 2);

      CHECK (plait_settings_set (settings, pair[0], pair[1], NO_ERROR));
    }
  return settings;
}

/* Returns the token of row @row: a start token first, then any others. */
static gint32
token_of (gint64 row)
{
  return row == 0 ? PLAIT_TOKEN_BOS : PLAIT_TOKEN_SPECIALS + (gint32)row;
}

static void
build (Built *built, const DecoderCase *the_case)
{
  static const PlaitPredictSettings sequence = { .kind = PLAIT_PREDICT_SEQUENCE };
  PlaitDecoderComponents components
      = { .settings = &built->settings, .predict = &sequence, .n_memories = 1, .losses = &built->losses };
  const ReferenceArray *x = reference (the_case->the_case, "inputs/x");
  g_autoptr (PlaitSettings) of_combiner = NULL;
  g_autoptr (PlaitSettings) own = NULL;
  PlaitPlugin *combiner, *plugin;

  *built = (Built){ .registry = test_registry (), .parameters = plait_parameters_new () };
  built->settings = plait_fixture_decoder (0).settings;
  built->settings.norm = the_case->norm;
  built->settings.attention_bias = the_case->norm == PLAIT_DECODER_NORM_POST; /* as in the reference */
  built->memory = (PlaitMemorySpecification){ .name = "m", .width = WIDTH };
  combiner = test_plugin (built->registry, PLAIT_PLUGIN_COMBINER, "serial");
  of_combiner = plait_fixture_settings (combiner);
  built->combiner = test_opened_part (combiner, of_combiner, "combiner");
  plugin = test_plugin (built->registry, PLAIT_PLUGIN_DECODER, the_case->plugin);
  own = settings_of (plugin, the_case->parameters);
  built->plugin = test_opened_part (plugin, own, "decoder");
  built->embedding = plait_embedding_declare (built->parameters, "table", WORDS, WIDTH, PLAIT_ZEROS, 1);
  components.decoder = built->plugin;
  components.combiner = built->combiner;
  components.memories = &built->memory;
  components.embedding = &built->embedding;
  components.parameters = built->parameters;
  built->decoder = plait_decoder_new (&components, NO_ERROR);
  CHECK (plait_parameters_allocate (built->parameters, NO_ERROR));
  for (guint i = 0; the_case->places[i].theirs; i++)
    reference_set (plait_parameters_find (built->parameters, the_case->places[i].ours), the_case->places[i].column,
                   the_case->the_case, the_case->places[i].theirs);
  plait_parameters_write_values (built->parameters);
  for (gint64 row = 0; row < ROWS; row++)
    for (gint64 i = 0; i < WIDTH; i++)
      plait_tensor_row (built->embedding.table->value, token_of (row))[i] = (PlaitScalar)x->numbers[row * WIDTH + i];
}

/* Checks the states and all gradients of a whole target. */
static void
check_whole (const DecoderCase *the_case)
{
  static const gint64 four[] = { 0, 4 }, five[] = { 0, ROWS };
  g_auto (Bench) bench = bench_new (2);
  g_auto (Built) built = { NULL };
  PlaitMemory memory = { .rows = { 1, four } };
  PlaitEncoderOutputs encoded = { .memories = &memory, .n_memories = 1 };
  const ReferenceArray *dx = reference (the_case->the_case, "gradients/inputs/x");
  gint32 tokens[ROWS];

  build (&built, the_case);
  for (gint64 row = 0; row < ROWS; row++)
    tokens[row] = token_of (row);
  memory.states = reference_input (&bench, the_case->the_case, "memory");
  reference_go_back (
      &bench, plait_decoder_forward (built.decoder, bench.tape, &encoded, (PlaitRagged){ 1, five }, tokens, NULL),
      the_case->the_case);
  reference_check_input (memory.states, the_case->the_case, "memory");
  for (guint i = 0; the_case->places[i].theirs; i++)
    reference_check_gradient (plait_parameters_find (built.parameters, the_case->places[i].ours),
                              the_case->places[i].column, the_case->the_case, the_case->places[i].theirs);
  for (gint64 row = 0; row < ROWS; row++)
    check_tensor ("dx", plait_tensor_rows (built.embedding.table->gradient, token_of (row), 1),
                  dx->numbers + row * WIDTH, NEAR * 10);
}

/* Checks that a search, step by step, has the states of the whole target. It has two hypotheses, which exchange their
 * places in each step; both consist of the words of the target. */
static void
check_steps (const DecoderCase *the_case)
{
  static const gint64 four[] = { 0, 4 }, pair[] = { 0, 2 };
  static const gint64 firsts[] = { 0, 0 }, crosswise[] = { 1, 0 };
  g_auto (Bench) bench = bench_new (2);
  g_auto (Built) built = { NULL };
  PlaitMemory memory = { .rows = { 1, four } };
  PlaitEncoderOutputs encoded = { .memories = &memory, .n_memories = 1 };
  const ReferenceArray *y = reference (the_case->the_case, "outputs/y");
  PlaitDecoderState *search;

  build (&built, the_case);
  bench_begin (&bench, PLAIT_TAPE_EVALUATE);
  memory.states = reference_input (&bench, the_case->the_case, "memory");
  search = plait_decoder_start (built.decoder, bench.tape, &encoded, 2, ROWS);
  for (gint64 row = 0; row < ROWS; row++)
    {
      gint32 tokens[] = { token_of (row), token_of (row) };
      PlaitNode *states = plait_decoder_step (search, bench.tape, (PlaitRagged){ 1, pair }, tokens,
                                              row == 0 ? firsts : crosswise, NULL);
      CONTEXT ("row %d", (int)row);

      for (gint64 h = 0; h < 2; h++)
        check_tensor ("y", plait_tensor_rows (states->value, h, 1), y->numbers + row * WIDTH, NEAR * 10);
    }
}

/* Checks the decoders of Gehring et al. 2017, section 3.1-3.3, and of Feng et al. 2024, section 3.1.3. */
TEST_CASE (decoders, equal_the_reference_whole_and_step_by_step)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("%s", cases[i].the_case);

      check_whole (&cases[i]);
      check_steps (&cases[i]);
    }
}

/* Checks all hypotheses of a beam, found with the decoder @plugin, against forced decoding. */
static void
check_search (const char *plugin, const char *parameters, guint norm, const char *combiner, const char *coverage,
              gboolean sentinel)
{
  PlaitFixtureDecoder decoder = plait_fixture_decoder (norm);
  PlaitDecodeSettings settings = search_fixture_settings (4);
  PlaitHypotheses *found;
  CONTEXT ("%s %s, %s, coverage %s, sentinel %d", plugin, parameters, combiner, coverage, sentinel);

  decoder.settings.type = plugin;
  decoder.parameters = parameters;
  g_auto (SearchFixture) fixture = search_fixture_with (NULL, combiner, decoder, coverage, sentinel);
  g_autoptr (PlaitBatch) batch = search_fixture_batch (&fixture);
  g_autoptr (PlaitSearch) search
      = plait_search_new (fixture.model->model, fixture.pool, PLAIT_PRECISION_FLOAT, 0, NULL);

  found = plait_search_batch (search, batch, &settings, NO_ERROR);
  REQUIRE (found != NULL);
  for (guint place = 0; place < 4; place++)
    search_fixture_check (&fixture, search, found, place);
  plait_hypotheses_free (found, 3);
}

TEST_CASE (decoders, search_as_forced_decoding_scores)
{
  static const char *const parameters[][2] = {
    { "convolutional", "layers=2 kernel=2 position_limit=32" },
    { "convolutional", "layers=1 kernel=1 attention=additive positions=interleaved" },
    { "mingru", "layers=2 feed_forward=12 feed_forward_dropout=0" },
    { "mingru", "layers=1 expansion=3 feed_forward=12 feed_forward_dropout=0" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (parameters); i++)
    for (guint c = 0; c < SEARCH_FIXTURE_COMBINERS; c++)
      {
        check_search (parameters[i][0], parameters[i][1], i % 2, search_fixture_combiners[c], NULL, FALSE);
        if (c < SEARCH_FIXTURE_COVERED)
          check_search (parameters[i][0], parameters[i][1], i % 2, search_fixture_combiners[c], "word", FALSE);
      }
  for (guint i = 0; i < 2; i++)
    {
      check_search (parameters[i][0], parameters[i][1], 0, "flat", NULL, TRUE);
      check_search (parameters[i][0], parameters[i][1], 0, "hierarchical", "word", TRUE);
    }
}

/* Gradients of convolutional decoders equal finite differences, with every score function and every combiner except
 * descent. */
TEST_CASE (decoders, convolutional_gradients_under_every_combiner)
{
  static const char *const parameters[] = {
    "layers=2 kernel=2 position_limit=32 attention=dot",
    "layers=2 kernel=2 position_limit=32 attention=additive",
    "layers=2 kernel=2 position_limit=32 attention=multiplicative",
  };

  for (guint i = 0; i < G_N_ELEMENTS (parameters); i++)
    for (guint c = 0; c < SEARCH_FIXTURE_COVERED; c++)
      {
        PlaitFixtureDecoder decoder = plait_fixture_decoder (0);
        CONTEXT ("%s, %s", parameters[i], search_fixture_combiners[c]);

        decoder.settings.type = "convolutional";
        decoder.parameters = parameters[i];
        g_auto (SearchFixture) fixture = search_fixture_with (NULL, search_fixture_combiners[c], decoder, NULL, FALSE);
        g_autoptr (PlaitBatch) batch = search_fixture_batch (&fixture);

        CHECK (plait_pass_has_gradients (fixture.model, batch, PLAIT_TAPE_CHECK, 2, NO_ERROR));
      }
}
