/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "text/json.h"
#include "command/command.h"
#include "command/options.h"
#include "terminal/page.h"
#include "loading/registry.h"

/* plait plugins: what is found, where, and what hides what. No module is loaded. */

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
  plait_json_text (json, "kind", plait_plugin_kind_name (plugin->kind));
  plait_json_text (json, "name", plugin->name);
  plait_json_text (json, "summary", schema ? schema->summary : NULL);
  plait_json_text (json, "version", schema ? schema->version : NULL);
  plait_json_text (json, "problem", fault ? fault->message : NULL);
  plait_json_text (json, "origin", plugin->folder->origin);
  plait_json_text (json, "schema", plugin->schema_path);
  plait_json_text (json, "module", plugin->module_path);
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

      plait_json_begin_object (json, NULL);
      plait_json_text (json, "path", folder->path);
      plait_json_text (json, "origin", folder->origin);
      plait_json_boolean (json, "exists", folder->exists);
      plait_json_text (json, "misplaced", *misplaced != '\0' ? misplaced : NULL);
      plait_json_end_object (json);
    }
  plait_json_end_array (json);
  plait_json_begin_array (json, "plugins");
  for (guint i = 0; i < plait_registry_n_plugins (registry); i++)
    describe (json, plait_registry_plugin (registry, i));
  plait_json_end_array (json);
  plait_json_print (json);
}

static void
print_plugin (PlaitPage *page, PlaitPlugin *plugin, guint name_width)
{
  g_autoptr (GError) fault = NULL;
  const PlaitSchema *schema = plait_plugin_schema (plugin, &fault);
  guint indent = name_width + 14;

  plait_page_text (page, PLAIT_PAGE_NAME, "  %-*s", (int)name_width, plugin->name);
  if (schema)
    {
      plait_page_text (page, PLAIT_PAGE_DIM, "  %-8s  ", schema->version ? schema->version : "");
      plait_page_paragraph (page, indent, indent, schema->summary);
    }
  else
    {
      plait_page_text (page, PLAIT_PAGE_BAD, "  %-8s  ", "refused");
      plait_page_paragraph (page, indent, indent, fault->message);
    }
  for (const PlaitPlugin *hidden = plugin->hidden; hidden; hidden = hidden->hidden)
    {
      g_autofree char *text = g_strdup_printf ("%s hides %s", plugin->schema_path, hidden->schema_path);

      plait_page_text (page, PLAIT_PAGE_PLAIN, "%*s", (int)indent, "");
      plait_page_paragraph (page, indent, indent, text);
    }
}

static void
print_text (const PlaitRegistry *registry)
{
  g_autoptr (PlaitPage) page = plait_page_new ();
  guint n = plait_registry_n_plugins (registry), name_width = 0;

  for (guint i = 0; i < n; i++)
    name_width = MAX (name_width, (guint)strlen (plait_registry_plugin (registry, i)->name));
  for (guint i = 0; i < n; i++)
    {
      PlaitPlugin *plugin = plait_registry_plugin (registry, i);

      if (i == 0 || plait_registry_plugin (registry, i - 1)->kind != plugin->kind)
        plait_page_heading (page, plait_plugin_kind_name (plugin->kind));
      print_plugin (page, plugin, name_width);
    }
  plait_page_heading (page, "searched, in this order");
  for (guint i = 0; i < plait_registry_n_folders (registry); i++)
    {
      const PlaitPluginFolder *folder = plait_registry_folder (registry, i);

      plait_page_text (page, PLAIT_PAGE_PLAIN, "  %s", folder->path);
      plait_page_text (page, PLAIT_PAGE_DIM, "  (%s%s)\n", folder->origin, folder->exists ? "" : ", not there");
      g_autofree char *misplaced = plait_plugin_folder_misplaced (folder, NULL);
      if (*misplaced != '\0')
        {
          plait_page_text (page, PLAIT_PAGE_BAD, "    ");
          plait_page_paragraph (page, 4, 4, misplaced);
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
  .summary = "List the plugins that are found, and where",
  .options = options,
  .size = sizeof (Options),
  .least = 0,
  .most = 0,
  .run = run_command,
};
