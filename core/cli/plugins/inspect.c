/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "text/json.h"
#include "command/command.h"
#include "loading/registry.h"
#include "command/options.h"
#include "terminal/terminal.h"
#include "experiment/file.h"
#include "text/separators.h"
#include "plugins/key-groups.h"

/* Implements plait inspect: prints one key, or every key of a plugin, of a group of experiment files, or of all groups.
 * Without an argument it lists the groups. */

#define LABEL_WIDTH 9

#define ALL_KEYS "keys"

typedef enum
{
  FORMAT_TEXT,
  FORMAT_MARKDOWN,
  FORMAT_MAN,
} Format;

typedef struct
{
  gboolean keys, json;
  guint format; /* output format, a value of Format */
} Options;

static void
print_setting (PlaitTerminal *terminal, const PlaitSettingSpecification *setting, guint name_width)
{
  g_autofree char *type = plait_key_type (setting), *standard = plait_key_default (setting);
  guint indent = name_width + 4;

  plait_terminal_text (terminal, PLAIT_TERMINAL_NAME, "  %-*s", (int)name_width, setting->name);
  plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "  %s", type);
  plait_terminal_text (terminal, PLAIT_TERMINAL_DIM, "  %s\n", standard);
  plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "%*s", (int)indent, "");
  plait_terminal_paragraph (terminal, indent, indent, setting->summary);
  if (setting->reference)
    plait_terminal_text (terminal, PLAIT_TERMINAL_DIM, "%*s(%s)\n", (int)indent, "", setting->reference);
}

static void
print_settings (PlaitTerminal *terminal, const PlaitSettingSpecification *const *settings, guint n)
{
  guint name_width = 0;

  for (guint i = 0; i < n; i++)
    name_width = MAX (name_width, (guint)strlen (settings[i]->name));
  for (guint i = 0; i < n; i++)
    print_setting (terminal, settings[i], name_width);
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
      plait_json_members (json, "name=%s type=%s", setting->name, plait_setting_type_name (setting->type));
      plait_setting_add_json (setting, setting->standard, json, "default");
      if (setting->minimum)
        plait_setting_add_json (setting, setting->minimum, json, "minimum");
      if (setting->maximum)
        plait_setting_add_json (setting, setting->maximum, json, "maximum");
      if (setting->choices)
        add_names (json, "choices", setting->choices);
      plait_json_members (json, "changes_results=%d summary=%s reference=%s",
                          (setting->flags & PLAIT_SETTING_NEUTRAL) == 0, setting->summary, setting->reference);
      plait_json_end_object (json);
    }
  plait_json_end_array (json);
}

static const PlaitSettingSpecification *const *
settings_of (const PlaitKeyGroup *group)
{
  return (const PlaitSettingSpecification *const *)group->settings->pdata;
}

/* Adds the group at index *@i of @groups, with its members, to the open JSON object. Sets *@i to the index of the last
 * member. */
static void
add_group (PlaitJson *json, const GPtrArray *groups, guint *i)
{
  const PlaitKeyGroup *group = groups->pdata[*i], *member;

  plait_json_members (json, "group=%s summary=%s", group->name, group->summary);
  if (!group->members)
    {
      plait_json_text (json, "details", group->details);
      add_settings (json, settings_of (group), group->settings->len);
      return;
    }
  plait_json_begin_array (json, group->members);
  for (; *i + 1 < groups->len && (member = groups->pdata[*i + 1])->is_member; (*i)++)
    {
      plait_json_begin_object (json, NULL);
      plait_json_members (json, "name=%s summary=%s reference=%s", member->name, member->summary, member->reference);
      add_settings (json, settings_of (member), member->settings->len);
      plait_json_end_object (json);
    }
  plait_json_end_array (json);
}

