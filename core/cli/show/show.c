/* SPDX-License-Identifier: MIT */
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#include "text/display.h"
#include "command/command.h"
#include "command/options.h"
#include "show/show.h"

#define MAX_HEATMAPS 8

typedef struct
{
  const char *layer, *head;
  gint64 top, sentence, word;
  gboolean everything, json;
} Options;

PlaitHeatmap *
plait_show_heatmap (const PlaitShow *show, const char *path, GError **error)
{
  g_autoptr (PlaitHeatmap) heatmap = plait_heatmap_read (show->store, path, show->choice, error);
  PlaitHeatmap *part;

  if (!heatmap || !heatmap->sentence || show->sentence < 0)
    return g_steal_pointer (&heatmap);
  part = plait_heatmap_of_sentence (heatmap, show->sentence, error);
  if (!part)
    g_prefix_error (error, "%s: %s: ", plait_store_path (show->store), path);
  return part;
}

gboolean
plait_show_words (const PlaitShow *show, const PlaitDescent *descent, const char *path, gint64 *first, gint64 *last,
                  GError **error)
{
  *first = MAX (show->word, 0);
  *last = show->word < 0 ? descent->n_targets - 1 : show->word;
  return *last < descent->n_targets
         || plait_fail (error, PLAIT_ERROR_INPUT, "%s: %s has no word %jd; expected 0 to %jd",
                        plait_store_path (show->store), path, show->word, descent->n_targets - 1);
}

static gboolean
show_picture (const PlaitShow *show, const char *path, GError **error)
{
  g_autoptr (PlaitDescent) descent = NULL;
  g_autoptr (PlaitHeatmap) heatmap = NULL;
  gint64 first, last;

  if (plait_heatmap_exists (show->store, path))
    {
      heatmap = plait_show_heatmap (show, path, error);
      if (!heatmap)
        return FALSE;
      if (heatmap->of_sentences) /* sentences become rows, because their long labels fit only on the left */
        plait_heatmap_transpose (heatmap);
      plait_heatmap_print (heatmap, show->terminal);
      return TRUE;
    }
  descent = plait_descent_read (show->store, path, show->choice, error);
  if (!descent || !plait_show_words (show, descent, path, &first, &last, error))
    return FALSE;
  plait_descent_print (descent, first, show->everything, show->terminal);
  return TRUE;
}

/* If the group @path has 1 to MAX_HEATMAPS members, and each is a heatmap or a descent, prints them and sets *@shown to
 * TRUE. Otherwise, sets *@shown to FALSE. */
static gboolean
show_pictures (const PlaitShow *show, const char *path, gboolean *shown, GError **error)
{
  g_auto (GStrv) members = plait_store_members (show->store, path, error);

  *shown = FALSE;
  if (!members)
    return FALSE;
  guint n = g_strv_length (members);
  if (n == 0 || n > MAX_HEATMAPS)
    return TRUE;
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *location = plait_location_join (path, members[i]);

      if (!plait_heatmap_exists (show->store, location) && !plait_descent_is (show->store, location))
        return TRUE;
    }
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *location = plait_location_join (path, members[i]);

      plait_terminal_text (show->terminal, PLAIT_TERMINAL_DIM, "%s%s\n", i > 0 ? "\n" : "", location);
      if (!show_picture (show, location, error))
        return FALSE;
    }
  *shown = TRUE;
  return TRUE;
}

/* Prints the first line: the file, the path and a summary. */
static void
print_title (const PlaitShow *show, const char *path, PlaitShowKind kind, const PlaitStoreObject *object)
{
  g_autofree char *summary = plait_show_summary (show, path, kind, object);

  plait_terminal_text (show->terminal, PLAIT_TERMINAL_HEADING, "%s", plait_store_path (show->store));
  if (path[1] != '\0')
    {
      /* The table's own header names its columns. */
      if (kind == PLAIT_SHOW_TABLE)
        *strchr (summary, ':') = '\0';
      plait_terminal_text (show->terminal, PLAIT_TERMINAL_HEADING, " %s", path);
      plait_terminal_text (show->terminal, PLAIT_TERMINAL_DIM, "  %s\n", summary);
      return;
    }
  GStatBuf status;
  g_autofree char *size = g_stat (plait_store_path (show->store), &status) == 0
                              ? g_format_size_full ((guint64)status.st_size, G_FORMAT_SIZE_IEC_UNITS)
                              : g_strdup ("");
  plait_terminal_text (show->terminal, PLAIT_TERMINAL_DIM, "  %s, %s\n", size, summary);
}

/* Prints @value (transfer full) and returns TRUE. If it is NULL, returns FALSE. */
static gboolean
print_value (char *value)
{
  gboolean found = value != NULL;

  if (found)
    plait_display_line (stdout, value);
  g_free (value);
  return found;
}

