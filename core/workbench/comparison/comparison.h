/* SPDX-License-Identifier: MIT */
#pragma once

#include "comparison/systems.h"
#include "significance/report.h"
#include "run/seed-statistics.h"

/*
 * The scores of runs beside each other, each tested against the first: what plait compare and plait report show. Runs
 * that differ in their seed alone are one system, as in the rows of a grid: a mean with its spread, and a test that has
 * the seeds in it.
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
  GPtrArray *runs; /* (element-type PlaitRunFile) */
  PlaitComparisonOptions options;
  guint n_score_columns;
  PlaitScoreColumn *score_columns;
  GArray *systems;             /* (element-type PlaitRunSystem) of the runs */
  PlaitSeedStatistics *values; /* [systems, measures] */
  GPtrArray *differences;      /* (element-type PlaitSettingDifference) */
  gboolean tokens_differ;      /* the target's tokens are not the same in all runs */
  char **notes;                /* what runs have otherwise beside settings: plait_run_results_describe_differences */
} PlaitRunComparison;

/* Opens, scores and compares the runs in @paths. p is adjusted by Holm's method over the systems of one
 * measure. (transfer full) */
PlaitRunComparison *plait_run_comparison_new (char *const *paths, const PlaitComparisonOptions *options,
                                              GError **error);
void plait_run_comparison_free (PlaitRunComparison *comparison);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitRunComparison, plait_run_comparison_free)

/* (transfer none) */
const PlaitSeedStatistics *plait_run_comparison_value (const PlaitRunComparison *comparison, guint system,
                                                       guint measure);

/*
 * Tables
 */

/* Of the measures from @first on, the first that is of another split, or of other references. */
guint plait_run_comparison_split_end (const PlaitRunComparison *comparison, guint first);

/* The scores of the split whose measures begin with @first, with p where there are systems to compare, and below
 * the last one what the numbers mean. Runs over other references of the split are not in it. (transfer full) */
PlaitTable *plait_run_comparison_scores (const PlaitRunComparison *comparison, guint first);

/* Parameters, speed, files. (transfer full) */
PlaitTable *plait_run_comparison_sizes (const PlaitRunComparison *comparison);

/* The settings that differ. (transfer full) */
PlaitTable *plait_run_comparison_settings (const PlaitRunComparison *comparison);
