/* SPDX-License-Identifier: MIT */
#include "hat-models.h"
#include "reference-model.h"
#include "layers/parameter-set.h"

/* G-Transformer (Bao et al. 2021): the encoder group, against the float64 reference. */

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
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
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
