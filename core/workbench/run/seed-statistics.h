/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/table.h"
#include "significance/statistics.h"
#include "run/result.h"

/*
 * The scores of a system that was trained with one seed or several, and how it is tested against another: what grids,
 * comparisons and reports show alike.
 */

typedef struct
{
  guint n; /* seeds */
  double mean;
  double deviation;  /* sample standard deviation over seeds; NaN for one */
  double low, high;  /* for one seed: its bootstrap interval; else NaN */
  gboolean compared; /* with the baseline */
  PlaitComparison comparison;
} PlaitSeedStatistics;

/* How @results, a result a seed, did by @score_column. (element-type PlaitRunResult; NULL among them: none) */
PlaitSeedStatistics plait_seed_statistics_new (const PlaitScoreColumn *score_column, const GPtrArray *results);

/* "34.50 [33.30, 35.70]" or "34.50 ± 0.80". */
PlaitTableScore plait_seed_statistics_shown (const PlaitSeedStatistics *seed_statistics);

/* Adds 1 to n[0] if @seed_statistics was compared with one seed a side, to n[1] if with more. */
void plait_seed_statistics_count_seeds (const PlaitSeedStatistics *seed_statistics, guint n[2]);

/* Tests @system against @baseline by @score_column, if both have sentences to be compared, and sets what
 * @seed_statistics says of it: by a t test over seeds and sentences (significance/seeds.h), or by @test where both have
 * a single seed. What it says is added to @compared (element-type PlaitComparison), to be adjusted with the others of
 * one measure. */
gboolean plait_seed_statistics_compare (PlaitSeedStatistics *seed_statistics, const PlaitScoreColumn *score_column,
                                        const GPtrArray *baseline, const GPtrArray *system, PlaitTest test,
                                        guint trials, guint64 seed, GPtrArray *compared, GError **error);
