/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include "significance/report.h"
#include "metrics/translation-rate.h"

#include <string.h>

/* The source has 16 words, of which 3 are over-translated and 2 under-translated. */
TEST_CASE (translation_rate, by_hand)
{
  static const double rows[] = { 1, 2, 6, 0, 0, 0, 2, 0, 10 };
  g_autoptr (PlaitStatistics) statistics = plait_statistics_new (3, PLAIT_TRANSLATION_RATE_WIDTH);
  g_autoptr (PlaitMetric) over
      = plait_metric_new_translation_rate (PLAIT_OVER_TRANSLATION, 1.5, "search", "en", "mean", "over-translated en");
  g_autoptr (PlaitMetric) under
      = plait_metric_new_translation_rate (PLAIT_UNDER_TRANSLATION, .25, "forced", "en", "last", "under-translated en");
  g_autoptr (PlaitResult) one = NULL;
  g_autoptr (PlaitResult) two = NULL;
  g_autofree char *text = NULL;

  memcpy (statistics->values, rows, sizeof rows);
  one = plait_result_new (over, statistics, 100, 1, NULL);
  two = plait_result_new (under, statistics, 0, 1, NULL);
  REQUIRE (one && two);
  CHECK_NEAR (one->score, 100 * 3.0 / 16, 1e-12);
  CHECK_NEAR (two->score, 100 * 2.0 / 16, 1e-12);
  CHECK (one->interval.low >= 0 && one->interval.low <= one->score && one->interval.high >= one->score);
  CHECK (!one->larger_is_better);
  CHECK_STRING (one->metric, "over-translation:of=search,source=en,layers=mean,bound=1.5");
  text = plait_result_to_text (two, 2);
  CHECK_STRING (text, "under-translated en|of:forced|source:en|layers:last|bound:0.25|version:plait-" PLAIT_VERSION
                      " = 12.50 (over = 3 under = 2 words = 16)");
  /* The rate is not computed from text, so its name does not create a metric. */
  CHECK (!plait_metric_new (one->metric, NULL));
}

/* A resample may consist of sentences without words. */
TEST_CASE (translation_rate, of_nothing)
{
  static const double nothing[PLAIT_TRANSLATION_RATE_WIDTH] = { 0 };
  g_autoptr (PlaitMetric) metric
      = plait_metric_new_translation_rate (PLAIT_OVER_TRANSLATION, 1, "search", "en", "mean", "over");

  CHECK_NEAR (plait_metric_score (metric, nothing), 0, 0);
}
