/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include "text/error.h"
#include "significance/length-bins.h"

TEST_CASE (length_bins, are_read_from_their_bounds)
{
  g_autoptr (PlaitLengthBins) bins = plait_length_bins_new ("10; 20;30", NO_ERROR);
  static const char *const labels[] = { "to 10", "11-20", "21-30", "above 30" };

  REQUIRE (bins && bins->n == 4);
  for (guint i = 0; i < 4; i++)
    {
      g_autofree char *label = plait_length_bins_label (bins, i);
      CHECK_STRING (label, labels[i]);
    }
}

TEST_CASE (length_bins, refuse)
{
  static const char *const cases[] = { "", "a", "10;10", "20;10", "0", "-1", "10;", "1.5", "9999999" };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      CONTEXT ("\"%s\"", cases[i]);
      CHECK (!plait_length_bins_new (cases[i], &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT,
                   "are not rising whole numbers from 1 to 1000000; give at most 100 bounds, such as");
    }
}

TEST_CASE (length_bins, name_the_right_separator)
{
  g_autoptr (GError) error = NULL;

  CHECK (!plait_length_bins_new ("10,20, 30", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "did you mean \"10;20;30\"?");
}

/* Sources of 2, 0, 5, 3 and 2 words fall into the bins up to 2, 3-4, 5-9 and above: three, one, one and no sentences.
 * All n-grams match, except in "a b c d" for "a b c x": 3 of 4 words, 2 of 3 pairs, 1 of 2 triples, no quadruple. */
TEST_CASE (length_bins, score_each_bin_as_a_corpus)
{
  static const char *const sources[] = { "x y", "", " a  b c\td e ", "p q r", "u v" };
  static const char *const hypotheses[] = { "a b c d", "e f g h", "a b c d", "k l m n", "i j" };
  static const char *const set[] = { "a b c d", "e f g h", "a b c x", "k l m n", "i j" };
  static const char *const *const references[] = { set };
  PlaitTextPairs pairs = { 5, hypotheses, 1, references };
  g_autoptr (PlaitMetric) metric = plait_metric_new ("bleu:tok=none,smooth=add-k,value=0", NULL);
  g_autoptr (PlaitStatistics) statistics = plait_metric_statistics (metric, &pairs, NULL);
  g_autoptr (PlaitLengthBins) bins = plait_length_bins_new ("2;4;9", NULL);
  g_autofree gint64 *words = plait_length_bins_count (5, sources);
  static const gint64 counted[] = { 2, 0, 5, 3, 2 };

  for (guint i = 0; i < 5; i++)
    CHECK_INT (words[i], counted[i]);
  g_autoptr (GPtrArray) results = plait_length_bins_score (bins, metric, statistics, words, 10, 1, NULL);
  REQUIRE (results && results->len == 4);
  PlaitResult *const *scores = (PlaitResult *const *)results->pdata;
  REQUIRE (scores[0] && scores[1] && scores[2]);
  CHECK (!scores[3]);
  CHECK_INT (scores[0]->sentences, 3);
  CHECK_INT (scores[1]->sentences, 1);
  CHECK_INT (scores[2]->sentences, 1);
  CHECK_NEAR (scores[0]->score, 100, 1e-9);
  CHECK_NEAR (scores[1]->score, 100, 1e-9);
  CHECK_STRING (scores[2]->detail, "75.0/66.7/50.0/0.0 (BP = 1.000 ratio = 1.000 hyp_len = 4 ref_len = 4)");
  CHECK_INT (scores[2]->interval.resamples, 10);
}
