/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "corpus/batch.h"
#include "hat-models.h"
#include "reference.h"
#include "layers/parameter-set.h"
#include "autograd/layer-operators.h"

/* Tests of equalities that follow from the equations of the encoder hat, with documents. */

enum
{
  WIDTH = 8
};

static const gint64 lengths[] = { 6, 0, 1, 5 }, targets[] = { 3, 1, 2, 4 };
static const gint64 *const of_source[] = { lengths };
#define DOCUMENTS 4

static void
losses_of (const PlaitFixture *model, const PlaitBatch *batch, double *losses)
{
  g_auto (Bench) bench = bench_new (1);
  PlaitOutputLossOptions options = { .scale = 1 };
  PlaitModelSums sums;

  bench_begin (&bench, PLAIT_TAPE_TRAIN);
  plait_tape_backward (bench.tape, plait_model_loss (model->model, bench.tape, batch, &options, &sums, losses, NULL));
}

static void
check_losses (const double *losses, const double *expected, const PlaitBatch *batch)
{
  for (gint64 row = 0; row < plait_ragged_rows (batch->target_rows); row++)
    CHECK_NEAR (losses[row], expected[row], AGREEMENT * (1 + expected[row]));
}

/* Masking rows gives the losses and all gradients of gathering rows. Parameters with equal names begin with equal
 * values. */
TEST_CASE (hat, masking_equals_gathering)
{
  static const char *const masked[] = { "layers", "2", "readers", "all", NULL };
  static const char *const gathered[] = { "layers", "2", "readers", "starts", NULL };

  for (gint norm = PLAIT_DECODER_NORM_PRE; norm <= PLAIT_DECODER_NORM_POST; norm++)
    {
      PlaitRegistry *registry = test_registry ();
      PlaitFixtureDecoder decoder = plait_fixture_decoder (0);
      g_autoptr (PlaitFixture) one = NULL;
      g_autoptr (PlaitFixture) other = NULL;
      g_autoptr (PlaitBatch) batch = NULL;
      PlaitParameters *parameters;
      double losses[32], expected[32];
      CONTEXT ("norm %d", norm);

      decoder.settings.norm = norm;
      one = test_hat_model (registry, &(TestDocuments){ masked, test_no_keys }, decoder);
      other = test_hat_model (registry, &(TestDocuments){ gathered, test_no_keys }, decoder);
      batch = plait_fixture_batch (one, 0, DOCUMENTS, of_source, targets);
      parameters = plait_model_parameters (one->model);
      plait_parameters_zero_gradients (parameters);
      plait_parameters_zero_gradients (plait_model_parameters (other->model));
      losses_of (one, batch, losses);
      losses_of (other, batch, expected);
      check_losses (losses, expected, batch);
      for (guint i = 0; i < plait_parameters_n (parameters); i++)
        {
          const PlaitParameter *parameter = plait_parameters_get (parameters, i);
          const PlaitParameter *same = plait_parameters_find (plait_model_parameters (other->model), parameter->name);

          REQUIRE (same != NULL);
          for (gint64 k = 0; k < parameter->value.rows * parameter->value.width; k++)
            CHECK_NEAR ((double)parameter->gradient.data[k], (double)same->gradient.data[k],
                        AGREEMENT * (1 + fabs ((double)same->gradient.data[k])));
        }
    }
}

TEST_CASE (hat, without_layers_sentences_are_the_first_rows)
{
  static const char *const keys[] = { "layers", "0", "final_norm", "false", NULL };
  PlaitRegistry *registry = test_registry ();
  g_autoptr (PlaitFixture) model
      = test_hat_model (registry, &(TestDocuments){ keys, test_no_keys }, plait_fixture_decoder (0));
  g_autoptr (PlaitBatch) batch = plait_fixture_batch (model, 0, DOCUMENTS, of_source, targets);
  const PlaitDocuments *documents = batch->inputs[0].documents;
  g_auto (Bench) bench = bench_new (1);
  PlaitEncoderOutputs encoded;
  gint64 sentences = plait_ragged_rows (documents->sentences);

  bench_begin (&bench, PLAIT_TAPE_EVALUATE);
  encoded = plait_model_encode (model->model, bench.tape, batch, NULL);
  CHECK (sentences > DOCUMENTS && sentences < plait_ragged_rows (batch->inputs[0].rows));
  CHECK_INT (plait_ragged_rows (encoded.memories[1].rows), sentences);
  for (gint64 s = 0; s < sentences; s++)
    CHECK (memcmp (plait_tensor_row (encoded.memories[1].states->value, s),
                   plait_tensor_row (encoded.memories[0].states->value, documents->rows[s]),
                   WIDTH * sizeof (PlaitScalar))
           == 0);
}

