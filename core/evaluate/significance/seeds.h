/* SPDX-License-Identifier: MIT */
#pragma once

#include "significance/statistics.h"

/*
 * Tests whether two systems differ if each was trained several times. Seeds and sentences are treated as random.
 *
 * Other tests fail here. A randomisation test can exchange each sentence between the systems, for all seeds together.
 * But then the trained models count as fixed: two halves of the seeds of one system differ "significantly" if seeds
 * differ by more than sentences do. With two or three seeds per system, there are too few permutations of seeds to
 * reach .05, and bootstrap intervals over seeds are too narrow. So this is the t test of studies in which several
 * readers judge several cases (Obuchowski & Rockette 1995; degrees of freedom by Hillis 2007). It tests the difference
 * between the mean scores of the two systems. The variance of this difference is
 *
 *   S + max (T - R, 0)
 *
 * S: the part that comes from the seeds: variance of the seeds' scores, pooled over both systems, with n + m - 2
 *    degrees of freedom. The systems are assumed to have equal variances. (Welch's test does not assume this. With 2
 *    seeds per system each variance then has 1 degree of freedom, and the test finds too few differences.)
 * T: the part that comes from the sentences, estimated by the jackknife over sentences (Dorfman, Berbaum & Metz 1992).
 *    For a metric that is a mean over sentences it is the usual variance.
 * R: the part that comes from interactions of single seeds with sentences. S and T contain it, so it is subtracted.
 *
 * T - R comes from sentences on which one system is better with all its seeds. It is added only if T exceeds R
 * significantly (p of their ratio below .05). If it were always added, its noise would make p too small or too large,
 * as tests/evaluate measures. With 2 to 5 seeds per system, the error rate of the test differs from the nominal one by
 * at most a percentage point; with 1 seed against 2 it is somewhat higher. Seeds are assumed independent. If both
 * systems use the same seeds, p is larger than necessary.
 */

/* Compares @n_baseline runs with @n_system runs, each [sentences, width] over the same references; at least one per
 * system and three in all. Fills @comparison with test PLAIT_TEST_SEEDS, no trials, and the 95 % interval of the
 * difference. p is 1 if scores are not finite. Fails with PLAIT_ERROR_INPUT without sentences, or if the rows do not
 * match. */
gboolean plait_compare_seeds (const PlaitMetric *metric, const PlaitStatistics *const *baseline, guint n_baseline,
                              const PlaitStatistics *const *system, guint n_system, PlaitComparison *comparison,
                              GError **error);
