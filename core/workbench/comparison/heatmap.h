/* SPDX-License-Identifier: MIT */
#pragma once

#include "hdf5/store.h"

/* One picture: the matrix over the last two axes of a heatmap in a file (tables/heatmap.h), for one layer and head, or
 * the mean over layers or heads. */
typedef struct
{
  char *title;  /* title stored in the file, or NULL */
  char *choice; /* what the picture shows, such as "layer 5, mean of 8 heads, the 16 heaviest of 40"; "" if the
                   heatmap has no layers or heads and is shown in full */
  char *row_axis, *column_axis;
  gint64 n_rows, n_columns;
  double *values; /* [n_rows, n_columns] */
  char **rows;    /* labels of the rows; numbers if the file has no labels */
  char **columns;
  gint64 heaviest;       /* number of heaviest weights that are kept in each row; 0: all */
  gboolean of_sentences; /* TRUE: each column is a sentence of a document, not a token */
  gint64 *sentence;      /* [n_columns]: sentence of a document that the column belongs to; NULL if unknown */
} PlaitHeatmap;

#define PLAIT_HEATMAP_DEFAULT                                                                                          \
  ((gint64)-1) /* layer: the last; head: the mean; top: PLAIT_HEATMAP_SENTENCES if columns are sentences, else 0 */
#define PLAIT_HEATMAP_MEAN ((gint64)-2)

/* Default number of weights to keep in each row of each head if columns are sentences (Rohde, Wu & Liu 2021, appendix
 * C). */
#define PLAIT_HEATMAP_SENTENCES 16

/* Says which picture is drawn of a heatmap. */
typedef struct
{
  gint64 layer, head; /* index from 0, PLAIT_HEATMAP_DEFAULT or PLAIT_HEATMAP_MEAN */

  /* Number of heaviest weights to keep in each row of each head; 0: all; or PLAIT_HEATMAP_DEFAULT. The kept weights are
   * scaled to the sum of all weights of the row, before the mean over heads is taken. */
  gint64 top;
} PlaitHeatmapSelection;

#define PLAIT_HEATMAP_SELECTION_DEFAULT                                                                                \
  ((PlaitHeatmapSelection){ PLAIT_HEATMAP_DEFAULT, PLAIT_HEATMAP_DEFAULT, PLAIT_HEATMAP_DEFAULT })

/* Reads @text, the value of the option @option (--layer or --head), to *@choice. @text is a number from 0, "mean", or
 * NULL for PLAIT_HEATMAP_DEFAULT. */
gboolean plait_heatmap_parse (const char *option, const char *text, gint64 *choice, GError **error);

/* TRUE if @path of @store is a heatmap of two to four axes. */
gboolean plait_heatmap_exists (PlaitStore *store, const char *path);

/* FALSE if the heatmap at @path is too large to be read as a picture. */
gboolean plait_heatmap_fits (PlaitStore *store, const char *path);

/* Sets *@layers and *@heads to the numbers of layers and heads of the heatmap at @path; 0 if it has no such axis. */
void plait_heatmap_extents (PlaitStore *store, const char *path, gint64 *layers, gint64 *heads);

/* A range of indices of an axis, over which a mean is taken. */
typedef struct
{
  gint64 first, last;
} PlaitIndexRange;

/* Sets *@steps to the indices that @choice selects on the axis @name, "layer" or "head", of length @extent, and appends
 * their description to @text. */
gboolean plait_heatmap_select (PlaitStore *store, const char *path, const char *name, gint64 extent,
                               PlaitHeatmapSelection choice, PlaitIndexRange *steps, GString *text, GError **error);

/* Reads the picture @choice of the heatmap at @path. (transfer full) */
PlaitHeatmap *plait_heatmap_read (PlaitStore *store, const char *path, PlaitHeatmapSelection choice, GError **error);
void plait_heatmap_free (PlaitHeatmap *heatmap);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitHeatmap, plait_heatmap_free)

/* Returns the largest finite value of @heatmap; 0 if no finite value is positive. */
double plait_heatmap_max (const PlaitHeatmap *heatmap);

/* Returns the columns of @heatmap that belong to sentence @sentence of the document. heatmap->sentence must not be
 * NULL. PLAIT_ERROR_INPUT if there are none. (transfer full) */
PlaitHeatmap *plait_heatmap_of_sentence (const PlaitHeatmap *heatmap, gint64 sentence, GError **error);

/* A weight and the index that it belongs to. */
typedef struct
{
  gint64 number;
  double weight;
} PlaitIndexedWeight;

/* Keeps the @max largest of @weights (element-type PlaitIndexedWeight) and removes the others. Of equal weights, keeps
 * those with smaller indices. Sorts the kept weights by index. */
void plait_indexed_weights_keep_top (GArray *weights, guint max);

/* Exchanges rows and columns of @heatmap. */
void plait_heatmap_transpose (PlaitHeatmap *heatmap);
