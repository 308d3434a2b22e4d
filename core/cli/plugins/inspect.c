/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "text/json.h"
#include "command/command.h"
#include "plugins/find-plugin.h"
#include "plugins/keys.h"
#include "command/options.h"
#include "terminal/page.h"
#include "experiment/file.h"
#include "axes/keys.h"
#include "loading/registry.h"

/* plait inspect: one plugin, or one group of experiment files, with all that may be set; or which groups there are. */

#define LABEL_WIDTH 9

typedef struct
{
  gboolean keys, json;
} Options;

/* "integer", "1 .. 64", "pre, post": what a value may be, short. (transfer full) */
static char *
range_text (const PlaitSettingSpecification *setting)
{
  if (setting->choices)
    {
      g_auto (GStrv) names = g_strsplit (setting->choices, ";", -1);
      return g_strjoinv (" | ", names);
    }
  if (setting->minimum && setting->maximum)
    return g_strdup_printf ("%s .. %s", setting->minimum, setting->maximum);
  if (setting->minimum)
    return g_strdup_printf ("%s ..", setting->minimum);
  if (setting->maximum)
    return g_strdup_printf (".. %s", setting->maximum);
  return g_strdup ("");
}

static void
print_setting (PlaitPage *page, const PlaitSettingSpecification *setting, guint name_width)
{
  g_autofree char *range = range_text (setting);
  g_autofree char *standard
      = !setting->standard ? g_strdup (setting->flags & PLAIT_SETTING_OPTIONAL ? "may be left out" : "must be given")
        : *setting->standard == '\0' ? g_strdup ("default: empty")
                                     : g_strdup_printf ("default: %s", setting->standard);
  guint indent = name_width + 4;

  plait_page_text (page, PLAIT_PAGE_NAME, "  %-*s", (int)name_width, setting->name);
  plait_page_text (page, PLAIT_PAGE_PLAIN, "  %-7s", plait_setting_type_name (setting->type));
  if (*range != '\0')
    plait_page_text (page, PLAIT_PAGE_PLAIN, "  %s", range);
  plait_page_text (page, PLAIT_PAGE_DIM, "  %s\n", standard);
  plait_page_text (page, PLAIT_PAGE_PLAIN, "%*s", (int)indent, "");
  plait_page_paragraph (page, indent, indent, setting->summary);
  if (setting->reference)
    plait_page_text (page, PLAIT_PAGE_DIM, "%*s(%s)\n", (int)indent, "", setting->reference);
}

static void
print_settings (PlaitPage *page, const PlaitSettingSpecification *const *settings, guint n)
{
  guint name_width = 0;

  for (guint i = 0; i < n; i++)
    name_width = MAX (name_width, (guint)strlen (settings[i]->name));
  for (guint i = 0; i < n; i++)
    print_setting (page, settings[i], name_width);
}

static void
add_names (PlaitJson *json, const char *name, const char *joined)
{
  g_auto (GStrv) names = g_strsplit (joined ? joined : "", ";", -1);

  plait_json_texts (json, name, (const char *const *)names, -1);
}

static void
add_settings (PlaitJson *json, const PlaitSettingSpecification *const *settings, guint n)
{
  plait_json_begin_array (json, "parameters");
  for (guint i = 0; i < n; i++)
    {
      const PlaitSettingSpecification *setting = settings[i];

      plait_json_begin_object (json, NULL);
      plait_json_text (json, "name", setting->name);
      plait_json_text (json, "type", plait_setting_type_name (setting->type));
      plait_setting_add_json (setting, setting->standard, json, "default");
      if (setting->minimum)
        plait_setting_add_json (setting, setting->minimum, json, "minimum");
      if (setting->maximum)
        plait_setting_add_json (setting, setting->maximum, json, "maximum");
      if (setting->choices)
        add_names (json, "choices", setting->choices);
      plait_json_boolean (json, "changes_results", (setting->flags & PLAIT_SETTING_NEUTRAL) == 0);
      plait_json_text (json, "summary", setting->summary);
      plait_json_text (json, "reference", setting->reference);
      plait_json_end_object (json);
    }
  plait_json_end_array (json);
}

