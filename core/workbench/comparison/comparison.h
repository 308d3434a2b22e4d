/* SPDX-License-Identifier: MIT */
#pragma once

#include "comparison/choice.h"
#include "significance/report.h"
#include "run/seed-statistics.h"

/*
 * The scores of runs, each tested against the first run, as plait compare and plait report show them. Runs that differ
 * only in their seed are one system, like a row of a grid's table: a mean with its spread, and a test that includes the
 * seeds.
 */

typedef struct
{
  gboolean tested;
  PlaitTest test;
  gint64 trials, seed;
  gboolean dumps; /* TRUE: accept files without scores, if they are dumps of attention */
  PlaitLog *log;  /* receives lines about files that another program changed and about scores left out; borrowed */
  PlaitComparisonChoice choice;
  double margin; /* also test equivalence within this margin (significance/equivalence.h); 0: do not */
} PlaitComparisonOptions;

typedef struct
{
  GPtrArray *runs; /* (element-type PlaitRunFile) */
  PlaitComparisonOptions options;
  guint n_score_columns;
  PlaitScoreColumn *score_columns;
  GArray *systems;             /* (element-type PlaitRunSystem), groups of the runs */
  PlaitSeedStatistics *values; /* [systems, score columns] */
  GPtrArray *differences;      /* (element-type PlaitSettingDifference): the settings that differ */
  gboolean tokens_differ;      /* TRUE if runs have different target vocabularies; unknown ones are ignored */
  char **notes;                /* differences of vocabularies and data, from plait_run_results_describe_differences() */
} PlaitRunComparison;

/* Opens the runs in @paths and compares their scores. The p values of one score column are adjusted together by Holm's
 * method; p values of equivalence are not adjusted. (transfer full) */
PlaitRunComparison *plait_run_comparison_new (char *const *paths, const PlaitComparisonOptions *options,
                                              GError **error);
void plait_run_comparison_free (PlaitRunComparison *comparison);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitRunComparison, plait_run_comparison_free)

/* Returns the statistics of @system in @score_column. (transfer none) */
const PlaitSeedStatistics *plait_run_comparison_value (const PlaitRunComparison *comparison, guint system,
                                                       guint score_column);

/* Returns the index after the last of the neighbouring score columns that begin at @first and have one split and equal
 * references. */
guint plait_run_comparison_split_end (const PlaitRunComparison *comparison, guint first);

/* Makes the table of the score columns from @first on that have equal splits and references. If there are several
 * systems, columns that can be tested have p values. Runs with other references for the split have a table of their
 * own; such tables, and the last one, have notes that explain the numbers. (transfer full) */
PlaitTable *plait_run_comparison_scores (const PlaitRunComparison *comparison, guint first);

/* Makes the table of parameters, speed and files. (transfer full) */
PlaitTable *plait_run_comparison_sizes (const PlaitRunComparison *comparison);

/* Makes the table of the settings that differ. (transfer full) */
PlaitTable *plait_run_comparison_settings (const PlaitRunComparison *comparison);
