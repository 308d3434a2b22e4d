/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * The folders that are searched for plugins and modules, each as KIND/NAME.so, in this order:
 *
 *     PLAIT_PLUGIN_PATH       a colon-separated list of folders
 *     $XDG_DATA_HOME/plait/1  the user's own, ~/.local/share/plait/1 without that variable; a folder that is not
 *                             absolute is skipped
 *     LIBDIR/plait/1          beside the installed library; or the build tree's own, for a plait that is not installed
 *
 * A build with doubles reads plait-double in place of plait.
 */
typedef struct
{
  char *path;
  const char *origin; /* "PLAIT_PLUGIN_PATH", "user", "build tree", "installed", "given" */
  gboolean exists;
  gboolean own; /* came with plait */
} PlaitPluginFolder;

/* Returns the folders above. (transfer full) (element-type PlaitPluginFolder) */
GPtrArray *plait_plugin_folders (void);

/* Returns @folders (NULL-terminated) alone. (transfer full) (element-type PlaitPluginFolder) */
GPtrArray *plait_plugin_folders_given (const char *const *folders);
