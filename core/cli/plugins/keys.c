/* SPDX-License-Identifier: MIT */
#include "plugins/key-groups.h"

#include <stdio.h>
#include <string.h>

#include "text/display.h"
#include "text/json.h"
#include "tasks/generate.h"
#include "experiment/file.h"

typedef struct
{
  char *name;
  GPtrArray *values; /* (element-type utf8): possible values of the key, each once */
  gboolean is_path;
} Key;

typedef struct
{
  GPtrArray *keys;     /* (element-type Key), in order of output; owns the keys */
  GHashTable *by_name; /* maps the name of a key to the key in keys */
  PlaitRegistry *registry;
} Keys;

static void
key_free (gpointer data)
{
  Key *key = data;

  g_free (key->name);
  g_ptr_array_unref (key->values);
  g_free (key);
}

/* Returns the key PREFIX.NAME. Adds it if it is new; several plugins may declare the same key. (transfer none) */
static Key *
get_key (Keys *keys, const char *prefix, const char *name)
{
  g_autofree char *whole = g_strconcat (prefix, ".", name, NULL);
  Key *key = g_hash_table_lookup (keys->by_name, whole);

  if (key)
    return key;
  key = g_new0 (Key, 1);
  key->name = g_steal_pointer (&whole);
  key->values = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (keys->keys, key);
  g_hash_table_insert (keys->by_name, key->name, key);
  return key;
}

static void
add_value (Key *key, const char *value)
{
  if (!g_ptr_array_find_with_equal_func (key->values, value, g_str_equal, NULL))
    g_ptr_array_add (key->values, g_strdup (value));
}

static void
add_setting (Keys *keys, const char *prefix, const PlaitSettingSpecification *specification)
{
  gboolean is_boolean = specification->type == PLAIT_SETTING_BOOLEAN;
  const char *choices = is_boolean ? "true;false" : specification->choices;
  g_auto (GStrv) values = g_strsplit (choices ? choices : "", ";", -1);
  Key *key = get_key (keys, prefix, specification->name);

  key->is_path = (specification->flags & PLAIT_SETTING_PATH) != 0;
  for (guint i = 0; values[i]; i++)
    add_value (key, values[i]);
}

/* Adds the names of the plugins of @kind as values of PREFIX.NAME, and the parameters of all these plugins as keys
 * PLACE.PARAMETER, since a later word of the command line may choose any of the plugins. */
static void
add_plugins (Keys *keys, PlaitPluginKind kind, const char *prefix, const char *name, const char *place)
{
  Key *key = get_key (keys, prefix, name);

  for (guint i = 0; i < plait_registry_n_plugins (keys->registry); i++)
    {
      PlaitPlugin *plugin = plait_registry_plugin (keys->registry, i);
      const PlaitSchema *schema = plugin->kind == kind ? plait_plugin_schema (plugin, NULL) : NULL;

      if (!schema)
        continue;
      add_value (key, plugin->name);
      for (guint p = 0; p < schema->n_parameters; p++)
        add_setting (keys, place, schema->parameters[p]);
    }
}

static void
add_group (Keys *keys, const PlaitSettingGroup *group, const char *prefix)
{
  for (guint i = 0; i < group->n_definitions; i++)
    add_setting (keys, prefix, &group->definitions[i].specification);
}

/* Adds the names of all tasks as values of data.generate. Adds the keys of [data] that contain a dot, such as
 * data.train.en, and the parameters of the task that @file chooses. */
static void
add_data (Keys *keys, const PlaitKeyFile *file)
{
  const char *const *names = plait_key_file_keys (file, "data");
  const char *task_name = plait_key_file_value (file, "data", "generate");
  const PlaitTask *task = task_name ? plait_task_find (task_name, NULL) : NULL;
  const PlaitTask *const *tasks = plait_tasks ();

  for (guint i = 0; tasks[i]; i++)
    add_value (get_key (keys, "data", "generate"), tasks[i]->name);
  for (guint i = 0; names[i]; i++)
    if (strchr (names[i], '.'))
      get_key (keys, "data", names[i])->is_path = !g_str_has_prefix (names[i], "generate.");
  if (!task)
    return;
  g_autoptr (GArray) parameters = plait_task_parameters (task);
  for (guint i = 0; i < parameters->len; i++)
    get_key (keys, "data.generate", g_array_index (parameters, PlaitTaskParameter, i).name);
}

static void
add_sources (Keys *keys, const PlaitKeyFile *file)
{
  const char *const *groups = plait_key_file_groups (file);

  for (guint i = 0; groups[i]; i++)
    {
      g_autofree char *prefix = g_strdelimit (g_strdup (groups[i]), " ", '.');

      if (!g_str_has_prefix (groups[i], "source ") || strchr (groups[i], '/'))
        continue;
      add_group (keys, &plait_source_group, prefix);
      add_plugins (keys, PLAIT_PLUGIN_ENCODER, prefix, "encoder", prefix);
      add_plugins (keys, PLAIT_PLUGIN_ENCODER, prefix, "leaves", prefix);
    }
}

static void
find_keys (Keys *keys, const PlaitKeyFile *file)
{
  for (const PlaitSettingGroup *const *group = plait_experiment_groups (); *group; group++)
    if (*group != &plait_source_group)
      add_group (keys, *group, (*group)->name);
  add_data (keys, file);
  add_sources (keys, file);
  add_plugins (keys, PLAIT_PLUGIN_DECODER, "decoder", "type", "decoder");
  add_plugins (keys, PLAIT_PLUGIN_COMBINER, "decoder", "combiner", "combiner");
  add_plugins (keys, PLAIT_PLUGIN_COVERAGE, "decoder", "coverage", "coverage");
  add_value (get_key (keys, "decoder", "coverage"), "none");
  add_plugins (keys, PLAIT_PLUGIN_OUTPUT, "decoder", "output", "output");
}

static void
print_text (const Keys *keys)
{
  for (guint i = 0; i < keys->keys->len; i++)
    {
      const Key *key = keys->keys->pdata[i];
      g_autoptr (GString) line = g_string_new (key->name);

      g_string_append (line, key->is_path ? "=FILE" : "=");
      for (guint v = 0; v < key->values->len; v++)
        g_string_append_printf (line, "%s%s", v > 0 ? " " : "", (const char *)key->values->pdata[v]);
      plait_display_line (stdout, line->str);
    }
}

static void
print_json (const Keys *keys)
{
  g_autoptr (PlaitJson) json = plait_json_new_object ();

  plait_json_begin_array (json, "keys");
  for (guint i = 0; i < keys->keys->len; i++)
    {
      const Key *key = keys->keys->pdata[i];

      plait_json_begin_object (json, NULL);
      plait_json_members (json, "key=%s path=%d", key->name, key->is_path);
      plait_json_texts (json, "values", (const char *const *)key->values->pdata, key->values->len);
      plait_json_end_object (json);
    }
  plait_json_end_array (json);
  plait_json_print (json);
}

gboolean
plait_keys_print (const char *path, gboolean as_json, GError **error)
{
  g_autoptr (PlaitKeyFile) file = path ? plait_key_file_load (path, error) : plait_key_file_new ("none");
  g_autoptr (PlaitRegistry) registry = NULL;
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func (key_free);
  g_autoptr (GHashTable) by_name = g_hash_table_new (g_str_hash, g_str_equal);
  Keys keys = { list, by_name, NULL };

  if (!file)
    return FALSE;
  keys.registry = registry = plait_registry_new ();
  find_keys (&keys, file);
  if (as_json)
    print_json (&keys);
  else
    print_text (&keys);
  return TRUE;
}
