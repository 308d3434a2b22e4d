/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/table.h"
#include "significance/statistics.h"

/* A score with all that is needed to quote it: what the command prints, runs store and reports show. */
typedef struct
{
  char *metric;    /* as the user names it, "bleu:tok=none": a key */
  char *name;      /* as tables show it, "BLEU" */
  char *signature; /* every setting, plait_metric_signature */
  char *detail;    /* plait_metric_detail, or NULL */
  double score;
  gboolean larger_is_better;
  gsize sentences;
  PlaitInterval interval; /* resamples 0: none */
} PlaitResult;

/* The result from rows; @resamples 0 asks for no interval. (transfer full) */
PlaitResult *plait_result_new (const PlaitMetric *metric, const PlaitStatistics *statistics, guint resamples,
                               guint64 seed, GError **error);

/* The result from text, in one step. (transfer full) */
PlaitResult *plait_evaluate (const PlaitMetric *metric, const PlaitTextPairs *pairs, guint resamples, guint64 seed,
                             GError **error);

void plait_result_free (PlaitResult *result);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitResult, plait_result_free)

/* The score for a table, with its interval. */
PlaitTableScore plait_result_score (const PlaitResult *result);

/* The line that sacreBLEU prints: "BLEU|SIGNATURE = 23.45 (μ = 23.44 ± 1.20) DETAIL". (transfer full) */
char *plait_result_to_text (const PlaitResult *result, guint decimals);

/* A JSON object, @name within another (NULL in an array). Keys are sacreBLEU's where it has them (name, score,
 * signature, verbose_score, confidence_mean, confidence_var), then metric, larger_is_better, sentences, confidence_low,
 * confidence_high, resamples, seed. Numbers have all their digits; one that is not finite is null. */
void plait_result_add_json (const PlaitResult *result, PlaitJson *json, const char *name);

/* A JSON object: test, baseline, system, difference, better (1: the system is, -1: it is worse, 0: neither), p,
 * adjusted_p, trials, seed; of the bootstrap and the t test also mean, low, high, and of the bootstrap share_better. */
void plait_comparison_add_json (const PlaitComparison *comparison, PlaitJson *json, const char *name);

/*
 * How p stands in tables, everywhere alike: as the test gives it, and adjusted by Holm's method, with a mark where that
 * is below .05, which says whether the system is better or worse. Brackets are 95 % intervals, and the sign plus-minus
 * is a standard deviation over seeds.
 */

/* Adds the columns "p" and "p (Holm)", or with @seeds, such as "one seed", "p (one seed)" and "p (Holm, one seed)". */
void plait_comparison_columns (PlaitTable *table, const char *seeds);

/* What the head of a column says of its seeds where @one comparisons are of a single seed a side, which tell nothing of
 * other seeds, and @several are of more; NULL: nothing. */
const char *plait_comparison_seeds (guint one, guint several);

/* Their cells; NULL: nothing was compared. */
void plait_comparison_cells (PlaitTable *table, const PlaitComparison *comparison);

/* What stands below a table where @test, permutation or bootstrap, was against @baseline (NULL: nothing was compared);
 * with 0 @trials their number is not told. @seeds: some systems may have several. (transfer full) */
char *plait_comparison_note (const char *baseline, PlaitTest test, guint trials, guint64 seed, gboolean seeds);
