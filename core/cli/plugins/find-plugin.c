/* SPDX-License-Identifier: MIT */
#include "plugins/find-plugin.h"

#include <string.h>

PlaitPlugin *
plait_find_plugin (const PlaitRegistry *registry, const char *wanted, const char *const *groups, GError **error)
{
  g_autoptr (GPtrArray) known = g_ptr_array_new_null_terminated (8, NULL, TRUE);
  PlaitPlugin *found = NULL;

  for (guint i = 0; i < plait_registry_n_plugins (registry); i++)
    {
      PlaitPlugin *plugin = plait_registry_plugin (registry, i);
      g_autofree char *full = g_strdup_printf ("%s/%s", plait_plugin_kind_name (plugin->kind), plugin->name);

      if (g_str_equal (wanted, full))
        return plugin;
      g_ptr_array_add (known, plugin->name);
      if (!g_str_equal (wanted, plugin->name))
        continue;
      if (found)
        return plait_fail_null (error, PLAIT_ERROR_INPUT,
                                "plugins of several kinds are called \"%s\"; give %s or %s/%s", wanted, full,
                                plait_plugin_kind_name (found->kind), found->name);
      found = plugin;
    }
  if (found)
    return found;
  for (guint i = 0; groups && groups[i]; i++)
    g_ptr_array_add (known, (gpointer)groups[i]);
  const char *slash = strrchr (wanted, '/');
  g_autofree char *search = plait_registry_search_text (registry, slash ? slash + 1 : wanted);
  g_autofree char *remedy
      = plait_name_remedy (wanted, (const char *const *)known->pdata, "plait plugins lists the plugins");
  return plait_fail_null (error, PLAIT_ERROR_INPUT, "there is no %s \"%s\"; %s%s",
                          groups ? "plugin or group" : "plugin", wanted, remedy, search);
}
