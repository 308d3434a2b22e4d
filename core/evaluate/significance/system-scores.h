/* SPDX-License-Identifier: MIT */
#pragma once

#include "significance/report.h"

/*
 * Scores of systems over the same references, by several metrics, each tested against the first system. Commands that
 * score text print these.
 */
typedef struct
{
  PlaitStatistics *statistics;
  PlaitResult *result;
  PlaitComparison comparison; /* with the first system, from plait_system_scores_compare() */
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

/* Add the columns of one metric, with a difference and p if there are @tests; and the cells of @score in them, with "–"
 * for the first system, which was not @compared. */
void plait_system_score_columns (PlaitTable *table, const PlaitSystemScore *score, gboolean tests);
void plait_system_score_cells (PlaitTable *table, const PlaitSystemScore *score, gboolean tests, gboolean compared);