/* Shows the keys @settings [n] of the group @name; @details may be NULL. */
static void
inspect_keys (const char *name, const char *summary, const char *details,
              const PlaitSettingSpecification *const *settings, guint n, gboolean as_json)
{
  if (as_json)
    {
      g_autoptr (PlaitJson) json = plait_json_new_object ();

      plait_json_text (json, "group", name);
      plait_json_text (json, "summary", summary);
      plait_json_text (json, "details", details);
      add_settings (json, settings, n);
      plait_json_print (json);
      return;
    }
  g_autoptr (PlaitPage) page = plait_page_new ();
  plait_page_text (page, PLAIT_PAGE_HEADING, "[%s]", name);
  plait_page_text (page, PLAIT_PAGE_PLAIN, "  %s\n", summary);
  plait_page_heading (page, "keys");
  print_settings (page, settings, n);
  if (details)
    {
      plait_page_heading (page, "and");
      plait_page_text (page, PLAIT_PAGE_PLAIN, "  ");
      plait_page_paragraph (page, 2, 2, details);
    }
}

static void
inspect_group (const PlaitSettingGroup *group, gboolean as_json)
{
  g_autofree const PlaitSettingSpecification **settings
      = g_new (const PlaitSettingSpecification *, group->n_definitions);

  for (guint i = 0; i < group->n_definitions; i++)
    settings[i] = &group->definitions[i].specification;
  inspect_keys (group->name, group->summary, group->details, settings, group->n_definitions, as_json);
}

/* The group of the core, or [grid], that is called @name; NULL if there is none. */
static const PlaitSettingGroup *
find_group (const char *name)
{
  const PlaitSettingGroup *const *groups = plait_experiment_groups ();

  while (*groups && !g_str_equal ((*groups)->name, name))
    groups++;
  return *groups ? *groups : g_str_equal (name, plait_grid_group.name) ? &plait_grid_group : NULL;
}

/* Groups whose keys are the parameters of the plugin that stands there. */
static const struct
{
  const char *name;
  const char *summary;
} kinds[PLAIT_PLUGIN_KINDS] = {
  [PLAIT_PLUGIN_ENCODER]
  = { "[source NAME]", "Beside encoder= the parameters of that encoder; plait inspect source shows the other keys" },
  [PLAIT_PLUGIN_COMBINER] = { "[combiner]", "The parameters of the combiner that decoder.combiner names" },
  [PLAIT_PLUGIN_COVERAGE] = { "[coverage]", "The parameters of the coverage that decoder.coverage names" },
};

/* Shows the parameters of all plugins of @kind. */
static void
inspect_kind (const PlaitRegistry *registry, PlaitPluginKind kind, gboolean as_json)
{
  g_autoptr (PlaitJson) json = as_json ? plait_json_new_object () : NULL;
  g_autoptr (PlaitPage) page = as_json ? NULL : plait_page_new ();

  if (json)
    {
      plait_json_text (json, "group", plait_plugin_kind_name (kind));
      plait_json_text (json, "summary", kinds[kind].summary);
      plait_json_begin_array (json, "plugins");
    }
  else
    plait_page_text (page, PLAIT_PAGE_HEADING, "%s", kinds[kind].name);
  if (page)
    plait_page_text (page, PLAIT_PAGE_PLAIN, "  %s\n", kinds[kind].summary);
  for (guint i = 0; i < plait_registry_n_plugins (registry); i++)
    {
      PlaitPlugin *plugin = plait_registry_plugin (registry, i);
      const PlaitSchema *schema = plugin->kind == kind ? plait_plugin_schema (plugin, NULL) : NULL;

      if (!schema)
        continue;
      if (page)
        {
          plait_page_text (page, PLAIT_PAGE_HEADING, "\n%s", schema->name);
          plait_page_text (page, PLAIT_PAGE_PLAIN, "  ");
          plait_page_paragraph (page, 2, 2, schema->summary);
          print_settings (page, schema->parameters, schema->n_parameters);
          if (schema->n_parameters == 0)
            plait_page_text (page, PLAIT_PAGE_DIM, "  no parameters\n");
          continue;
        }
      plait_json_begin_object (json, NULL);
      plait_json_text (json, "name", schema->name);
      plait_json_text (json, "summary", schema->summary);
      add_settings (json, schema->parameters, schema->n_parameters);
      plait_json_end_object (json);
    }
  if (!json)
    return;
  plait_json_end_array (json);
  plait_json_print (json);
}

