/* SPDX-License-Identifier: MIT */
#include "evaluate/frequencies.h"

#include "evaluate/text.h"
#include "evaluate/tokenise.h"

#include <math.h>

struct PlaitFrequencies
{
  GHashTable *counts; /* word to count */
};

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

PlaitFrequencies *
plait_frequencies_new (void)
{
  PlaitFrequencies *frequencies = g_new (PlaitFrequencies, 1);

  frequencies->counts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  return frequencies;
}

void
plait_frequencies_free (PlaitFrequencies *frequencies)
{
  if (!frequencies)
    return;
  g_hash_table_unref (frequencies->counts);
  g_free (frequencies);
}

static guint
count_of (GHashTable *counts, const char *word)
{
  return GPOINTER_TO_UINT (g_hash_table_lookup (counts, word));
}

/* Adds each word of @line to @counts. */
static void
count_words (GHashTable *counts, const char *line)
{
  g_autofree char *tokens = plait_tokenise_13a (line);
  const char *word = tokens;

  for (const char *end; plait_text_next_word (&word, &end); word = end)
    {
      char *token = g_strndup (word, (gsize)(end - word));
      guint count = count_of (counts, token);

      g_hash_table_replace (counts, token, GUINT_TO_POINTER (MIN (count, G_MAXUINT - 1) + 1));
    }
}

void
plait_frequencies_count (PlaitFrequencies *frequencies, const char *line)
{
  count_words (frequencies->counts, line);
}

static PlaitFrequencyScore *
bin_of (const PlaitFrequencies *frequencies, const char *word, PlaitFrequencyScore *scores)
{
  guint count = count_of (frequencies->counts, word), bin = 0;

  while (count > bins[bin].most)
    bin++;
  return &scores[bin];
}

void
plait_frequencies_score (const PlaitFrequencies *frequencies, const char *reference, const char *hypothesis,
                         PlaitFrequencyScore *scores)
{
  g_autoptr (GHashTable) expected = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) found = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GHashTableIter each;
  gpointer word, count;

  count_words (expected, reference);
  count_words (found, hypothesis);
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
