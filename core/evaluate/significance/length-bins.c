/* SPDX-License-Identifier: MIT */
#include "significance/length-bins.h"

#include "text/error.h"
#include "text/separators.h"
#include "words/text.h"

#include <string.h>

#define MAX_BINS 100
#define MAX_WORDS 1000000

static gboolean
is_bound (const char *text, gconstpointer data)
{
  guint64 bound;

  (void)data;
  return g_ascii_string_to_unsigned (text, 10, 1, MAX_WORDS, &bound, NULL);
}

PlaitLengthBins *
plait_length_bins_new (const char *bounds, GError **error)
{
  g_autoptr (PlaitLengthBins) bins = g_new0 (PlaitLengthBins, 1);
  g_auto (GStrv) parts = g_strsplit (bounds, ";", MAX_BINS + 1);
  g_autofree char *mended = plait_separators_mend (bounds, ";", is_bound, NULL);
  guint n = g_strv_length (parts);

  bins->max_words = g_new (gint64, n + 1);
  for (guint i = 0; i < n && n <= MAX_BINS; i++)
    {
      guint64 bound;

      if (!g_ascii_string_to_unsigned (g_strstrip (parts[i]), 10, 1, MAX_WORDS, &bound, NULL)
          || (i > 0 && (gint64)bound <= bins->max_words[i - 1]))
        break;
      bins->max_words[bins->n++] = (gint64)bound;
    }
  if (mended)
    return plait_fail_null (error, PLAIT_ERROR_INPUT, "the bins \"%s\" are not separated by ';'; did you mean \"%s\"?",
                            bounds, mended);
  if (bins->n == 0 || bins->n < n)
    return plait_fail_null (
        error, PLAIT_ERROR_INPUT,
        "the bins \"%s\" are not rising whole numbers from 1 to %d; give at most %d bounds, such as 10;20;30", bounds,
        MAX_WORDS, MAX_BINS);
  bins->max_words[bins->n++] = G_MAXINT64;
  return g_steal_pointer (&bins);
}

void
plait_length_bins_free (PlaitLengthBins *bins)
{
  if (!bins)
    return;
  g_free (bins->max_words);
  g_free (bins);
}

char *
plait_length_bins_label (const PlaitLengthBins *bins, guint bin)
{
  if (bin == 0)
    return g_strdup_printf ("to %jd", bins->max_words[0]);
  if (bin + 1 == bins->n)
    return g_strdup_printf ("above %jd", bins->max_words[bin - 1]);
  if (bins->max_words[bin - 1] + 1 == bins->max_words[bin])
    return g_strdup_printf ("%jd", bins->max_words[bin]);
  return g_strdup_printf ("%jd-%jd", bins->max_words[bin - 1] + 1, bins->max_words[bin]);
}

gint64 *
plait_length_bins_count (gsize n, const char *const *lines)
{
  gint64 *words = g_new (gint64, n + 1);

  for (gsize i = 0; i < n; i++)
    words[i] = (gint64)plait_text_count_words (lines[i]);
  return words;
}

static guint
find_bin (const PlaitLengthBins *bins, gint64 words)
{
  guint bin = 0;

  while (words > bins->max_words[bin])
    bin++;
  return bin;
}

/* Returns the number of words of sentence or document @i; @words is per line. */
static gint64
words_of (const PlaitStatistics *statistics, gsize i, const gint64 *words)
{
  gint64 sum = 0;

  if (!statistics->lines)
    return words[i];
  for (gsize line = statistics->lines[i]; line < statistics->lines[i + 1]; line++)
    sum += words[line];
  return sum;
}

static PlaitStatistics *
select_rows (const PlaitLengthBins *bins, guint bin, const PlaitStatistics *all, const gint64 *words)
{
  PlaitStatistics *some = plait_statistics_new (all->sentences, all->width);

  some->references = all->references;
  some->sentences = 0;
  for (gsize i = 0; i < all->sentences; i++)
    if (find_bin (bins, words_of (all, i, words)) == bin)
      memcpy (some->values + some->sentences++ * all->width, all->values + i * all->width,
              all->width * sizeof (double));
  return some;
}

GPtrArray *
plait_length_bins_score (const PlaitLengthBins *bins, const PlaitMetric *metric, const PlaitStatistics *statistics,
                         const gint64 *words, guint resamples, guint64 seed, GError **error)
{
  g_autoptr (GPtrArray) results = g_ptr_array_new_with_free_func ((GDestroyNotify)plait_result_free);

  for (guint bin = 0; bin < bins->n; bin++)
    {
      g_autoptr (PlaitStatistics) rows = select_rows (bins, bin, statistics, words);

      g_ptr_array_add (results, rows->sentences > 0 ? plait_result_new (metric, rows, resamples, seed, error) : NULL);
      if (rows->sentences > 0 && !results->pdata[bin])
        return NULL;
    }
  return g_steal_pointer (&results);
}