/* Checks which sentences and tokens the rows of memories belong to, with and without the rows of start tokens. */
TEST_CASE (hat, memories_know_their_sentences)
{
  static const char *const without[] = { "starts_in_tokens", "false", NULL };

  for (int drops = 0; drops < 2; drops++)
    {
      PlaitRegistry *registry = test_registry ();
      g_autoptr (PlaitFixture) model = test_hat_model (
          registry, &(TestDocuments){ drops ? without : test_no_keys, test_no_keys }, plait_fixture_decoder (0));
      g_autoptr (PlaitBatch) batch = plait_fixture_batch (model, 0, DOCUMENTS, of_source, targets);
      const PlaitInput *input = &batch->inputs[0];
      const PlaitDocuments *documents = input->documents;
      g_auto (Bench) bench = bench_new (1);
      PlaitEncoderOutputs encoded;
      const PlaitLinks *tokens, *sentences;
      gint64 row = 0;
      CONTEXT ("start tokens dropped: %d", drops);

      bench_begin (&bench, PLAIT_TAPE_EVALUATE);
      encoded = plait_model_encode (model->model, bench.tape, batch, NULL);
      tokens = encoded.memories[0].links;
      sentences = encoded.memories[1].links;
      for (gint64 d = 0; d < DOCUMENTS; d++)
        {
          CHECK_INT (encoded.memories[0].rows.offsets[d], row);
          for (gint64 s = documents->sentences.offsets[d]; s < documents->sentences.offsets[d + 1]; s++)
            {
              CHECK_INT (sentences->sentence[s], s - documents->sentences.offsets[d]);
              for (gint64 at = documents->rows[s] + drops; at < documents->rows[s + 1]; at++, row++)
                {
                  CHECK_INT (tokens->sentence[row], s - documents->sentences.offsets[d]);
                  CHECK_INT (tokens->token[row], at - input->rows.offsets[d]);
                }
            }
        }
      CHECK_INT (plait_ragged_rows (encoded.memories[0].rows), row);
      CHECK_INT (encoded.memories[0].states->value.rows, row);
    }
}

/* Changes @batch: each document becomes a single sentence. */
static void
join_sentences (PlaitBatch *batch)
{
  const PlaitInput *input = &batch->inputs[0];
  gint64 *offsets = plait_batch_fill (gint64, input->documents->sentences.offsets);
  gint64 *rows = plait_batch_fill (gint64, input->documents->rows);
  gint64 sentences = 0;

  for (gint64 d = 0; d < input->rows.n; d++)
    {
      offsets[d] = sentences;
      if (plait_ragged_length (input->rows, d) > 0)
        rows[sentences++] = input->rows.offsets[d];
    }
  offsets[input->rows.n] = sentences;
  rows[sentences] = plait_ragged_rows (input->rows);
}

/* In a document of one sentence, the sentence layers read only its first row. If each leaf sees only its own token, the
 * result is that of a document which consists of its first token. */
TEST_CASE (hat, of_one_sentence_the_first_row_is_all)
{
  static const gint64 one_row[] = { 1, 0, 1, 1 };
  static const gint64 *const shorter[] = { one_row };
  PlaitRegistry *registry = test_registry ();
  g_autoptr (PlaitFixture) model
      = test_hat_model (registry, &(TestDocuments){ test_no_keys, test_embedding_leaves }, plait_fixture_decoder (0));
  g_autoptr (PlaitBatch) batch = plait_fixture_batch (model, 0, DOCUMENTS, of_source, targets);
  g_autoptr (PlaitBatch) first_rows = plait_fixture_batch (model, 0, DOCUMENTS, shorter, targets);
  g_auto (Bench) bench = bench_new (1);
  PlaitTensor found, expected;

  join_sentences (batch);
  bench_begin (&bench, PLAIT_TAPE_EVALUATE);
  found = plait_model_encode (model->model, bench.tape, batch, NULL).memories[1].states->value;
  expected = plait_model_encode (model->model, bench.tape, first_rows, NULL).memories[1].states->value;
  CHECK_INT (found.rows, 3);
  CHECK_INT (expected.rows, 3);
  for (gint64 row = 0; row < 3; row++)
    for (gint64 i = 0; i < WIDTH; i++)
      CHECK_NEAR ((double)plait_tensor_row (found, row)[i], (double)plait_tensor_row (expected, row)[i], AGREEMENT);
}