/* Prints the group at index *@i of @groups, with its members. Sets *@i to the index of the last member. */
static void
print_group (PlaitTerminal *terminal, const GPtrArray *groups, guint *i)
{
  const PlaitKeyGroup *group = groups->pdata[*i], *member;

  plait_terminal_text (terminal, PLAIT_TERMINAL_HEADING, "%s", group->heading);
  plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "  %s\n", group->summary);
  for (; group->members && *i + 1 < groups->len && (member = groups->pdata[*i + 1])->is_member; (*i)++)
    {
      plait_terminal_text (terminal, PLAIT_TERMINAL_HEADING, "\n%s", member->heading);
      plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "  ");
      plait_terminal_paragraph (terminal, 2, 2, member->summary);
      if (member->reference)
        plait_terminal_text (terminal, PLAIT_TERMINAL_DIM, "  (%s)\n", member->reference);
      print_settings (terminal, settings_of (member), member->settings->len);
      if (member->settings->len == 0)
        plait_terminal_text (terminal, PLAIT_TERMINAL_DIM, "  no parameters\n");
    }
  if (group->members)
    return;
  plait_terminal_heading (terminal, "keys");
  print_settings (terminal, settings_of (group), group->settings->len);
  if (group->details)
    {
      plait_terminal_heading (terminal, "and");
      plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "  ");
      plait_terminal_paragraph (terminal, 2, 2, group->details);
    }
}

static void
inspect_group (const GPtrArray *groups, guint i, gboolean as_json)
{
  g_autoptr (PlaitJson) json = as_json ? plait_json_new_object () : NULL;
  g_autoptr (PlaitTerminal) terminal = as_json ? NULL : plait_terminal_new ();

  if (terminal)
    {
      print_group (terminal, groups, &i);
      return;
    }
  add_group (json, groups, &i);
  plait_json_print (json);
}

static void
add_all (PlaitJson *json, const GPtrArray *groups)
{
  plait_json_begin_array (json, "separators");
  for (const PlaitSeparator *row = plait_separators; row->separator; row++)
    plait_json_object (json, NULL, "separator=%s between=%s example=%s", row->separator, row->between, row->example);
  plait_json_end_array (json);
  plait_json_begin_array (json, "groups");
  for (guint i = 0; i < groups->len; i++)
    {
      plait_json_begin_object (json, NULL);
      add_group (json, groups, &i);
      plait_json_end_object (json);
    }
  plait_json_end_array (json);
}

static void
print_all (PlaitTerminal *terminal, const GPtrArray *groups)
{
  for (guint i = 0; plait_key_introduction[i]; i++)
    plait_terminal_paragraph (terminal, 0, 0, plait_key_introduction[i]);
  plait_terminal_heading (terminal, "separators");
  for (const PlaitSeparator *row = plait_separators; row->separator; row++)
    {
      g_autofree char *text = g_strdup_printf ("%s: %s", row->between, row->example);

      plait_terminal_row (terminal, 1, row->separator, text);
    }
  for (guint i = 0; i < groups->len; i++)
    {
      plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "\n");
      print_group (terminal, groups, &i);
    }
}

static void
list_groups (PlaitTerminal *terminal, const GPtrArray *groups)
{
  guint width = 0;

  for (guint i = 0; i < groups->len; i++)
    if (!((PlaitKeyGroup *)groups->pdata[i])->is_member)
      width = MAX (width, (guint)strlen (((PlaitKeyGroup *)groups->pdata[i])->name));
  plait_terminal_heading (terminal, "groups of an experiment file");
  for (guint i = 0; i < groups->len; i++)
    {
      const PlaitKeyGroup *group = groups->pdata[i];

      if (!group->is_member)
        plait_terminal_row (terminal, width, group->name, group->summary);
    }
  plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "\n");
  plait_terminal_paragraph (terminal, 0, 0,
                            "plait inspect GROUP shows the keys of a group, plait inspect GROUP.KEY one key, plait "
                            "inspect keys all keys. plait plugins lists the plugins, plait inspect PLUGIN shows one.");
}

static void
add_list (PlaitJson *json, const GPtrArray *groups)
{
  plait_json_begin_array (json, "groups");
  for (guint i = 0; i < groups->len; i++)
    {
      const PlaitKeyGroup *group = groups->pdata[i];

      if (group->is_member)
        continue;
      plait_json_object (json, NULL, "name=%s summary=%s", group->name, group->summary);
    }
  plait_json_end_array (json);
}

/* Returns the index of the group @name in @groups; the number of groups if there is no such group. */
static guint
find_group (const GPtrArray *groups, const char *name)
{
  guint i = 0;

  while (i < groups->len
         && (((PlaitKeyGroup *)groups->pdata[i])->is_member
             || !g_str_equal (((PlaitKeyGroup *)groups->pdata[i])->name, name)))
    i++;
  return i;
}