/* The names of all groups, ended by NULL, and in *@summaries what each is. (transfer container) */
static const char **
name_groups (const char ***summaries)
{
  const PlaitSettingGroup *const *groups = plait_experiment_groups ();
  guint n = 0, n_groups = g_strv_length ((char **)groups);
  const char **names = g_new0 (const char *, n_groups + PLAIT_PLUGIN_KINDS + 2);

  *summaries = g_new0 (const char *, n_groups + PLAIT_PLUGIN_KINDS + 2);
  for (; n < n_groups; n++)
    {
      names[n] = groups[n]->name;
      (*summaries)[n] = groups[n]->summary;
    }
  for (guint kind = 0; kind < PLAIT_PLUGIN_KINDS; kind++, n++)
    {
      names[n] = plait_plugin_kind_name ((PlaitPluginKind)kind);
      (*summaries)[n] = kinds[kind].summary;
    }
  names[n] = plait_grid_group.name;
  (*summaries)[n] = plait_grid_group.summary;
  return names;
}

static void
list_groups (gboolean as_json)
{
  g_autofree const char **summaries = NULL;
  g_autofree const char **names = name_groups (&summaries);
  g_autoptr (PlaitJson) json = plait_json_new_object ();
  guint width = 0;

  if (as_json)
    {
      plait_json_begin_array (json, "groups");
      for (guint i = 0; names[i]; i++)
        {
          plait_json_begin_object (json, NULL);
          plait_json_text (json, "name", names[i]);
          plait_json_text (json, "summary", summaries[i]);
          plait_json_end_object (json);
        }
      plait_json_end_array (json);
      plait_json_print (json);
      return;
    }
  g_autoptr (PlaitPage) page = plait_page_new ();
  for (guint i = 0; names[i]; i++)
    width = MAX (width, (guint)strlen (names[i]));
  plait_page_heading (page, "groups of an experiment file");
  for (guint i = 0; names[i]; i++)
    plait_page_row (page, width, names[i], summaries[i]);
  plait_page_text (page, PLAIT_PAGE_PLAIN, "\n");
  plait_page_paragraph (page, 0, 0,
                        "plait inspect GROUP shows the keys of one, plait inspect GROUP.KEY one of them. plait plugins "
                        "lists the plugins, plait inspect PLUGIN shows one.");
}

/* Shows the key of the core or of [grid] that @wanted, GROUP.KEY, names. FALSE with *@error if the group has no such
 * key, and without one if it names no group. */
static gboolean
inspect_key (const char *wanted, gboolean as_json, GError **error)
{
  const PlaitSettingGroup *found;
  g_autofree char *group = NULL, *key = NULL;
  g_autoptr (PlaitSettings) settings = NULL;
  gint place;

  if (!plait_experiment_split_key (wanted, &group, &key))
    return FALSE;
  if (g_str_has_prefix (group, "source "))
    strcpy (group, "source");
  found = find_group (group);
  if (!found)
    return FALSE;
  settings = plait_settings_new_for_group (found);
  place = plait_settings_find (settings, key);
  if (place < 0)
    {
      g_autofree char *otherwise = g_strdup_printf ("plait inspect %s lists the keys", group);
      g_autofree char *remedy = plait_settings_remedy (settings, key, otherwise);

      return plait_fail (error, PLAIT_ERROR_INPUT, "[%s] has no key \"%s\"; %s", group, key, remedy);
    }
  const PlaitSettingSpecification *setting = plait_settings_specification (settings, (guint)place);
  inspect_keys (group, found->summary, NULL, &setting, 1, as_json);
  return TRUE;
}

/* Shows the group @wanted. FALSE if there is none. */
static gboolean
inspect_wanted_group (const PlaitRegistry *registry, const char *wanted, gboolean as_json)
{
  const PlaitSettingGroup *group = find_group (wanted);
  PlaitPluginKind kind;

  if (group)
    inspect_group (group, as_json);
  else if (plait_plugin_kind_from_name (wanted, &kind))
    inspect_kind (registry, kind, as_json);
  else
    return FALSE;
  return TRUE;
}

