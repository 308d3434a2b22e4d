/* SPDX-License-Identifier: MIT */
#include "hat-models.h"

#include "harness.h"

const char *const test_embedding_leaves[] = { "layers", "0", "positions", "none", "final_norm", "false", NULL };

const char *const test_no_keys[] = { NULL };

PlaitSettings *
test_settings_with (PlaitPlugin *plugin, const char *const *keys)
{
  PlaitSettings *settings = plait_fixture_settings (plugin);

  for (; *keys; keys += 2)
    CHECK (plait_settings_set (settings, keys[0], keys[1], NULL));
  return settings;
}

PlaitFixture *
test_documents_model (PlaitRegistry *registry, const TestDocuments *documents, const char *const *keys,
                      const char *combiner_name, PlaitFixtureDecoder decoder, GError **error)
{
  PlaitPlugin *hat = test_plugin (registry, PLAIT_PLUGIN_ENCODER, "hat");
  PlaitPlugin *transformer = test_plugin (registry, PLAIT_PLUGIN_ENCODER, "transformer");
  PlaitPlugin *combiner = test_plugin (registry, PLAIT_PLUGIN_COMBINER, combiner_name);
  g_autoptr (PlaitSettings) combiner_settings = plait_fixture_settings (combiner);
  g_autoptr (PlaitSettings) own
      = test_settings_with (documents ? hat : transformer, documents ? documents->keys : keys);
  g_autoptr (PlaitSettings) leaves = test_settings_with (transformer, documents ? documents->leaves : test_no_keys);
  PlaitFixtureSource source = { documents ? hat : transformer, own, documents ? transformer : NULL, leaves };

  decoder.combiner = combiner;
  decoder.combiner_settings = combiner_settings;
  return plait_fixture_new (&source, 1, &decoder, 6, error);
}

PlaitFixture *
test_hat_model (PlaitRegistry *registry, const TestDocuments *documents, PlaitFixtureDecoder decoder)
{
  return test_documents_model (registry, documents, NULL, "serial", decoder, NO_ERROR);
}
