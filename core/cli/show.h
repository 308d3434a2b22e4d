/* SPDX-License-Identifier: MIT */
#pragma once

#include "cli/descent.h"
#include "cli/place.h"

/*
 * Parts of plait show. Each takes a store and the path of what is shown in it.
 */
typedef struct
{
  gboolean everything; /* long lists and deep trees are not cut */
  PlaitMapChoice choice;
  gint64 sentence; /* of a document, whose tokens a heatmap shows; -1: all */
  gint64 word;     /* of a descent; -1: the first, and of JSON all */
} PlaitShowOptions;

/* The heatmap at @path. (transfer full) */
PlaitMap *plait_show_map (const PlaitShowOptions *options, PlaitStore *store, const char *path, GError **error);

/* The words of @descent that are shown, @last being no less than @first; PLAIT_ERROR_INPUT if there is no such word. */
gboolean plait_show_words (const PlaitShowOptions *options, const PlaitDescentMap *descent, PlaitStore *store,
                           const char *path, gint64 *first, gint64 *last, GError **error);

/* What an object is, in a few words: "float [512, 512]", "table, 300 rows", "12 members". Looks at most at some of
 * what is below it. (transfer full) */
char *plait_show_summary (PlaitStore *store, const char *path, const PlaitStoreObject *object);

/* Whether the group @path is a list of strings (store/store.h) or a table. */
gboolean plait_show_is_strings (PlaitStore *store, const char *path, gint64 *n);
gboolean plait_show_is_table (PlaitStore *store, const char *path);

/* The tree below the group @path. */
gboolean plait_show_tree (PlaitStore *store, const char *path, const PlaitShowOptions *options, PlaitPage *page,
                          GError **error);

/* The attributes of @path, a line each. */
gboolean plait_show_attributes (PlaitStore *store, const char *path, PlaitPage *page, GError **error);

/* The table, the strings or the numbers at @path. */
gboolean plait_show_table (PlaitStore *store, const char *path, const PlaitShowOptions *options, PlaitPage *page,
                           GError **error);
gboolean plait_show_strings (PlaitStore *store, const char *path, const PlaitShowOptions *options, PlaitPage *page,
                             GError **error);
gboolean plait_show_numbers (PlaitStore *store, const char *path, const PlaitStoreObject *object,
                             const PlaitShowOptions *options, PlaitPage *page, GError **error);

/* The attribute @name of @path as JSON. */
gboolean plait_show_attribute_json (PlaitStore *store, const char *path, const char *name, GError **error);

/* All of @path as JSON: a group with its members, kinds and attributes; a table, strings or
 * numbers with their values. */
gboolean plait_show_json (PlaitStore *store, const char *path, const PlaitShowOptions *options, GError **error);
