/* SPDX-License-Identifier: MIT */
#include "loading/component.h"

PlaitComponent *
plait_component_new (PlaitPlugin *plugin, const char *group)
{
  PlaitComponent *component = g_new0 (PlaitComponent, 1);

  component->plugin = plugin;
  component->schema = plugin->schema;
  component->parameters = plait_settings_new (plugin->schema->parameters, plugin->schema->n_parameters);
  component->group = g_strdup (group);
  component->label = g_strdup_printf ("%s \"%s\" of [%s]", plait_plugin_kind_name (plugin->kind), plugin->name, group);
  return component;
}

void
plait_component_free (PlaitComponent *component)
{
  if (!component)
    return;
  plait_component_free (component->leaves);
  plait_settings_free (component->parameters);
  g_free (component->group);
  g_free (component->label);
  g_free (component->settings);
  g_free (component);
}

gboolean
plait_component_open (PlaitComponent *component, GError **error)
{
  if (component->settings)
    return TRUE;
  if ((component->leaves && !plait_component_open (component->leaves, error))
      || !plait_plugin_load (component->plugin, error))
    return FALSE;
  component->settings = plait_plugin_new_settings (component->plugin, component->parameters);
  return TRUE;
}
