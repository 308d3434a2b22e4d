/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include "text/error.h"
#include "significance/report.h"

/* Returns the score of labels by accuracy or macro F1, as @name says. */
static PlaitResult *
score (const char *name, gsize n, const char *const *hypotheses, const char *const *set, guint resamples)
{
  const char *const *references[] = { set };
  PlaitTextPairs pairs = { n, hypotheses, 1, references };
  g_autoptr (PlaitMetric) metric = plait_metric_new (name, NULL);

  return plait_evaluate (metric, &pairs, resamples, 1, NULL);
}

static const char *const references[] = { "red", "red", "red", "red", "blue", "blue", "dark green", "dark green" };
static const char *const hypotheses[] = { "red", "red ", "red", "blue", "blue", "pink", "\tdark green", "dark  green" };

/*
 * red: 3 predicted, all right, 4 expected: F = 6/7. blue: 1 of 2 right, 2 expected: F = 2/4. dark green: 1 of 1 right,
 * 2 expected: F = 2/3. Pink and another dark green occur in no reference, so they have no F.
 */
TEST_CASE (classes, by_hand)
{
  g_autoptr (PlaitResult) accuracy = score ("accuracy", 8, hypotheses, references, 0);
  g_autoptr (PlaitResult) f = score ("macro-f1", 8, hypotheses, references, 0);
  REQUIRE (accuracy && f);
  CHECK_NEAR (accuracy->score, 100 * 5.0 / 8, 1e-12);
  /* The value is that of f1_score in scikit-learn with labels= the three classes. Its default, over all five classes,
   * is 40.476190476190474. */
  CHECK_NEAR (f->score, 100 * (6.0 / 7 + 2.0 / 4 + 2.0 / 3) / 3, 1e-12);
  CHECK (accuracy->larger_is_better && f->larger_is_better);
  g_autofree char *text = plait_result_to_text (f, 2);
  CHECK_STRING (text, "macro F1|nrefs:1|case:mixed|tok:none|classes:references|version:plait-" PLAIT_VERSION
                      " = 67.46 (3 classes)");
  CHECK_STRING (accuracy->detail, "(5 of 8)");
}

/* Compares words by position. Missing words count as wrong, surplus words are ignored. */
TEST_CASE (classes, words_are_right_at_their_places)
{
  static const char *const said[] = { "a b  c", "a", "x a b c", "" }, *const set[] = { "a c c", "a b", "a b", "" };
  g_autoptr (PlaitResult) result = score ("accuracy:words", 4, said, set, 0);
  REQUIRE (result != NULL);
  CHECK_NEAR (result->score, 100 * 3.0 / 7, 1e-12);
  CHECK_STRING (result->name, "word accuracy");
  CHECK_STRING (result->detail, "(3 of 7)");
}

/* Returns the word accuracy of three texts with two references each. */
static PlaitResult *
score_words (const char *const *said, const char *const *first, const char *const *second)
{
  const char *const *sets[] = { first, second };
  PlaitTextPairs pairs = { 3, said, 2, sets };
  g_autoptr (PlaitMetric) accuracy = plait_metric_new ("accuracy:words", NULL);

  return plait_evaluate (accuracy, &pairs, 0, 1, NULL);
}

/* The reference with the largest share of right words counts. */
TEST_CASE (classes, words_take_the_best_reference)
{
  static const char *const first[] = { "a b c", "a b", "x" }, *const second[] = { "a c", "a c c c", NULL };
  static const char *const said[] = { "a c d", "a b c", "x" };
  g_autoptr (PlaitResult) result = score_words (said, first, second);

  REQUIRE (result != NULL);
  CHECK_STRING (result->detail, "(5 of 5)");
}