/* Prints all groups with their keys; if the argument @wanted is NULL, only names and summaries of groups. */
static void
inspect_all (const GPtrArray *groups, const char *wanted, const Options *options)
{
  g_autoptr (PlaitJson) json = options->json ? plait_json_new_object () : NULL;
  g_autoptr (PlaitTerminal) terminal = json || options->format != FORMAT_TEXT ? NULL : plait_terminal_new ();

  if (options->format == FORMAT_MARKDOWN)
    plait_key_groups_print_markdown (groups);
  else if (options->format == FORMAT_MAN)
    plait_key_groups_print_manual (groups);
  else if (terminal)
    (wanted ? print_all : list_groups) (terminal, groups);
  else
    (wanted ? add_all : add_list) (json, groups);
  if (json)
    plait_json_print (json);
}

/* Prints the key @wanted, GROUP.KEY. Returns FALSE with an error if GROUP has keys, but not this one; FALSE without an
 * error if @wanted does not begin with a group that has keys. */
static gboolean
inspect_key (const GPtrArray *groups, const char *wanted, gboolean as_json, GError **error)
{
  g_autofree char *name = NULL, *key = NULL;
  const PlaitKeyGroup *group;
  guint i;
  gint k;

  if (!plait_experiment_split_key (wanted, &name, &key))
    return FALSE;
  if (g_str_has_prefix (name, "source "))
    strcpy (name, "source");
  i = find_group (groups, name);
  group = i < groups->len ? groups->pdata[i] : NULL;
  if (!group || group->members)
    return FALSE;
  k = plait_setting_find (settings_of (group), group->settings->len, key);
  if (k < 0)
    {
      g_autofree char *otherwise = g_strdup_printf ("plait inspect %s lists the keys", name);
      g_autofree char *remedy = plait_setting_remedy (settings_of (group), group->settings->len, key, otherwise);

      return plait_fail (error, PLAIT_ERROR_INPUT, "[%s] has no key \"%s\"; %s", name, key, remedy);
    }
  g_autoptr (GPtrArray) one = g_ptr_array_new (), settings = g_ptr_array_new ();
  PlaitKeyGroup of_key = *group;
  g_ptr_array_add (settings, group->settings->pdata[k]);
  of_key.settings = settings;
  of_key.details = NULL;
  g_ptr_array_add (one, &of_key);
  inspect_group (one, 0, as_json);
  return TRUE;
}

