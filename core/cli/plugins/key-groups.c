/* SPDX-License-Identifier: MIT */
#include "plugins/key-groups.h"

#include "axes/keys.h"
#include "experiment/file.h"
#include "metrics/metric.h"

const char *const plait_key_introduction[] = {
  "An experiment file has groups, [GROUP], with lines KEY=VALUE, and comments, lines that begin with #. A missing key "
  "has its default. --set GROUP.KEY=VALUE sets a key on the command line, --unset GROUP.KEY removes it; there, GROUP "
  "is source.NAME for [source NAME].",
  "A boolean is true or false. Texts have no quotes. The items of a list are separated by ';'. If a description begins "
  "with values or plugins and a colon, it is about these only.",
  NULL,
};

/* Groups of experiment files that hold the parameters of a plugin. */
static const struct
{
  const char *name;
  const char *heading;
  const char *summary;
} kinds[PLAIT_PLUGIN_KINDS] = {
  [PLAIT_PLUGIN_ENCODER]
  = { "encoder", "[source NAME]", "Parameters of the encoder plugins; plait inspect source shows the other keys" },
  [PLAIT_PLUGIN_COMBINER] = { "combiner", "[combiner]", "Parameters of the combiners" },
  [PLAIT_PLUGIN_COVERAGE] = { "coverage", "[coverage]", "Parameters of the coverages" },
  [PLAIT_PLUGIN_OUTPUT] = { "output", "[output]", "Parameters of the outputs" },
  [PLAIT_PLUGIN_DECODER]
  = { "decoders", "[decoder]", "Parameters of the decoder plugins; plait inspect decoder shows the other keys" },
};

static void
key_group_free (gpointer data)
{
  PlaitKeyGroup *group = data;

  g_ptr_array_unref (group->settings);
  g_free (group->heading);
  if (group->texts)
    g_string_chunk_free (group->texts);
  g_free (group);
}

static PlaitKeyGroup *
add_group (GPtrArray *groups, const char *name, const char *heading, const char *summary)
{
  PlaitKeyGroup *group = g_new0 (PlaitKeyGroup, 1);

  group->name = name;
  group->heading = g_strdup (heading);
  group->summary = summary;
  group->settings = g_ptr_array_new_with_free_func (NULL);
  g_ptr_array_add (groups, group);
  return group;
}

static void
add_host_group (GPtrArray *groups, const PlaitSettingGroup *of_host)
{
  g_autofree char *heading = g_strdup_printf ("[%s]", of_host->name);
  PlaitKeyGroup *group = add_group (groups, of_host->name, heading, of_host->summary);

  group->details = of_host->details;
  for (guint i = 0; i < of_host->n_definitions; i++)
    g_ptr_array_add (group->settings, (gpointer)&of_host->definitions[i].specification);
}

static void
add_kind (GPtrArray *groups, const PlaitRegistry *registry, PlaitPluginKind kind, gboolean own)
{
  add_group (groups, kinds[kind].name, kinds[kind].heading, kinds[kind].summary)->members = "plugins";
  for (guint i = 0; i < plait_registry_n_plugins (registry); i++)
    {
      PlaitPlugin *plugin = plait_registry_plugin (registry, i);
      const PlaitSchema *schema = NULL;

      while (own && plugin && !plugin->folder->own)
        plugin = plugin->hidden;
      if (plugin && plugin->kind == kind)
        schema = plait_plugin_schema (plugin, NULL);
      if (!schema)
        continue;
      PlaitKeyGroup *group = add_group (groups, schema->name, schema->name, schema->summary);
      group->is_member = TRUE;
      group->reference = schema->reference;
      for (guint p = 0; p < schema->n_parameters; p++)
        g_ptr_array_add (group->settings, (gpointer)schema->parameters[p]);
    }
}

/* Adds a group with the options of the metric @name; if @name is NULL, with the options that every metric has. */
static void
add_metric (GPtrArray *groups, const char *name, const char *heading)
{
  static const PlaitSettingType types[] = {
    [PLAIT_METRIC_SWITCH] = PLAIT_SETTING_BOOLEAN, [PLAIT_METRIC_CHOICE] = PLAIT_SETTING_CHOICE,
    [PLAIT_METRIC_NUMBER] = PLAIT_SETTING_REAL,    [PLAIT_METRIC_INTEGER] = PLAIT_SETTING_INTEGER,
    [PLAIT_METRIC_TEXT] = PLAIT_SETTING_TEXT,
  };
  PlaitKeyGroup *group = add_group (groups, heading, heading, plait_metric_summary (name));
  PlaitMetricOptionText option;

  group->is_member = TRUE;
  group->texts = g_string_chunk_new (1024);
  g_ptr_array_set_free_func (group->settings, g_free);
  for (guint i = 0; plait_metric_option (name, i, group->texts, &option); i++)
    {
      PlaitSettingSpecification *setting = g_new0 (PlaitSettingSpecification, 1);

      *setting = (PlaitSettingSpecification){ option.name,    types[option.type], option.standard, option.minimum,
                                              option.maximum, option.choices,     option.summary };
      setting->flags = PLAIT_SETTING_OPTIONAL;
      g_ptr_array_add (group->settings, setting);
    }
}

GPtrArray *
plait_key_groups_new (const PlaitRegistry *registry, gboolean own)
{
  GPtrArray *groups = g_ptr_array_new_with_free_func (key_group_free);
  g_autofree const char **metrics = plait_metric_names ();

  for (const PlaitSettingGroup *const *group = plait_experiment_groups (); *group; group++)
    add_host_group (groups, *group);
  add_host_group (groups, &plait_grid_group);
  for (guint kind = 0; kind < PLAIT_PLUGIN_KINDS; kind++)
    add_kind (groups, registry, (PlaitPluginKind)kind, own);
  add_group (groups, "metrics", "Metrics of evaluate.metrics, train.metric and --metric",
             "NAME, or NAME:OPTION,OPTION=VALUE; for a boolean option NAME:OPTION")
      ->members
      = "metrics";
  add_metric (groups, NULL, "every metric");
  for (guint i = 0; metrics[i]; i++)
    add_metric (groups, metrics[i], metrics[i]);
  return groups;
}

char *
plait_key_type (const PlaitSettingSpecification *setting)
{
  const char *type = plait_setting_type_name (setting->type);

  if (setting->choices)
    {
      g_auto (GStrv) names = g_strsplit (setting->choices, ";", -1);
      g_autofree char *joined = g_strjoinv (" | ", names);
      return g_strdup_printf ("%s  %s", type, joined);
    }
  if (!setting->minimum && !setting->maximum)
    return g_strdup (type);
  return g_strdup_printf ("%s  %s ..%s%s", type, setting->minimum ? setting->minimum : "", setting->maximum ? " " : "",
                          setting->maximum ? setting->maximum : "");
}

char *
plait_key_default (const PlaitSettingSpecification *setting)
{
  if (!setting->standard)
    return g_strdup (setting->flags & PLAIT_SETTING_OPTIONAL ? "may be left out" : "must be given");
  return *setting->standard == '\0' ? g_strdup ("default: empty") : g_strdup_printf ("default: %s", setting->standard);
}
