/* SPDX-License-Identifier: MIT */
#pragma once

#include "significance/length-bins.h"
#include "hdf5/store.h"

/*
 * The table /evaluation/SPLIT/length_bins: a row for each metric of text and bin of the source's length, with the
 * columns metric, name, bin, sentences, score, low and high; the scores of an empty bin are NaN.
 */
typedef struct
{
  char *metric; /* "bleu:tok=none" */
  char *name;   /* "BLEU" */
  char *bin;    /* "11-20" */
  gint64 sentences;
  double score, low, high;
} PlaitLengthRow;

/* No rows. (transfer full) (element-type PlaitLengthRow) */
GArray *plait_length_rows_new (void);

/* Adds the rows of one metric, from its rows of sentences and the @words of each sentence's source. */
gboolean plait_length_rows_add (GArray *rows, const PlaitLengthBins *bins, const PlaitMetric *metric,
                                const PlaitStatistics *statistics, const gint64 *words, guint resamples, guint64 seed,
                                GError **error);

gboolean plait_length_table_write (const GArray *rows, PlaitStore *store, const char *path, GError **error);

/* Reads what was written; no rows if there is no table. (transfer full) (element-type PlaitLengthRow) */
GArray *plait_length_table_read (PlaitStore *store, const char *path, GError **error);
