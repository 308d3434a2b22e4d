/* SPDX-License-Identifier: MIT */
#include "loading/registry.h"

#include <string.h>

#include "process/crash.h"
#include "files/digest.h"

#define SCHEMA_SUFFIX ".ini"
#define MODULE_SUFFIX ".so"

struct PlaitRegistry
{
  GPtrArray *folders; /* (element-type PlaitPluginFolder) */
  GPtrArray *plugins; /* (element-type PlaitPlugin) plugins that are not hidden */
  GHashTable *homes;  /* "KIND/NAME" -> path from which a run loaded the module */
  PlaitSandboxLimits limits;
};

static void
plugin_free (gpointer data)
{
  PlaitPlugin *plugin = data;

  while (plugin)
    {
      PlaitPlugin *hidden = plugin->hidden;

      plait_schema_free (plugin->schema);
      g_clear_error (&plugin->refusal);
      g_free (plugin->name);
      g_free (plugin->schema_path);
      g_free (plugin->module_path);
      g_free (plugin->schema_digest);
      g_free (plugin->module_digest);
      g_free (plugin);
      plugin = hidden;
    }
}

static PlaitPlugin *
lookup (const PlaitRegistry *registry, PlaitPluginKind kind, const char *name)
{
  for (guint i = 0; i < registry->plugins->len; i++)
    {
      PlaitPlugin *plugin = registry->plugins->pdata[i];

      if (plugin->kind == kind && g_str_equal (plugin->name, name))
        return plugin;
    }
  return NULL;
}

static void
add_plugin (PlaitRegistry *registry, const PlaitPluginFolder *folder, PlaitPluginKind kind, const char *name)
{
  PlaitPlugin *plugin = g_new0 (PlaitPlugin, 1), *hider = lookup (registry, kind, name);
  const char *kind_name = plait_plugin_kind_name (kind);

  plugin->registry = registry;
  plugin->kind = kind;
  plugin->name = g_strdup (name);
  plugin->folder = folder;
  plugin->schema_path = g_strdup_printf ("%s/%s/%s" SCHEMA_SUFFIX, folder->path, kind_name, name);
  plugin->module_path = g_strdup_printf ("%s/%s/%s" MODULE_SUFFIX, folder->path, kind_name, name);
  if (!hider)
    {
      g_ptr_array_add (registry->plugins, plugin);
      return;
    }
  while (hider->hidden)
    hider = hider->hidden;
  hider->hidden = plugin;
}

/* Adds the plugins of @kind in @folder. A schema or a module alone is enough, so that messages can name the missing
 * file of an incomplete plugin. */
static void
search_kind (PlaitRegistry *registry, const PlaitPluginFolder *folder, PlaitPluginKind kind)
{
  g_autofree char *path = g_build_filename (folder->path, plait_plugin_kind_name (kind), NULL);
  g_autoptr (GDir) directory = g_dir_open (path, 0, NULL);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  const char *entry;

  while (directory && (entry = g_dir_read_name (directory)) != NULL)
    {
      const char *suffix = g_str_has_suffix (entry, SCHEMA_SUFFIX)   ? SCHEMA_SUFFIX
                           : g_str_has_suffix (entry, MODULE_SUFFIX) ? MODULE_SUFFIX
                                                                     : NULL;

      if (!suffix || *entry == '.')
        continue;
      char *name = g_strndup (entry, strlen (entry) - strlen (suffix));
      if (g_hash_table_add (seen, name))
        add_plugin (registry, folder, kind, name);
    }
}

static gint
compare_plugins (gconstpointer a, gconstpointer b)
{
  const PlaitPlugin *first = *(const PlaitPlugin *const *)a, *second = *(const PlaitPlugin *const *)b;

  if (first->kind != second->kind)
    return first->kind < second->kind ? -1 : 1;
  return strcmp (first->name, second->name);
}

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

/* Returns a registry of the plugins in @folders, which the registry then owns. (transfer full) */
static PlaitRegistry *
registry_new (GPtrArray *folders)
{
  PlaitRegistry *registry = g_new0 (PlaitRegistry, 1);

  registry->folders = folders;
  registry->plugins = g_ptr_array_new_with_free_func (plugin_free);
  registry->homes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  registry->limits = PLAIT_SANDBOX_LIMITS;
  for (guint i = 0; i < folders->len; i++)
    for (guint kind = 0; kind < PLAIT_PLUGIN_KINDS; kind++)
      search_kind (registry, folders->pdata[i], (PlaitPluginKind)kind);
  g_ptr_array_sort (registry->plugins, compare_plugins);
  return registry;
}