static gboolean
show_text (const PlaitShow *show, const char *path, GError **error)
{
  PlaitStoreObject object;
  PlaitShowKind kind;
  gboolean pictures = FALSE;

  if (!plait_show_describe (show->store, path, &kind, &object, error))
    return FALSE;
  if (kind == PLAIT_SHOW_HEATMAP || kind == PLAIT_SHOW_DESCENT)
    return show_picture (show, path, error);
  if (kind == PLAIT_SHOW_STRING)
    return print_value (plait_store_read_string (show->store, path, error));
  if (kind == PLAIT_SHOW_GROUP && (!show_pictures (show, path, &pictures, error) || pictures))
    return pictures;

  print_title (show, path, kind, &object);
  if (object.attributes > 0 && !plait_show_attributes (show, path, kind == PLAIT_SHOW_TABLE, error))
    return FALSE;
  plait_terminal_text (show->terminal, PLAIT_TERMINAL_PLAIN, "\n");
  switch (kind)
    {
    case PLAIT_SHOW_TABLE:
      return plait_show_table (show, path, error);
    case PLAIT_SHOW_STRINGS:
      return plait_show_strings (show, path, error);
    case PLAIT_SHOW_NUMBERS:
      return plait_show_numbers (show, path, &object, error);
    default:
      return plait_show_tree (show, path, error);
    }
}

static gboolean
show_attribute (PlaitStore *store, const char *path, const char *name, GError **error)
{
  return print_value (plait_store_attribute_text (store, path, name, G_MAXINT32, error));
}

/* Shows the object @path of @file. If there is none, and @path is "OBJECT@NAME", shows the attribute NAME of OBJECT. */
static gboolean
show (PlaitShow *show, const char *file, const char *path, gboolean json, PlaitLog *log, GError **error)
{
  const char *at = path ? strrchr (path, '@') : NULL;
  g_autoptr (GError) fault = NULL;
  g_autoptr (PlaitLocation) location = plait_location_open (file, path, log, &fault);

  if (!location && at)
    {
      g_autofree char *object = g_strndup (path, (gsize)(at - path));
      g_autoptr (PlaitLocation) owner = plait_location_open (file, object, log, NULL);

      if (owner)
        return (json ? plait_show_attribute_json : show_attribute) (owner->store, owner->path, at + 1, error);
    }
  if (!plait_no_error (&fault, error))
    return FALSE;
  show->store = location->store;
  return (json ? plait_show_json : show_text) (show, location->path, error);
}

static gboolean
run_command (PlaitInvocation *invocation, GError **error)
{
  const Options *options = invocation->options;
  g_autoptr (PlaitTerminal) terminal = plait_terminal_new ();
  PlaitShow shown = {
    .terminal = terminal,
    .everything = options->everything,
    .choice.top = options->top,
    .sentence = options->sentence,
    .word = options->word,
  };

  return plait_heatmap_parse ("--layer", options->layer, &shown.choice.layer, error)
         && plait_heatmap_parse ("--head", options->head, &shown.choice.head, error)
         && show (&shown, invocation->arguments[0], invocation->arguments[1], options->json, invocation->log, error);
}

static const PlaitOption options[] = {
  PLAIT_FLAG ("all", 'a', everything, "Show long lists and deep trees whole"),
  PLAIT_OPTION ("layer", 0, TEXT, layer, "Layer of a heatmap or descent: a number from 0, or mean; default: the last",
                "N"),
  PLAIT_OPTION ("head", 0, TEXT, head, "Head of a heatmap or descent: a number from 0, or mean; default: mean", "N"),
  PLAIT_OPTION (
      "top", 0, INTEGER, top,
      "Show the K heaviest weights of each row and head of a heatmap; 0: all; default: 16 for sentences, else 0", "K",
      0, G_MAXINT32),
  PLAIT_OPTION ("sentence", 0, INTEGER, sentence,
                "Show only this sentence in the heatmap of a document: a number from 0; default: all", "N", 0,
                G_MAXINT32),
  PLAIT_OPTION ("word", 0, INTEGER, word, "Target word of a descent: a number from 0; default: 0, in JSON all", "N", 0,
                G_MAXINT32),
  PLAIT_OPTION_JSON (Options),
  { NULL },
};

const PlaitCommand plait_command_show = {
  .name = "show",
  .synopsis = "FILE [PATH] [--all] [--layer N] [--head N] [--top K] [--sentence N] [--word N] [--json]",
  .summary = "Show a run, a dump or a grid: its tree, tables, texts, numbers, heatmaps and descents",
  .details = "PATH is a group or dataset; PATH@NAME is an attribute. Links are followed, also from a grid into its "
             "cells. By default a heatmap or a descent is drawn at its last layer and as the mean of its heads; a "
             "heatmap of sentences has the 16 heaviest sentences of each row.\n\nExamples:\n  plait show run.h5\n  "
             "plait show run.h5 /training/validation\n  plait show run.h5 /attention/test/0 --layer 0 --head 3\n  "
             "plait show run.h5 /attention/test/0/a.tokens --sentence 3\n  plait show run.h5 /@experiment",
  .options = options,
  .size = sizeof (Options),
  .defaults = &(const Options){ .top = PLAIT_HEATMAP_DEFAULT, .sentence = -1, .word = -1 },
  .min = 1,
  .max = 2,
  .run = run_command,
};
