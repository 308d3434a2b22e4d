/* SPDX-License-Identifier: MIT */

/*
 * Repetition: the share of n-grams that a hypothesis repeats more often than the reference of the sentence. An n-gram
 * that occurs h times in the hypothesis and at most r times in any reference counts max (0, h - max (1, r)): repeating
 * what a reference repeats is not an error. The default is pairs of words, because single words such as articles repeat
 * in most sentences.
 *
 * A row is [repeated n-grams of order 1 .. 4, n-grams of order 1 .. 4].
 */
#include "metrics/metric-kind.h"

#include "text/number.h"

#define ORDERS 4

typedef struct
{
  PlaitMetric parent;
  guint order;
} Repetition;

static const PlaitMetricOption options[] = {
  { "n", PLAIT_METRIC_INTEGER, G_STRUCT_OFFSET (Repetition, order), NULL, 1, ORDERS, .summary = "Words in an n-gram" },
  { NULL },
};

static void
begin (PlaitMetric *metric)
{
  ((Repetition *)metric)->order = 2;
}

static gboolean
finish (PlaitMetric *metric, GError **error)
{
  metric->title = g_strdup_printf ("repeated %u-grams", ((const Repetition *)metric)->order);
  return TRUE;
}

static void
row (const PlaitMetric *metric, const PlaitSentence *sentence, double *values)
{
  PlaitNgrams *words = sentence->words;
  for (guint k = 0; k <= sentence->count; k++)
    plait_ngrams_add_words (words, sentence->texts[k]);
  for (guint n = 0; n < ORDERS; n++)
    {
      plait_ngrams_next (words);
      values[n] = (double)plait_ngrams_repeated (words, 1 + sentence->count);
      values[ORDERS + n] = (double)plait_ngrams_total (words, 0);
    }
}

static double
share (const double *sums, guint order)
{
  return sums[ORDERS + order - 1] > 0 ? 100 * sums[order - 1] / sums[ORDERS + order - 1] : 0;
}

static double
score (const PlaitMetric *metric, const double *sums)
{
  return share (sums, ((const Repetition *)metric)->order);
}

static char *
detail (const PlaitMetric *metric, const double *sums)
{
  return plait_format ("%.2f/%.2f/%.2f/%.2f (words = %.0f)", share (sums, 1), share (sums, 2), share (sums, 3),
                       share (sums, 4), sums[ORDERS]);
}

static void
append_signature (const PlaitMetric *metric, GString *signature)
{
  g_string_append_printf (signature, "n:%u|tok:none|case:mixed|beyond:references|",
                          ((const Repetition *)metric)->order);
}

const PlaitMetricKind plait_metric_repetition = {
  .name = "repetition",
  .summary = "Per cent of n-grams that a text repeats more often than its reference; smaller is better",
  .width = 2 * ORDERS,
  .size = sizeof (Repetition),
  .options = options,
  .begin = begin,
  .finish = finish,
  .row = row,
  .score = score,
  .detail = detail,
  .append_signature = append_signature,
};
