/* SPDX-License-Identifier: MIT */
#include "models.h"

#include "harness.h"

PlaitPart *
test_opened_part (PlaitPlugin *plugin, PlaitSettings *settings, const char *group)
{
  PlaitPart *part = plait_specimen_part (plugin, settings, group);
  GError *error = NULL;

  CHECK (plait_part_open (part, &error));
  CHECK_NO_ERROR (error);
  return part;
}

const PlaitReader *
test_reader (const PlaitDeclaredSite *site, PlaitReads reads, guint memory)
{
  const PlaitSite whole = { .declared = (PlaitDeclaredSite *)site };

  return plait_site_find_reader (&whole, reads, NULL, memory);
}

PlaitPlugin *
test_plugin (PlaitRegistry *registry, PlaitPluginKind kind, const char *name)
{
  GError *error = NULL;
  PlaitPlugin *plugin = plait_registry_find (registry, kind, name, &error);

  if (plugin)
    plait_plugin_load (plugin, &error);
  CHECK_NO_ERROR (error);
  return plugin;
}
