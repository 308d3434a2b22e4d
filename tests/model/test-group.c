/* SPDX-License-Identifier: MIT */
#include "hat-models.h"
#include "reference-model.h"
#include "layers/parameter-set.h"

/* Tests of G-Transformer (Bao et al. 2021), the encoder group and the combiner group, against the float64 reference. */

#define TWO_LAYERS                                                                                                     \
  "layers", "2", "global_layers", "1", "heads", "2", "feed_forward", "12", "positions", "none", "activation", "relu"

static const char *const two_layers[] = { TWO_LAYERS, NULL };
static const char *const two_biased_layers[] = { TWO_LAYERS, "attention_bias", "true", NULL };

static PlaitFixture *
group_model (PlaitRegistry *registry, const char *encoder_name, const char *const *keys, const char *combiner_name,
             const char *const *combiner_keys, PlaitFixtureDecoder decoder)
{
  PlaitPlugin *encoder = test_plugin (registry, PLAIT_PLUGIN_ENCODER, encoder_name);
  PlaitPlugin *combiner = test_plugin (registry, PLAIT_PLUGIN_COMBINER, combiner_name);
  g_autoptr (PlaitSettings) settings = test_settings_with (encoder, keys);
  g_autoptr (PlaitSettings) combiner_settings = test_settings_with (combiner, combiner_keys);
  PlaitFixtureSource source = { encoder, settings, NULL, NULL };

  decoder.combiner = combiner;
  decoder.combiner_settings = combiner_settings;
  return plait_fixture_new (&source, 1, &decoder, 6, NO_ERROR);
}

static void
visit_encoder (const ReferenceVisit *to)
{
  for (int i = 0; i < 2; i++)
    {
      const char *ours = plait_test_format ("source/first/layer/%d", i);
      g_autofree char *attention = g_strconcat (ours, "/self_attention", NULL);
      g_autofree char *global = g_strconcat (ours, "/global_attention", NULL);
      g_autofree char *gate = g_strconcat (ours, "/attention_gate", NULL);
      g_autofree char *feed_forward = g_strconcat (ours, "/feed_forward", NULL);
      g_autofree char *first = g_strconcat (ours, "/self_attention_norm", NULL);
      g_autofree char *second = g_strconcat (ours, "/feed_forward_norm", NULL);

      reference_visit_self (to, attention, plait_test_format (i == 0 ? "%d/self" : "%d/self/local", i));
      if (i == 1)
        {
          reference_visit_self (to, global, "1/self/global");
          reference_visit (to, gate, "weight", 0, "1/self", "Wg");
          reference_visit (to, gate, "bias", 0, "1/self", "bg");
        }
      reference_visit_norm (to, first, plait_test_format ("%d/ln1", i));
      reference_visit_feed_forward (to, feed_forward, plait_test_format ("%d/ff", i));
      reference_visit_norm (to, second, plait_test_format ("%d/ln2", i));
    }
  reference_visit_norm (to, "source/first/norm", "norm");
}

/* Checks the encoder's states and all gradients. */
static void
check_encoder (const char *name, gint norm, const char *const *keys)
{
  static const gint32 tokens[] = { 4, 5, 6, 7, 8, 9 }, target[] = { 4, 5 };
  PlaitRegistry *registry = test_registry ();
  g_auto (Bench) bench = bench_new (1);
  g_autoptr (PlaitFixture) model
      = group_model (registry, "group", keys, "serial", test_no_keys, reference_model_decoder (norm));
  g_autoptr (PlaitBatch) batch = reference_model_batch (tokens, target, 2);
  ReferenceVisit to = { name, model, FALSE };
  PlaitParameters *parameters = plait_model_parameters (model->model);
  PlaitEncoderOutputs encoded;
  const PlaitLinks *links;
  CONTEXT ("%s", name);

  plait_parameters_write_values (parameters);
  reference_visit_rows (&to, "source/first/embedding/table", tokens, "tokens");
  visit_encoder (&to);
  plait_parameters_zero_gradients (parameters);
  encoded = plait_model_encode (model->model, bench.tape, batch, NULL);
  CHECK_INT (encoded.n_memories, 1);
  reference_check_states (name, "y", encoded.memories[0].states);
  links = encoded.memories[0].links;
  for (int row = 0; row < 6; row++)
    {
      CHECK_INT (links->token[row], row);
      CHECK_INT (links->sentence[row], row < 3 ? 0 : row == 3 ? 1 : 2);
    }
  plait_tape_backward (bench.tape, reference_weigh (&bench, encoded.memories[0].states, name, "y", 0));
  to.checking = TRUE;
  reference_visit_rows (&to, "source/first/embedding/table", tokens, "tokens");
  visit_encoder (&to);
}

TEST_CASE (group, bao2021_eq_5_to_8_encoder)
{
  check_encoder ("group/encoder_pre", PLAIT_DECODER_NORM_PRE, two_layers);
  check_encoder ("group/encoder_post", PLAIT_DECODER_NORM_POST, two_biased_layers);
}

