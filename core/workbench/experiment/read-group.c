/* SPDX-License-Identifier: MIT */
#include "experiment/resolution.h"

#include <string.h>

/* This file reads the keys of a group: of the core, of a plugin, or of both. */

void
plait_resolution_problem (const PlaitResolution *resolution, const char *group, const char *key, const char *format,
                          ...)
{
  va_list arguments;

  va_start (arguments, format);
  plait_problems_add_key_va (resolution->problems, resolution->file, group, key, format, arguments);
  va_end (arguments);
}

/* Returns the plugin of @component as a text KIND/NAME. (transfer full) */
static char *
full_name (const PlaitComponent *component)
{
  return g_strdup_printf ("%s/%s", plait_plugin_kind_name (component->plugin->kind), component->plugin->name);
}

/* Returns the argument of plait inspect that shows the keys of @group. (transfer full) */
static char *
inspect_name (const PlaitResolution *resolution, const char *group)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const PlaitComponent *parts[] = { experiment->combiner, experiment->coverage, experiment->output };

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (parts[i] && g_str_equal (group, parts[i]->group))
      return full_name (parts[i]);
  for (guint i = 0; i < resolution->experiment->sources->len; i++)
    {
      const PlaitParsedSource *source = resolution->experiment->sources->pdata[i];

      for (const PlaitComponent *component = source->encoder; component; component = component->leaves)
        if (g_str_equal (group, component->group))
          return full_name (component);
    }
  return g_strdup (g_str_has_prefix (group, PLAIT_SOURCE_PREFIX) ? "source" : group);
}

gboolean
plait_resolution_any_alternative (const PlaitResolution *resolution, PlaitPluginKind kind,
                                  gboolean (*found) (const PlaitSchema *schema, gconstpointer data), gconstpointer data)
{
  g_autofree char *prefix = g_strdup_printf ("%s ", plait_plugin_kind_name (kind));

  for (guint i = 0; resolution->resolver->alternatives && resolution->resolver->alternatives[i]; i++)
    {
      const char *alternative = resolution->resolver->alternatives[i];
      PlaitPlugin *plugin
          = g_str_has_prefix (alternative, prefix)
                ? plait_registry_find (resolution->resolver->registry, kind, alternative + strlen (prefix), NULL)
                : NULL;

      if (plugin && found (plugin->schema, data))
        return TRUE;
    }
  return FALSE;
}

static gboolean
has_parameter (const PlaitSchema *schema, gconstpointer name)
{
  return plait_schema_parameter (schema, name) != NULL;
}

gboolean
plait_resolution_is_alternative (const PlaitResolution *resolution, const char *group, const char *key,
                                 gconstpointer data)
{
  return plait_resolution_any_alternative (resolution, *(const PlaitPluginKind *)data, has_parameter, key);
}

static void
unknown_key (const PlaitResolution *resolution, const char *group, const char *key, const PlaitSettings *settings)
{
  g_autofree char *name = inspect_name (resolution, group);
  g_autofree char *otherwise = plait_settings_n (settings) == 0
                                   ? g_strdup_printf ("%s has no parameters", name)
                                   : g_strdup_printf ("plait inspect %s lists the keys", name);
  g_autofree char *remedy = plait_settings_remedy (settings, key, otherwise);

  plait_resolution_problem (resolution, group, key, "no such key; %s", remedy);
}

void
plait_resolution_read_group (const PlaitResolution *resolution, const char *group, PlaitSettings *settings,
                             PlaitOtherKey other, gconstpointer data)
{
  const char *const *keys = plait_key_file_keys (resolution->file, group);

  for (guint i = 0; keys[i]; i++)
    {
      g_autoptr (GError) fault = NULL;

      if (plait_settings_find (settings, keys[i]) < 0)
        {
          if (!other || !other (resolution, group, keys[i], data))
            unknown_key (resolution, group, keys[i], settings);
        }
      else if (!plait_settings_set (settings, keys[i], plait_key_file_value (resolution->file, group, keys[i]), &fault))
        plait_resolution_problem (resolution, group, keys[i], "%s", fault->message);
    }
  for (guint i = 0; i < plait_settings_n (settings); i++)
    {
      const PlaitSettingSpecification *specification = plait_settings_specification (settings, i);

      if (!plait_settings_text_at (settings, i) && !plait_key_file_value (resolution->file, group, specification->name))
        {
          g_autofree char *expectation = plait_setting_expectation (specification);
          plait_resolution_problem (resolution, group, NULL,
                                    "%s is missing; add %s=VALUE, where VALUE is %s (meaning: %s)", specification->name,
                                    specification->name, expectation, specification->summary);
        }
    }
}

gboolean
plait_resolution_read_host_keys (const PlaitResolution *resolution, const char *group, PlaitSettings *host)
{
  gboolean good = TRUE;

  for (guint i = 0; i < plait_settings_n (host); i++)
    {
      const char *key = plait_settings_specification (host, i)->name;
      const char *value = plait_key_file_value (resolution->file, group, key);
      g_autoptr (GError) fault = NULL;

      if (value && !plait_settings_set (host, key, value, &fault))
        {
          plait_resolution_problem (resolution, group, key, "%s", fault->message);
          good = FALSE;
        }
    }
  return good;
}

void
plait_resolution_read_plugin_keys (const PlaitResolution *resolution, const char *group, const PlaitSettings *host,
                                   PlaitComponent *component, const char *chooser)
{
  const PlaitSchema *schema = component->schema;
  PlaitPluginKind kind = schema->kind;
  guint n = schema->n_parameters, n_host = plait_settings_n (host);
  g_autofree const PlaitSettingSpecification **both = g_new (const PlaitSettingSpecification *, n + n_host);
  g_autoptr (PlaitSettings) all = NULL;

  for (guint i = 0; i < n; i++)
    {
      both[i] = schema->parameters[i];
      if (plait_settings_find (host, both[i]->name) >= 0)
        plait_resolution_problem (resolution, group, chooser,
                                  "%s has a parameter %s, which is a key of plait itself; rename it in the plugin",
                                  schema->path, both[i]->name);
    }
  for (guint i = 0; i < n_host; i++)
    both[n + i] = plait_settings_specification (host, i);
  all = plait_settings_new (both, n + n_host);
  plait_resolution_read_group (resolution, group, all, plait_resolution_is_alternative, &kind);
  for (guint i = 0; i < n; i++)
    if (plait_settings_is_given (all, i))
      plait_settings_set (component->parameters, both[i]->name, plait_settings_text_at (all, i), NULL);
}

PlaitComponent *
plait_resolution_read_part (const PlaitResolution *resolution, PlaitPluginKind kind, const char *name,
                            const char *place, const char *key, const char *group)
{
  g_autoptr (GError) fault = NULL;
  PlaitPlugin *plugin = plait_registry_find (resolution->resolver->registry, kind, name, &fault);
  PlaitComponent *component;

  if (!plugin)
    {
      plait_resolution_problem (resolution, place, key, "%s", fault->message);
      return NULL;
    }
  component = plait_component_new (plugin, group);
  plait_resolution_read_group (resolution, group, component->parameters, plait_resolution_is_alternative, &kind);
  return component;
}
