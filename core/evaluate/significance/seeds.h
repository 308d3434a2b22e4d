/* SPDX-License-Identifier: MIT */
#pragma once

#include "significance/statistics.h"

/*
 * Tests whether two systems differ if each was trained several times. Seeds and sentences are treated as random.
 *
 * Randomisation that exchanges sentences with all seeds at once treats the trained models as fixed: two halves of the
 * seeds of one system then differ "significantly" if seeds differ by more than sentences do. With two or three seeds
 * per system, permutations of seeds are too few to reach .05, and a bootstrap over seeds is too narrow. So this is the
 * t test of studies with several readers of several cases (Obuchowski & Rockette 1995; degrees of freedom by Hillis
 * 2007). The difference is that of the mean scores; its variance is
 *
 *   S + max (T - R, 0)
 *
 * S: variance of the seeds' scores, pooled over both systems (n + m - 2 degrees of freedom; with 2 and 2 seeds
 *    separate variances have 1 degree each, and Welch's test finds too little). The systems are assumed to have equal
 *    variances.
 * T: variance due to sentences of the difference of the means, by the jackknife over sentences (Dorfman, Berbaum &
 *    Metz 1992); for a metric that is a mean over sentences it is the usual variance.
 * R: the part of T that S already contains: the interaction of sentences and single seeds.
 *
 * T - R is variance due to sentences at which one system is better with all its seeds. It is added only if T exceeds R
 * significantly (p of their ratio below .05); if always added, its noise makes p too small or too large, as
 * tests/evaluate measures. With 2 to 5 seeds per system the test's error rate is the nominal one within a percentage
 * point; with 1 against 2 it is somewhat higher. Seeds are assumed independent, even if both systems use the same ones;
 * then p is larger than necessary.
 */

/* Compares @n_baseline runs with @n_system runs, each [sentences, width] over the same references; at least one per
 * system and three in all. Fills @comparison with test PLAIT_TEST_SEEDS, no trials, and the 95 % interval of the
 * difference. p is 1 if scores are not finite. Fails with PLAIT_ERROR_INPUT without sentences, or if the rows do not
 * match. */
gboolean plait_compare_seeds (const PlaitMetric *metric, const PlaitStatistics *const *baseline, guint n_baseline,
                              const PlaitStatistics *const *system, guint n_system, PlaitComparison *comparison,
                              GError **error);