/* Returns the parameter of the hat model @model that corresponds to parameter @name of the plain model. Parameters
 * of the inner encoder have "leaves" in their names. */
static PlaitParameter *
counterpart (const PlaitFixture *model, const char *name)
{
  PlaitParameters *parameters = plait_model_parameters (model->model);
  g_auto (GStrv) below_source = g_strsplit (name, "source/first/", 2);
  g_auto (GStrv) below_combiner = g_strsplit (name, "/attend/first/", 2);
  g_autofree char *leaves = g_strjoinv ("source/first/leaves/", below_source);
  g_autofree char *tokens = g_strjoinv ("/attend/first.tokens/", below_combiner);
  PlaitParameter *found = plait_parameters_find (parameters, leaves);

  return found ? found : plait_parameters_find (parameters, tokens);
}

/* Checks that, before training, the model computes what the model @plain computes, because the output projections of
 * its new layers are zero. */
static void
check_beginning (const TestDocuments *documents, const char *const *plain_keys, const char *combiner)
{
  PlaitRegistry *registry = test_registry ();
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
  g_autoptr (PlaitFixture) model
      = test_documents_model (registry, documents, NULL, combiner, plait_fixture_decoder (0), NO_ERROR);
  g_autoptr (PlaitFixture) plain
      = test_documents_model (registry, NULL, plain_keys, combiner, plait_fixture_decoder (0), NO_ERROR);
  g_autoptr (PlaitBatch) batch = plait_fixture_batch (model, 0, DOCUMENTS, of_source, targets);
  g_autoptr (PlaitBatch) flat = plait_fixture_batch (plain, 0, DOCUMENTS, of_source, targets);
  PlaitParameters *parameters = plait_model_parameters (plain->model);
  double losses[32], expected[32];
  gboolean differs = FALSE;
  CONTEXT ("%s", combiner);

  plait_parameters_initialise (plait_model_parameters (model->model), pool, 3);
  plait_parameters_write_values (parameters);
  for (guint i = 0; i < plait_parameters_n (parameters); i++)
    {
      PlaitParameter *parameter = plait_parameters_get (parameters, i);
      PlaitParameter *from = counterpart (model, parameter->name);
      CONTEXT ("%s", parameter->name);

      REQUIRE (from != NULL);
      CHECK_INT (from->value.rows * from->value.width, parameter->value.rows * parameter->value.width);
      memcpy (parameter->value.data, from->value.data,
              (gsize)(from->value.rows * from->value.width) * sizeof (PlaitScalar));
    }
  memcpy (plait_batch_fill (gint32, flat->inputs[0].tokens), batch->inputs[0].tokens,
          (gsize)plait_ragged_rows (batch->inputs[0].rows) * sizeof (gint32));
  losses_of (model, batch, losses);
  losses_of (plain, flat, expected);
  check_losses (losses, expected, batch);

  /* Parameters that are zero at first do have an effect: the losses change with their values. */
  for (guint i = 0; i < plait_parameters_n (plait_model_parameters (model->model)); i++)
    {
      PlaitParameter *parameter = plait_parameters_get (plait_model_parameters (model->model), i);

      for (gint64 k = 0; strstr (parameter->name, "sentence") && k < parameter->value.rows * parameter->value.width;
           k++)
        parameter->value.data[k] += (PlaitScalar)(k % 3);
    }
  plait_parameters_write_values (plait_model_parameters (model->model));
  losses_of (model, batch, losses);
  for (gint64 row = 0; row < plait_ragged_rows (batch->target_rows); row++)
    differs |= fabs (losses[row] - expected[row]) > 1e-3;
  CHECK (differs);
}

TEST_CASE (hat, begins_as_the_plain_model_with_zero_output)
{
  static const char *const top[] = { "zero_output", "true", NULL };
  static const char *const layers[]
      = { "place", "layers", "zero_output", "true", "layers", "2", "readers", "all", NULL };
  static const char *const starts[]
      = { "place", "layers", "zero_output", "true", "layers", "2", "readers", "starts", NULL };
  static const char *const placed[] = { "layers", "0", "final_norm", "false", NULL };
  static const char *const gelu[] = { "activation", "gelu", NULL };

  check_beginning (&(TestDocuments){ top, test_no_keys }, test_no_keys, "serial");
  check_beginning (&(TestDocuments){ top, test_no_keys }, test_no_keys, "parallel");
  check_beginning (&(TestDocuments){ layers, placed }, gelu, "serial");
  check_beginning (&(TestDocuments){ starts, placed }, gelu, "serial");
}

