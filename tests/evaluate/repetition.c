/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include "significance/report.h"

#include <string.h>

static PlaitResult *
repetition_of (const char *name, gsize n, const char *const *hypotheses, const char *const *set)
{
  const char *const *references[] = { set };
  PlaitTextPairs pairs = { n, hypotheses, 1, references };
  g_autoptr (PlaitMetric) metric = plait_metric_new (name, NULL);

  return plait_evaluate (metric, &pairs, 0, 1, NULL);
}

/*
 * "the cat the cat the cat" has the words the 3 and cat 3; the pairs the-cat 3 and cat-the 2; the triples the-cat-the 2
 * and cat-the-cat 2; the quadruples the-cat-the-cat 2 and cat-the-cat-the 1. Its reference is "the cat and the dog", so
 * "the" may occur twice, everything else once. Repeated are 1 + 2 of 6 words, 2 + 1 of 5 pairs, 1 + 1 of 4 triples and
 * 1 + 0 of 3 quadruples.
 */
TEST_CASE (repetition, by_hand)
{
  static const char *const hypotheses[] = { "the cat the cat the cat" }, *const set[] = { "the cat and the dog" };
  static const double shares[] = { 100 * 3.0 / 6, 100 * 3.0 / 5, 100 * 2.0 / 4, 100 * 1.0 / 3 };

  for (guint n = 1; n <= 4; n++)
    {
      g_autoptr (PlaitResult) result = repetition_of (plait_test_format ("repetition:n=%u", n), 1, hypotheses, set);
      REQUIRE (result != NULL);
      CHECK_NEAR (result->score, shares[n - 1], 1e-9);
      CHECK (!result->larger_is_better);
      CHECK_STRING (result->detail, "50.00/60.00/50.00/33.33 (words = 6)");
    }
  g_autoptr (PlaitResult) usual = repetition_of ("repetition", 1, hypotheses, set);
  g_autofree char *text = plait_result_to_text (usual, 2);
  CHECK_STRING (text, "repeated 2-grams|nrefs:1|n:2|tok:none|case:mixed|beyond:references|version:plait-" PLAIT_VERSION
                      " = 60.00 50.00/60.00/50.00/33.33 (words = 6)");
}

/* Ignores repetitions that the reference also has. Sentences do not count as repeating each other, and an empty
 * sentence repeats nothing. */
TEST_CASE (repetition, is_of_one_sentence_and_beyond_its_reference)
{
  static const char *const hypotheses[] = { "no no no", "a b", "a b", "" }, *const set[] = { "no no no", "x", "y", "" };
  g_autoptr (PlaitResult) result = repetition_of ("repetition:n=1", 4, hypotheses, set);
  g_autoptr (PlaitResult) empty = repetition_of ("repetition", 1, hypotheses + 3, set + 3);

  REQUIRE (result && empty);
  CHECK_NEAR (result->score, 0, 0);
  CHECK_NEAR (empty->score, 0, 0);
}
