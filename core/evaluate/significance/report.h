/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/table.h"
#include "significance/statistics.h"

/* A score with everything needed to quote it. Commands print it, runs store it, reports show it. */
typedef struct
{
  char *metric;    /* text of the metric, such as "bleu:tok=none"; a key in files */
  char *name;      /* title in tables, such as "BLEU" */
  char *signature; /* every setting (plait_metric_signature) */
  char *detail;    /* details (plait_metric_detail), or NULL */
  double score;
  gboolean larger_is_better;
  gsize sentences;
  PlaitInterval interval; /* interval of the score; not computed if interval.resamples is 0 */
} PlaitResult;

/* Returns the result of the rows in @statistics; without interval if @resamples is 0. (transfer full) */
PlaitResult *plait_result_new (const PlaitMetric *metric, const PlaitStatistics *statistics, guint resamples,
                               guint64 seed, GError **error);

/* Returns the result for the texts @pairs. (transfer full) */
PlaitResult *plait_evaluate (const PlaitMetric *metric, const PlaitTextPairs *pairs, guint resamples, guint64 seed,
                             GError **error);

void plait_result_free (PlaitResult *result);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitResult, plait_result_free)

/* Returns the score with its interval for a table. */
PlaitTableScore plait_result_score (const PlaitResult *result);

/* Returns the line that sacreBLEU prints: "BLEU|SIGNATURE = 23.45 (μ = 23.44 ± 1.20) DETAIL". (transfer full) */
char *plait_result_to_text (const PlaitResult *result, guint decimals);

/* Adds a JSON object to an array. Keys are sacreBLEU's name, score, signature and, if there are details, verbose_score;
 * also metric, larger_is_better, sentences. An interval adds sacreBLEU's confidence_mean and confidence_var, and also
 * confidence_low, confidence_high, resamples, seed. Numbers have all their digits; numbers that are not finite are
 * null. */
void plait_result_add_json (const PlaitResult *result, PlaitJson *json);

/* Adds a JSON object with test, baseline and system (their scores), difference, better (1: the system is better, -1:
 * worse, 0: equal), p, adjusted_p, trials, seed. Bootstrap and t test add mean, low and high. The bootstrap adds
 * share_better. A test of equivalence adds equivalence_margin, equivalence_p, equivalence_low and equivalence_high. */
void plait_comparison_add_json (const PlaitComparison *comparison, PlaitJson *json, const char *name);

/*
 * p values in tables: as the test returns them, and adjusted by Holm's method. A mark after an adjusted p below .05
 * says whether the system is better or worse. Brackets are 95 % intervals, except those of plait_equivalence_cells
 * (90 %); plus-minus is a standard deviation over seeds.
 */

/* Adds the columns "p" and "p (Holm)", or with @seeds, such as "one seed", "p (one seed)" and "p (Holm, one seed)". */
void plait_comparison_columns (PlaitTable *table, const char *seeds);

/* Returns the note on seeds for the heading of a p column. @one: number of comparisons in which each system has one
 * seed; @several: number of other comparisons. Returns NULL if @one is 0; "one seed" if @several is 0; else "some of
 * one seed". */
const char *plait_comparison_seeds (guint one, guint several);

/* Adds a cell for p and a cell for the adjusted p. The cells are "–" if @comparison is NULL. */
void plait_comparison_cells (PlaitTable *table, const PlaitComparison *comparison);

/* Adds the columns and cells of a test of equivalence within @margin: the difference with its 90 % interval, and p. The
 * cells are "–" if @comparison is NULL. */
void plait_equivalence_columns (PlaitTable *table, double margin);
void plait_equivalence_cells (PlaitTable *table, const PlaitComparison *comparison);

/* Returns the note on the columns of plait_equivalence_columns. (transfer full) */
char *plait_equivalence_note (double margin);

/* Returns the note under a table with p values of @test, permutation or bootstrap, against @baseline (NULL: no p
 * values). Leaves out the number of trials if @trials is 0. @seeds: TRUE if a system can have several seeds. (transfer
 * full) */
char *plait_comparison_note (const char *baseline, PlaitTest test, guint trials, guint64 seed, gboolean seeds);
