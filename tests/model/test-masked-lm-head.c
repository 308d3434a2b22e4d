/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "contract/pass.h"
#include "corpus/batch.h"
#include "harness.h"
#include "models.h"

/* Tests of models that predict masked tokens: values against sums in doubles, gradients, and which row is read. */

#ifdef PLAIT_SCALAR_DOUBLE
#define AGREEMENT 1e-9
#else
#define AGREEMENT 1e-4
#endif

enum
{
  SENTENCES = PLAIT_PASS_SENTENCES,
  WORDS = PLAIT_FIXTURE_WORDS,
};

/* Builds a model whose source has the encoder @encoder_name with @keys (a list of keys and values). @leaves_name is its
 * inner encoder, or NULL. */
static PlaitFixture *
masked_model (PlaitRegistry *registry, const char *encoder_name, const char *const *keys, const char *leaves_name,
              gboolean tied)
{
  PlaitPlugin *encoder = test_plugin (registry, PLAIT_PLUGIN_ENCODER, encoder_name);
  PlaitPlugin *leaves = leaves_name ? test_plugin (registry, PLAIT_PLUGIN_ENCODER, leaves_name) : NULL;
  g_autoptr (PlaitSettings) settings = plait_fixture_settings (encoder);
  g_autoptr (PlaitSettings) leaves_settings = leaves ? plait_fixture_settings (leaves) : NULL;
  PlaitFixtureSource source = { encoder, settings, leaves, leaves_settings };
  PlaitFixtureDecoder decoder = {
    .settings = plait_fixture_decoder (PLAIT_FIXTURE_TRANSFORMER).settings,
    .predict = { .kind = PLAIT_PREDICT_MASKED, .memories = "" },
  };
  PlaitFixture *model;

  decoder.settings.tie_output = tied;
  for (; keys && *keys; keys += 2)
    CHECK (plait_settings_set (settings, keys[0], keys[1], NULL));
  model = plait_fixture_new (&source, 1, &decoder, 6, NO_ERROR);
  return model;
}

/* Returns a batch whose target rows have random ids, at positions that are not start tokens. */
static PlaitBatch *
masked_batch (const PlaitFixture *model)
{
  PlaitBatch *batch = plait_pass_batch (model, &plait_pass_whole);
  const PlaitInput *input = &batch->inputs[0];
  gint32 *places = plait_batch_fill (gint32, batch->target_inputs);

  for (gint64 s = 0; s < SENTENCES; s++)
    for (gint64 row = batch->target_rows.offsets[s]; row < batch->target_rows.offsets[s + 1]; row++)
      {
        places[row] = (gint32)(row * 5 % plait_ragged_length (input->rows, s));
        while (input->tokens[input->rows.offsets[s] + places[row]] == PLAIT_TOKEN_BOS)
          places[row] = (gint32)((places[row] + 1) % plait_ragged_length (input->rows, s));
      }
  return batch;
}

/* Returns -log p of the word @word, computed in doubles from the row @h of the states. */
static double
expected (const PlaitFixture *model, const PlaitScalar *h, const char *table_name, gint32 word)
{
  PlaitTensor weight = test_parameter (model, "masked/hidden/weight"),
              bias = test_parameter (model, "masked/hidden/bias");
  PlaitTensor gain = test_parameter (model, "masked/norm/gain"), shift = test_parameter (model, "masked/norm/bias");
  PlaitTensor table = test_parameter (model, table_name), output_bias = test_parameter (model, "masked/output/bias");
  double state[64], mean = 0, variance = 0, logits[WORDS], sum = 0;
  gint64 width = weight.width;

  CHECK_INT (table.rows, WORDS);
  for (gint64 k = 0; k < width; k++)
    {
      double x = (double)bias.data[k];

      for (gint64 c = 0; c < weight.rows; c++)
        x += (double)h[c] * (double)weight.data[c * width + k];
      state[k] = x * .5 * (1 + erf (x / sqrt (2)));
      mean += state[k] / (double)width;
    }
  for (gint64 k = 0; k < width; k++)
    variance += (state[k] - mean) * (state[k] - mean) / (double)width;
  for (gint64 v = 0; v < WORDS; v++)
    {
      logits[v] = (double)output_bias.data[v];
      for (gint64 k = 0; k < width; k++)
        logits[v] += ((state[k] - mean) / sqrt (variance + 1e-6) * (double)gain.data[k] + (double)shift.data[k])
                     * (double)table.data[v * width + k];
      sum += exp (logits[v]);
    }
  return log (sum) - logits[word];
}

