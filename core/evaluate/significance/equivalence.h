/* SPDX-License-Identifier: MIT */
#pragma once

#include "significance/statistics.h"

/*
 * Equivalence of two systems by two one-sided tests (Schuirmann 1987).
 *
 * A large p of a difference does not show that two systems are equally good. Here the null hypothesis is that they
 * differ by a margin or more. One test is against differences of -margin and below, the other against differences of
 * margin and above. p is the larger of the p values of the two tests. p <= alpha if the interval of the difference with
 * confidence 1 - 2 alpha lies between -margin and margin.
 */

/* Tests the two systems of @comparison for equivalence within @margin (> 0), in the unit of the metric, and sets the
 * fields of @comparison that begin with equivalence. After plait_compare_seeds, makes a t test with the standard
 * error in @comparison; else uses comparison->trials bootstrap resamples of @baseline and @system. */
void plait_comparison_test_equivalence (PlaitComparison *comparison, double margin, const PlaitMetric *metric,
                                        const PlaitStatistics *baseline, const PlaitStatistics *system);
