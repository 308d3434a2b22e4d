/* SPDX-License-Identifier: MIT */
#pragma once

#include "significance/report.h"

/*
 * Scores of several systems over the same references, by several metrics. The scores of each system are tested against
 * those of the first system. Commands that score text print these scores and tests.
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

/* Tests @systems [@n][metrics] against the first one. p is adjusted by Holm's method over the systems of a metric. */
gboolean plait_system_scores_compare (PlaitSystemScore *const *systems, guint n, const GPtrArray *metrics,
                                      PlaitTest test, guint trials, guint64 seed, GError **error);

/* Adds the array @name of results to the open JSON object and, if they were @compared, the array "comparisons". */
void plait_system_scores_add_json (const PlaitSystemScore *scores, const GPtrArray *metrics, const char *name,
                                   gboolean compared, PlaitJson *json);

/* plait_system_score_columns adds the columns of a metric, with difference and p if @tests. plait_system_score_cells
 * adds the cells of @score in these columns. For the first system @compared is FALSE: its difference and its cells of p
 * are "–". */
void plait_system_score_columns (PlaitTable *table, const PlaitSystemScore *score, gboolean tests);
void plait_system_score_cells (PlaitTable *table, const PlaitSystemScore *score, gboolean tests, gboolean compared);
