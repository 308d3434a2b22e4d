/* SPDX-License-Identifier: MIT */
#include "cross-attention-fixture.h"

#include "harness.h"
#include "layers/parameter-set.h"

void
cross_attention_fixture_begin (CrossAttentionFixture *fixture, PlaitDecoderSettings decoder, const char *combiner,
                               const char *const *keys)
{
  g_autoptr (PlaitSettings) settings = NULL;
  PlaitPlugin *plugin;

  fixture->decoder = decoder;
  fixture->registry = plait_registry_new ();
  fixture->parameters = plait_parameters_new ();
  plugin = test_plugin (fixture->registry, PLAIT_PLUGIN_COMBINER, combiner);
  settings = plait_fixture_settings (plugin);
  for (; *keys; keys += 2)
    CHECK (plait_settings_set (settings, keys[0], keys[1], NULL));
  fixture->combiner = test_opened_part (plugin, settings, "combiner");
  fixture->build = (PlaitDecoderBuild){
    .settings = &fixture->decoder,
    .combiner = fixture->combiner,
    .losses = &fixture->losses,
    .memories = &fixture->memory,
    .n_memories = 1,
    .parameters = fixture->parameters,
  };
}

gboolean
cross_attention_fixture_build (CrossAttentionFixture *fixture, gint64 width, GError **error)
{
  return plait_cross_layer_build (&fixture->cross, &fixture->build, width, width, "site/", error)
         && plait_parameters_allocate (fixture->parameters, error);
}

void
cross_attention_fixture_clear (CrossAttentionFixture *fixture)
{
  plait_component_free (fixture->combiner);
  plait_component_free (fixture->coverage);
  plait_parameters_free (fixture->parameters);
  plait_registry_free (fixture->registry);
}
