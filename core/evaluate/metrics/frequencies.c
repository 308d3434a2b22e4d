/* SPDX-License-Identifier: MIT */
#include "metrics/frequencies.h"

#include "words/text.h"

#include <math.h>

static const struct
{
  guint most;
  const char *label;
} bins[PLAIT_FREQUENCY_BINS] = {
  { 0, "never" },
  { 1, "once" },
  { 4, "2 to 4 times" },
  { 9, "5 to 9 times" },
  { 99, "10 to 99 times" },
  { 999, "100 to 999 times" },
  { G_MAXUINT, "1000 times and more" },
};

const char *
plait_frequency_label (guint bin)
{
  return bins[bin].label;
}

GHashTable *
plait_frequencies_new (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
}

static guint
count_of (GHashTable *counts, const char *word)
{
  return GPOINTER_TO_UINT (g_hash_table_lookup (counts, word));
}

void
plait_frequencies_count (GHashTable *frequencies, const char *line)
{
  g_autofree char *tokens = plait_tokenise_13a (line);
  const char *word = tokens;

  for (const char *end; plait_text_next_word (&word, &end); word = end)
    {
      char *token = g_strndup (word, (gsize)(end - word));
      guint count = count_of (frequencies, token);

      g_hash_table_replace (frequencies, token, GUINT_TO_POINTER (MIN (count, G_MAXUINT - 1) + 1));
    }
}

static PlaitFrequencyScore *
bin_of (GHashTable *frequencies, const char *word, PlaitFrequencyScore *scores)
{
  guint count = count_of (frequencies, word), bin = 0;

  while (count > bins[bin].most)
    bin++;
  return &scores[bin];
}

void
plait_frequencies_score (GHashTable *frequencies, const char *reference, const char *hypothesis,
                         PlaitFrequencyScore *scores)
{
  g_autoptr (GHashTable) expected = plait_frequencies_new (), found = plait_frequencies_new ();
  GHashTableIter each;
  gpointer word, count;

  plait_frequencies_count (expected, reference);
  plait_frequencies_count (found, hypothesis);
  g_hash_table_iter_init (&each, expected);
  while (g_hash_table_iter_next (&each, &word, &count))
    {
      PlaitFrequencyScore *score = bin_of (frequencies, word, scores);

      score->references += GPOINTER_TO_UINT (count);
      score->matched += MIN (GPOINTER_TO_UINT (count), count_of (found, word));
    }
  g_hash_table_iter_init (&each, found);
  while (g_hash_table_iter_next (&each, &word, &count))
    bin_of (frequencies, word, scores)->hypotheses += GPOINTER_TO_UINT (count);
}

double
plait_frequency_f1 (const PlaitFrequencyScore *score)
{
  gint64 both = score->references + score->hypotheses;

  return both > 0 ? 100.0 * 2 * (double)score->matched / (double)both : NAN;
}
