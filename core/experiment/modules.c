/* SPDX-License-Identifier: MIT */
#include "experiment/resolution.h"

/* Whether the modules of plugins load, each told where the plugin is named. */

static void
check_module (const PlaitResolution *resolution, const PlaitPart *part, const char *group, const char *key)
{
  g_autoptr (GError) fault = NULL;

  if (part && !plait_plugin_load (part->plugin, &fault))
    plait_resolution_problem (resolution, group, key, "%s", fault->message);
}

void
plait_resolution_check_modules (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;

  for (guint i = 0; i < experiment->n_sources; i++)
    {
      const PlaitPart *encoder = experiment->sources[i].encoder;
      g_autofree char *group = g_strconcat (PLAIT_SOURCE_PREFIX, experiment->sources[i].name, NULL);

      check_module (resolution, encoder, group, "encoder");
      check_module (resolution, encoder ? encoder->leaves : NULL, group, "leaves");
    }
  check_module (resolution, experiment->combiner, "decoder", "combiner");
  check_module (resolution, experiment->coverage, "decoder", "coverage");
}
