/* SPDX-License-Identifier: MIT */
#pragma once

#include "files/plugin-folders.h"
#include "process/sandbox.h"
#include "schema/schema.h"

/*
 * The plugins that can be found. A plugin folder holds KIND/NAME.ini and KIND/NAME.so side by side; folders are
 * searched in their order, and a plugin hides those of its kind and name in later folders.
 *
 * Finding reads names only, a schema is read when asked for, and a module is loaded when a model uses it.
 */
typedef struct PlaitRegistry PlaitRegistry;

typedef struct PlaitPlugin PlaitPlugin;

struct PlaitPlugin
{
  PlaitRegistry *registry;
  PlaitPluginKind kind;
  char *name;
  const PlaitPluginFolder *folder;
  char *schema_path;   /* where the schema is, or would be */
  char *module_path;   /* where the module is, or would be */
  PlaitPlugin *hidden; /* the next one of the same kind and name, which this one hides; or NULL */

  /* Filled when first asked for. */
  PlaitSchema *schema;
  const PlaitPluginDescriptor *descriptor;
  GError *refusal;     /* why the module was not loaded when that was tried */
  char *schema_digest; /* SHA-256 in hexadecimal, of the files as they were when taken */
  char *module_digest;
};

/* Looks through the standard folders. (transfer full) */
PlaitRegistry *plait_registry_new (void);

/* Looks through @folders (NULL-terminated) and nowhere else. (transfer full) */
PlaitRegistry *plait_registry_new_for_folders (const char *const *folders);
void plait_registry_free (PlaitRegistry *registry);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitRegistry, plait_registry_free)

/* Limits of the child process that tries a module before it is loaded. The default is PLAIT_SANDBOX_LIMITS. */
void plait_registry_set_sandbox_limits (PlaitRegistry *registry, PlaitSandboxLimits limits);

/* The folders that were searched, in order. (transfer none) */
guint plait_registry_n_folders (const PlaitRegistry *registry);
const PlaitPluginFolder *plait_registry_folder (const PlaitRegistry *registry, guint index);

/* The plugins that nothing hides, by kind and then by name. (transfer none) */
guint plait_registry_n_plugins (const PlaitRegistry *registry);
PlaitPlugin *plait_registry_plugin (const PlaitRegistry *registry, guint index);

/* The plugin @name of @kind, with its schema read. Unknown names are refused with the nearest known one. (transfer
 * none) */
PlaitPlugin *plait_registry_find (PlaitRegistry *registry, PlaitPluginKind kind, const char *name, GError **error);

/* Notes that a run had the plugin @name of @kind from @module, for messages about a plugin that is not found. */
void plait_registry_remember (PlaitRegistry *registry, PlaitPluginKind kind, const char *name, const char *module);

/* The module noted so, or NULL. (transfer none) */
const char *plait_registry_remembered (const PlaitRegistry *registry, PlaitPluginKind kind, const char *name);

/* How a message ends about a plugin @name that is not found: files of this name that lie where no plugin is looked
 * for, and the folders that were searched. (transfer full) */
char *plait_registry_search_text (const PlaitRegistry *registry, const char *name);

/* Says of each NAME.so and NAME.ini that lie in @folder itself, not in KIND/ below it, where they belong; @name (may be
 * NULL) limits it to one plugin. Empty if there are none. (transfer full) */
char *plait_plugin_folder_misplaced (const PlaitPluginFolder *folder, const char *name);

/* The file FOLDER/@name.ini of plugin folders, such as head-rules/english, in the first that has it. Unknown names are
 * refused with those that there are. (transfer full) */
char *plait_registry_find_text (const PlaitRegistry *registry, const char *folder, const char *name, GError **error);

/* The schema of @plugin, read now if it has not been. (transfer none) */
const PlaitSchema *plait_plugin_schema (PlaitPlugin *plugin, GError **error);

/* Takes the digests of schema and module if that has not been done: what a run stores and a grid cell's key has. */
gboolean plait_plugin_digest (PlaitPlugin *plugin, GError **error);

/* Words of the message about a missing module. */
#define PLAIT_MODULE_MISSING "is missing, although its schema is there; build or install the module beside it"

/* The module at @path, described by @schema. It is first opened and checked in a child process within @limits, so that
 * a constructor that crashes, hangs or ends the process is a refusal; then opened here, resident, bound now and local.
 * The descriptor lives as long as the process. */
const PlaitPluginDescriptor *plait_plugin_module_open (const char *path, const PlaitSchema *schema,
                                                       PlaitSandboxLimits limits, GError **error);

/* Loads the module, after its trial in a child process, and takes the digests. Does nothing when loaded
 * already. */
gboolean plait_plugin_load (PlaitPlugin *plugin, GError **error);

/* The plugin's own settings struct (of a loaded plugin), filled from @settings, which must outlive it. (transfer full):
 * g_free */
gpointer plait_plugin_new_settings (const PlaitPlugin *plugin, const PlaitSettings *settings);
