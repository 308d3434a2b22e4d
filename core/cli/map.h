/* SPDX-License-Identifier: MIT */
#pragma once

#include "cli/page.h"
#include "store/store.h"

/*
 * One picture out of a heatmap of a file (store/heatmap.h): its last two axes, at one layer and head or at their mean.
 */
typedef struct
{
  char *title;  /* as stored, or NULL */
  char *choice; /* "layer 5, mean of 8 heads"; empty where there is nothing to choose */
  char *row_axis, *column_axis;
  gint64 n_rows, n_columns;
  double *values; /* [n_rows, n_columns] */
  char **rows;    /* labels; numbers where the file has none */
  char **columns;
} PlaitMap;

#define PLAIT_MAP_USUAL ((gint64)-1) /* the last layer; the mean of the heads */
#define PLAIT_MAP_MEAN ((gint64)-2)

/* Which picture. */
typedef struct
{
  gint64 layer, head; /* from 0, or one of the above */
} PlaitMapChoice;

/* Reads the value of --layer or --head: a number from 0, "mean", or NULL for the usual. */
gboolean plait_map_parse (const char *option, const char *text, gint64 *choice, GError **error);

/* Whether a heatmap of at least two axes stands at @path. */
gboolean plait_map_is (PlaitStore *store, const char *path);

/* How many layers and heads the heatmap at @path has; 0 where it has no such axis. */
void plait_map_steps (PlaitStore *store, const char *path, gint64 *layers, gint64 *heads);

/* Reads the heatmap at @path. (transfer full) */
PlaitMap *plait_map_read (PlaitStore *store, const char *path, PlaitMapChoice choice, GError **error);
void plait_map_free (PlaitMap *map);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitMap, plait_map_free)

/* Draws @map: colours with numbers in them, or blocks of four shades. What is wider than the terminal goes below. */
void plait_map_print (const PlaitMap *map, PlaitPage *page);
