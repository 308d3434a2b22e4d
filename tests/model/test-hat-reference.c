/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "corpus/batch.h"
#include "hat-models.h"
#include "reference.h"
#include "layers/layers.h"
#include "layers/parameter-set.h"

/* Documents through the encoder hat, against the float64 reference. */

enum
{
  WIDTH = 8
};

typedef struct
{
  const char *name; /* name of the case */
  PlaitFixture *model;
  gboolean checking; /* TRUE: check gradients; FALSE: set values */
} Visit;

/* Visits the parameter OURS/SUFFIX, from column @column on, which is THEIRS/NAME of the case, if the model has it. */
static void
visit (const Visit *to, const char *ours, const char *suffix, gint64 column, const char *theirs, const char *name)
{
  g_autofree char *path = g_strdup_printf ("%s/%s", ours, suffix);
  g_autofree char *array = *theirs ? g_strdup_printf ("%s/%s", theirs, name) : g_strdup (name);
  PlaitParameter *parameter = plait_parameters_find (plait_model_parameters (to->model->model), path);

  if (to->checking)
    reference_check_gradient (parameter, column, to->name, array);
  else
    reference_set (parameter, column, to->name, array);
}

static void
visit_self (const Visit *to, const char *ours, const char *theirs)
{
  visit (to, ours, "query_key_value/weight", 0, theirs, "Wq");
  visit (to, ours, "query_key_value/weight", WIDTH, theirs, "Wk");
  visit (to, ours, "query_key_value/weight", 2 * WIDTH, theirs, "Wv");
  visit (to, ours, "query_key_value/bias", 0, theirs, "bq");
  visit (to, ours, "query_key_value/bias", WIDTH, theirs, "bk");
  visit (to, ours, "query_key_value/bias", 2 * WIDTH, theirs, "bv");
  visit (to, ours, "output/weight", 0, theirs, "Wo");
  visit (to, ours, "output/bias", 0, theirs, "bo");
}

static void
visit_attention (const Visit *to, const char *ours, const char *theirs)
{
  visit (to, ours, "query/weight", 0, theirs, "Wq");
  visit (to, ours, "query/bias", 0, theirs, "bq");
  visit (to, ours, "key_value/weight", 0, theirs, "Wk");
  visit (to, ours, "key_value/weight", WIDTH, theirs, "Wv");
  visit (to, ours, "key_value/bias", 0, theirs, "bk");
  visit (to, ours, "key_value/bias", WIDTH, theirs, "bv");
  visit (to, ours, "output/weight", 0, theirs, "Wo");
  visit (to, ours, "output/bias", 0, theirs, "bo");
}

static void
visit_feed_forward (const Visit *to, const char *ours, const char *theirs)
{
  visit (to, ours, "inner/weight", 0, theirs, "W1");
  visit (to, ours, "inner/bias", 0, theirs, "b1");
  visit (to, ours, "outer/weight", 0, theirs, "W2");
  visit (to, ours, "outer/bias", 0, theirs, "b2");
}

static void
visit_norm (const Visit *to, const char *ours, const char *theirs)
{
  visit (to, ours, "gain", 0, theirs, "g");
  visit (to, ours, "bias", 0, theirs, "b");
}

static void
visit_top (const Visit *to)
{
  visit_self (to, "source/first/layer/0/self_attention", "encoder/layer/self");
  visit_norm (to, "source/first/layer/0/self_attention_norm", "encoder/layer/ln1");
  visit_feed_forward (to, "source/first/layer/0/feed_forward", "encoder/layer/ff");
  visit_norm (to, "source/first/layer/0/feed_forward_norm", "encoder/layer/ln2");
  visit_norm (to, "source/first/norm", "encoder/norm");
  visit_self (to, "decoder/layer/0/self_attention", "decoder/self");
  visit_norm (to, "decoder/layer/0/self_attention_norm", "decoder/ln1");
  visit_attention (to, "decoder/layer/0/combiner/attend/first.tokens", "decoder/combiner/attend/0");
  visit_norm (to, "decoder/layer/0/combiner/normalise/0", "decoder/combiner/ln/0");
  visit_attention (to, "decoder/layer/0/combiner/attend/first.sentences", "decoder/combiner/attend/1");
  visit_norm (to, "decoder/layer/0/combiner/normalise/1", "decoder/combiner/ln/1");
  visit_feed_forward (to, "decoder/layer/0/feed_forward", "decoder/ff");
  visit_norm (to, "decoder/layer/0/feed_forward_norm", "decoder/ln3");
  visit_norm (to, "decoder/norm", "decoder/norm");
}

