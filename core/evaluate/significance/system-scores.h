/* SPDX-License-Identifier: MIT */
#pragma once

#include "significance/report.h"

/*
 * Score of one system by one metric, and the comparison of that system with the first system. Commands that score text
 * have an array of these scores for each system, one score for each metric.
 */
typedef struct
{
  PlaitStatistics *statistics;
  PlaitResult *result;
  PlaitComparison comparison; /* comparison with the first system, set by plait_system_scores_compare () */
} PlaitSystemScore;

/* Returns the scores [metrics] of the system that wrote the hypotheses of @pairs. (transfer full) */
PlaitSystemScore *plait_system_scores_new (const GPtrArray *metrics, const PlaitTextPairs *pairs, guint resamples,
                                           guint64 seed, GError **error);
void plait_system_scores_free (PlaitSystemScore *scores, const GPtrArray *metrics);

/* Tests @systems [@n][metrics] against the first one. For each metric, Holm's method over systems gives adjusted_p. */
gboolean plait_system_scores_compare (PlaitSystemScore *const *systems, guint n, const GPtrArray *metrics,
                                      PlaitTest test, guint trials, guint64 seed, GError **error);

/* Adds the scores of one system to the open JSON object, as array @name. If @compared, also adds its comparisons, as
 * array "comparisons". */
void plait_system_scores_add_json (const PlaitSystemScore *scores, const GPtrArray *metrics, const char *name,
                                   gboolean compared, PlaitJson *json);

/* plait_system_score_columns adds the column of the metric of @score and, if @tests, the columns of difference and p.
 * plait_system_score_cells adds the cells of @score in these columns. @compared is FALSE for the first system, whose
 * cells of difference and p are "–". */
void plait_system_score_columns (PlaitTable *table, const PlaitSystemScore *score, gboolean tests);
void plait_system_score_cells (PlaitTable *table, const PlaitSystemScore *score, gboolean tests, gboolean compared);
