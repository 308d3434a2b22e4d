/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "contract/pass.h"
#include "corpus/batch.h"
#include "cross-attention/rows.h"
#include "harness.h"
#include "models.h"

/* Tests of models that predict for the tokens of the first source: tags, masked tokens and spans. Checks values against
 * sums in doubles, gradients, and sentences read alone. */

#ifdef PLAIT_SCALAR_DOUBLE
#define AGREEMENT 1e-9
#else
#define AGREEMENT 1e-4
#endif

enum
{
  SENTENCES = PLAIT_PASS_SENTENCES,
  WIDTH = 6,
  LABELS = PLAIT_FIXTURE_WORDS - PLAIT_TOKEN_SPECIALS,
};

/* Builds a model that predicts @kind from @n sources. Each encoder has one layer. */
static PlaitFixture *
token_model (PlaitRegistry *registry, PlaitPredictKind kind, guint n)
{
  PlaitPlugin *encoder = test_plugin (registry, PLAIT_PLUGIN_ENCODER, "transformer");
  g_autoptr (PlaitSettings) settings = plait_fixture_settings (encoder);
  PlaitFixtureSource source = { encoder, settings, NULL, NULL };
  PlaitFixtureSource sources[] = { source, source, source };
  PlaitFixtureDecoder decoder = {
    .settings = plait_fixture_decoder (PLAIT_FIXTURE_TRANSFORMER).settings,
    .predict = { .kind = kind, .memories = "", .row = PLAIT_ROW_MEAN },
  };

  return plait_fixture_new (sources, n, &decoder, WIDTH, NO_ERROR);
}

/* Writes to @x the row of token @token of sentence @s, followed by the means over the rows of each other memory.
 * Returns the width. */
static gint64
read_row (const PlaitMemory *memories, guint n, gint64 s, gint64 token, double *x)
{
  gint64 width = memories[0].states->value.width, found = width;

  for (gint64 k = 0; k < width; k++)
    x[k] = (double)plait_tensor_row (memories[0].states->value, memories[0].rows.offsets[s] + token)[k];
  for (guint m = 1; m < n; m++)
    for (gint64 k = 0; k < width; k++)
      {
        gint64 first = memories[m].rows.offsets[s], end = memories[m].rows.offsets[s + 1];

        x[found] = 0;
        for (gint64 row = first; row < end; row++)
          x[found] += (double)plait_tensor_row (memories[m].states->value, row)[k] / (double)(end - first);
        found++;
      }
  return found;
}

/* Returns -log p of the tag @tag, where p is softmax (tanh (x W + b) V^T + c). */
static double
expected (const PlaitFixture *model, const double *x, gint64 n, gint32 tag)
{
  PlaitTensor weight = test_parameter (model, "tags/hidden/weight"), bias = test_parameter (model, "tags/hidden/bias");
  PlaitTensor table = test_parameter (model, "tags/output/weight"),
              output_bias = test_parameter (model, "tags/output/bias");
  double state[64], logits[LABELS], sum = 0;

  CHECK_INT (weight.rows, n);
  CHECK_INT (table.rows, LABELS);
  for (gint64 k = 0; k < weight.width; k++)
    {
      state[k] = (double)bias.data[k];
      for (gint64 c = 0; c < n; c++)
        state[k] += x[c] * (double)weight.data[c * weight.width + k];
      state[k] = tanh (state[k]);
    }
  for (gint64 v = 0; v < LABELS; v++)
    {
      logits[v] = (double)output_bias.data[v];
      for (gint64 k = 0; k < weight.width; k++)
        logits[v] += state[k] * (double)table.data[v * weight.width + k];
      sum += exp (logits[v]);
    }
  return log (sum) - logits[tag];
}

