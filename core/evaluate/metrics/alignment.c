/* SPDX-License-Identifier: MIT */
#include "metrics/metric-kind.h"

#include "text/number.h"
#include "text/error.h"
#include "text/word-links.h"

/*
 * Scores word alignments against manual alignments (Och & Ney 2003). A are the predicted links, S the sure links, P the
 * possible links, which include S: precision |A & P| / |A|, recall |A & S| / |S|, alignment error rate 1 - (|A & S| +
 * |A & P|) / (|A| + |S|). The row of a sentence is [|A|, |S|, |A & S|, |A & P|].
 */
enum
{
  LINKS,
  SURE,
  SURE_HITS,
  HITS,
  WIDTH,
};

/* Maps each link of @text, source * 2^32 + target, to its PlaitWordLink. A sure link replaces a possible one.
 * NULL on failure. (transfer full) */
static GHashTable *
links_of (const char *text, GArray *links, GError **error)
{
  g_autoptr (GHashTable) table = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);

  if (!plait_word_links_parse (text, links, error))
    return NULL;
  for (guint i = 0; i < links->len; i++)
    {
      PlaitWordLink *link = &g_array_index (links, PlaitWordLink, i);
      const gint64 key = link->source << 32 | link->target;
      const PlaitWordLink *known = g_hash_table_lookup (table, &key);

      if (!known || known->possible)
        g_hash_table_insert (table, g_memdup2 (&key, sizeof key), link);
    }
  return g_steal_pointer (&table);
}

static gboolean
count (const char *hypothesis, const char *reference, double *row, GError **error)
{
  g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (PlaitWordLink));
  g_autoptr (GArray) wanted = g_array_new (FALSE, FALSE, sizeof (PlaitWordLink));
  g_autoptr (GHashTable) right = links_of (reference, wanted, error);
  g_autoptr (GHashTable) given = right ? links_of (hypothesis, found, error) : NULL;
  GHashTableIter iterator;
  gpointer key, link;

  if (!given)
    return FALSE;
  row[LINKS] = g_hash_table_size (given);
  g_hash_table_iter_init (&iterator, right);
  while (g_hash_table_iter_next (&iterator, &key, &link))
    {
      gboolean hit = g_hash_table_contains (given, key), sure = !((const PlaitWordLink *)link)->possible;

      row[SURE] += sure;
      row[SURE_HITS] += sure && hit;
      row[HITS] += hit;
    }
  return TRUE;
}

static PlaitStatistics *
rows (const PlaitMetric *metric, const PlaitTextPairs *pairs, GError **error)
{
  g_autoptr (PlaitStatistics) statistics = plait_statistics_new (pairs->sentences, WIDTH);

  if (pairs->reference_sets > 1)
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "%s compares with one reference alignment, but several are given; give one", metric->title);
  for (gsize i = 0; i < pairs->sentences; i++)
    if (!count (pairs->hypotheses[i], pairs->references[0][i], statistics->values + i * WIDTH, error))
      {
        g_prefix_error (error, "%s, sentence %zu: ", metric->title, i + 1);
        return NULL;
      }
  return g_steal_pointer (&statistics);
}

static gboolean
finish (PlaitMetric *metric, GError **error)
{
  return metric->unit == PLAIT_UNIT_SENTENCE
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "metric \"%s\": its links name positions of words in a sentence, so it cannot score documents; "
                        "leave unit=document out",
                        metric->text);
}

static double
error_rate (const PlaitMetric *metric, const double *sums)
{
  double all = sums[LINKS] + sums[SURE];

  return all > 0 ? 100 * (1 - (sums[SURE_HITS] + sums[HITS]) / all) : 0;
}

static double
precision (const PlaitMetric *metric, const double *sums)
{
  return sums[LINKS] > 0 ? 100 * sums[HITS] / sums[LINKS] : 0;
}

static double
recall (const PlaitMetric *metric, const double *sums)
{
  return sums[SURE] > 0 ? 100 * sums[SURE_HITS] / sums[SURE] : 0;
}

static char *
detail (const PlaitMetric *metric, const double *sums)
{
  return plait_format ("(links = %.0f sure = %.0f right = %.0f of them sure = %.0f)", sums[LINKS], sums[SURE],
                       sums[HITS], sums[SURE_HITS]);
}

static void
append_signature (const PlaitMetric *metric, GString *signature)
{
  g_string_append (signature, "unit:link|");
}

#define KIND(name_, title_, summary_, score_, larger_)                                                                 \
  {                                                                                                                    \
    .name = name_, .title = title_, .summary = summary_, .width = WIDTH, .size = sizeof (PlaitMetric),                 \
    .larger_is_better = larger_, .finish = finish, .rows = rows, .score = score_, .detail = detail,                    \
    .append_signature = append_signature,                                                                              \
  }

const PlaitMetricKind plait_metric_aer = KIND (
    "aer", "AER", "Alignment error rate, per cent, of word alignments 0-0 1p2; smaller is better", error_rate, FALSE);
const PlaitMetricKind plait_metric_alignment_precision
    = KIND ("alignment-precision", "alignment precision",
            "Per cent of links that are sure or possible in the reference", precision, TRUE);
const PlaitMetricKind plait_metric_alignment_recall = KIND (
    "alignment-recall", "alignment recall", "Per cent of the reference's sure links that are found", recall, TRUE);