static void
print_plugin (PlaitPlugin *plugin, const PlaitSchema *schema, const GError *refusal)
{
  static const char *const homes[] = {
    [PLAIT_PLUGIN_ENCODER] = "parameters, in [source NAME] beside encoder=",
    [PLAIT_PLUGIN_COMBINER] = "parameters, in [combiner]",
    [PLAIT_PLUGIN_COVERAGE] = "parameters, in [coverage]",
    [PLAIT_PLUGIN_OUTPUT] = "parameters, in [output]",
    [PLAIT_PLUGIN_DECODER] = "parameters, in [decoder] beside type=",
  };
  g_autoptr (PlaitTerminal) terminal = plait_terminal_new ();
  g_autofree char *decoders = schema->decoders ? plait_choices_text (schema->decoders) : NULL;
  g_autofree char *attentions = schema->attentions ? plait_choices_text (schema->attentions) : NULL;
  g_autofree char *structure = plait_structure_text (schema->requires_structure);
  g_autofree char *needs
      = g_strconcat (structure, schema->one_memory_is_enough ? ", of at least one memory" : "", NULL);
  g_autofree char *gives = plait_structure_text (schema->provides_structure);
  g_autofree char *interface = g_strdup_printf ("%jd", schema->interface);

  plait_terminal_text (terminal, PLAIT_TERMINAL_HEADING, "%s", schema->name);
  plait_terminal_text (terminal, PLAIT_TERMINAL_DIM, "  %s", plait_plugin_kind_name (schema->kind));
  plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "\n  ");
  plait_terminal_paragraph (terminal, 2, 2, schema->summary);

  plait_terminal_heading (terminal, "plugin");
  plait_terminal_list (terminal, LABEL_WIDTH, "Equations", schema->equations);
  plait_terminal_row (terminal, LABEL_WIDTH, "Reference", schema->reference);
  plait_terminal_row (terminal, LABEL_WIDTH, "Version",
                      plugin->descriptor ? plugin->descriptor->version : schema->version);
  plait_terminal_row (terminal, LABEL_WIDTH, "Author", schema->author);
  plait_terminal_row (terminal, LABEL_WIDTH, "Licence", schema->licence);
  plait_terminal_row (terminal, LABEL_WIDTH, "Interface", interface);
  plait_terminal_row (terminal, LABEL_WIDTH, "Schema", schema->path);
  plait_terminal_row (terminal, LABEL_WIDTH, "", plugin->schema_digest);
  plait_terminal_row (terminal, LABEL_WIDTH, "Module", plugin->module_path);
  plait_terminal_row (terminal, LABEL_WIDTH, "", plugin->module_digest);
  plait_terminal_row (terminal, LABEL_WIDTH, "Found in", plugin->folder->origin);
  for (const PlaitPlugin *hidden = plugin->hidden; hidden; hidden = hidden->hidden)
    plait_terminal_row (terminal, LABEL_WIDTH, hidden == plugin->hidden ? "Hides" : "", hidden->schema_path);
  if (refusal)
    {
      plait_terminal_text (terminal, PLAIT_TERMINAL_ERROR, "  %-*s  ", LABEL_WIDTH, "Refused");
      plait_terminal_paragraph (terminal, LABEL_WIDTH + 4, LABEL_WIDTH + 4, refusal->message);
    }

  plait_terminal_heading (terminal, "reads and requires");
  if (schema->kind == PLAIT_PLUGIN_ENCODER)
    {
      g_autofree char *input
          = g_strconcat (plait_input_kind_name (schema->input), schema->reads_trees ? ", trees" : "", NULL);
      plait_terminal_row (terminal, LABEL_WIDTH, "Input", input);
    }
  if (schema->kind == PLAIT_PLUGIN_DECODER)
    plait_terminal_row (terminal, LABEL_WIDTH, "Attention", plait_cross_scores_name (schema->scores));
  else
    {
      plait_terminal_row (terminal, LABEL_WIDTH, "Decoder", decoders ? decoders : "any");
      plait_terminal_row (terminal, LABEL_WIDTH, "Attention", attentions);
      plait_terminal_row (terminal, LABEL_WIDTH, "Structure", needs);
    }
  if (schema->refuses_coverage)
    plait_terminal_row (terminal, LABEL_WIDTH, "Coverage", "none");
  if (schema->requires_sentences)
    plait_terminal_row (terminal, LABEL_WIDTH, "Target", "sentences, paired with those of documents");
  if (schema->requires_leaves)
    plait_terminal_row (terminal, LABEL_WIDTH, "Inner", "another encoder of tokens, leaves= in [source NAME]");
  if (schema->kind == PLAIT_PLUGIN_ENCODER)
    plait_terminal_row (terminal, LABEL_WIDTH, "Provides", gives);
  if (schema->provides_summary)
    plait_terminal_row (terminal, LABEL_WIDTH, "Summary", "a row for each sentence");
  if (schema->writes_own_words)
    plait_terminal_row (terminal, LABEL_WIDTH, "Provides", "words of the sources that the vocabulary lacks");

  plait_terminal_heading (terminal, schema->n_parameters > 0 ? homes[schema->kind] : "no parameters");
  print_settings (terminal, schema->parameters, schema->n_parameters);
}

static void
print_plugin_json (PlaitPlugin *plugin, const PlaitSchema *schema, const GError *refusal)
{
  g_autoptr (PlaitJson) json = plait_json_new_object ();
  g_autofree char *needs = plait_structure_text (schema->requires_structure);
  g_autofree char *gives = plait_structure_text (schema->provides_structure);

  plait_json_members (json, "kind=%s name=%s summary=%s reference=%s", plait_plugin_kind_name (schema->kind),
                      schema->name, schema->summary, schema->reference);
  add_names (json, "equations", schema->equations);
  plait_json_members (
      json,
      "version=%s author=%s licence=%s interface=%jd schema=%s schema_sha256=%s module=%s module_sha256=%s origin=%s",
      plugin->descriptor ? plugin->descriptor->version : schema->version, schema->author, schema->licence,
      schema->interface, schema->path, plugin->schema_digest, plugin->module_path, plugin->module_digest,
      plugin->folder->origin);
  plait_json_begin_array (json, "hides");
  for (const PlaitPlugin *hidden = plugin->hidden; hidden; hidden = hidden->hidden)
    plait_json_text (json, NULL, hidden->schema_path);
  plait_json_end_array (json);
  plait_json_members (json, "refused=%s trees=%d input=%s", refusal ? refusal->message : NULL, schema->reads_trees,
                      schema->kind == PLAIT_PLUGIN_ENCODER ? plait_input_kind_name (schema->input) : NULL);
  plait_json_begin_object (json, "requires");
  add_names (json, "decoder", schema->decoders);
  add_names (json, "attention", schema->attentions);
  plait_json_members (json, "structure=%s memories=%s leaves=%d coverage=%s target=%s",
                      schema->requires_structure ? needs : NULL, schema->one_memory_is_enough ? "one" : "all",
                      schema->requires_leaves, schema->refuses_coverage ? "none" : NULL,
                      schema->requires_sentences ? "sentences" : NULL);
  plait_json_end_object (json);
  plait_json_object (json, "provides", "structure=%s summary=%d attention=%s words=%s",
                     schema->provides_structure ? gives : NULL, schema->provides_summary,
                     schema->kind == PLAIT_PLUGIN_DECODER ? plait_cross_scores_name (schema->scores) : NULL,
                     schema->writes_own_words ? "own" : NULL);
  add_settings (json, schema->parameters, schema->n_parameters);
  plait_json_print (json);
}