PlaitRegistry *
plait_registry_new (void)
{
  return registry_new (plait_plugin_folders ());
}

PlaitRegistry *
plait_registry_new_for_folders (const char *const *folders)
{
  return registry_new (plait_plugin_folders_given (folders));
}

void
plait_registry_free (PlaitRegistry *registry)
{
  if (!registry)
    return;
  g_ptr_array_unref (registry->plugins);
  g_ptr_array_unref (registry->folders);
  g_hash_table_unref (registry->homes);
  g_free (registry);
}

void
plait_registry_set_sandbox_limits (PlaitRegistry *registry, PlaitSandboxLimits limits)
{
  registry->limits = limits;
}

guint
plait_registry_n_folders (const PlaitRegistry *registry)
{
  return registry->folders->len;
}

const PlaitPluginFolder *
plait_registry_folder (const PlaitRegistry *registry, guint index)
{
  g_assert (index < registry->folders->len);
  return registry->folders->pdata[index];
}

guint
plait_registry_n_plugins (const PlaitRegistry *registry)
{
  return registry->plugins->len;
}

PlaitPlugin *
plait_registry_plugin (const PlaitRegistry *registry, guint index)
{
  g_assert (index < registry->plugins->len);
  return registry->plugins->pdata[index];
}

void
plait_registry_remember (PlaitRegistry *registry, PlaitPluginKind kind, const char *name, const char *module)
{
  g_hash_table_insert (registry->homes, g_strdup_printf ("%s/%s", plait_plugin_kind_name (kind), name),
                       g_strdup (module));
}

const char *
plait_registry_remembered (const PlaitRegistry *registry, PlaitPluginKind kind, const char *name)
{
  g_autofree char *key = g_strdup_printf ("%s/%s", plait_plugin_kind_name (kind), name);

  return g_hash_table_lookup (registry->homes, key);
}

/* Sets the error for an unknown plugin @name, and returns NULL. */
static gpointer
unknown_plugin (const PlaitRegistry *registry, PlaitPluginKind kind, const char *name, GError **error)
{
  const char *kind_name = plait_plugin_kind_name (kind), *home = plait_registry_remembered (registry, kind, name);
  g_autofree char *search = plait_registry_search_text (registry, name), *remedy = NULL;
  g_autoptr (GPtrArray) names = g_ptr_array_new_null_terminated (8, NULL, TRUE);

  for (guint i = 0; i < registry->plugins->len; i++)
    {
      PlaitPlugin *plugin = registry->plugins->pdata[i];

      if (plugin->kind == kind)
        g_ptr_array_add (names, plugin->name);
    }
  const char *otherwise = names->len > 0 ? NULL : "no plugin of this kind is installed";
  remedy = home ? g_strdup_printf ("the run was trained with the module %s", home)
                : plait_name_remedy (name, (const char *const *)names->pdata, otherwise);
  return plait_fail_null (error, PLAIT_ERROR_PLUGIN, "there is no %s called \"%s\"; %s%s", kind_name, name, remedy,
                          search);
}

PlaitPlugin *
plait_registry_find (PlaitRegistry *registry, PlaitPluginKind kind, const char *name, GError **error)
{
  PlaitPlugin *plugin;

  if (!plait_name_is_valid (name))
    return plait_fail_null (error, PLAIT_ERROR_PLUGIN,
                            "\"%s\" is not a valid name of a plugin; give only the name (" PLAIT_NAME_FORM
                            ") and add the folder that contains KIND/NAME.so to PLAIT_PLUGIN_PATH",
                            name);
  plugin = lookup (registry, kind, name);
  if (!plugin)
    return unknown_plugin (registry, kind, name, error);
  return plait_plugin_schema (plugin, error) ? plugin : NULL;
}

PlaitPlugin *
plait_registry_find_word (const PlaitRegistry *registry, const char *wanted, const char *const *groups, GError **error)
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