static void
visit_layers (const Visit *to)
{
  visit_self (to, "source/first/layer/0/self_attention", "self");
  visit_norm (to, "source/first/layer/0/self_attention_norm", "ln1");
  visit_self (to, "source/first/layer/0/sentence_attention", "sentence");
  visit_norm (to, "source/first/layer/0/sentence_attention_norm", "ln2");
  visit_feed_forward (to, "source/first/layer/0/feed_forward", "ff");
  visit_norm (to, "source/first/layer/0/feed_forward_norm", "ln3");
  visit_norm (to, "source/first/norm", "norm");
}

/* Returns a decoder of one layer without positions and scaling. */
static PlaitFixtureDecoder
reference_decoder (gint norm)
{
  PlaitFixtureDecoder decoder = plait_fixture_decoder (0);

  decoder.more = "layers=1 positions=none";
  decoder.settings.norm = norm;
  decoder.settings.attention_bias = norm == PLAIT_DECODER_NORM_POST; /* as in the reference */
  decoder.settings.scale_embeddings = FALSE;
  decoder.settings.share_embeddings = FALSE;
  decoder.settings.tie_output = FALSE;
  return decoder;
}

/* Visits rows ids[i] of the table @parameter: sets them to the case's input @name, or checks their gradients. */
static void
visit_rows (const Visit *to, const char *parameter, const gint32 *ids, const char *name)
{
  PlaitParameter *table = plait_parameters_find (plait_model_parameters (to->model->model), parameter);
  g_autofree char *path = g_strdup_printf (to->checking ? "gradients/inputs/%s" : "inputs/%s", name);
  const ReferenceArray *array = reference (to->name, path);

  for (int i = 0; i < array->rows; i++)
    for (int k = 0; k < array->width; k++)
      {
        double number = array->numbers[i * array->width + k];

        if (to->checking)
          CHECK_NEAR ((double)plait_tensor_row (table->gradient, ids[i])[k], number, AGREEMENT);
        else
          plait_tensor_row (table->value, ids[i])[k] = (PlaitScalar)number;
      }
}

/* Returns one document of six rows, whose sentences begin at rows 0, 3 and 4, with a target of three rows. */
static PlaitBatch *
reference_batch (const gint32 *tokens, const gint32 *target)
{
  static const gint64 begins[] = { 0, 3, 4, 6 };
  PlaitBatchSource source = { .name = "first",
                              .kind = PLAIT_INPUT_DOCUMENTS,
                              .rows = 6,
                              .has_documents = TRUE,
                              .sentences = 3,
                              .start_tokens = TRUE };
  PlaitBatch *batch = plait_batch_new (1, &source, 1, 3, -1, NULL);
  PlaitInput *input = plait_batch_fill (PlaitInput, batch->inputs);

  plait_batch_fill (gint64, batch->sentence)[0] = 0;
  memcpy (plait_batch_fill (gint64, input->rows.offsets), (gint64[]){ 0, 6 }, 2 * sizeof (gint64));
  memcpy (plait_batch_fill (gint32, input->tokens), tokens, 6 * sizeof (gint32));
  input->n_missing = 0;
  memcpy (plait_batch_fill (gint64, input->documents->sentences.offsets), (gint64[]){ 0, 3 }, 2 * sizeof (gint64));
  memcpy (plait_batch_fill (gint64, input->documents->rows), begins, sizeof begins);
  memcpy (plait_batch_fill (gint64, batch->target_rows.offsets), (gint64[]){ 0, 3 }, 2 * sizeof (gint64));
  plait_batch_fill_target (batch, PLAIT_TARGET_TEXT, 0, target, 2);
  return batch;
}

static void
check_states (const char *the_case, const char *output, const PlaitNode *states)
{
  const ReferenceArray *array = reference (the_case, plait_test_format ("outputs/%s", output));

  CHECK_INT (states->value.rows, array->rows);
  check_tensor (output, states->value, array->numbers, AGREEMENT);
}