static gboolean
run_command (PlaitInvocation *invocation, GError **error)
{
  const Options *options = invocation->options;
  gboolean json = options->json;
  const char *wanted = invocation->arguments[0];
  gboolean all = g_strcmp0 (wanted, ALL_KEYS) == 0;

  if (options->format != FORMAT_TEXT && (!all || json))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "--format works only for all keys and without --json; write plait inspect " ALL_KEYS
                       " --format markdown");
  if (options->keys)
    return plait_keys_print (wanted, json, error);

  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  g_autoptr (GPtrArray) groups = plait_key_groups_new (registry, options->format != FORMAT_TEXT);
  g_autoptr (GPtrArray) names = g_ptr_array_new_null_terminated (8, NULL, TRUE);
  g_autoptr (GError) fault = NULL;
  guint group = wanted ? find_group (groups, wanted) : 0;
  if (!wanted || all)
    inspect_all (groups, wanted, options);
  else if (group < groups->len)
    inspect_group (groups, group, json);
  if (!wanted || all || group < groups->len || inspect_key (groups, wanted, json, &fault))
    return TRUE;
  if (!plait_no_error (&fault, error))
    return FALSE;
  for (guint i = 0; i < groups->len; i++)
    if (!((PlaitKeyGroup *)groups->pdata[i])->is_member)
      g_ptr_array_add (names, (gpointer)((PlaitKeyGroup *)groups->pdata[i])->name);
  g_ptr_array_add (names, ALL_KEYS);
  PlaitPlugin *plugin = plait_registry_find_word (registry, wanted, (const char *const *)names->pdata, error);
  if (!plugin)
    return FALSE;
  const PlaitSchema *schema = plait_plugin_schema (plugin, error);
  if (!schema)
    return FALSE;

  /* Describe the plugin even if its module is refused. The refusal is part of the output and determines the exit
   * code. */
  g_autoptr (GError) refusal = NULL;
  plait_plugin_load (plugin, &refusal);
  if (json)
    print_plugin_json (plugin, schema, refusal);
  else
    print_plugin (plugin, schema, refusal);
  return plait_no_error (&refusal, error);
}

static const PlaitOption options[] = {
  PLAIT_FLAG ("keys", 'k', keys,
              "List all keys that --set accepts, and their possible values; with FILE.ini also the keys of its sources "
              "and files"),
  PLAIT_OPTION (
      "format", 0, CHOICE, format,
      "With the argument keys: print Markdown or the manual page plait-keys(5), for the plugins that come with plait",
      "text|markdown|man"),
  PLAIT_OPTION_JSON (Options),
  { NULL },
};

const PlaitCommand plait_command_inspect = {
  .name = "inspect",
  .synopsis = "[PLUGIN|GROUP|GROUP.KEY|keys] [--json] | keys --format markdown|man | --keys [FILE.ini] [--json]",
  .summary = "Show a plugin, or a group of keys of experiment files",
  .details = "PLUGIN is a name, or KIND/NAME if plugins of several kinds have that name. GROUP is a group of "
             "experiment files, such as decoder, train or grid. combiner, coverage, output, decoders and encoder show "
             "the parameters of all plugins of that kind, metrics the options of all metrics, keys everything. Without "
             "an argument it lists the groups. With --keys each line is a key with its possible values, or FILE for a "
             "path; the keys of the sources and files in FILE.ini are included.",
  .options = options,
  .size = sizeof (Options),
  .max = 1,
  .run = run_command,
};
