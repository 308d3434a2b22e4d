/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "rouge-cases.h"

#include "text/error.h"
#include "significance/report.h"
#include "words/stem.h"

#include <string.h>

static const char *const types[] = { "rouge:type=1", "rouge:type=2", "rouge:type=L", "rouge:type=Lsum" };

static void
check_values (const PlaitMetric *metric, const char *hypothesis, const char *const *texts, const double *expected)
{
  const char *const *references[3] = { NULL };
  guint sets = 0;
  for (; sets < 3 && texts[sets]; sets++)
    references[sets] = &texts[sets];
  PlaitTextPairs pairs = { 1, &hypothesis, sets, references };
  g_autoptr (PlaitStatistics) statistics = plait_metric_statistics (metric, &pairs, NULL);
  REQUIRE (statistics != NULL);
  for (guint k = 0; k < 3; k++)
    CHECK_NEAR (statistics->values[k], expected[k], 1e-15);
  CHECK_NEAR (plait_metric_score (metric, statistics->values), 100 * expected[2], 1e-13);
}

TEST_CASE (rouge, texts_score_as_with_the_package)
{
  for (guint t = 0; t < G_N_ELEMENTS (types); t++)
    {
      g_autoptr (PlaitMetric) metric = plait_metric_new (types[t], NULL);
      REQUIRE (metric != NULL);
      for (guint i = 0; i < G_N_ELEMENTS (rouge_cases); i++)
        {
          CONTEXT ("%s, case %u: \"%s\"", types[t], i, rouge_cases[i].hypothesis);
          check_values (metric, rouge_cases[i].hypothesis, rouge_cases[i].references, rouge_cases[i].scores[t]);
        }
    }
}

/*
 * By hand: reference "a b c d", "b c" and hypothesis "a c b", "c d". The first line of the reference and the first line
 * of the hypothesis have two longest common subsequences, "a b" and "a c"; backtracking finds "a b". With the second
 * line of the hypothesis it has "c d", so all four words match. "b c" shares b with the first line and c with the
 * second. But the hypothesis has b only once and c twice, so only this c counts. In total 5 of the 5 words of the
 * hypothesis and 5 of the 6 of the reference match.
 */
TEST_CASE (rouge, a_word_counts_as_often_as_the_hypothesis_has_it)
{
  static const char *const references[] = { "a b c d\nb c", NULL };
  static const double expected[] = { 5.0 / 5, 5.0 / 6, 10.0 / 11 };
  g_autoptr (PlaitMetric) metric = plait_metric_new ("rouge:type=Lsum", NULL);
  check_values (metric, "a c b\nc d", references, expected);
}

/* The score of the corpus is (1 + 2/3 + 0) / 3. Checks its details too. */
TEST_CASE (rouge, a_corpus_scores_the_mean_of_its_texts)
{
  const char *hypotheses[] = { "a b", "a", "" }, *set[] = { "a b", "a b", "x" };
  const char *const *references[] = { set };
  PlaitTextPairs pairs = { 3, hypotheses, 1, references };
  g_autoptr (PlaitMetric) metric = plait_metric_new ("rouge", NULL);
  g_autoptr (PlaitResult) result = plait_evaluate (metric, &pairs, 0, 1, NULL);
  REQUIRE (result != NULL);
  g_autofree char *text = plait_result_to_text (result, 2);
  CHECK_STRING (text, "ROUGE-1|nrefs:1|type:1|stem:no|tok:a-z0-9|like:rouge-score|version:plait-" PLAIT_VERSION
                      " = 55.56 (P = 66.67 R = 50.00)");
}

/* Two systems differ in one of four texts. Of all 16 exchanges, 8 keep the difference and 8 reverse it, so all
 * differences are equally large. */
TEST_CASE (rouge, has_intervals_and_tests)
{
  const char *one[] = { "a b", "c d", "e f", "g h" }, *other[] = { "a b", "c d", "e x", "g h" };
  const char *const *references[] = { one };
  PlaitTextPairs right = { 4, one, 1, references }, worse = { 4, other, 1, references };
  g_autoptr (PlaitMetric) metric = plait_metric_new ("rouge:type=L", NULL);
  g_autoptr (PlaitStatistics) baseline = plait_metric_statistics (metric, &right, NULL);
  g_autoptr (PlaitStatistics) system = plait_metric_statistics (metric, &worse, NULL);
  PlaitComparison comparison;
  PlaitInterval interval;
  REQUIRE (baseline && system);
  CHECK (plait_compare_systems (metric, baseline, system, PLAIT_TEST_PERMUTATION, 99, 1, &comparison, NULL));
  CHECK_NEAR (comparison.difference, -12.5, 1e-12);
  CHECK_NEAR (comparison.p, 1, 0);
  CHECK (plait_bootstrap_interval (metric, system, 1000, 1, &interval, NULL));
  CHECK_NEAR (interval.high, 100, 1e-12);
  CHECK (interval.low < 87.5 && interval.mean > 85 && interval.mean < 90);
}

/* Finding common subsequences takes time in proportion to the product of two lengths, so such texts have a limit of
 * their own. */
TEST_CASE (rouge, refuses_texts_too_long_for_subsequences)
{
  g_autofree char *text = g_strnfill (64 * 1024 + 1, 'x');
  const char *hypotheses[] = { text };
  const char *const *references[] = { hypotheses };
  PlaitTextPairs pairs = { 1, hypotheses, 1, references };
  for (guint t = 0; t < G_N_ELEMENTS (types); t++)
    {
      CONTEXT ("%s", types[t]);
      g_autoptr (GError) error = NULL;
      g_autoptr (PlaitMetric) metric = plait_metric_new (types[t], NULL);
      g_autoptr (PlaitStatistics) statistics = plait_metric_statistics (metric, &pairs, &error);

      CHECK (!statistics == (t >= 2));
      if (t < 2)
        CHECK_NO_ERROR (error);
      else
        CHECK_ERROR (error, PLAIT_ERROR_INPUT, "has 65537 bytes, more than the limit of 65536 bytes of ROUGE-L");
    }
}

TEST_CASE (rouge, stems_are_those_of_nltk)
{
  g_autoptr (GString) stem = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (stem_cases); i++)
    {
      CONTEXT ("word \"%s\"", stem_cases[i].word);
      g_string_assign (stem, stem_cases[i].word);
      plait_stem (stem);
      CHECK_STRING (stem->str, stem_cases[i].stem);
    }
}

/* Compares stems of Porter's own examples. Words of three letters are not stemmed. */
TEST_CASE (rouge, compares_stems_where_it_is_told_to)
{
  static const char *const references[] = { "relate feudal decide operator adjust effect caress ponies are by", NULL };
  static const double expected[] = { 0.8, 0.8, 0.8 };
  g_autoptr (PlaitMetric) metric = plait_metric_new ("rouge:stem", NULL);
  REQUIRE (metric != NULL);
  check_values (metric, "relational feudalism decided operating adjustment effective caresses pony is bye", references,
                expected);
}
