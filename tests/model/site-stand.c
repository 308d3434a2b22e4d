/* SPDX-License-Identifier: MIT */
#include "site-stand.h"

#include "harness.h"
#include "layers/parameter-set.h"

void
site_stand_begin (SiteStand *stand, PlaitDecoderSettings decoder, const char *combiner, const char *const *keys)
{
  g_autoptr (PlaitSettings) settings = NULL;
  PlaitPlugin *plugin;

  stand->decoder = decoder;
  stand->registry = plait_registry_new ();
  stand->parameters = plait_parameters_new ();
  plugin = test_plugin (stand->registry, PLAIT_PLUGIN_COMBINER, combiner);
  settings = plait_specimen_settings (plugin);
  for (; *keys; keys += 2)
    CHECK (plait_settings_set (settings, keys[0], keys[1], NULL));
  stand->combiner = test_opened_part (plugin, settings, "combiner");
  stand->build = (PlaitDecoderBuild){
    .settings = &stand->decoder,
    .combiner = stand->combiner,
    .losses = &stand->losses,
    .memories = &stand->memory,
    .n_memories = 1,
    .parameters = stand->parameters,
  };
}

gboolean
site_stand_build (SiteStand *stand, gint64 width, GError **error)
{
  return plait_declared_site_build (&stand->site, &stand->build, width, width, "site/", error)
         && plait_parameters_allocate (stand->parameters, error);
}

void
site_stand_clear (SiteStand *stand)
{
  plait_part_free (stand->combiner);
  plait_part_free (stand->coverage);
  plait_parameters_free (stand->parameters);
  plait_registry_free (stand->registry);
}
