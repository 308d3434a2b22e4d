/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/json.h"
#include "terminal/terminal.h"
#include "comparison/descent.h"
#include "comparison/location.h"

/*
 * The file, terminal and options of plait show.
 */
typedef struct
{
  PlaitStore *store;
  PlaitTerminal *terminal; /* NULL if the output is JSON */
  gboolean everything;     /* option --all: show long lists and deep trees whole */
  PlaitHeatmapSelection choice;
  gint64 sentence; /* number of the sentence that the heatmap of a document shows; -1: all sentences */
  gint64 word;     /* number of the target word whose descent is shown; -1: the first word, or with JSON all words */
} PlaitShow;

/* The way in which an object is shown. */
typedef enum
{
  PLAIT_SHOW_GROUP,
  PLAIT_SHOW_TABLE,
  PLAIT_SHOW_HEATMAP,
  PLAIT_SHOW_DESCENT,
  PLAIT_SHOW_STRINGS, /* a list of strings */
  PLAIT_SHOW_STRING,
  PLAIT_SHOW_NUMBERS,
  PLAIT_SHOW_LINK,
  PLAIT_SHOW_OTHER,
} PlaitShowKind;

/* Describes the object at @path: sets *@kind and *@object. A list of strings that is stored as a group (hdf5/store.h)
 * gets the type and shape of a list. */
gboolean plait_show_describe (PlaitStore *store, const char *path, PlaitShowKind *kind, PlaitStoreObject *object,
                              GError **error);

/* Returns a short summary of the object at @path: "float32 [512, 512]", "table of 300 rows: step, loss", "12 members".
 * Looks at a limited number of objects below it. (transfer full) */
char *plait_show_summary (const PlaitShow *show, const char *path, PlaitShowKind kind, const PlaitStoreObject *object);

/* Reads the heatmap at @path. (transfer full) */
PlaitHeatmap *plait_show_heatmap (const PlaitShow *show, const char *path, GError **error);

/* Prints each value of @heatmap as a coloured cell, with a percentage if there is space and no value exceeds 1. Without
 * colour, a cell is a blank or one of four shades. Columns that do not fit the terminal are printed below. */
void plait_heatmap_print (const PlaitHeatmap *heatmap, PlaitTerminal *terminal);

/* Prints the descent of target word @word from the top to the leaves: the heaviest weighed rows of each level, or all
 * weighed rows if @everything. */
void plait_descent_print (const PlaitDescent *descent, gint64 word, gboolean everything, PlaitTerminal *terminal);

/* Adds the descents of the target words @first to @last to the open JSON object: the title, the layer and heads shown,
 * and for each word the rows that attention weighed on each level. */
void plait_descent_add_json (const PlaitDescent *descent, gint64 first, gint64 last, PlaitJson *json);

/* Sets *@first and *@last to the range of target words of @descent to show. PLAIT_ERROR_INPUT if there is no word
 * number show->word. */
gboolean plait_show_words (const PlaitShow *show, const PlaitDescent *descent, const char *path, gint64 *first,
                           gint64 *last, GError **error);

/* Prints the tree of the group @path. */
gboolean plait_show_tree (const PlaitShow *show, const char *path, GError **error);

/* Prints the attributes of @path, one on a line. If @path is a table, leaves out the names of its columns. */
gboolean plait_show_attributes (const PlaitShow *show, const char *path, gboolean is_table, GError **error);

/* Prints the table, list of strings or array of numbers at @path. */
gboolean plait_show_table (const PlaitShow *show, const char *path, GError **error);
gboolean plait_show_strings (const PlaitShow *show, const char *path, GError **error);
gboolean plait_show_numbers (const PlaitShow *show, const char *path, const PlaitStoreObject *object, GError **error);

/* Prints the attribute @name of @path as JSON. */
gboolean plait_show_attribute_json (PlaitStore *store, const char *path, const char *name, GError **error);

/* Prints @path as JSON: a group with its members, kinds and attributes; a table, a heatmap, a descent, strings or
 * numbers with their values. */
gboolean plait_show_json (const PlaitShow *show, const char *path, GError **error);
