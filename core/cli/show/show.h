/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/json.h"
#include "terminal/terminal.h"
#include "comparison/descent.h"
#include "comparison/location.h"

/* An object that was counted. */
typedef struct
{
  char *path;
  gint64 elements; /* -1: it is no dataset */
} PlaitShowBelow;

/*
 * Parts of plait show. Each takes the path of what is shown.
 */
typedef struct
{
  PlaitStore *store;
  PlaitTerminal *terminal; /* not of JSON */
  gboolean everything;     /* long lists and deep trees are not cut */
  PlaitHeatmapSelection choice;
  gint64 sentence; /* of a document, whose tokens a heatmap shows; -1: all */
  gint64 word;     /* of a descent; -1: the first, and of JSON all */
  GArray *below;   /* (element-type PlaitShowBelow), what the last walk met in its order: a group is walked once */
} PlaitShow;

/* What an object is shown as. */
typedef enum
{
  PLAIT_SHOW_GROUP,
  PLAIT_SHOW_TABLE,
  PLAIT_SHOW_HEATMAP,
  PLAIT_SHOW_DESCENT,
  PLAIT_SHOW_STRINGS, /* a list */
  PLAIT_SHOW_STRING,
  PLAIT_SHOW_NUMBERS,
  PLAIT_SHOW_LINK,
  PLAIT_SHOW_OTHER,
} PlaitShowKind;

/* Describes what stands at @path. A list of strings has its type and shape also where it is a group (hdf5/store.h). */
gboolean plait_show_describe (PlaitStore *store, const char *path, PlaitShowKind *kind, PlaitStoreObject *object,
                              GError **error);

/* What it is, in a few words: "float [512, 512]", "table, 300 rows", "12 members". Looks at most at some of what is
 * below it. (transfer full) */
char *plait_show_summary (const PlaitShow *show, const char *path, PlaitShowKind kind, const PlaitStoreObject *object);

/* The heatmap at @path. (transfer full) */
PlaitHeatmap *plait_show_heatmap (const PlaitShow *show, const char *path, GError **error);

/* Draws @heatmap: colours with numbers in them, or blocks of four shades. What is wider than the terminal goes
 * below. */
void plait_heatmap_print (const PlaitHeatmap *heatmap, PlaitTerminal *terminal);

/* Draws the descent of target word @word from the top to the leaves: what was weighed, of each level the heaviest few
 * rows unless @everything. */
void plait_descent_print (const PlaitDescent *descent, gint64 word, gboolean everything, PlaitTerminal *terminal);

/* Adds to the object that is open title, choice, and of the words @first to @last all rows that were weighed, level by
 * level. */
void plait_descent_add_json (const PlaitDescent *descent, gint64 first, gint64 last, PlaitJson *json);

/* The words of @descent that are shown, @last being no less than @first; PLAIT_ERROR_INPUT if there is no such word. */
gboolean plait_show_words (const PlaitShow *show, const PlaitDescent *descent, const char *path, gint64 *first,
                           gint64 *last, GError **error);

/* The tree below the group @path. */
gboolean plait_show_tree (const PlaitShow *show, const char *path, GError **error);

/* The attributes of @path, a line each; of a table all but the names of its columns. */
gboolean plait_show_attributes (const PlaitShow *show, const char *path, gboolean is_table, GError **error);

/* The table, the list of strings or the numbers at @path. */
gboolean plait_show_table (const PlaitShow *show, const char *path, GError **error);
gboolean plait_show_strings (const PlaitShow *show, const char *path, GError **error);
gboolean plait_show_numbers (const PlaitShow *show, const char *path, const PlaitStoreObject *object, GError **error);

/* The attribute @name of @path as JSON. */
gboolean plait_show_attribute_json (PlaitStore *store, const char *path, const char *name, GError **error);

/* All of @path as JSON: a group with its members, kinds and attributes; a table, strings or numbers with their
 * values. */
gboolean plait_show_json (const PlaitShow *show, const char *path, GError **error);
