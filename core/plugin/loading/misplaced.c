/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "files/key-file.h"
#include "loading/registry.h"

/* Text about the folders that were searched, and about plugins that lie next to the folders of their kinds instead of
 * in them. */

#define SCHEMA_SUFFIX ".ini"
#define MODULE_SUFFIX ".so"

/* Returns advice that makes plait find the plugin whose schema is @path, in @folder. (transfer full) */
static char *
remedy_of (const char *folder, const char *path)
{
  g_autofree char *base = g_path_get_basename (folder), *above = g_path_get_dirname (folder);
  g_autoptr (PlaitKeyFile) schema = plait_key_file_load (path, NULL);
  const char *written = schema ? plait_key_file_value (schema, "plugin", "kind") : NULL;
  PlaitPluginKind kind;

  if (plait_plugin_kind_from_name (base, &kind))
    return g_strdup_printf ("name %s in PLAIT_PLUGIN_PATH instead", above);
  if (written && plait_plugin_kind_from_name (written, &kind))
    return g_strdup_printf ("move both to %s/%s", folder, written);
  return g_strdup_printf ("move both to %s/KIND", folder);
}

char *
plait_plugin_folder_misplaced (const PlaitPluginFolder *folder, const char *name)
{
  g_autoptr (GDir) directory = g_dir_open (folder->path, 0, NULL);
  GString *text = g_string_new (NULL);
  const char *entry;

  while (directory && (entry = g_dir_read_name (directory)) != NULL)
    {
      g_autofree char *stem = NULL, *path = NULL, *remedy = NULL;

      if (!g_str_has_suffix (entry, MODULE_SUFFIX))
        continue;
      stem = g_strndup (entry, strlen (entry) - strlen (MODULE_SUFFIX));
      path = g_strdup_printf ("%s/%s" SCHEMA_SUFFIX, folder->path, stem);
      if ((name && !g_str_equal (stem, name)) || !g_file_test (path, G_FILE_TEST_EXISTS))
        continue;
      remedy = remedy_of (folder->path, path);
      g_string_append_printf (text, "%s%s/%s and %s" SCHEMA_SUFFIX " are not in the folder of a kind: %s",
                              text->len > 0 ? "; " : "", folder->path, entry, stem, remedy);
    }
  return g_string_free (text, FALSE);
}

char *
plait_registry_search_text (const PlaitRegistry *registry, const char *name)
{
  GString *text = g_string_new (NULL);
  guint n = plait_registry_n_folders (registry);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *misplaced = plait_plugin_folder_misplaced (plait_registry_folder (registry, i), name);

      if (*misplaced != '\0')
        g_string_append_printf (text, "; %s", misplaced);
    }
  g_string_append (text, " (plait looked in ");
  for (guint i = 0; i < n; i++)
    {
      const PlaitPluginFolder *folder = plait_registry_folder (registry, i);

      g_string_append_printf (text, "%s%s [%s%s]", i > 0 ? ", " : "", folder->path, folder->origin,
                              folder->exists ? "" : ", not there");
    }
  g_string_append (text, "; PLAIT_PLUGIN_PATH=FOLDER adds a folder)");
  return g_string_free (text, FALSE);
}
