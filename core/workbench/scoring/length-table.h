/* SPDX-License-Identifier: MIT */
#pragma once

#include "significance/length-bins.h"
#include "hdf5/store.h"

/*
 * Row of the table /evaluation/SPLIT/length_bins: the score by one text metric, or one external score, in one bin of
 * source lengths. Columns: metric, name, bin, sentences, score, low and high. Scores of an empty bin are NaN.
 */
typedef struct
{
  char *metric; /* text of the metric, such as "bleu:tok=none" */
  char *name;   /* title of the metric, such as "BLEU" */
  char *bin;    /* name of the bin, such as "11-20" */
  gint64 sentences;
  double score, low, high;
} PlaitLengthRow;

/* Returns an empty table. (transfer full) (element-type PlaitLengthRow) */
GArray *plait_length_rows_new (void);

/* Adds the rows of one metric, computed from its @statistics of all sentences. @words is the number of source words of
 * each sentence. */
gboolean plait_length_rows_add (GArray *rows, const PlaitLengthBins *bins, const PlaitMetric *metric,
                                const PlaitStatistics *statistics, const gint64 *words, guint resamples, guint64 seed,
                                GError **error);

gboolean plait_length_table_write (const GArray *rows, PlaitStore *store, const char *path, GError **error);

/* Returns the rows of the table at @path; none if there is no table. (transfer full) (element-type PlaitLengthRow) */
GArray *plait_length_table_read (PlaitStore *store, const char *path, GError **error);
