/* SPDX-License-Identifier: MIT */
#pragma once

#include "cli/runs.h"
#include "evaluate/report.h"

/*
 * The scores of runs beside each other, each tested against the first run: what plait compare and plait report show.
 */

typedef struct
{
  gboolean tested;
  PlaitTest test;
  gint64 trials, seed;
} PlaitComparisonOptions;

typedef struct
{
  const PlaitCellScore *score; /* NULL: this run has none */
  gboolean compared;           /* with the first run, which has the same references */
  PlaitComparison comparison;
} PlaitRunValue;

typedef struct
{
  GPtrArray *runs; /* (element-type PlaitRunFile) */
  PlaitComparisonOptions options;
  guint n_measures;
  PlaitMeasure *measures;
  PlaitRunValue *values;  /* [runs, measures] */
  GPtrArray *differences; /* (element-type PlaitRunDifference) */
} PlaitRunComparison;

/* Opens, scores and compares the runs in @paths. p is adjusted by Holm's method over the runs of one measure. (transfer
 * full) */
PlaitRunComparison *plait_run_comparison_new (char *const *paths, const PlaitComparisonOptions *options,
                                              GError **error);
void plait_run_comparison_free (PlaitRunComparison *comparison);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitRunComparison, plait_run_comparison_free)

/* (transfer none) */
const PlaitRunValue *plait_run_comparison_value (const PlaitRunComparison *comparison, guint run, guint measure);

/* "34.50 [33.30, 35.70]", "34.50" without an interval, "–" for no score. (transfer full) */
char *plait_run_value_text (const PlaitRunValue *value, guint digits);

/* "0.0123", Holm-adjusted; "–" where nothing was compared. (transfer full) */
char *plait_run_value_p (const PlaitRunValue *value);

/* Whether the adjusted p is below 5 %. */
gboolean plait_run_value_is_significant (const PlaitRunValue *value);

/* What the numbers mean, in a sentence or two. (transfer full) */
char *plait_run_comparison_legend (const PlaitRunComparison *comparison);
