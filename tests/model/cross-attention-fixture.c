/* SPDX-License-Identifier: MIT */
#include "cross-attention-fixture.h"

#include <string.h>

#include "harness.h"
#include "layers/parameter-set.h"

void
cross_attention_fixture_begin (CrossAttentionFixture *fixture, PlaitFixtureDecoder decoder, const char *combiner,
                               const char *const *keys)
{
  g_autoptr (PlaitSettings) settings = NULL;
  PlaitPlugin *plugin;

  fixture->decoder = decoder.settings;
  fixture->declaration = (PlaitCrossDeclaration){
    .multi_head = g_str_equal (decoder.settings.type, "transformer"),
    .score = strstr (decoder.parameters, "attention=dot") ? PLAIT_SCORE_DOT : PLAIT_SCORE_ADDITIVE,
  };
  fixture->registry = test_registry ();
  fixture->parameters = plait_parameters_new ();
  plugin = test_plugin (fixture->registry, PLAIT_PLUGIN_COMBINER, combiner);
  settings = plait_fixture_settings (plugin);
  for (; *keys; keys += 2)
    CHECK (plait_settings_set (settings, keys[0], keys[1], NULL));
  fixture->combiner = test_opened_part (plugin, settings, "combiner");
  fixture->build = (PlaitDecoderComponents){
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
  fixture->declaration.width = fixture->declaration.query_width = width;
  if (fixture->declaration.attention_width == 0)
    fixture->declaration.attention_width = width;
  return plait_cross_layer_build (&fixture->cross, &fixture->build, &fixture->declaration, "site/", error)
         && plait_parameters_allocate (fixture->parameters, error);
}

void
cross_attention_fixture_clear (CrossAttentionFixture *fixture)
{
  plait_component_free (fixture->combiner);
  plait_component_free (fixture->coverage);
  plait_parameters_free (fixture->parameters);
}
