/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "text/json.h"
#include "command/command.h"
#include "command/options.h"
#include "terminal/terminal.h"
#include "loading/registry.h"

/* Implements plait plugins: lists the plugins, those that they hide, and the searched folders. Loads no module. */

typedef struct
{
  gboolean json;
} Options;

static void
describe (PlaitJson *json, PlaitPlugin *plugin)
{
  g_autoptr (GError) fault = NULL;
  const PlaitSchema *schema = plait_plugin_schema (plugin, &fault);

  plait_json_begin_object (json, NULL);
  plait_json_members (json, "kind=%s name=%s summary=%s version=%s problem=%s origin=%s schema=%s module=%s",
                      plait_plugin_kind_name (plugin->kind), plugin->name, schema ? schema->summary : NULL,
                      schema ? schema->version : NULL, fault ? fault->message : NULL, plugin->folder->origin,
                      plugin->schema_path, plugin->module_path);
  plait_json_begin_array (json, "hides");
  for (const PlaitPlugin *hidden = plugin->hidden; hidden; hidden = hidden->hidden)
    plait_json_text (json, NULL, hidden->schema_path);
  plait_json_end_array (json);
  plait_json_end_object (json);
}

static void
print_json (const PlaitRegistry *registry)
{
  g_autoptr (PlaitJson) json = plait_json_new_object ();

  plait_json_begin_array (json, "folders");
  for (guint i = 0; i < plait_registry_n_folders (registry); i++)
    {
      const PlaitPluginFolder *folder = plait_registry_folder (registry, i);
      g_autofree char *misplaced = plait_plugin_folder_misplaced (folder, NULL);

      plait_json_object (json, NULL, "path=%s origin=%s exists=%d misplaced=%s", folder->path, folder->origin,
                         folder->exists, *misplaced != '\0' ? misplaced : NULL);
    }
  plait_json_end_array (json);
  plait_json_begin_array (json, "plugins");
  for (guint i = 0; i < plait_registry_n_plugins (registry); i++)
    describe (json, plait_registry_plugin (registry, i));
  plait_json_end_array (json);
  plait_json_print (json);
}

static void
print_plugin (PlaitTerminal *terminal, PlaitPlugin *plugin, guint name_width)
{
  g_autoptr (GError) fault = NULL;
  const PlaitSchema *schema = plait_plugin_schema (plugin, &fault);
  guint indent = name_width + 14;

  plait_terminal_text (terminal, PLAIT_TERMINAL_NAME, "  %-*s", (int)name_width, plugin->name);
  if (schema)
    {
      plait_terminal_text (terminal, PLAIT_TERMINAL_DIM, "  %-8s  ", schema->version ? schema->version : "");
      plait_terminal_paragraph (terminal, indent, indent, schema->summary);
    }
  else
    {
      plait_terminal_text (terminal, PLAIT_TERMINAL_ERROR, "  %-8s  ", "refused");
      plait_terminal_paragraph (terminal, indent, indent, fault->message);
    }
  for (const PlaitPlugin *hidden = plugin->hidden; hidden; hidden = hidden->hidden)
    {
      g_autofree char *text = g_strdup_printf ("%s hides %s", plugin->schema_path, hidden->schema_path);

      plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "%*s", (int)indent, "");
      plait_terminal_paragraph (terminal, indent, indent, text);
    }
}

static void
print_text (const PlaitRegistry *registry)
{
  g_autoptr (PlaitTerminal) terminal = plait_terminal_new ();
  guint n = plait_registry_n_plugins (registry), name_width = 0;

  for (guint i = 0; i < n; i++)
    name_width = MAX (name_width, (guint)strlen (plait_registry_plugin (registry, i)->name));
  for (guint i = 0; i < n; i++)
    {
      PlaitPlugin *plugin = plait_registry_plugin (registry, i);

      if (i == 0 || plait_registry_plugin (registry, i - 1)->kind != plugin->kind)
        plait_terminal_heading (terminal, plait_plugin_kind_name (plugin->kind));
      print_plugin (terminal, plugin, name_width);
    }
  plait_terminal_heading (terminal, "searched, in this order");
  for (guint i = 0; i < plait_registry_n_folders (registry); i++)
    {
      const PlaitPluginFolder *folder = plait_registry_folder (registry, i);

      plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "  %s", folder->path);
      plait_terminal_text (terminal, PLAIT_TERMINAL_DIM, "  (%s%s)\n", folder->origin,
                           folder->exists ? "" : ", not there");
      g_autofree char *misplaced = plait_plugin_folder_misplaced (folder, NULL);
      if (*misplaced != '\0')
        {
          plait_terminal_text (terminal, PLAIT_TERMINAL_ERROR, "    ");
          plait_terminal_paragraph (terminal, 4, 4, misplaced);
        }
    }
}

static gboolean
run_command (PlaitInvocation *invocation, GError **error)
{
  const Options *options = invocation->options;

  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  if (options->json)
    print_json (registry);
  else
    print_text (registry);
  return TRUE;
}

static const PlaitOption options[] = {
  PLAIT_OPTION_JSON (Options),
  { NULL },
};

const PlaitCommand plait_command_plugins = {
  .name = "plugins",
  .synopsis = "[--json]",
  .summary = "List the plugins and the folders searched for them",
  .options = options,
  .size = sizeof (Options),
  .run = run_command,
};