TEST_CASE (masked_lm_head, is_softmax_of_what_masked_rows_say)
{
  PlaitRegistry *registry = test_registry ();

  for (gboolean tied = FALSE; tied <= TRUE; tied++)
    {
      g_autoptr (PlaitFixture) model = masked_model (registry, "transformer", NULL, NULL, tied);
      g_autoptr (PlaitBatch) batch = masked_batch (model);
      g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
      g_autoptr (PlaitArena) arena = plait_arena_new (0);
      g_autoptr (PlaitTape) tape = plait_tape_new (pool, arena);
      PlaitTensor states;
      PlaitPass pass;
      CONTEXT ("tied %d", tied);

      CHECK (plait_pass_run (model, batch, PLAIT_TAPE_EVALUATE, 1, 0, &pass, NO_ERROR));
      plait_tape_begin (tape, PLAIT_TAPE_EVALUATE, (PlaitRandomKey){ 0 });
      states = plait_model_encode (model->model, tape, batch, NULL).memories[0].states->value;
      for (gint64 s = 0; s < SENTENCES; s++)
        for (gint64 row = batch->target_rows.offsets[s]; row < batch->target_rows.offsets[s + 1]; row++)
          {
            const PlaitScalar *h
                = states.data + (batch->inputs[0].rows.offsets[s] + batch->target_inputs[row]) * states.width;

            CHECK_NEAR (pass.rows[row],
                        expected (model, h, tied ? "embedding/shared/table" : "masked/output/weight",
                                  batch->target_outputs[row]),
                        AGREEMENT);
          }
    }
}

/* If a memory lacks the rows of start tokens, the other rows have the same states. */
TEST_CASE (masked_lm_head, finds_the_rows_of_tokens_where_some_have_none)
{
  static const char *const with[] = { "place", "top", "starts_in_tokens", "true", NULL };
  static const char *const without[] = { "place", "top", "starts_in_tokens", "false", NULL };
  PlaitRegistry *registry = test_registry ();
  g_autoptr (PlaitFixture) all = masked_model (registry, "hat", with, "transformer", TRUE);
  g_autoptr (PlaitFixture) some = masked_model (registry, "hat", without, "transformer", TRUE);
  g_autoptr (PlaitBatch) batch = masked_batch (all);
  GError *error = NULL;
  PlaitPass a, b;

  CHECK (plait_pass_run (all, batch, PLAIT_TAPE_EVALUATE, 1, 0, &a, NO_ERROR));
  CHECK (plait_pass_run (some, batch, PLAIT_TAPE_EVALUATE, 1, 0, &b, NO_ERROR));
  for (gint64 row = 0; row < plait_ragged_rows (batch->target_rows); row++)
    CHECK_NEAR (a.rows[row], b.rows[row], AGREEMENT);

  /* This position is a start token, for which the memory has no row. */
  plait_batch_fill (gint32, batch->target_inputs)[0] = 0;
  CHECK_INT (batch->inputs[0].tokens[0], PLAIT_TOKEN_BOS);
  CHECK (!plait_pass_run (some, batch, PLAIT_TAPE_EVALUATE, 1, 0, &b, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT,
               "token 1 has no row in the first memory of the encoder, but [predict] kind=masked");
  g_clear_error (&error);
}

TEST_CASE (masked_lm_head, gradients_are_those_of_differences)
{
  PlaitRegistry *registry = test_registry ();
  g_autoptr (PlaitFixture) model = masked_model (registry, "transformer", NULL, NULL, TRUE);
  g_autoptr (PlaitBatch) batch = masked_batch (model);

  CHECK (plait_pass_has_gradients (model, batch, PLAIT_TAPE_CHECK, 3, NO_ERROR));
}
