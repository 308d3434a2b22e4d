/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/table.h"
#include "significance/statistics.h"
#include "run/result.h"

/*
 * Scores of a system with one seed or several, and its test against another system. Grids, comparisons and reports show
 * these.
 */

typedef struct
{
  guint n; /* number of seeds */
  double mean;
  double deviation;  /* sample standard deviation over seeds; NaN for one seed */
  double low, high;  /* bootstrap interval of one seed; NaN for several */
  gboolean compared; /* TRUE if compared with the baseline */
  PlaitComparison comparison;
} PlaitSeedStatistics;

/* Returns the scores of @results, one a seed, in @score_column. (element-type PlaitRunResult; may contain NULL) */
PlaitSeedStatistics plait_seed_statistics_new (const PlaitScoreColumn *score_column, const GPtrArray *results);

/* Returns "34.50 [33.30, 35.70]" or "34.50 ± 0.80". */
PlaitTableScore plait_seed_statistics_shown (const PlaitSeedStatistics *seed_statistics);

/* Adds 1 to n[0] if the comparison had one seed a side, to n[1] if it had more. */
void plait_seed_statistics_count_seeds (const PlaitSeedStatistics *seed_statistics, guint n[2]);

/* Tests @system against @baseline in @score_column, if both have comparable sentences, and stores the result in
 * @seed_statistics: by a t test over seeds and sentences (significance/seeds.h), or by @test if both have one seed.
 * Adds the result to @compared (element-type PlaitComparison), whose p values are adjusted together. */
gboolean plait_seed_statistics_compare (PlaitSeedStatistics *seed_statistics, const PlaitScoreColumn *score_column,
                                        const GPtrArray *baseline, const GPtrArray *system, PlaitTest test,
                                        guint trials, guint64 seed, GPtrArray *compared, GError **error);
