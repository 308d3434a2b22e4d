/* SPDX-License-Identifier: MIT */
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#include "base/display.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/show.h"

/* plait show: what is in a run, a dump, a grid or any other file of ours. */

#define MOST_MAPS 8

PlaitMap *
plait_show_map (const PlaitShowOptions *options, PlaitStore *store, const char *path, GError **error)
{
  g_autoptr (PlaitMap) map = plait_map_read (store, path, options->choice, error);
  PlaitMap *part;

  if (!map || !map->sentence || options->sentence < 0)
    return g_steal_pointer (&map);
  part = plait_map_of_sentence (map, options->sentence, error);
  if (!part)
    g_prefix_error (error, "%s: %s: ", plait_store_path (store), path);
  return part;
}

gboolean
plait_show_words (const PlaitShowOptions *options, const PlaitDescentMap *descent, PlaitStore *store, const char *path,
                  gint64 *first, gint64 *last, GError **error)
{
  *first = MAX (options->word, 0);
  *last = options->word < 0 ? descent->n_targets - 1 : options->word;
  return *last < descent->n_targets
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "%s: %s has no word %" G_GINT64_FORMAT "; expected 0 to %" G_GINT64_FORMAT,
                        plait_store_path (store), path, options->word, descent->n_targets - 1);
}

/* Whether a heatmap or a descent stands at @path. */
static gboolean
is_picture (PlaitStore *store, const char *path)
{
  return plait_map_is (store, path) || plait_descent_is (store, path);
}

static gboolean
show_picture (PlaitStore *store, const char *path, const PlaitShowOptions *options, PlaitPage *page, GError **error)
{
  g_autoptr (PlaitDescentMap) descent = NULL;
  g_autoptr (PlaitMap) map = NULL, turned = NULL;
  gint64 first, last;

  if (plait_map_is (store, path))
    {
      map = plait_show_map (options, store, path, error);
      turned = map && map->of_sentences ? plait_map_turned (map) : NULL; /* sentences beside their first words */
      if (map)
        plait_map_print (turned ? turned : map, page);
      return map != NULL;
    }
  descent = plait_descent_read (store, path, options->choice, error);
  if (!descent || !plait_show_words (options, descent, store, path, &first, &last, error))
    return FALSE;
  plait_descent_print (descent, first, options->everything, page);
  return TRUE;
}

/* All heatmaps or descents right below the group @path, one below the other. */
static gboolean
show_pictures (PlaitStore *store, const char *path, const PlaitShowOptions *options, PlaitPage *page, gboolean *shown,
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

      if (!is_picture (store, place))
        return TRUE;
    }
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *place = plait_place_below (path, members[i]);

      plait_page_text (page, PLAIT_PAGE_DIM, "%s%s\n", i > 0 ? "\n" : "", place);
      if (!show_picture (store, place, options, page, error))
        return FALSE;
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
  if (is_picture (store, path))
    return show_picture (store, path, options, page, error);
  if (object.kind == PLAIT_STORE_DATASET && object.type == PLAIT_STORE_STRING && object.rank == 0)
    return plait_show_strings (store, path, options, page, error);
  gboolean pictures = FALSE;
  if (object.kind == PLAIT_STORE_GROUP && (!show_pictures (store, path, options, page, &pictures, error) || pictures))
    return pictures;

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
show (const char *file, const char *path, const PlaitShowOptions *options, gboolean json, PlaitLog *log, GError **error)
{
  const char *at = path ? strrchr (path, '@') : NULL;
  g_autoptr (GError) fault = NULL;
  g_autoptr (PlaitPlace) place = plait_place_open (file, path, log, &fault);

  if (!place && at)
    {
      g_autofree char *object = g_strndup (path, (gsize)(at - path));
      g_autoptr (PlaitPlace) owner = plait_place_open (file, object, log, NULL);

      if (owner)
        return json ? plait_show_attribute_json (owner->store, owner->path, at + 1, error)
                    : show_attribute (owner, at + 1, error);
    }
  if (!plait_no_fault (&fault, error))
    return FALSE;
  return json ? plait_show_json (place->store, place->path, options, error) : show_text (place, options, error);
}

gboolean
plait_command_show (PlaitInvocation *invocation, GError **error)
{
  gboolean json = FALSE;
  char *layer = NULL, *head = NULL, *top = NULL, *sentence = NULL, *word = NULL;
  PlaitShowOptions options = { .choice = PLAIT_MAP_CHOICE_USUAL, .sentence = -1, .word = -1 };
  const GOptionEntry entries[] = {
    { "all", 'a', 0, G_OPTION_ARG_NONE, &options.everything, "Show long lists and deep trees whole", NULL },
    { "layer", 0, 0, G_OPTION_ARG_FILENAME, &layer,
      "Layer of a heatmap or descent: a number from 0, or mean (the last)", "N" },
    { "head", 0, 0, G_OPTION_ARG_FILENAME, &head, "Head of a heatmap or descent: a number from 0, or mean (mean)",
      "N" },
    { "top", 0, 0, G_OPTION_ARG_FILENAME, &top,
      "Weights of each row of a heatmap, the heaviest of each head; 0: all (16 of sentences, else 0)", "K" },
    { "sentence", 0, 0, G_OPTION_ARG_FILENAME, &sentence,
      "Sentence of a document whose tokens a heatmap shows: a number from 0 (all)", "N" },
    { "word", 0, 0, G_OPTION_ARG_FILENAME, &word, "Target word of a descent: a number from 0 (0; of JSON all)", "N" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Print JSON", NULL },
    { NULL },
  };

  if (!plait_invocation_parse (invocation, entries, 1, 2, error)
      || !plait_map_parse ("--layer", layer, &options.choice.layer, error)
      || !plait_map_parse ("--head", head, &options.choice.head, error)
      || !plait_option_integer ("--top", top, 0, G_MAXINT32, &options.choice.top, error)
      || !plait_option_integer ("--sentence", sentence, 0, G_MAXINT32, &options.sentence, error)
      || !plait_option_integer ("--word", word, 0, G_MAXINT32, &options.word, error))
    return FALSE;
  return show (invocation->arguments[0], invocation->arguments[1], &options, json, invocation->log, error);
}