static void
print_plugin (PlaitPlugin *plugin, const PlaitSchema *schema, const GError *refusal)
{
  static const char *const homes[] = {
    [PLAIT_PLUGIN_ENCODER] = "parameters, in [source NAME] beside encoder=",
    [PLAIT_PLUGIN_COMBINER] = "parameters, in [combiner]",
    [PLAIT_PLUGIN_COVERAGE] = "parameters, in [coverage]",
  };
  g_autoptr (PlaitPage) page = plait_page_new ();
  g_autofree char *decoders = schema->decoders ? plait_choices_text (schema->decoders) : NULL;
  g_autofree char *structure = plait_structure_text (schema->requires_structure);
  g_autofree char *needs
      = g_strconcat (structure, schema->one_memory_is_enough ? ", of one memory at least" : "", NULL);
  g_autofree char *gives = plait_structure_text (schema->provides_structure);
  g_autofree char *interface = g_strdup_printf ("%jd", schema->interface);

  plait_page_text (page, PLAIT_PAGE_HEADING, "%s", schema->name);
  plait_page_text (page, PLAIT_PAGE_DIM, "  %s", plait_plugin_kind_name (schema->kind));
  plait_page_text (page, PLAIT_PAGE_PLAIN, "\n  ");
  plait_page_paragraph (page, 2, 2, schema->summary);

  plait_page_heading (page, "plugin");
  plait_page_list (page, LABEL_WIDTH, "Equations", schema->equations);
  plait_page_row (page, LABEL_WIDTH, "Reference", schema->reference);
  plait_page_row (page, LABEL_WIDTH, "Version", plugin->descriptor ? plugin->descriptor->version : schema->version);
  plait_page_row (page, LABEL_WIDTH, "Author", schema->author);
  plait_page_row (page, LABEL_WIDTH, "Licence", schema->licence);
  plait_page_row (page, LABEL_WIDTH, "Interface", interface);
  plait_page_row (page, LABEL_WIDTH, "Schema", schema->path);
  plait_page_row (page, LABEL_WIDTH, "", plugin->schema_digest);
  plait_page_row (page, LABEL_WIDTH, "Module", plugin->module_path);
  plait_page_row (page, LABEL_WIDTH, "", plugin->module_digest);
  plait_page_row (page, LABEL_WIDTH, "Found in", plugin->folder->origin);
  for (const PlaitPlugin *hidden = plugin->hidden; hidden; hidden = hidden->hidden)
    plait_page_row (page, LABEL_WIDTH, hidden == plugin->hidden ? "Hides" : "", hidden->schema_path);
  if (refusal)
    {
      plait_page_text (page, PLAIT_PAGE_BAD, "  %-*s  ", LABEL_WIDTH, "Refused");
      plait_page_paragraph (page, LABEL_WIDTH + 4, LABEL_WIDTH + 4, refusal->message);
    }

  plait_page_heading (page, "reads and requires");
  if (schema->kind == PLAIT_PLUGIN_ENCODER)
    {
      g_autofree char *input
          = g_strconcat (plait_input_kind_name (schema->input), schema->reads_trees ? ", trees" : "", NULL);
      plait_page_row (page, LABEL_WIDTH, "Input", input);
    }
  plait_page_row (page, LABEL_WIDTH, "Decoder", decoders ? decoders : "any");
  plait_page_row (page, LABEL_WIDTH, "Structure", needs);
  if (schema->refuses_coverage)
    plait_page_row (page, LABEL_WIDTH, "Coverage", "none");
  if (schema->requires_leaves)
    plait_page_row (page, LABEL_WIDTH, "Stands on", "another encoder of tokens, leaves= in [source NAME]");
  if (schema->kind == PLAIT_PLUGIN_ENCODER)
    plait_page_row (page, LABEL_WIDTH, "Provides", gives);

  plait_page_heading (page, schema->n_parameters > 0 ? homes[schema->kind] : "no parameters");
  print_settings (page, schema->parameters, schema->n_parameters);
}