/* Returns the names of the files NAME.ini in @folder of all plugin folders: "english, german". (transfer full) */
static char *
list_texts (const PlaitRegistry *registry, const char *folder)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_null_terminated (8, g_free, TRUE);

  for (guint i = 0; i < registry->folders->len; i++)
    {
      const PlaitPluginFolder *found = registry->folders->pdata[i];
      g_autofree char *path = g_build_filename (found->path, folder, NULL);
      g_autoptr (GDir) directory = g_dir_open (path, 0, NULL);
      const char *entry;

      while (directory && (entry = g_dir_read_name (directory)) != NULL)
        if (g_str_has_suffix (entry, SCHEMA_SUFFIX))
          {
            g_autofree char *name = g_strndup (entry, strlen (entry) - strlen (SCHEMA_SUFFIX));
            if (!g_ptr_array_find_with_equal_func (names, name, g_str_equal, NULL))
              g_ptr_array_add (names, g_steal_pointer (&name));
          }
    }
  g_ptr_array_sort (names, compare_names);
  return g_strjoinv (", ", (char **)names->pdata);
}

char *
plait_registry_find_text (const PlaitRegistry *registry, const char *folder, const char *name, GError **error)
{
  g_autofree char *file = g_strconcat (name, SCHEMA_SUFFIX, NULL), *all = NULL;

  for (guint i = 0; plait_name_is_valid (name) && i < registry->folders->len; i++)
    {
      const PlaitPluginFolder *found = registry->folders->pdata[i];
      g_autofree char *path = g_build_filename (found->path, folder, file, NULL);

      if (g_file_test (path, G_FILE_TEST_EXISTS))
        return g_steal_pointer (&path);
    }
  all = list_texts (registry, folder);
  return plait_fail_null (error, PLAIT_ERROR_INPUT,
                          "there is no file %s/%s in the plugin folders, which \"plait plugins\" lists; put the file "
                          "into one of these folders, or name a file that they have: %s",
                          folder, file, *all != '\0' ? all : "(there are none)");
}

const PlaitSchema *
plait_plugin_schema (PlaitPlugin *plugin, GError **error)
{
  if (!plugin->schema && !g_file_test (plugin->schema_path, G_FILE_TEST_EXISTS))
    return plait_fail_null (error, PLAIT_ERROR_PLUGIN, "%s: has no schema; put %s%s into its folder",
                            plugin->module_path, plugin->name, SCHEMA_SUFFIX);
  if (!plugin->schema)
    plugin->schema = plait_schema_read (plugin->schema_path, error);
  return plugin->schema;
}

gboolean
plait_plugin_digest (PlaitPlugin *plugin, GError **error)
{
  if (!plugin->schema_digest)
    plugin->schema_digest = plait_digest_file (plugin->schema_path, error);
  if (plugin->schema_digest && !plugin->module_digest && !g_file_test (plugin->module_path, G_FILE_TEST_EXISTS))
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: " PLAIT_MODULE_MISSING, plugin->module_path);
  if (plugin->schema_digest && !plugin->module_digest)
    plugin->module_digest = plait_digest_file (plugin->module_path, error);
  return plugin->schema_digest && plugin->module_digest;
}

gboolean
plait_plugin_load (PlaitPlugin *plugin, GError **error)
{
  const PlaitSchema *schema = plait_plugin_schema (plugin, error);

  if (!schema)
    return FALSE;
  if (!plugin->descriptor && !plugin->folder->own)
    plait_crash_suspect (g_intern_string (plugin->module_path));
  /* Store the refusal: each trial of a module that hangs takes the whole time limit. */
  if (!plugin->descriptor && !plugin->refusal)
    plugin->descriptor
        = plait_plugin_module_open (plugin->module_path, schema, plugin->registry->limits, &plugin->refusal);
  if (plugin->refusal && error)
    *error = g_error_copy (plugin->refusal);
  return plugin->descriptor && plait_plugin_digest (plugin, error);
}

gpointer
plait_plugin_new_settings (const PlaitPlugin *plugin, const PlaitSettings *settings)
{
  const PlaitPluginDescriptor *descriptor = plugin->descriptor;
  gpointer memory;

  g_assert (descriptor != NULL);
  memory = g_malloc0 (MAX (descriptor->settings_size, 1));
  plait_settings_fill (settings, descriptor->bindings, descriptor->n_bindings, memory);
  return memory;
}
