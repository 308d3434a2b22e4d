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
  gboolean dumps; /* dumps of attention stand among the runs, without scores */
  PlaitLog *log;  /* is told what other programs have changed in the files; borrowed */
} PlaitComparisonOptions;

typedef struct
{
  const PlaitRunScore *score; /* NULL: this run has none */
  gboolean compared;          /* with the first run that has the same references */
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

/* The first run of the references of @measure: what the others are tested against. */
guint plait_run_comparison_baseline (const PlaitRunComparison *comparison, guint measure);

/* (transfer none) */
const PlaitRunValue *plait_run_comparison_value (const PlaitRunComparison *comparison, guint run, guint measure);

/*
 * Tables
 */

/* Of the measures from @first on, the first that is of another split, or of other references. */
guint plait_run_comparison_split_end (const PlaitRunComparison *comparison, guint first);

/* The scores of the split whose measures begin with @first, with p where there are runs to compare, and below
 * the last one what the numbers mean. Runs over other references of the split are not in it. (transfer full) */
PlaitTable *plait_run_comparison_scores (const PlaitRunComparison *comparison, guint first);

/* Parameters, speed, files. (transfer full) */
PlaitTable *plait_run_comparison_sizes (const PlaitRunComparison *comparison);

/* The settings that differ. (transfer full) */
PlaitTable *plait_run_comparison_settings (const PlaitRunComparison *comparison);
