/* SPDX-License-Identifier: MIT */
#include "files/plugin-folders.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "files/path.h"

/* File that marks the plugin folder of a build tree. A folder called plugins near the program is used only if it holds
 * this file. */
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

  for (guint i = 0; i < folders->len; i++)
    if (g_str_equal (((PlaitPluginFolder *)folders->pdata[i])->path, canonical))
      return;
  PlaitPluginFolder *folder = g_new0 (PlaitPluginFolder, 1);
  folder->exists = g_file_test (canonical, G_FILE_TEST_IS_DIR);
  folder->path = g_steal_pointer (&canonical);
  folder->origin = origin;
  folder->own = own;
  g_ptr_array_add (folders, folder);
}

/* Returns the plugin folder of the build tree that contains @program, or NULL. The folder must hold a marker file with
 * the owner of @program, because code is loaded from the folder. (transfer full) */
static char *
build_tree_folder (const char *program)
{
  static const char *const ways[] = { "plugins", "../plugins", "../../plugins", "../../../plugins" };
  g_autofree char *folder = g_path_get_dirname (program);
  struct stat of_program, of_mark;

  if (stat (program, &of_program) != 0)
    return NULL;
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      g_autofree char *mark = g_build_filename (folder, ways[i], BUILD_TREE_MARK, NULL);

      if (stat (mark, &of_mark) == 0 && S_ISREG (of_mark.st_mode) && of_mark.st_uid == of_program.st_uid)
        return g_build_filename (folder, ways[i], NULL);
    }
  return NULL;
}

static void
add_own_folder (GPtrArray *folders)
{
  g_autofree char *program = realpath ("/proc/self/exe", NULL);

  if (!program)
    return;
  g_autofree char *build_tree = build_tree_folder (program), *programs = g_path_get_dirname (program);
  g_autofree char *installed = g_canonicalize_filename (PLAIT_PLUGIN_FOLDER, programs);
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