/* Visits the parameters of the two decoder layers. The second layer also has global attention; with @self_groups, in
 * self-attention too. */
static void
visit_decoder (const ReferenceVisit *to, gboolean self_groups)
{
  for (int i = 0; i < 2; i++)
    {
      const char *ours = plait_test_format ("decoder/layer/%d", i);
      g_autofree char *self = g_strconcat (ours, "/self_attention", NULL);
      g_autofree char *group = g_strconcat (ours, "/combiner/attend/first", NULL);
      g_autofree char *feed_forward = g_strconcat (ours, "/feed_forward", NULL);
      g_autofree char *first = g_strconcat (ours, "/self_attention_norm", NULL);
      g_autofree char *second = g_strconcat (ours, "/combiner/normalise/0", NULL);
      g_autofree char *last = g_strconcat (ours, "/feed_forward_norm", NULL);

      reference_visit_self (to, self, plait_test_format (self_groups && i == 1 ? "%d/self/local" : "%d/self", i));
      if (self_groups && i == 1)
        {
          reference_visit_self (to, "decoder/layer/1/global_attention", "1/self/global");
          reference_visit (to, "decoder/layer/1/attention_gate", "weight", 0, "1/self", "Wg");
          reference_visit (to, "decoder/layer/1/attention_gate", "bias", 0, "1/self", "bg");
        }
      reference_visit_norm (to, first, plait_test_format ("%d/ln1", i));
      reference_visit_attention (to, group, plait_test_format (i == 0 ? "%d/cross" : "%d/cross/local", i));
      if (i == 1)
        {
          reference_visit_attention (to, "decoder/layer/1/combiner/global/attend/first", "1/cross/global");
          reference_visit (to, "decoder/layer/1/combiner/group_gate/first", "weight", 0, "1/cross", "Wg");
          reference_visit (to, "decoder/layer/1/combiner/group_gate/first", "bias", 0, "1/cross", "bg");
        }
      reference_visit_norm (to, second, plait_test_format ("%d/ln2", i));
      reference_visit_feed_forward (to, feed_forward, plait_test_format ("%d/ff", i));
      reference_visit_norm (to, last, plait_test_format ("%d/ln3", i));
    }
  reference_visit_norm (to, "decoder/norm", "norm");
}

#define EMBEDDINGS "layers", "0", "positions", "none", "final_norm", "false"

static const char *const embeddings[] = { EMBEDDINGS, NULL };
static const char *const one_group_layer[] = { "group_layers", "1", NULL };

/* Checks the decoder's states and all gradients. The target's sentences begin with start tokens; its rows are in the
 * sentences 1, 1, 2 and 3. */
static void
check_decoder (const char *name, gint norm, gboolean self_groups)
{
  static const gint32 tokens[] = { 4, 5, 6, 7, 8, 9 },
                      target[] = { PLAIT_TOKEN_BOS, 4, PLAIT_TOKEN_BOS, PLAIT_TOKEN_BOS };
  PlaitRegistry *registry = test_registry ();
  g_auto (Bench) bench = bench_new (1);
  PlaitFixtureDecoder decoder = reference_model_decoder (norm);
  g_autoptr (PlaitFixture) model = NULL;
  g_autoptr (PlaitBatch) batch = reference_model_batch (tokens, target + 1, 3);
  ReferenceVisit to = { name, NULL, FALSE };
  PlaitParameters *parameters;
  PlaitEncoderOutputs encoded;
  PlaitNode *states;
  CONTEXT ("%s", name);

  decoder.more
      = self_groups ? "layers=2 positions=none self_attention=group group_layers=1" : "layers=2 positions=none";
  model = group_model (registry, "group", embeddings, "group", one_group_layer, decoder);
  to.model = model;
  parameters = plait_model_parameters (model->model);
  plait_parameters_write_values (parameters);
  reference_visit_rows (&to, "source/first/embedding/table", tokens, "tokens");
  reference_visit_rows (&to, "decoder/embedding/table", target, "x");
  visit_decoder (&to, self_groups);
  plait_parameters_zero_gradients (parameters);
  encoded = plait_model_encode (model->model, bench.tape, batch, NULL);
  states = plait_decoder_forward (plait_model_decoder (model->model), bench.tape, &encoded, batch->target_rows,
                                  batch->target_inputs, NULL);
  reference_check_states (name, "y", states);
  plait_tape_backward (bench.tape, reference_weigh (&bench, states, name, "y", 0));
  to.checking = TRUE;
  reference_visit_rows (&to, "source/first/embedding/table", tokens, "tokens");
  reference_visit_rows (&to, "decoder/embedding/table", target, "x");
  visit_decoder (&to, self_groups);
}

TEST_CASE (group, bao2021_eq_5_to_8_decoder)
{
  check_decoder ("group/decoder_pre", PLAIT_DECODER_NORM_PRE, FALSE);
  check_decoder ("group/decoder_post", PLAIT_DECODER_NORM_POST, FALSE);
}