/* Checks values and all gradients of the encoder, and of the decoder if the case has one. */
static void
check_case (const char *name, const TestDocuments *documents, gint norm, void (*visit_parameters) (const Visit *to),
            const char *first_output, gboolean decodes)
{
  static const gint32 tokens[] = { 4, 5, 6, 7, 8, 9 }, target[] = { PLAIT_TOKEN_BOS, 4, 5 };
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  g_auto (Bench) bench = bench_new (1);
  g_autoptr (PlaitFixture) model = test_hat_model (registry, documents, reference_decoder (norm));
  g_autoptr (PlaitBatch) batch = reference_batch (tokens, target + 1);
  Visit to = { name, model, FALSE };
  PlaitParameters *parameters = plait_model_parameters (model->model);
  PlaitNode *states, *terms[2];
  PlaitEncoderOutputs encoded;
  CONTEXT ("%s", name);

  plait_parameters_write_values (parameters);
  visit_rows (&to, "source/first/embedding/table", tokens, "tokens");
  if (decodes)
    visit_rows (&to, "decoder/embedding/table", target, "x");
  visit_parameters (&to);
  plait_parameters_zero_gradients (parameters);
  encoded = plait_model_encode (model->model, bench.tape, batch, NULL);
  CHECK_INT (encoded.n_memories, 2);
  check_states (name, "sentences", encoded.memories[1].states);
  states = encoded.memories[0].states;
  if (decodes)
    states = plait_decoder_forward (plait_model_decoder (model->model), bench.tape, &encoded, batch->target_rows,
                                    batch->target_inputs, NULL);
  check_states (name, first_output, states);
  terms[0] = reference_weigh (&bench, states, name, first_output, 0);
  terms[1] = reference_weigh (&bench, encoded.memories[1].states, name, "sentences", 0);
  plait_tape_backward (bench.tape, plait_add_n (bench.tape, terms, 2));
  to.checking = TRUE;
  visit_rows (&to, "source/first/embedding/table", tokens, "tokens");
  if (decodes)
    visit_rows (&to, "decoder/embedding/table", target, "x");
  visit_parameters (&to);
}

static const char *const small[] = { "layers", "1", "heads", "2", "feed_forward", "12", NULL };
static const char *const small_biased[]
    = { "layers", "1", "heads", "2", "feed_forward", "12", "attention_bias", "true", NULL };

TEST_CASE (hat, rohde2021_section_3_sentence_memory_and_decoder_layer)
{
  check_case ("hat/top_pre", &(TestDocuments){ small, test_embedding_leaves }, PLAIT_DECODER_NORM_PRE, visit_top, "y",
              TRUE);
  check_case ("hat/top_post", &(TestDocuments){ small_biased, test_embedding_leaves }, PLAIT_DECODER_NORM_POST,
              visit_top, "y", TRUE);
}

/* Rows that are not gathered are masked, with equal results. */
TEST_CASE (hat, rohde2021_section_3_2_by_masking)
{
  static const char *const masked[] = { "layers", "1", "heads", "2", "feed_forward", "12", "readers", "all", NULL };

  check_case ("hat/top_pre", &(TestDocuments){ masked, test_embedding_leaves }, PLAIT_DECODER_NORM_PRE, visit_top, "y",
              TRUE);
}

TEST_CASE (hat, rohde2021_section_7_attention_in_each_layer)
{
  static const char *const all[] = { "place", "layers", "layers", "1", "heads", "2", "feed_forward", "12", NULL };
  static const char *const start_tokens[]
      = { "place", "layers",         "layers", "1",       "heads",  "2", "feed_forward",
          "12",    "attention_bias", "true",   "readers", "starts", NULL };

  check_case ("hat/layers_pre_all", &(TestDocuments){ all, test_embedding_leaves }, PLAIT_DECODER_NORM_PRE,
              visit_layers, "tokens", FALSE);
  check_case ("hat/layers_post_starts", &(TestDocuments){ start_tokens, test_embedding_leaves },
              PLAIT_DECODER_NORM_POST, visit_layers, "tokens", FALSE);
}
