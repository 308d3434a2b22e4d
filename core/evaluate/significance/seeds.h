/* SPDX-License-Identifier: MIT */
#pragma once

#include "significance/statistics.h"

/*
 * Whether two systems differ that were trained several times each: with seeds and sentences both drawn.
 *
 * Randomisation that exchanges sentences with all seeds at once takes the trained models for given: two halves of the
 * seeds of one system then differ "significantly" as often as seeds differ by more than sentences do. Permutations of
 * seeds are too few to reach .05 with two or three a side, and a bootstrap over so few is too narrow. So this is a t
 * test, as studies with several readers of several cases have it (Obuchowski & Rockette 1995; degrees of freedom of
 * Hillis 2007). The difference is that of the mean scores; its variance is
 *
 *   S + max (T - R, 0)
 *
 * S: from the scores of the seeds, their variance pooled over both systems (n + m - 2 degrees of freedom: with 2 and 2
 *    seeds each variance by itself has 1, and Welch's test finds too little). Under the hypothesis both have one.
 * T: what sentences add to the difference of the means: jackknife over sentences (Dorfman, Berbaum & Metz 1992), which
 *    for a metric that is a mean over sentences is the usual variance.
 * R: the part of T that is also in S: what sentences do to single seeds, beside what they do to all of a system.
 *
 * T - R, sentences at which one system is better with all of its seeds, is counted where T is larger than R by more
 * than chance (a ratio with p below .05): added always, its noise makes p too small or too large, as tests/evaluate
 * measures. With 2 to 5 seeds a side the test errs as often as it says, to a point; with 1 against 2 somewhat more
 * often. Seeds are taken for independent, also where systems share them; what they share makes p larger than it need
 * be.
 */

/* Compares @n_baseline against @n_system seeds, each [sentences, width] of the same references; three or more in all,
 * and one of each at least. @comparison has test PLAIT_TEST_SEEDS, no trials, and the 95 % interval of the difference.
 * Where scores are not finite, p is 1. PLAIT_ERROR_INPUT as plait_compare_systems. */
gboolean plait_compare_seeds (const PlaitMetric *metric, const PlaitStatistics *const *baseline, guint n_baseline,
                              const PlaitStatistics *const *system, guint n_system, PlaitComparison *comparison,
                              GError **error);