/* A reference without words counts only if all references of the text are without words. */
TEST_CASE (classes, words_prefer_references_with_words)
{
  static const char *const first[] = { "", "a b", "" }, *const second[] = { "a b c d", "", " " };
  static const char *const said[] = { "a b", "x", "x" };
  g_autoptr (PlaitResult) result = score_words (said, first, second);

  REQUIRE (result != NULL);
  CHECK_STRING (result->detail, "(2 of 6)");
}

/* A label is right if any of several references has it; its class is then that of this reference. */
TEST_CASE (classes, take_any_reference)
{
  static const char *const first[] = { "a", "a", "b" }, *const second[] = { "b", NULL, NULL };
  static const char *const said[] = { "b", "a", "b" };
  const char *const *sets[] = { first, second };
  PlaitTextPairs pairs = { 3, said, 2, sets };
  g_autoptr (PlaitMetric) accuracy = plait_metric_new ("accuracy", NULL);
  g_autoptr (PlaitMetric) f = plait_metric_new ("macro-f1", NULL);
  g_autoptr (PlaitResult) a = plait_evaluate (accuracy, &pairs, 0, 1, NULL);
  g_autoptr (PlaitResult) b = plait_evaluate (f, &pairs, 0, 1, NULL);
  REQUIRE (a && b);
  CHECK_NEAR (a->score, 100, 0);
  CHECK_NEAR (b->score, 100, 0);
}

/* A resample may lack a class. Intervals and tests still work. */
TEST_CASE (classes, have_intervals_and_p)
{
  static const char *const names[] = { "accuracy", "macro-f1" };
  static const char *const wrong[] = { "blue", "blue", "blue", "blue", "red", "red", "red", "red" };
  const char *const *sets[] = { references };
  PlaitTextPairs good = { 8, references, 1, sets }, bad = { 8, wrong, 1, sets };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      GError *error = NULL;
      g_autoptr (PlaitMetric) metric = plait_metric_new (names[i], NULL);
      g_autoptr (PlaitStatistics) a = plait_metric_statistics (metric, &good, NO_ERROR);
      g_autoptr (PlaitStatistics) b = plait_metric_statistics (metric, &bad, NO_ERROR);
      g_autoptr (PlaitResult) some = score (names[i], 8, hypotheses, references, 200);
      PlaitComparison comparison;
      CONTEXT ("%s", names[i]);

      REQUIRE (a && b && some);
      CHECK (plait_compare_systems (metric, a, b, PLAIT_TEST_PERMUTATION, 1000, 1, &comparison, NO_ERROR));
      CHECK_NEAR (comparison.baseline, 100, 1e-12);
      CHECK_NEAR (comparison.system, 0, 1e-12);
      /* Two of the 2^8 ways to exchange the systems give this difference. */
      CHECK_NEAR (comparison.p, 2.0 / 256, .01);
      CHECK (comparison.p < .05);
      CHECK (plait_compare_systems (metric, a, a, PLAIT_TEST_PERMUTATION, 100, 1, &comparison, &error));
      CHECK_NEAR (comparison.p, 1, 0);
      CHECK (some->interval.low < some->score && some->score < some->interval.high && some->interval.high <= 100);
    }
}

/* Systems with other references have statistics of another width, so they are not compared. */
TEST_CASE (classes, are_compared_on_the_same_references)
{
  static const char *const more[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
  const char *const *sets[] = { references }, *const * others[] = { more };
  PlaitTextPairs pairs = { 8, hypotheses, 1, sets }, other = { 8, hypotheses, 1, others };
  g_autoptr (PlaitMetric) metric = plait_metric_new ("macro-f1", NULL);
  g_autoptr (PlaitStatistics) a = plait_metric_statistics (metric, &pairs, NULL);
  g_autoptr (PlaitStatistics) b = plait_metric_statistics (metric, &other, NULL);
  PlaitComparison comparison;
  GError *error = NULL;

  CHECK (!plait_compare_systems (metric, a, b, PLAIT_TEST_PERMUTATION, 10, 1, &comparison, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "the two have different references");
  g_clear_error (&error);
}
