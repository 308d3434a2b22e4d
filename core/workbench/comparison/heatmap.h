/* SPDX-License-Identifier: MIT */
#pragma once

#include "hdf5/store.h"

/*
 * One picture out of a heatmap of a file (tables/heatmap.h): its last two axes, at one layer and head or at their mean.
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
  gint64 heaviest;       /* how many weights of each row are kept; 0: all */
  gboolean of_sentences; /* the columns stand for sentences of a document */
  gint64 *sentence;      /* [n_columns]: the sentence of a document that each is of; NULL: there is none */
} PlaitHeatmap;

#define PLAIT_HEATMAP_DEFAULT                                                                                          \
  ((gint64)-1) /* the last layer; the mean of the heads; all weights, but few of sentences */
#define PLAIT_HEATMAP_MEAN ((gint64)-2)

/* How many sentences each head of a picture of sentences keeps of a row (Rohde, Wu & Liu 2021, appendix C). */
#define PLAIT_HEATMAP_SENTENCES 16

/* Which picture. */
typedef struct
{
  gint64 layer, head; /* from 0, or one of the above */

  /* So many weights of each row, the heaviest, are kept in each head before the mean of heads is taken, and scaled so
   * that they sum to what all did; 0: all, or PLAIT_HEATMAP_DEFAULT. */
  gint64 top;
} PlaitHeatmapSelection;

#define PLAIT_HEATMAP_SELECTION_DEFAULT                                                                                \
  ((PlaitHeatmapSelection){ PLAIT_HEATMAP_DEFAULT, PLAIT_HEATMAP_DEFAULT, PLAIT_HEATMAP_DEFAULT })

/* Reads the value of --layer or --head: a number from 0, "mean", or NULL for the usual. */
gboolean plait_heatmap_parse (const char *option, const char *text, gint64 *choice, GError **error);

/* TRUE if a heatmap of at least two axes stands at @path. */
gboolean plait_heatmap_exists (PlaitStore *store, const char *path);

/* TRUE if that heatmap is small enough to be read as a picture. */
gboolean plait_heatmap_fits (PlaitStore *store, const char *path);

/* How many layers and heads the heatmap at @path has; 0 where it has no such axis. */
void plait_heatmap_extents (PlaitStore *store, const char *path, gint64 *layers, gint64 *heads);

/* Steps of an axis; of several the mean. */
typedef struct
{
  gint64 first, last;
} PlaitIndexRange;

/* Finds the steps that @choice asks for on the axis @name, "layer" or "head", of @extent steps, and tells them in
 * @text. */
gboolean plait_heatmap_select (PlaitStore *store, const char *path, const char *name, gint64 extent,
                               PlaitHeatmapSelection choice, PlaitIndexRange *steps, GString *text, GError **error);

/* Reads the heatmap at @path. (transfer full) */
PlaitHeatmap *plait_heatmap_read (PlaitStore *store, const char *path, PlaitHeatmapSelection choice, GError **error);
void plait_heatmap_free (PlaitHeatmap *heatmap);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitHeatmap, plait_heatmap_free)

/* The largest of its values that are finite, or 0. */
double plait_heatmap_max (const PlaitHeatmap *heatmap);

/* The columns of @heatmap that are of sentence @sentence; PLAIT_ERROR_INPUT if it has none. (transfer full) */
PlaitHeatmap *plait_heatmap_of_sentence (const PlaitHeatmap *heatmap, gint64 sentence, GError **error);

/* One of several things, by its number. */
typedef struct
{
  gint64 number;
  double weight;
} PlaitIndexedWeight;

/* Keeps of @weights (element-type PlaitIndexedWeight) no more than the heaviest @max, the first of those alike, by
 * their numbers. */
void plait_indexed_weights_keep_top (GArray *weights, guint max);

/* Makes rows of the columns of @heatmap and columns of its rows. */
void plait_heatmap_transpose (PlaitHeatmap *heatmap);
