/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "metrics/frequencies.h"
#include "harness.h"

/* Counted by hand. The training text has "a" four times, "man" twice and "the" once; a full stop counts as a word. */
TEST_CASE (frequencies, score_words_by_how_often_a_text_has_them)
{
  g_autoptr (GHashTable) frequencies = plait_frequencies_new ();
  PlaitFrequencyScore scores[PLAIT_FREQUENCY_BINS] = { { 0 } };

  plait_frequencies_count (frequencies, "a man a a.");
  plait_frequencies_count (frequencies, "the man a");
  plait_frequencies_score (frequencies, "a man saw a dog.", "a the dog dog", scores);
  plait_frequencies_score (frequencies, "the the", "", scores);
  /* not in the text: references have saw and dog, hypotheses dog and dog */
  CHECK_INT (scores[0].references, 2);
  CHECK_INT (scores[0].hypotheses, 2);
  CHECK_INT (scores[0].matched, 1);
  /* once in the text: references have ".", the and the, hypotheses the */
  CHECK_INT (scores[1].references, 3);
  CHECK_INT (scores[1].hypotheses, 1);
  CHECK_INT (scores[1].matched, 0);
  /* 2 to 4 times in the text: references have a, man and a, hypotheses a */
  CHECK_INT (scores[2].references, 3);
  CHECK_INT (scores[2].hypotheses, 1);
  CHECK_INT (scores[2].matched, 1);
  CHECK_NEAR (plait_frequency_f1 (&scores[0]), 50, 1e-12);
  CHECK_NEAR (plait_frequency_f1 (&scores[1]), 0, 1e-12);
  CHECK_NEAR (plait_frequency_f1 (&scores[2]), 50, 1e-12);
  CHECK (isnan (plait_frequency_f1 (&scores[3])));
}

TEST_CASE (frequencies, have_bins_with_bounds)
{
  static const struct
  {
    guint times;
    const char *label;
  } cases[] = {
    { 0, "never" },
    { 1, "once" },
    { 2, "2 to 4 times" },
    { 4, "2 to 4 times" },
    { 5, "5 to 9 times" },
    { 9, "5 to 9 times" },
    { 10, "10 to 99 times" },
    { 99, "10 to 99 times" },
    { 100, "100 to 999 times" },
    { 999, "100 to 999 times" },
    { 1000, "1000 times and more" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GHashTable) frequencies = plait_frequencies_new ();
      PlaitFrequencyScore scores[PLAIT_FREQUENCY_BINS] = { { 0 } };
      CONTEXT ("%u times", cases[i].times);

      for (guint time = 0; time < cases[i].times; time++)
        plait_frequencies_count (frequencies, "word");
      plait_frequencies_score (frequencies, "word", "word", scores);
      for (guint bin = 0; bin < PLAIT_FREQUENCY_BINS; bin++)
        CHECK_INT (scores[bin].matched, g_str_equal (plait_frequency_label (bin), cases[i].label));
    }
}
