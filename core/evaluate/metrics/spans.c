/* SPDX-License-Identifier: MIT */

/*
 * F1 of answer spans: "START END", token numbers, or "-1" for no answer. A text's score is F1 of the tokens that both
 * spans share, averaged over texts, as in SQuAD (Rajpurkar et al. 2016, 2018), but with tokens instead of words. If
 * hypothesis or reference is "-1", the score is 1 if both are, else 0. The best of several references counts. A text
 * that is not a span scores 1 if it equals the reference, else 0.
 *
 * A row is [F, 1].
 */
#include "metrics/metric-kind.h"

#include <string.h>

#include "text/number.h"

static double
f_of (const char *hypothesis, const char *reference)
{
  gint64 a, b, c, d, shared;

  if (!plait_parse_span (hypothesis, &a, &b) || !plait_parse_span (reference, &c, &d))
    return strcmp (hypothesis, reference) == 0;
  if (a < 0 || c < 0)
    return a == c;
  shared = MIN (b, d) - MAX (a, c) + 1;
  return shared > 0 ? 2 * (double)shared / (double)(b - a + 1 + d - c + 1) : 0;
}

static void
row (const PlaitMetric *metric, const PlaitSentence *sentence, double *values)
{
  values[0] = 0;
  for (guint k = 1; k <= sentence->count; k++)
    values[0] = MAX (values[0], f_of (sentence->texts[0], sentence->texts[k]));
  values[1] = 1;
}

static void
append_signature (const PlaitMetric *metric, GString *signature)
{
  g_string_append (signature, "of:tokens|");
}

const PlaitMetricKind plait_metric_span_f = {
  .name = "span-f1",
  .summary = "F1 of the tokens of predicted spans",
  .title = "span F1",
  .width = 2,
  .size = sizeof (PlaitMetric),
  .larger_is_better = TRUE,
  .row = row,
  .score = plait_metric_mean,
  .append_signature = append_signature,
};
