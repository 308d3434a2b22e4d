/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <stdio.h>

#include "base/display.h"
#include "base/file.h"
#include "cli/command.h"
#include "cli/resources.h"
#include "plugin/registry.h"

/* plait new: a plugin's own project, which builds and runs as it is. */

/* The project's files. @KIND@ and @NAME@ are replaced in these names, and in the text. */
static const struct
{
  const char *template; /* below /plait/templates */
  const char *path;     /* below the new folder */
} files[] = {
  { "meson.build", "meson.build" },
  { "kind.build", "@KIND@/meson.build" },
  { "kind.build", "double/@KIND@/meson.build" },
  { "@KIND@/plugin.c", "@NAME@.c" },
  { "@KIND@/plugin.ini", "@NAME@.ini" },
  { "@KIND@/experiment.ini", "@NAME@-experiment.ini" },
  { "README.md", "README.md" },
};

/* (transfer full) */
static GString *
fill (const char *text, const char *kind, const char *name)
{
  GString *filled = g_string_new (text);

  g_string_replace (filled, "@KIND@", kind, 0);
  g_string_replace (filled, "@NAME@", name, 0);
  return filled;
}

/* The place of file @i. (transfer full) */
static char *
path_of (guint i, const char *kind, const char *name)
{
  g_autoptr (GString) path = fill (files[i].path, kind, name);

  return g_build_filename (name, path->str, NULL);
}

static gboolean
write_file (guint i, const char *kind, const char *name, GError **error)
{
  g_autofree char *path = path_of (i, kind, name);
  g_autoptr (GString) template = fill (files[i].template, kind, name);
  g_autofree char *resource = g_strconcat ("/plait/templates/", template->str, NULL);
  g_autoptr (GBytes) bytes = g_resource_lookup_data (plait_get_resource (), resource, 0, NULL);
  g_autoptr (GString) filled = fill (g_bytes_get_data (bytes, NULL), kind, name);

  return plait_file_replace (path, filled->str, filled->len, error);
}

/* Makes @folder, which must not be there. */
static gboolean
make_folder (const char *folder, GError **error)
{
  if (g_mkdir (folder, 0777) == 0)
    return TRUE;
  if (errno == EEXIST)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s exists: choose another name, or go to another folder; nothing that is there is replaced",
                       folder);
  return plait_fail (error, PLAIT_ERROR_INPUT, "%s: the folder cannot be made (%s)", folder, g_strerror (errno));
}

/* All files, or none and no folder. */
static gboolean
write_project (const char *kind, const char *name, GError **error)
{
  g_autofree char *single = g_build_filename (name, kind, NULL), *both = g_build_filename (name, "double", NULL);
  g_autofree char *of_doubles = g_build_filename (both, kind, NULL);
  const char *const folders[] = { name, single, both, of_doubles };
  guint made = 0, n = 0;

  while (made < G_N_ELEMENTS (folders) && make_folder (folders[made], error))
    made++;
  if (made == G_N_ELEMENTS (folders))
    while (n < G_N_ELEMENTS (files) && write_file (n, kind, name, error))
      n++;
  if (n == G_N_ELEMENTS (files))
    return TRUE;
  while (n-- > 0)
    {
      g_autofree char *path = path_of (n, kind, name);

      g_unlink (path);
    }
  while (made-- > 0)
    g_rmdir (folders[made]);
  return FALSE;
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
  return plait_fail (error, PLAIT_ERROR_INPUT, "\"%s\" is no kind of plugin; %s", text, remedy);
}

/* Whether a new plugin may be called @name. */
static gboolean
check_name (PlaitPluginKind kind, const char *name, GError **error)
{
  if (!plait_name_is_valid (name))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "\"%s\" cannot be the name of a plugin; expected a letter, then letters, digits, '-' or '_', at "
                       "most 64, and no path",
                       name);
  if (kind == PLAIT_PLUGIN_COVERAGE && g_str_equal (name, "none"))
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "a coverage cannot be called \"none\", which decoder.coverage takes for no coverage; choose another name");
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  for (guint i = 0; i < plait_registry_n_plugins (registry); i++)
    {
      const PlaitPlugin *plugin = plait_registry_plugin (registry, i);

      if (plugin->kind == kind && g_str_equal (plugin->name, name))
        return plait_fail (
            error, PLAIT_ERROR_INPUT,
            "%s \"%s\" is there already, %s, and one of the two would hide the other; choose another name",
            plait_plugin_kind_name (kind), name, plugin->schema_path);
    }
  return TRUE;
}

gboolean
plait_command_new (PlaitInvocation *invocation, GError **error)
{
  PlaitPluginKind kind;

  if (!plait_invocation_parse (invocation, NULL, 2, 2, error))
    return FALSE;
  const char *name = invocation->arguments[1];
  if (!find_kind (invocation->arguments[0], &kind, error) || !check_name (kind, name, error)
      || !write_project (plait_plugin_kind_name (kind), name, error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (files) && !invocation->quiet; i++)
    {
      g_autofree char *path = path_of (i, plait_plugin_kind_name (kind), name);

      plait_display_line (stdout, path);
    }
  return TRUE;
}
