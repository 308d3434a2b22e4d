/* SPDX-License-Identifier: MIT */
#include "loading/part.h"

PlaitPart *
plait_part_new (PlaitPlugin *plugin, const char *group)
{
  PlaitPart *part = g_new0 (PlaitPart, 1);

  part->plugin = plugin;
  part->schema = plugin->schema;
  part->parameters = plait_settings_new (plugin->schema->parameters, plugin->schema->n_parameters);
  part->group = g_strdup (group);
  part->label = g_strdup_printf ("%s \"%s\" of [%s]", plait_plugin_kind_name (plugin->kind), plugin->name, group);
  return part;
}

void
plait_part_free (PlaitPart *part)
{
  if (!part)
    return;
  plait_part_free (part->leaves);
  plait_settings_free (part->parameters);
  g_free (part->group);
  g_free (part->label);
  g_free (part->settings);
  g_free (part);
}

gboolean
plait_part_open (PlaitPart *part, GError **error)
{
  if (part->settings)
    return TRUE;
  if ((part->leaves && !plait_part_open (part->leaves, error)) || !plait_plugin_load (part->plugin, error))
    return FALSE;
  part->settings = plait_plugin_new_settings (part->plugin, part->parameters);
  return TRUE;
}
