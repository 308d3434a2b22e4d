/* SPDX-License-Identifier: MIT */

/*
 * Spans: "START END", numbers of tokens, or "-1" where there is no answer. F1 of the tokens that two spans share, each
 * text for itself, the mean over all, as SQuAD has it with tokens for words (Rajpurkar et al. 2016, 2018): no answer
 * has 1 with no answer, and 0 with any. Of several references the best. What is no span is right as it
 * stands, or wrong.
 *
 * A row is [F, 1].
 */
#include "metrics/metric-kind.h"

#include <string.h>

/* -1 .. -1: no answer. FALSE: @text is no span. */
static gboolean
read_span (const char *text, gint64 *first, gint64 *last)
{
  char *end;

  *first = g_ascii_strtoll (text, &end, 10);
  if (end == text)
    return FALSE;
  *last = *first == -1 ? -1 : g_ascii_strtoll (end, NULL, 10);
  return *last >= *first && *first >= -1;
}

static double
f_of (const char *hypothesis, const char *reference)
{
  gint64 a, b, c, d, shared;

  if (!read_span (hypothesis, &a, &b) || !read_span (reference, &c, &d))
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
