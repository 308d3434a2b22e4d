/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>

#include "text/display.h"
#include "files/file.h"
#include "files/folder.h"
#include "command/command.h"
#include "command/embedded.h"
#include "loading/registry.h"

/* Implements plait new: writes a plugin project that builds and runs without changes. */

/* Files of the project. In their names and texts, @KIND@ and @NAME@ are replaced. */
static const struct
{
  const char *template; /* path in templates/ */
  const char *path;     /* path in the new folder */
} files[] = {
  { "meson.build", "meson.build" },
  { "kind.build", "@KIND@/meson.build" },
  { "kind.build", "double/@KIND@/meson.build" },
  { "@KIND@/plugin.c", "@NAME@.c" },
  { "@KIND@/plugin.ini", "@NAME@.ini" },
  { "@KIND@/experiment.ini", "@NAME@-experiment.ini" },
  { "README.md", "README.md" },
};

/* Returns @text with @KIND@ and @NAME@ replaced. (transfer full) */
static GString *
fill (const char *text, const char *kind, const char *name)
{
  GString *filled = g_string_new (text);

  g_string_replace (filled, "@KIND@", kind, 0);
  g_string_replace (filled, "@NAME@", name, 0);
  return filled;
}

/* Returns the path of file @i in @folder. (transfer full) */
static char *
path_of (guint i, const char *kind, const char *name, const char *folder)
{
  g_autoptr (GString) path = fill (files[i].path, kind, name);

  return g_build_filename (folder, path->str, NULL);
}

static gboolean
write_file (guint i, const char *kind, const char *name, const char *folder, GError **error)
{
  g_autofree char *path = path_of (i, kind, name, folder);
  g_autoptr (GString) template = fill (files[i].template, kind, name);
  g_autofree char *embedded = g_strconcat ("templates/", template->str, NULL);
  g_autoptr (GString) filled = fill (plait_embedded_text (embedded), kind, name);

  return plait_file_replace (path, filled->str, filled->len, error);
}

/* Writes all files of the project. On an error, leaves no folder behind. */
static gboolean
write_project (const char *kind, const char *name, GError **error)
{
  g_autoptr (PlaitFolder) folder = NULL;
  g_autofree char *of_doubles = NULL;
  g_autofree char *single = NULL;

  if (g_file_test (name, G_FILE_TEST_EXISTS))
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s exists: choose another name, or run the command in another folder",
                       name);
  folder = plait_folder_begin (name, error);
  if (!folder)
    return FALSE;
  single = g_build_filename (plait_folder_temporary (folder), kind, NULL);
  of_doubles = g_build_filename (plait_folder_temporary (folder), "double", kind, NULL);
  if (g_mkdir_with_parents (single, 0777) != 0 || g_mkdir_with_parents (of_doubles, 0777) != 0)
    return plait_fail (error, plait_error_code (errno), "%s: cannot create the folder (%s); choose another place", name,
                       g_strerror (errno));
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    if (!write_file (i, kind, name, plait_folder_temporary (folder), error))
      return plait_folder_fail (folder, error);
  return plait_folder_commit (g_steal_pointer (&folder), NULL, error);
}

static gboolean
find_kind (const char *text, PlaitPluginKind *kind, GError **error)
{
  const char *names[PLAIT_PLUGIN_KINDS + 1] = { NULL };

  if (plait_plugin_kind_from_name (text, kind))
    return TRUE;
  for (guint i = 0; i < PLAIT_PLUGIN_KINDS; i++)
    names[i] = plait_plugin_kind_name ((PlaitPluginKind)i);
  g_autofree char *remedy = plait_name_remedy (text, names, NULL);
  return plait_fail (error, PLAIT_ERROR_INPUT, "\"%s\" is not a kind of plugin; %s", text, remedy);
}

/* TRUE if a new plugin may be called @name. */
static gboolean
check_name (PlaitPluginKind kind, const char *name, GError **error)
{
  if (!plait_name_is_valid (name))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "\"%s\" cannot be the name of a plugin; use " PLAIT_NAME_FORM ", without a path", name);
  if (kind == PLAIT_PLUGIN_COVERAGE && g_str_equal (name, "none"))
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "a coverage cannot be called \"none\", because decoder.coverage=none means no coverage; choose another name");
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  for (guint i = 0; i < plait_registry_n_plugins (registry); i++)
    {
      const PlaitPlugin *plugin = plait_registry_plugin (registry, i);

      if (plugin->kind == kind && g_str_equal (plugin->name, name))
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "%s \"%s\" exists already (%s), and one would hide the other; choose another name",
                           plait_plugin_kind_name (kind), name, plugin->schema_path);
    }
  return TRUE;
}

static gboolean
run_command (PlaitInvocation *invocation, GError **error)
{
  PlaitPluginKind kind;
  const char *name = invocation->arguments[1];

  if (!find_kind (invocation->arguments[0], &kind, error) || !check_name (kind, name, error)
      || !write_project (plait_plugin_kind_name (kind), name, error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (files) && !invocation->quiet; i++)
    {
      g_autofree char *path = path_of (i, plait_plugin_kind_name (kind), name, name);

      plait_display_line (stdout, path);
    }
  return TRUE;
}

const PlaitCommand plait_command_new = {
  .name = "new",
  .synopsis = "KIND NAME",
  .summary = "Create the project of a new plugin in a folder NAME: code, schema, build file, experiment",
  .details = "KIND is encoder, combiner, coverage, decoder or output. The project contains a small plugin that builds "
             "with meson and runs without changes. Its README.md has the commands. The names of the files are printed "
             "unless --quiet is given.\n"
             "\n"
             "Examples:\n"
             "  plait new combiner averaged\n"
             "  cd averaged && meson setup build && ninja -C build\n"
             "  PLAIT_PLUGIN_PATH=build plait check averaged",
  .min = 2,
  .max = 2,
  .run = run_command,
};