/* Before training, all norms are equal. The norm of either encoder gives equal tokens. It also gives equal sentences if
 * the sentences are made of tokens after the norm. */
TEST_CASE (hat, token_norm_is_the_leaves_or_this_encoders)
{
  static const char *const bare[] = { "final_norm", "false", NULL };
  static const char *const before[] = { "token_norm", "before", NULL };
  static const char *const after[] = { "token_norm", "after", NULL };
  const char *const *const own[] = { test_no_keys, before, after };
  PlaitScalar tokens[3][12 * WIDTH], sentences[3][12 * WIDTH];
  gint64 n_sentences = 0;

  for (int i = 0; i < 3; i++)
    {
      PlaitRegistry *registry = test_registry ();
      g_autoptr (PlaitFixture) model = test_hat_model (
          registry, &(TestDocuments){ own[i], i == 0 ? test_no_keys : bare }, plait_fixture_decoder (0));
      g_autoptr (PlaitBatch) batch = plait_fixture_batch (model, 0, DOCUMENTS, of_source, targets);
      g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
      g_auto (Bench) bench = bench_new (1);
      PlaitEncoderOutputs encoded;

      plait_parameters_initialise (plait_model_parameters (model->model), pool, 3);
      bench_begin (&bench, PLAIT_TAPE_EVALUATE);
      encoded = plait_model_encode (model->model, bench.tape, batch, NULL);
      n_sentences = encoded.memories[1].states->value.rows;
      CHECK_INT (encoded.memories[0].states->value.rows, 12);
      memcpy (tokens[i], encoded.memories[0].states->value.data, sizeof tokens[i]);
      memcpy (sentences[i], encoded.memories[1].states->value.data, (gsize)n_sentences * WIDTH * sizeof (PlaitScalar));
    }
  for (int i = 1; i < 3; i++)
    for (int k = 0; k < 12 * WIDTH; k++)
      CHECK_NEAR ((double)tokens[i][k], (double)tokens[0][k], AGREEMENT);
  for (gint64 k = 0; k < n_sentences * WIDTH; k++)
    CHECK_NEAR ((double)sentences[2][k], (double)sentences[0][k], AGREEMENT);
  CHECK (memcmp (sentences[1], sentences[2], (gsize)n_sentences * WIDTH * sizeof (PlaitScalar)) != 0);
}

/*
 * Tests of settings that do not fit together
 */

static void
check_refused (const char *const *keys, const char *message)
{
  PlaitRegistry *registry = test_registry ();
  GError *error = NULL;
  g_autoptr (PlaitFixture) model = test_documents_model (registry, &(TestDocuments){ keys, test_no_keys }, NULL,
                                                         "serial", plait_fixture_decoder (0), &error);

  CHECK (!model);
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, message);
}

TEST_CASE (hat, refuses_settings_that_mean_nothing_together)
{
  check_refused ((const char *const[]){ "place", "layers", "token_norm", "after", NULL }, "set token_norm=leaves");
  check_refused ((const char *const[]){ "place", "layers", "sentence_positions", "learned", NULL },
                 "set sentence_positions=none");
  check_refused ((const char *const[]){ "readers", "all", "sentence_positions", "learned", NULL },
                 "set readers=starts");
  check_refused ((const char *const[]){ "heads", "3", NULL }, "heads=3 do not divide the width of 8: choose a number");
  check_refused ((const char *const[]){ "heads", "8", "sentence_positions", "rotary", NULL },
                 "heads=8 divides the width of 8 into heads of width 1: choose another number of heads");
}

TEST_CASE (hat, refuses_more_sentences_than_learned_positions)
{
  static const char *const keys[] = { "sentence_positions", "learned", "sentence_limit", "1", NULL };
  static const char *const enough[] = { "sentence_positions", "learned", "sentence_limit", "6", NULL };
  PlaitRegistry *registry = test_registry ();
  g_autoptr (PlaitFixture) model
      = test_hat_model (registry, &(TestDocuments){ keys, test_no_keys }, plait_fixture_decoder (0));
  g_autoptr (PlaitFixture) longer
      = test_hat_model (registry, &(TestDocuments){ enough, test_no_keys }, plait_fixture_decoder (0));
  g_autoptr (PlaitBatch) batch = plait_fixture_batch (model, 0, DOCUMENTS, of_source, targets);
  GError *error = NULL;

  CHECK (plait_model_check_batch (longer->model, batch, NULL));
  CHECK (!plait_model_check_batch (model->model, batch, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "sentence_limit=1");
}
