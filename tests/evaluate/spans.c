/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include "significance/report.h"

/* A text with one number, or with more than a span, is not a span, as in target files. White space around a span does
 * not count. */
TEST_CASE (spans, are_whole_texts)
{
  static const char *const said[] = { "0", "0.5 1", "0 5 6", "0 5 or so", "-1 2", "-1 -1", " 2\t5 ", "-1 " };
  static const char *const set[] = { "0 0", "0 0", "0 5", "0 5", "-1", "-1", "2 5", "-1" };
  const char *const *references[] = { set };
  PlaitTextPairs pairs = { G_N_ELEMENTS (said), said, 1, references };
  g_autoptr (PlaitMetric) metric = plait_metric_new ("span-f1", NULL);
  g_autoptr (PlaitResult) result = plait_evaluate (metric, &pairs, 0, 1, NULL);

  REQUIRE (result != NULL);
  CHECK_NEAR (result->score, 100 * 2.0 / 8, 1e-9);
}

/* F of spans by hand: 2..5 and 4..6 share 2 of 4 and 3 tokens, F = 4/7. One token and itself: 1. No answer in both: 1,
 * in one of them: 0. Disjoint spans: 0. Text that is not a span: 0. */
TEST_CASE (spans, by_hand)
{
  static const char *const said[] = { "2 5", "3 3", "-1", "-1", "7 8", "0 1", "nowhere" };
  static const char *const set[] = { "4 6", "3 3", "-1", "1 2", "-1", "2 3", "0 0" };
  const char *const *references[] = { set };
  PlaitTextPairs pairs = { G_N_ELEMENTS (said), said, 1, references };
  g_autoptr (PlaitMetric) metric = plait_metric_new ("span-f1", NULL);
  g_autoptr (PlaitResult) result = plait_evaluate (metric, &pairs, 20, 1, NULL);

  REQUIRE (result != NULL);
  CHECK_NEAR (result->score, 100 * (4.0 / 7 + 1 + 1) / 7, 1e-9);
  CHECK_STRING (result->name, "span F1");
  CHECK (result->larger_is_better && result->interval.resamples == 20);
}
