/* SPDX-License-Identifier: MIT */
#pragma once

#include "files/plugin-folders.h"
#include "process/sandbox.h"
#include "schema/schema.h"

/*
 * The plugins in the plugin folders. A plugin folder holds KIND/NAME.ini and KIND/NAME.so. Folders are searched in
 * order, and a plugin hides plugins of equal kind and name in later folders. The search reads names only; a schema is
 * read when it is needed, and a module is loaded when a model uses it.
 */
typedef struct PlaitRegistry PlaitRegistry;

typedef struct PlaitPlugin PlaitPlugin;

struct PlaitPlugin
{
  PlaitRegistry *registry;
  PlaitPluginKind kind;
  char *name;
  const PlaitPluginFolder *folder;
  char *schema_path;   /* path of the schema; the file may be missing */
  char *module_path;   /* path of the module; the file may be missing */
  PlaitPlugin *hidden; /* plugin of equal kind and name in a later folder, which this one hides; or NULL */

  /* The following fields are NULL until they are needed. */
  PlaitSchema *schema;
  const PlaitPluginDescriptor *descriptor;
  GError *refusal;     /* error of the attempt to load the module, or NULL */
  char *schema_digest; /* SHA-256 in hexadecimal, computed at the first use */
  char *module_digest;
};

/* Returns a registry of the plugins in the standard folders. (transfer full) */
PlaitRegistry *plait_registry_new (void);

/* Returns a registry of the plugins in @folders (NULL-terminated) and no other folders. (transfer full) */
PlaitRegistry *plait_registry_new_for_folders (const char *const *folders);
void plait_registry_free (PlaitRegistry *registry);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitRegistry, plait_registry_free)

/* Sets the limits of the sandbox in which a module is tried before it is loaded; PLAIT_SANDBOX_LIMITS by default. */
void plait_registry_set_sandbox_limits (PlaitRegistry *registry, PlaitSandboxLimits limits);

/* Return the number of folders that were searched, and folder @index in their order. (transfer none) */
guint plait_registry_n_folders (const PlaitRegistry *registry);
const PlaitPluginFolder *plait_registry_folder (const PlaitRegistry *registry, guint index);

/* Return the number of plugins that are not hidden, and plugin @index, sorted by kind and name. (transfer none) */
guint plait_registry_n_plugins (const PlaitRegistry *registry);
PlaitPlugin *plait_registry_plugin (const PlaitRegistry *registry, guint index);

/* Returns the plugin @name of @kind, with its schema read. The error for an unknown name gives the module stored by
 * plait_registry_remember or, without one, the nearest known name. (transfer none) */
PlaitPlugin *plait_registry_find (PlaitRegistry *registry, PlaitPluginKind kind, const char *name, GError **error);

/* Returns the plugin that @wanted names, as NAME or KIND/NAME. Fails if plugins of several kinds are called NAME. The
 * error for an unknown name suggests the nearest known name, possibly one of @groups (NULL-terminated, or NULL), which
 * the command accepts too. (transfer none) */
PlaitPlugin *plait_registry_find_word (const PlaitRegistry *registry, const char *wanted, const char *const *groups,
                                       GError **error);

/* Stores the path @module from which a run loaded the plugin @name of @kind. The message about a missing plugin gives
 * this path. */
void plait_registry_remember (PlaitRegistry *registry, PlaitPluginKind kind, const char *name, const char *module);

/* Returns the module path stored by plait_registry_remember, or NULL. (transfer none) */
const char *plait_registry_remembered (const PlaitRegistry *registry, PlaitPluginKind kind, const char *name);

/* Returns the last part of a message about a missing plugin @name: files of this name in wrong places, and the folders
 * that were searched. (transfer full) */
char *plait_registry_search_text (const PlaitRegistry *registry, const char *name);

/* Returns advice for each pair NAME.so and NAME.ini that lies in @folder itself instead of in KIND/ below it. @name:
 * look only for this plugin; NULL: for all plugins. Empty if there are no such files. (transfer full) */
char *plait_plugin_folder_misplaced (const PlaitPluginFolder *folder, const char *name);

/* Returns the path of FOLDER/@name.ini, such as head-rules/english, in the first plugin folder that has it. The error
 * for an unknown name lists the known ones. (transfer full) */
char *plait_registry_find_text (const PlaitRegistry *registry, const char *folder, const char *name, GError **error);

/* Returns the schema of @plugin, reading it at first use. (transfer none) */
const PlaitSchema *plait_plugin_schema (PlaitPlugin *plugin, GError **error);

/* Computes the digests of schema and module at the first call. Runs store them, and fingerprints contain them. */
gboolean plait_plugin_digest (PlaitPlugin *plugin, GError **error);

/* Text of the message about a missing module. */
#define PLAIT_MODULE_MISSING                                                                                           \
  "is missing, although its schema is there; build or install the module in the folder of the schema"

/* Returns the descriptor of the module at @path, whose schema is @schema. The descriptor lives as long as the process.
 * First opens and checks the module in a sandbox within @limits: if a constructor crashes, hangs or exits, that is an
 * error. Then opens the module in this process, resident, with immediate and local binding. */
const PlaitPluginDescriptor *plait_plugin_module_open (const char *path, const PlaitSchema *schema,
                                                       PlaitSandboxLimits limits, GError **error);

/* Tries the module in a sandbox, loads it, and computes the digests of schema and module. Does nothing if the module is
 * loaded already. If an earlier call has failed to load the module, fails with the error of that call. */
gboolean plait_plugin_load (PlaitPlugin *plugin, GError **error);

/* Returns the settings struct of a loaded plugin, filled from @settings, which must outlive the struct. (transfer
 * full): g_free */
gpointer plait_plugin_new_settings (const PlaitPlugin *plugin, const PlaitSettings *settings);