TEST_CASE (tag_head, is_softmax_of_what_tokens_and_other_sources_say)
{
  PlaitRegistry *registry = test_registry ();

  for (guint n = 1; n <= 3; n++)
    {
      g_autoptr (PlaitFixture) model = token_model (registry, PLAIT_PREDICT_TAGS, n);
      g_autoptr (PlaitBatch) batch = plait_pass_batch (model, &plait_pass_whole);
      g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
      g_autoptr (PlaitArena) arena = plait_arena_new (0);
      g_autoptr (PlaitTape) tape = plait_tape_new (pool, arena);
      PlaitEncoderOutputs encoded;
      PlaitPass pass;
      CONTEXT ("%u sources", n);

      CHECK (plait_pass_run (model, batch, PLAIT_TAPE_EVALUATE, 1, 0, &pass, NO_ERROR));
      plait_tape_begin (tape, PLAIT_TAPE_EVALUATE, (PlaitRandomKey){ 0 });
      encoded = plait_model_encode (model->model, tape, batch, NULL);
      CHECK_INT (plait_ragged_rows (batch->target_rows), plait_ragged_rows (batch->inputs[0].rows));
      for (gint64 s = 0; s < SENTENCES; s++)
        for (gint64 row = batch->target_rows.offsets[s]; row < batch->target_rows.offsets[s + 1]; row++)
          {
            double x[3 * 64];
            gint64 width = read_row (encoded.memories, n, s, row - batch->target_rows.offsets[s], x);

            CHECK_NEAR (pass.rows[row], expected (model, x, width, batch->target_outputs[row]), AGREEMENT);
          }
    }
}

/* Start and end tokens have rows but no tags. */
TEST_CASE (tag_head, leaves_out_special_tokens)
{
  PlaitRegistry *registry = test_registry ();
  g_autoptr (PlaitFixture) model = token_model (registry, PLAIT_PREDICT_TAGS, 1);
  g_autoptr (PlaitBatch) batch = plait_pass_batch (model, &plait_pass_whole);
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  g_autoptr (PlaitTape) tape = plait_tape_new (pool, arena);
  gint64 n = plait_ragged_length (batch->inputs[0].rows, 0);
  PlaitEncoderOutputs encoded;

  REQUIRE (n >= 2);
  plait_batch_fill (gint32, batch->inputs[0].tokens)[0] = PLAIT_TOKEN_BOS;
  plait_batch_fill (gint32, batch->inputs[0].tokens)[n - 1] = PLAIT_TOKEN_EOS;
  plait_tape_begin (tape, PLAIT_TAPE_EVALUATE, (PlaitRandomKey){ 0 });
  encoded = plait_model_encode (model->model, tape, batch, NULL);
  CHECK_INT (plait_ragged_length (encoded.tagged, 0), n - 2);
  CHECK_INT (plait_ragged_length (encoded.tagged, 1), plait_ragged_length (batch->inputs[0].rows, 1));
  CHECK_INT (encoded.tagged_tokens[0], n > 2 ? 1 : 0);
}

TEST_CASE (tag_head, gradients_are_those_of_differences)
{
  PlaitRegistry *registry = test_registry ();
  const PlaitPredictKind kinds[] = { PLAIT_PREDICT_TAGS, PLAIT_PREDICT_MASKED, PLAIT_PREDICT_SPAN };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    for (guint n = 1; n <= 2; n++)
      {
        g_autoptr (PlaitFixture) model = token_model (registry, kinds[i], n);
        g_autoptr (PlaitBatch) batch = plait_pass_batch (model, &plait_pass_whole);
        CONTEXT ("kind %u, %u sources", (guint)kinds[i], n);

        for (gint64 row = 0; kinds[i] == PLAIT_PREDICT_MASKED && row < plait_ragged_rows (batch->target_rows); row++)
          plait_batch_fill (gint32, batch->target_inputs)[row] = (gint32)(row % 2);
        CHECK (plait_pass_has_gradients (model, batch, PLAIT_TAPE_CHECK, 3, NO_ERROR));
      }
}

TEST_CASE (tag_head, does_not_mix_sentences)
{
  PlaitRegistry *registry = test_registry ();
  g_autoptr (PlaitFixture) model = token_model (registry, PLAIT_PREDICT_TAGS, 3);

  CHECK (plait_pass_equals_its_sentences (model, &plait_pass_whole, NO_ERROR));
}

/* An encoder may put other rows before those of the tokens, and the tokens in any order. */
TEST_CASE (token_rows, are_found_in_any_order)
{
  static const gint64 token[] = { 0, -1, -1, 2, 0, 1, -1 }, offsets[] = { 0, 1, 7 };
  static const gint64 rows[] = { 4, 5, 3 };
  const PlaitLinks links = { .token = token };
  const PlaitMemory memory = { .rows = { 2, offsets }, .links = &links };

  for (gint64 position = 0; position < 3; position++)
    CHECK_INT (plait_memory_row_of_token (NULL, &memory, 1, position, "tags"), rows[position]);
}
