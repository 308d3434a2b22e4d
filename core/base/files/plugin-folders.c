/* SPDX-License-Identifier: MIT */
#include "files/plugin-folders.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "files/path.h"

/* This file stands beside the plugins of a build tree, so that a folder that only happens to be called plugins is not
 * taken for one. */
#define BUILD_TREE_MARK "plait-build-tree"

static void
folder_free (gpointer data)
{
  PlaitPluginFolder *folder = data;

  g_free (folder->path);
  g_free (folder);
}

static void
add_folder (GPtrArray *folders, const char *path, const char *origin, gboolean own)
{
  g_autofree char *canonical = g_canonicalize_filename (path, NULL);
  PlaitPluginFolder *folder;

  for (guint i = 0; i < folders->len; i++)
    if (g_str_equal (((PlaitPluginFolder *)folders->pdata[i])->path, canonical))
      return;
  folder = g_new0 (PlaitPluginFolder, 1);
  folder->exists = g_file_test (canonical, G_FILE_TEST_IS_DIR);
  folder->path = g_steal_pointer (&canonical);
  folder->origin = origin;
  folder->own = own;
  g_ptr_array_add (folders, folder);
}

/* Returns the file that this code was loaded from: the library, or an executable that has the core inside. */
static char *
own_path (void)
{
  Dl_info info;
  g_autofree char *base = NULL;

  if (dladdr ((gpointer)own_path, &info) == 0 || !info.dli_fname)
    return g_strdup ("/proc/self/exe");
  base = g_path_get_basename (info.dli_fname);
  /* Of an executable, the loader knows only what it was called as. */
  return g_strdup (g_str_has_prefix (base, "libplait") ? info.dli_fname : "/proc/self/exe");
}

/* Returns the plugin folder of the build tree that @object lies in, or NULL. The mark must belong to the owner of
 * @object, because code is loaded from there. */
static char *
build_tree_folder (const char *object)
{
  static const char *const ways[] = { "plugins", "../plugins", "../../plugins", "../../../plugins" };
  g_autofree char *folder = g_path_get_dirname (object);
  struct stat of_object, of_mark;

  if (stat (object, &of_object) != 0)
    return NULL;
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      g_autofree char *mark = g_build_filename (folder, ways[i], BUILD_TREE_MARK, NULL);

      if (stat (mark, &of_mark) == 0 && S_ISREG (of_mark.st_mode) && of_mark.st_uid == of_object.st_uid)
        return g_build_filename (folder, ways[i], NULL);
    }
  return NULL;
}

static void
add_own_folder (GPtrArray *folders)
{
  g_autofree char *called = own_path ();
  g_autofree char *object = realpath (called, NULL);

  if (!object)
    return;
  g_autofree char *build_tree = build_tree_folder (object), *library_folder = g_path_get_dirname (object);
  g_autofree char *installed = g_build_filename (library_folder, PLAIT_NAME, PLAIT_API_VERSION, NULL);
  add_folder (folders, build_tree ? build_tree : installed, build_tree ? "build tree" : "installed", TRUE);
}

GPtrArray *
plait_plugin_folders (void)
{
  GPtrArray *found = g_ptr_array_new_with_free_func (folder_free);
  const char *path = g_getenv ("PLAIT_PLUGIN_PATH");
  g_auto (GStrv) folders = g_strsplit (path ? path : "", ":", -1);
  g_autofree char *data = plait_path_user_folder ("XDG_DATA_HOME", ".local/share");
  g_autofree char *user = data ? g_build_filename (data, PLAIT_NAME, PLAIT_API_VERSION, NULL) : NULL;

  for (guint i = 0; folders[i]; i++)
    if (*folders[i] != '\0')
      add_folder (found, folders[i], "PLAIT_PLUGIN_PATH", FALSE);
  if (user)
    add_folder (found, user, "user", FALSE);
  add_own_folder (found);
  return found;
}

GPtrArray *
plait_plugin_folders_given (const char *const *folders)
{
  GPtrArray *given = g_ptr_array_new_with_free_func (folder_free);

  for (guint i = 0; folders[i]; i++)
    add_folder (given, folders[i], "given", FALSE);
  return given;
}
