/* SPDX-License-Identifier: MIT */
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#include "base/display.h"
#include "cli/command.h"
#include "cli/show.h"

/* plait show: what is in a run, a dump, a grid or any other file of ours. */

#define MOST_MAPS 8

/* All heatmaps right below the group @path, one below the other. */
static gboolean
show_maps (PlaitStore *store, const char *path, const PlaitShowOptions *options, PlaitPage *page, gboolean *shown,
           GError **error)
{
  g_auto (GStrv) members = plait_store_members (store, path, error);

  *shown = FALSE;
  if (!members)
    return FALSE;
  guint n = g_strv_length (members);
  if (n == 0 || n > MOST_MAPS)
    return TRUE;
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *place = plait_place_below (path, members[i]);

      if (!plait_map_is (store, place))
        return TRUE;
    }
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *place = plait_place_below (path, members[i]);
      g_autoptr (PlaitMap) map = plait_map_read (store, place, options->choice, error);

      if (!map)
        return FALSE;
      plait_page_text (page, PLAIT_PAGE_DIM, "%s%s\n", i > 0 ? "\n" : "", place);
      plait_map_print (map, page);
    }
  *shown = TRUE;
  return TRUE;
}

/* The first line: what file and what in it. */
static void
print_title (const PlaitPlace *place, const PlaitStoreObject *object, PlaitPage *page)
{
  g_autofree char *summary = plait_show_summary (place->store, place->path, object);

  plait_page_text (page, PLAIT_PAGE_HEADING, "%s", plait_store_path (place->store));
  if (place->path[1] != '\0')
    {
      /* The columns of a table stand above it, not here. */
      if (plait_show_is_table (place->store, place->path) && strchr (summary, ':'))
        *strchr (summary, ':') = '\0';
      plait_page_text (page, PLAIT_PAGE_HEADING, " %s", place->path);
      plait_page_text (page, PLAIT_PAGE_DIM, "  %s\n", summary);
      return;
    }
  GStatBuf status;
  g_autofree char *size = g_stat (plait_store_path (place->store), &status) == 0
                              ? g_format_size_full ((guint64)status.st_size, G_FORMAT_SIZE_IEC_UNITS)
                              : g_strdup ("");
  plait_page_text (page, PLAIT_PAGE_DIM, "  %s, %s\n", size, summary);
}

static gboolean
show_text (const PlaitPlace *place, const PlaitShowOptions *options, GError **error)
{
  g_autoptr (PlaitPage) page = plait_page_new ();
  PlaitStore *store = place->store;
  const char *path = place->path;
  PlaitStoreObject object;
  gint64 n;

  if (!plait_store_describe (store, path, &object, error))
    return FALSE;
  if (plait_map_is (store, path))
    {
      g_autoptr (PlaitMap) map = plait_map_read (store, path, options->choice, error);

      if (map)
        plait_map_print (map, page);
      return map != NULL;
    }
  if (object.kind == PLAIT_STORE_DATASET && object.type == PLAIT_STORE_STRING && object.rank == 0)
    return plait_show_strings (store, path, options, page, error);
  gboolean maps = FALSE;
  if (object.kind == PLAIT_STORE_GROUP && (!show_maps (store, path, options, page, &maps, error) || maps))
    return maps;

  print_title (place, &object, page);
  if (object.attributes > 0 && !plait_show_attributes (store, path, page, error))
    return FALSE;
  plait_page_text (page, PLAIT_PAGE_PLAIN, "\n");
  if (plait_show_is_table (store, path))
    return plait_show_table (store, path, options, page, error);
  if (plait_show_is_strings (store, path, &n)
      || (object.kind == PLAIT_STORE_DATASET && object.type == PLAIT_STORE_STRING))
    return plait_show_strings (store, path, options, page, error);
  if (object.kind == PLAIT_STORE_DATASET)
    return plait_show_numbers (store, path, &object, options, page, error);
  return plait_show_tree (store, path, options, page, error);
}

/* The value of one attribute, as it is. */
static gboolean
show_attribute (const PlaitPlace *place, const char *name, GError **error)
{
  g_autofree char *value = plait_store_attribute_text (place->store, place->path, name, G_MAXINT32, error);

  if (!value)
    return FALSE;
  plait_display_line (stdout, value);
  return TRUE;
}

/* Shows @path of @file; "PATH@NAME" is an attribute. */
static gboolean
show (const char *file, const char *path, const PlaitShowOptions *options, gboolean json, GError **error)
{
  const char *at = path ? strrchr (path, '@') : NULL;
  g_autoptr (GError) fault = NULL;
  g_autoptr (PlaitPlace) place = plait_place_open (file, path, &fault);

  if (!place && at)
    {
      g_autofree char *object = g_strndup (path, (gsize)(at - path));
      g_autoptr (PlaitPlace) owner = plait_place_open (file, object, NULL);

      if (owner)
        return show_attribute (owner, at + 1, error);
    }
  if (!place)
    {
      g_propagate_error (error, g_steal_pointer (&fault));
      return FALSE;
    }
  return json ? plait_show_json (place->store, place->path, options, error) : show_text (place, options, error);
}

gboolean
plait_command_show (PlaitInvocation *invocation, GError **error)
{
  gboolean json = FALSE;
  g_autofree char *layer = NULL, *head = NULL;
  PlaitShowOptions options = { 0 };
  const GOptionEntry entries[] = {
    { "all", 'a', 0, G_OPTION_ARG_NONE, &options.everything, "Show long lists and deep trees whole", NULL },
    { "layer", 0, 0, G_OPTION_ARG_FILENAME, &layer, "Layer of a heatmap: a number from 0, or mean (the last)", "N" },
    { "head", 0, 0, G_OPTION_ARG_FILENAME, &head, "Head of a heatmap: a number from 0, or mean (mean)", "N" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Print JSON", NULL },
    { NULL },
  };

  if (!plait_invocation_parse (invocation, entries, 1, 2, error)
      || !plait_map_parse ("--layer", layer, &options.choice.layer, error)
      || !plait_map_parse ("--head", head, &options.choice.head, error))
    return FALSE;
  return show (invocation->arguments[0], invocation->arguments[1], &options, json, error);
}