static void
print_plugin_json (PlaitPlugin *plugin, const PlaitSchema *schema, const GError *refusal)
{
  g_autoptr (PlaitJson) json = plait_json_new_object ();
  g_autofree char *needs = plait_structure_text (schema->requires_structure);
  g_autofree char *gives = plait_structure_text (schema->provides_structure);

  plait_json_text (json, "kind", plait_plugin_kind_name (schema->kind));
  plait_json_text (json, "name", schema->name);
  plait_json_text (json, "summary", schema->summary);
  plait_json_text (json, "reference", schema->reference);
  add_names (json, "equations", schema->equations);
  plait_json_text (json, "version", plugin->descriptor ? plugin->descriptor->version : schema->version);
  plait_json_text (json, "author", schema->author);
  plait_json_text (json, "licence", schema->licence);
  plait_json_integer (json, "interface", schema->interface);
  plait_json_text (json, "schema", schema->path);
  plait_json_text (json, "schema_sha256", plugin->schema_digest);
  plait_json_text (json, "module", plugin->module_path);
  plait_json_text (json, "module_sha256", plugin->module_digest);
  plait_json_text (json, "origin", plugin->folder->origin);
  plait_json_begin_array (json, "hides");
  for (const PlaitPlugin *hidden = plugin->hidden; hidden; hidden = hidden->hidden)
    plait_json_text (json, NULL, hidden->schema_path);
  plait_json_end_array (json);
  plait_json_text (json, "refused", refusal ? refusal->message : NULL);
  plait_json_boolean (json, "trees", schema->reads_trees);
  plait_json_text (json, "input", schema->kind == PLAIT_PLUGIN_ENCODER ? plait_input_kind_name (schema->input) : NULL);
  plait_json_begin_object (json, "requires");
  add_names (json, "decoder", schema->decoders);
  plait_json_text (json, "structure", schema->requires_structure ? needs : NULL);
  plait_json_text (json, "memories", schema->one_memory_is_enough ? "one" : "all");
  plait_json_boolean (json, "leaves", schema->requires_leaves);
  plait_json_text (json, "coverage", schema->refuses_coverage ? "none" : NULL);
  plait_json_end_object (json);
  plait_json_begin_object (json, "provides");
  plait_json_text (json, "structure", schema->provides_structure ? gives : NULL);
  plait_json_end_object (json);
  add_settings (json, schema->parameters, schema->n_parameters);
  plait_json_print (json);
}

static gboolean
run_command (PlaitInvocation *invocation, GError **error)
{
  const Options *options = invocation->options;
  gboolean json = options->json;
  g_autofree const char **summaries = NULL;
  g_autofree const char **groups = name_groups (&summaries);
  const char *wanted = invocation->arguments[0];

  if (options->keys)
    return plait_keys_print (wanted, json, error);
  if (!wanted)
    {
      list_groups (json);
      return TRUE;
    }

  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  g_autoptr (GError) fault = NULL;
  if (inspect_wanted_group (registry, wanted, json) || inspect_key (wanted, json, &fault))
    return TRUE;
  if (!plait_no_fault (&fault, error))
    return FALSE;
  PlaitPlugin *plugin = plait_find_plugin (registry, wanted, groups, error);
  if (!plugin)
    return FALSE;
  const PlaitSchema *schema = plait_plugin_schema (plugin, error);
  if (!schema)
    return FALSE;

  /* A module that is refused is still described; why it is refused is part of the answer, and of the exit code. */
  g_autoptr (GError) refusal = NULL;
  plait_plugin_load (plugin, &refusal);
  if (json)
    print_plugin_json (plugin, schema, refusal);
  else
    print_plugin (plugin, schema, refusal);
  return plait_no_fault (&refusal, error);
}

static const PlaitOption options[] = {
  { "keys", 'k', PLAIT_OPTION_FLAG, offsetof (Options, keys),
    "List all keys that --set takes, with the values to choose from, of no experiment or of FILE.ini", NULL },
  PLAIT_OPTION_JSON (Options),
  { NULL },
};

const PlaitCommand plait_command_inspect = {
  .name = "inspect",
  .synopsis = "[PLUGIN|GROUP|GROUP.KEY] [--json] | --keys [FILE.ini] [--json]",
  .summary = "Show a plugin, or a group of experiment files, with its parameters",
  .details
  = "PLUGIN is a name, or KIND/NAME where several kinds have it. GROUP is a group of experiment files, such as "
    "decoder, train or grid; combiner, coverage and encoder show the parameters of all plugins of that kind. Without "
    "either it lists the groups. With --keys a line is a key and what there is to choose from, or FILE for a path; "
    "sources and files of FILE.ini are among them.",
  .options = options,
  .size = sizeof (Options),
  .least = 0,
  .most = 1,
  .run = run_command,
};