TEST_CASE (group, bao2021_eq_5_to_8_decoder_with_self_attention)
{
  check_decoder ("group/self_pre", PLAIT_DECODER_NORM_PRE, TRUE);
  check_decoder ("group/self_post", PLAIT_DECODER_NORM_POST, TRUE);
}

/* A decoder that runs step by step assigns each row to the same sentence as one that reads whole targets. */
TEST_CASE (group, steps_know_the_sentence_of_their_words)
{
  static const gint32 tokens[] = { 4, 5, 6, 7, 8, 9 };
  static const gint32 target[] = { PLAIT_TOKEN_BOS, 4, PLAIT_TOKEN_BOS, 5, PLAIT_TOKEN_BOS, 6 };
  static const gint64 one[] = { 0, 1 }, parent = 0;

  static const char *const more[]
      = { NULL, "self_attention=group group_layers=1", "self_attention=group group_layers=1 positions=rotary",
          "self_attention=group group_layers=2 positions=alibi", NULL };
  static const guint decoders[] = { 0, 0, 1, 0, 2 };

  for (guint i = 0; i < G_N_ELEMENTS (decoders); i++)
    {
      PlaitFixtureDecoder of = plait_fixture_decoder (decoders[i]);
      PlaitRegistry *registry = test_registry ();
      g_auto (Bench) whole = bench_new (1), steps = bench_new (1), step = bench_new (1);
      g_autoptr (PlaitFixture) model = NULL;
      g_autoptr (PlaitBatch) batch = reference_model_batch (tokens, target + 1, 5);
      const PlaitDecoder *decoder;
      PlaitEncoderOutputs encoded;
      PlaitDecoderState *state;
      PlaitNode *states;
      CONTEXT ("decoder %u", i);

      of.more = more[i];
      model = group_model (registry, "group", two_layers, "group", one_group_layer, of);
      decoder = plait_model_decoder (model->model);

      plait_tape_begin (whole.tape, PLAIT_TAPE_EVALUATE, (PlaitRandomKey){ 0 });
      encoded = plait_model_encode (model->model, whole.tape, batch, NULL);
      states = plait_decoder_forward (decoder, whole.tape, &encoded, batch->target_rows, batch->target_inputs, NULL);
      plait_tape_begin (steps.tape, PLAIT_TAPE_EVALUATE, (PlaitRandomKey){ 0 });
      encoded = plait_model_encode (model->model, steps.tape, batch, NULL);
      state = plait_decoder_start (decoder, steps.tape, &encoded, 1, 6);
      for (int t = 0; t < 6; t++)
        {
          PlaitNode *row;

          plait_tape_begin (step.tape, PLAIT_TAPE_EVALUATE, (PlaitRandomKey){ 0 });
          row = plait_decoder_step (state, step.tape, (PlaitRagged){ 1, one }, &target[t], &parent, NULL);
          for (gint64 k = 0; k < row->value.width; k++)
            CHECK_NEAR ((double)row->value.data[k], (double)plait_tensor_row (states->value, t)[k], 1e-4);
        }
    }
}

/* A target word reads only the source sentence with the number of its own sentence, so changing the last sentence
 * changes no other words. Words of target sentences that the source lacks read the last source sentence. */
TEST_CASE (group, reads_its_own_sentence)
{
  static const gint32 tokens[] = { 4, 5, 6, 7, 8, 9 }, changed[] = { 4, 5, 6, 7, 9, 9 };
  static const gint32 target[] = { PLAIT_TOKEN_BOS, 4, PLAIT_TOKEN_BOS, PLAIT_TOKEN_BOS, PLAIT_TOKEN_BOS };
  static const char *const group_layers[] = { "group_layers", "9", NULL };
  PlaitRegistry *registry = test_registry ();
  g_auto (Bench) before = bench_new (1), after = bench_new (1);
  g_autoptr (PlaitFixture) model
      = group_model (registry, "group", embeddings, "group", group_layers, plait_fixture_decoder (0));
  g_autoptr (PlaitBatch) batch = reference_model_batch (tokens, target + 1, 4);
  g_autoptr (PlaitBatch) other = reference_model_batch (changed, target + 1, 4);
  PlaitEncoderOutputs of_batch = plait_model_encode (model->model, before.tape, batch, NULL);
  PlaitEncoderOutputs of_other = plait_model_encode (model->model, after.tape, other, NULL);
  PlaitNode *x = plait_decoder_forward (plait_model_decoder (model->model), before.tape, &of_batch, batch->target_rows,
                                        batch->target_inputs, NULL);
  PlaitNode *y = plait_decoder_forward (plait_model_decoder (model->model), after.tape, &of_other, other->target_rows,
                                        other->target_inputs, NULL);

  for (int row = 0; row < 5; row++)
    {
      double difference = 0;

      for (gint64 k = 0; k < x->value.width; k++)
        difference += fabs ((double)plait_tensor_row (x->value, row)[k] - (double)plait_tensor_row (y->value, row)[k]);
      CHECK (row < 3 ? difference == 0 : difference > 1e-3);
    }
}
