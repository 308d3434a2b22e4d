/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "models.h"

#include <math.h>

#include "corpus/batch.h"
#include "layers/parameter-set.h"

/* Tests of encoders of trees with trees that have no inner nodes, as plugins and with whole batches. */

#ifdef PLAIT_SCALAR_DOUBLE
#define AGREEMENT 1e-12
#else
#define AGREEMENT 1e-5
#endif

#define SENTENCES 11

/* Sentences 1, 4, 7 and 10 have no inner nodes (plait_fixture_batch), and neither have sentences of one row. */
static const gint64 lengths[SENTENCES] = { 3, 1, 1, 0, 2, 2, 4, 2, 0, 1, 3 };
static const gint64 targets[SENTENCES] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };

/* Sentence 4 is a word and EOS. Sentence 7 is two words that no parser joined. Sentence 10 is two such words and
 * EOS. */
static const gboolean has_end[SENTENCES]
    = { FALSE, FALSE, FALSE, FALSE, TRUE, FALSE, FALSE, FALSE, FALSE, FALSE, TRUE };

/* Row of the root in its sentence; -1: the sentence has no root. */
static const gint64 roots[SENTENCES] = { 4, 0, 0, -1, 0, 2, 6, -1, -1, 0, -1 };

static PlaitFixture *
tree_model (PlaitRegistry *registry, PlaitPlugin *encoder)
{
  PlaitPlugin *leaves = test_plugin (registry, PLAIT_PLUGIN_ENCODER, "bigru");
  PlaitPlugin *combiner = test_plugin (registry, PLAIT_PLUGIN_COMBINER, "serial");
  g_autoptr (PlaitSettings) settings = plait_fixture_settings (encoder);
  g_autoptr (PlaitSettings) leaves_settings = plait_fixture_settings (leaves);
  g_autoptr (PlaitSettings) combiner_settings = plait_fixture_settings (combiner);
  PlaitFixtureSource source = { encoder, settings, leaves, leaves_settings };
  PlaitFixtureDecoder decoder = plait_fixture_decoder_with (2, combiner, combiner_settings, NULL, NULL);
  return plait_fixture_new (&source, 1, &decoder, 3, NO_ERROR);
}

static PlaitBatch *
tree_batch (const PlaitFixture *model)
{
  const gint64 *const of_source[] = { lengths };
  PlaitBatch *batch = plait_fixture_batch (model, 0, SENTENCES, of_source, targets);
  const PlaitInput *input = &batch->inputs[0];

  for (gint64 s = 0; s < SENTENCES; s++)
    if (has_end[s])
      plait_batch_fill (gint32, input->tokens)[input->rows.offsets[s + 1] - 1] = PLAIT_TOKEN_EOS;
  return batch;
}

/* The summary is the bottom-up state of the root, which is the left part of the root's row. */
static void
check_summary (const PlaitEncoderOutputs *encoded)
{
  const PlaitMemory *memory = &encoded->memories[0];
  PlaitTensor summary = encoded->summaries[0]->value;

  CHECK_INT (summary.rows, SENTENCES);
  for (gint64 s = 0; s < SENTENCES; s++)
    {
      CONTEXT ("sentence %d", (int)s);
      gint64 root = memory->rows.offsets[s] + roots[s];

      for (gint64 i = 0; i < summary.width; i++)
        if (roots[s] < 0)
          CHECK (plait_tensor_row (summary, s)[i] == 0);
        else
          CHECK (plait_tensor_row (summary, s)[i] == plait_tensor_row (memory->states->value, root)[i]
                 && plait_tensor_row (summary, s)[i] != 0);
    }
}

/* Top-down, the root is tanh (h W + b). Rows that have no root above them are zeros. */
static void
check_root (const PlaitFixture *model, const PlaitEncoderOutputs *encoded)
{
  PlaitParameters *parameters = plait_model_parameters (model->model);
  const PlaitParameter *weight = plait_parameters_find (parameters, "source/first/down/root/weight");
  const PlaitParameter *bias = plait_parameters_find (parameters, "source/first/down/root/bias");
  const PlaitMemory *memory = &encoded->memories[0];

  REQUIRE (weight && bias);
  for (gint64 s = 0; s < SENTENCES; s++)
    for (gint64 row = 0; row < lengths[s] && roots[s] <= 0; row++)
      for (gint64 i = 0; i < weight->value.width; i++)
        {
          CONTEXT ("sentence %d, row %d, column %d", (int)s, (int)row, (int)i);
          const PlaitScalar *state = plait_tensor_row (memory->states->value, memory->rows.offsets[s] + row);
          double sum = (double)bias->value.data[i];

          for (gint64 k = 0; k < weight->value.rows; k++)
            sum += (double)state[k] * (double)plait_tensor_row (weight->value, k)[i];
          CHECK_NEAR (state[weight->value.rows + i], row == roots[s] ? tanh (sum) : 0, AGREEMENT);
        }
}

/* One word is a tree whose root is the word, with or without EOS. Two words that no parser joined are no tree. */
TEST_CASE (tree_encoders, chen2017_equation_9_one_word_is_the_root)
{
  static const char *const names[] = { "bitree-gru", "bitree-lex", "tree-gru", "tree-lstm" };
  PlaitRegistry *registry = test_registry ();

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      CONTEXT ("%s", names[i]);
      PlaitPlugin *encoder = test_plugin (registry, PLAIT_PLUGIN_ENCODER, names[i]);
      g_autoptr (PlaitFixture) model = tree_model (registry, encoder);
      g_autoptr (PlaitBatch) batch = tree_batch (model);
      g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
      g_autoptr (PlaitArena) arena = plait_arena_new (0);
      g_autoptr (PlaitTape) tape = plait_tape_new (pool, arena);
      PlaitEncoderOutputs encoded;

      plait_tape_begin (tape, PLAIT_TAPE_EVALUATE, plait_random_key (1, "dropout", NULL, 1));
      encoded = plait_model_encode (model->model, tape, batch, NULL);
      check_summary (&encoded);
      if (i < 2)
        check_root (model, &encoded);
    }
}
