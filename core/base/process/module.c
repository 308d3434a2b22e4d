/* SPDX-License-Identifier: MIT */
#include "process/module.h"

#include "files/plugin-folders.h"

/* Returns NULL and sets an error about the module of @wanted: its @fault and the @remedy. */
static gpointer
refuse (const PlaitModuleWanted *wanted, const char *fault, const char *remedy, GError **error)
{
  return plait_fail_null (error, PLAIT_ERROR_INPUT, "%s needs the module %s/%s, which %s; %s", wanted->use,
                          wanted->kind, wanted->name, fault, remedy);
}

/* Returns NULL and sets an error that names the packages to install. */
static gpointer
refuse_missing (const PlaitModuleWanted *wanted, const char *fault, const char *then, GError **error)
{
  g_autofree char *remedy = g_strdup_printf ("install %s (Debian)%s", wanted->packages, then);

  return refuse (wanted, fault, remedy, error);
}

/* Returns the path of the module in the first folder that has it, or NULL. (transfer full) */
static char *
find (const PlaitModuleWanted *wanted)
{
  g_autoptr (GPtrArray) folders = plait_plugin_folders ();
  g_autofree char *file = g_strdup_printf ("%s/%s." G_MODULE_SUFFIX, wanted->kind, wanted->name);

  for (guint i = 0; i < folders->len; i++)
    {
      const PlaitPluginFolder *folder = folders->pdata[i];
      g_autofree char *path = g_build_filename (folder->path, file, NULL);

      if (g_file_test (path, G_FILE_TEST_IS_REGULAR))
        return g_steal_pointer (&path);
    }
  return NULL;
}

/* Returns the table of the module at @path, if it matches @wanted and this build of plait; else NULL. */
static gconstpointer
open_at (const char *path, const PlaitModuleWanted *wanted, GError **error)
{
  GModule *opened = g_module_open (path, G_MODULE_BIND_LOCAL);
  const PlaitModule *module = NULL;
  gpointer symbol = NULL;

  if (!opened)
    {
      g_autofree char *fault = g_strdup_printf ("cannot be loaded (%s)", g_module_error ());

      return refuse_missing (wanted, fault, "", error);
    }
  /* Libraries leave threads, handlers and memory behind, so a module is never closed. */
  g_module_make_resident (opened);
  if (g_module_symbol (opened, G_STRINGIFY (PLAIT_MODULE_SYMBOL), &symbol))
    module = symbol;
  if (!module || module->interface != PLAIT_MODULE_INTERFACE || module->scalar_size != PLAIT_MODULE_SCALAR_SIZE
      || !g_str_equal (module->kind, wanted->kind) || module->table_size != wanted->table_size)
    {
      g_autofree char *fault = g_strdup_printf ("is %s, built for another version of plait", path);

      return refuse (wanted, fault, "build or install this plait again", error);
    }
  return module->table;
}

gconstpointer
plait_module_open (const PlaitModuleWanted *wanted, GError **error)
{
  static GMutex lock;
  static GHashTable *tables; /* "KIND/NAME" -> table of each open module */
  g_autofree char *key = g_strdup_printf ("%s/%s", wanted->kind, wanted->name), *path = NULL;
  G_GNUC_UNUSED g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&lock);
  gconstpointer table = tables ? g_hash_table_lookup (tables, key) : NULL;

  if (table)
    return table;
  path = find (wanted);
  if (!path)
    return refuse_missing (wanted, "is in none of the folders that the command plait plugins lists",
                           " and build plait again", error);
  table = open_at (path, wanted, error);
  if (!table)
    return NULL;
  if (!tables)
    tables = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_hash_table_insert (tables, g_steal_pointer (&key), (gpointer)table);
  return table;
}
