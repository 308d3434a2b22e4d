/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * Folders that are searched for plugins and modules, files called KIND/NAME.so, in this order:
 *
 *     PLAIT_PLUGIN_PATH       a colon-separated list of folders
 *     $XDG_DATA_HOME/plait/1  the user's folder; ~/.local/share/plait/1 if XDG_DATA_HOME is not set or not absolute
 *     LIBDIR/plait/1          folder of the installed library; for a program in a build tree, the build tree's folder
 *
 * A build with doubles uses "plait-double" instead of "plait".
 */
typedef struct
{
  char *path;
  const char *origin; /* origin of the folder: "PLAIT_PLUGIN_PATH", "user", "build tree", "installed" or "given" */
  gboolean exists;
  gboolean own; /* TRUE if the plugins of this folder came with plait */
} PlaitPluginFolder;

/* Returns the folders that are searched, in order. (transfer full) (element-type PlaitPluginFolder) */
GPtrArray *plait_plugin_folders (void);

/* Returns the folders in @folders (NULL-terminated), without the default folders. (transfer full) (element-type
 * PlaitPluginFolder) */
GPtrArray *plait_plugin_folders_given (const char *const *folders);
