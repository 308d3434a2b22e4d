/* SPDX-License-Identifier: MIT */
#pragma once

#include "hdf5/store.h"

/* One picture of a heatmap in a file (tables/heatmap.h): its last two axes, at one layer and head or as a mean. */
typedef struct
{
  char *title;  /* title stored in the file, or NULL */
  char *choice; /* such as "layer 5, mean of 8 heads"; "" without axes to select from */
  char *row_axis, *column_axis;
  gint64 n_rows, n_columns;
  double *values; /* [n_rows, n_columns] */
  char **rows;    /* labels of the rows; numbers if the file has no labels */
  char **columns;
  gint64 heaviest;       /* number of weights kept in each row; 0: all */
  gboolean of_sentences; /* columns stand for sentences of a document */
  gint64 *sentence;      /* [n_columns]: sentence of a document that the column belongs to; NULL if unknown */
} PlaitHeatmap;

#define PLAIT_HEATMAP_DEFAULT                                                                                          \
  ((gint64)-1) /* layer: the last; head: the mean; top: all weights, or PLAIT_HEATMAP_SENTENCES of sentences */
#define PLAIT_HEATMAP_MEAN ((gint64)-2)

/* Number of sentences that each head of a picture of sentences keeps in a row (Rohde, Wu & Liu 2021, appendix C). */
#define PLAIT_HEATMAP_SENTENCES 16

/* Selects a picture of a heatmap. */
typedef struct
{
  gint64 layer, head; /* index from 0, PLAIT_HEATMAP_DEFAULT or PLAIT_HEATMAP_MEAN */

  /* Number of the heaviest weights kept in each row of each head, scaled to the sum of all, before the mean over heads.
   * 0: all; or PLAIT_HEATMAP_DEFAULT. */
  gint64 top;
} PlaitHeatmapSelection;

#define PLAIT_HEATMAP_SELECTION_DEFAULT                                                                                \
  ((PlaitHeatmapSelection){ PLAIT_HEATMAP_DEFAULT, PLAIT_HEATMAP_DEFAULT, PLAIT_HEATMAP_DEFAULT })

/* Reads @text, the value of --layer or --head, to *@choice: a number from 0, "mean", or NULL for
 * PLAIT_HEATMAP_DEFAULT. */
gboolean plait_heatmap_parse (const char *option, const char *text, gint64 *choice, GError **error);

/* TRUE if @path of @store is a heatmap of two to four axes. */
gboolean plait_heatmap_exists (PlaitStore *store, const char *path);

/* FALSE if the heatmap at @path is too large to be read as a picture. */
gboolean plait_heatmap_fits (PlaitStore *store, const char *path);

/* Sets the number of layers and heads of the heatmap at @path; 0 if it has no such axis. */
void plait_heatmap_extents (PlaitStore *store, const char *path, gint64 *layers, gint64 *heads);

/* A range of indices of an axis, over which a mean is taken. */
typedef struct
{
  gint64 first, last;
} PlaitIndexRange;

/* Finds the indices that @choice selects on the axis @name, "layer" or "head", of length @extent, and appends their
 * description to @text. */
gboolean plait_heatmap_select (PlaitStore *store, const char *path, const char *name, gint64 extent,
                               PlaitHeatmapSelection choice, PlaitIndexRange *steps, GString *text, GError **error);

/* Reads the picture @choice of the heatmap at @path. (transfer full) */
PlaitHeatmap *plait_heatmap_read (PlaitStore *store, const char *path, PlaitHeatmapSelection choice, GError **error);
void plait_heatmap_free (PlaitHeatmap *heatmap);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitHeatmap, plait_heatmap_free)

/* Returns the largest finite value, or 0. */
double plait_heatmap_max (const PlaitHeatmap *heatmap);

/* Returns @heatmap with the columns of sentence @sentence only. PLAIT_ERROR_INPUT without such columns. (transfer
 * full) */
PlaitHeatmap *plait_heatmap_of_sentence (const PlaitHeatmap *heatmap, gint64 sentence, GError **error);

/* A weight and the index that it belongs to. */
typedef struct
{
  gint64 number;
  double weight;
} PlaitIndexedWeight;

/* Keeps the @max largest of @weights (element-type PlaitIndexedWeight); of equal weights those with lower numbers.
 * Sorts the rest by number. */
void plait_indexed_weights_keep_top (GArray *weights, guint max);

/* Exchanges rows and columns of @heatmap. */
void plait_heatmap_transpose (PlaitHeatmap *heatmap);
