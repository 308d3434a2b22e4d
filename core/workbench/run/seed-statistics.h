/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/table.h"
#include "significance/statistics.h"
#include "run/result.h"

/*
 * Scores of a system over one seed or several, and the test against another system. Grids, comparisons and reports show
 * them.
 */

typedef struct
{
  guint n;           /* number of seeds with a score */
  double mean;       /* NaN without a score */
  double deviation;  /* sample standard deviation over seeds; NaN unless there are several */
  double low, high;  /* bootstrap interval if there is one seed, else NaN */
  gboolean compared; /* TRUE if the system was tested against the baseline */
  double margin;     /* test equivalence within this margin too (significance/equivalence.h); 0: do not */
  PlaitComparison comparison;
} PlaitSeedStatistics;

/* Returns the statistics of the scores of @results in @score_column. @results has one run for each seed. (element-type
 * PlaitRunResult; may contain NULL) */
PlaitSeedStatistics plait_seed_statistics_new (const PlaitScoreColumn *score_column, const GPtrArray *results);

/* Returns the statistics for a table, which shows "34.50 [33.30, 35.70]" for one seed, "34.50 ± 0.80" for several. */
PlaitTableScore plait_seed_statistics_shown (const PlaitSeedStatistics *seed_statistics);

/* If the system was tested, adds 1 to n[0] if the system and the baseline had one seed each, else to n[1]. */
void plait_seed_statistics_count_seeds (const PlaitSeedStatistics *seed_statistics, guint n[2]);

/* Tests @system against @baseline (element-type PlaitRunResult; may contain NULL) in @score_column, if both have
 * statistics of sentences, and stores the result in @seed_statistics. If both have one seed, uses @test with @trials
 * and @seed; else a t test over seeds and sentences (significance/seeds.h). Adds a pointer to the stored result
 * to @compared (element-type PlaitComparison), so that the p values of several tests are adjusted together. */
gboolean plait_seed_statistics_compare (PlaitSeedStatistics *seed_statistics, const PlaitScoreColumn *score_column,
                                        const GPtrArray *baseline, const GPtrArray *system, PlaitTest test,
                                        guint trials, guint64 seed, GPtrArray *compared, GError **error);

/* Adds an object to the open JSON array. The fields low and high are null for a mean over seeds and for a score without
 * an interval; the standard deviation is null for a single seed. */
void plait_seed_statistics_add_json (const PlaitSeedStatistics *seed_statistics, const PlaitScoreColumn *score_column,
                                     PlaitJson *json);
