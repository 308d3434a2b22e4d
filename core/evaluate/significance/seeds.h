/* SPDX-License-Identifier: MIT */
#pragma once

#include "significance/statistics.h"

/*
 * Tests whether two systems differ if each was trained several times. Seeds and sentences are treated as random.
 *
 * A randomisation test that exchanges sentences between the systems treats the trained models as fixed. If scores vary
 * more with the seed than with the sentences, it finds "significant" differences between two halves of the seeds of one
 * system. Tests that permute or resample seeds need many seeds: with two or three seeds per system, permutations cannot
 * reach .05, and bootstrap intervals are too narrow. So this is the t test of studies in which several readers judge
 * several cases (Obuchowski & Rockette 1995; degrees of freedom by Hillis 2007). It tests the difference between the
 * mean scores of the two systems. The variance of this difference is
 *
 *   S + max (T - R, 0)
 *
 * S: the part that comes from the seeds: variance of the seeds' scores, pooled over both systems, with n + m - 2
 *    degrees of freedom. The systems are assumed to have equal variances. Welch's test does not assume this, but finds
 *    too few differences with 2 seeds per system, because each variance then has 1 degree of freedom.
 * T: the part that comes from the sentences, estimated by the jackknife over sentences (Dorfman, Berbaum & Metz 1992).
 *    For a metric that is a mean over sentences, T is the usual variance.
 * R: the part that comes from interactions of single seeds with sentences. S and T both contain R, so the formula
 *    subtracts R once.
 *
 * T - R comes from sentences on which one system is better with all its seeds. T - R is added only if T exceeds R
 * significantly (p of their ratio below .05), else the variance is S. If T - R were always added, its noise would make
 * p too small or too large, as tests/evaluate measures. With 2 to 5 seeds per system, the error rate of the test
 * differs from the nominal one by at most a percentage point; with 1 seed against 2 it is somewhat higher. Seeds are
 * assumed independent. If both systems use the same seeds, p is larger than necessary.
 */

/* Compares @n_baseline runs with @n_system runs, each [sentences, width] over the same references; at least one per
 * system and three in all. Fills @comparison with test PLAIT_TEST_SEEDS, no trials, and the 95 % interval of the
 * difference. p is 1 if scores are not finite. Fails with PLAIT_ERROR_INPUT without sentences, or if the rows do not
 * match. */
gboolean plait_compare_seeds (const PlaitMetric *metric, const PlaitStatistics *const *baseline, guint n_baseline,
                              const PlaitStatistics *const *system, guint n_system, PlaitComparison *comparison,
                              GError **error);
