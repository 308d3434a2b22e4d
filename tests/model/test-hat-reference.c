/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "hat-models.h"
#include "reference-model.h"
#include "layers/layers.h"
#include "layers/parameter-set.h"

/* Tests of documents and the encoder hat against the float64 reference. */

static void
visit_top (const ReferenceVisit *to)
{
  reference_visit_self (to, "source/first/layer/0/self_attention", "encoder/layer/self");
  reference_visit_norm (to, "source/first/layer/0/self_attention_norm", "encoder/layer/ln1");
  reference_visit_feed_forward (to, "source/first/layer/0/feed_forward", "encoder/layer/ff");
  reference_visit_norm (to, "source/first/layer/0/feed_forward_norm", "encoder/layer/ln2");
  reference_visit_norm (to, "source/first/norm", "encoder/norm");
  reference_visit_self (to, "decoder/layer/0/self_attention", "decoder/self");
  reference_visit_norm (to, "decoder/layer/0/self_attention_norm", "decoder/ln1");
  reference_visit_attention (to, "decoder/layer/0/combiner/attend/first.tokens", "decoder/combiner/attend/0");
  reference_visit_norm (to, "decoder/layer/0/combiner/normalise/0", "decoder/combiner/ln/0");
  reference_visit_attention (to, "decoder/layer/0/combiner/attend/first.sentences", "decoder/combiner/attend/1");
  reference_visit_norm (to, "decoder/layer/0/combiner/normalise/1", "decoder/combiner/ln/1");
  reference_visit_feed_forward (to, "decoder/layer/0/feed_forward", "decoder/ff");
  reference_visit_norm (to, "decoder/layer/0/feed_forward_norm", "decoder/ln3");
  reference_visit_norm (to, "decoder/norm", "decoder/norm");
}

static void
visit_layers (const ReferenceVisit *to)
{
  reference_visit_self (to, "source/first/layer/0/self_attention", "self");
  reference_visit_norm (to, "source/first/layer/0/self_attention_norm", "ln1");
  reference_visit_self (to, "source/first/layer/0/sentence_attention", "sentence");
  reference_visit_norm (to, "source/first/layer/0/sentence_attention_norm", "ln2");
  reference_visit_feed_forward (to, "source/first/layer/0/feed_forward", "ff");
  reference_visit_norm (to, "source/first/layer/0/feed_forward_norm", "ln3");
  reference_visit_norm (to, "source/first/norm", "norm");
}

/* Checks values and all gradients of the encoder; if the case has a decoder, also of the decoder. */
static void
check_case (const char *name, const TestDocuments *documents, gint norm,
            void (*visit_parameters) (const ReferenceVisit *to), const char *first_output, gboolean decodes)
{
  static const gint32 tokens[] = { 4, 5, 6, 7, 8, 9 }, target[] = { PLAIT_TOKEN_BOS, 4, 5 };
  PlaitRegistry *registry = test_registry ();
  g_auto (Bench) bench = bench_new (1);
  g_autoptr (PlaitFixture) model = test_hat_model (registry, documents, reference_model_decoder (norm));
  g_autoptr (PlaitBatch) batch = reference_model_batch (tokens, target + 1, 2);
  ReferenceVisit to = { name, model, FALSE };
  PlaitParameters *parameters = plait_model_parameters (model->model);
  PlaitNode *states, *terms[2];
  PlaitEncoderOutputs encoded;
  CONTEXT ("%s", name);

  plait_parameters_write_values (parameters);
  reference_visit_rows (&to, "source/first/embedding/table", tokens, "tokens");
  if (decodes)
    reference_visit_rows (&to, "decoder/embedding/table", target, "x");
  visit_parameters (&to);
  plait_parameters_zero_gradients (parameters);
  encoded = plait_model_encode (model->model, bench.tape, batch, NULL);
  CHECK_INT (encoded.n_memories, 2);
  reference_check_states (name, "sentences", encoded.memories[1].states);
  states = encoded.memories[0].states;
  if (decodes)
    states = plait_decoder_forward (plait_model_decoder (model->model), bench.tape, &encoded, batch->target_rows,
                                    batch->target_inputs, NULL);
  reference_check_states (name, first_output, states);
  terms[0] = reference_weigh (&bench, states, name, first_output, 0);
  terms[1] = reference_weigh (&bench, encoded.memories[1].states, name, "sentences", 0);
  plait_tape_backward (bench.tape, plait_add_n (bench.tape, terms, 2));
  to.checking = TRUE;
  reference_visit_rows (&to, "source/first/embedding/table", tokens, "tokens");
  if (decodes)
    reference_visit_rows (&to, "decoder/embedding/table", target, "x");
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

/* If rows are masked instead of gathered, the results are equal. */
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
