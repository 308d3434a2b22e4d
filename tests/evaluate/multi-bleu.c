/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include "significance/report.h"
#include "words/text.h"

#include <math.h>
#include <string.h>

/* Checks multi-bleu against numbers counted by hand. multi-bleu.perl printed the same line for each of these texts. */

static void
check_line (const char *name, gsize n, const char *const *hypotheses, guint sets, const char *const *const *references,
            const char *expected)
{
  CONTEXT ("%s", name);
  g_autoptr (PlaitMetric) metric = plait_metric_new (name, NULL);
  PlaitTextPairs pairs = { n, hypotheses, sets, references };
  g_autoptr (PlaitResult) result = plait_evaluate (metric, &pairs, 0, 1, NULL);
  REQUIRE (result != NULL);
  g_autofree char *text = plait_result_to_text (result, 2);
  CHECK_STRING (text, expected);
}

#define SIGNATURE(nrefs, letters)                                                                                      \
  "multi-BLEU|nrefs:" nrefs "|case:" letters                                                                           \
  "|eff:no|tok:none|smooth:none|like:multi-bleu.perl|version:plait-" PLAIT_VERSION " = "

/*
 * "the cat sat on the mat" (6) against "The cat is on the mat": 5/6 words, 3/5 pairs (the cat, on the, the mat), 1/4
 * triples, 0/3 quadruples. "A dog ." (3) against "a dog .": 3/3, 2/2, 1/1, no quadruples. The sums are 8/9, 5/7, 2/5
 * and 0/3; there is no smoothing, so the score is 0. A third sentence of four right words makes them 12/13, 8/10, 4/7
 * and 1/4. Their product is 0.10549, and its fourth root gives 56.99.
 */
TEST_CASE (multi_bleu, by_hand)
{
  static const char *const hypotheses[] = { "the cat sat on the mat", "A dog .", "w x y z" };
  static const char *const set[] = { "The cat is on the mat", "a dog .", "w x y z" };
  static const char *const *const references[] = { set };

  CHECK_NEAR (pow (12.0 / 13 * 8 / 10 * 4 / 7 * 1 / 4, .25) * 100, 56.99, .005);
  check_line ("multi-bleu", 2, hypotheses, 1, references,
              SIGNATURE ("1", "lc-ascii") "0.00 88.9/71.4/40.0/0.0 (BP = 1.000 ratio = 1.000 hyp_len = 9 ref_len = 9)");
  check_line ("multi-bleu", 3, hypotheses, 1, references,
              SIGNATURE ("1", "lc-ascii") "56.99 92.3/80.0/57.1/25.0 (BP = 1.000 ratio = 1.000 hyp_len = 13 ref_len = "
                                          "13)");
}

/* If case counts, the first sentence loses "the" and "the cat" (4/6 words remain: cat, on, the, mat), the second loses
 * "A" and its n-grams. The sums are 10/13, 6/10, 3/7 and 1/4. */
TEST_CASE (multi_bleu, with_case)
{
  static const char *const hypotheses[] = { "the cat sat on the mat", "A dog .", "w x y z" };
  static const char *const set[] = { "The cat is on the mat", "a dog .", "w x y z" };
  static const char *const *const references[] = { set };

  CHECK_NEAR (pow (10.0 / 13 * 6 / 10 * 3 / 7 * 1 / 4, .25) * 100, 47.16, .005);
  check_line (
      "multi-bleu:case=mixed", 3, hypotheses, 1, references,
      SIGNATURE ("1", "mixed") "47.16 76.9/60.0/42.9/25.0 (BP = 1.000 ratio = 1.000 hyp_len = 13 ref_len = 13)");
}

/* If 4 of 6 words are there and all right, the brevity penalty is exp (1 - 6/4). Of several references, the one nearest
 * in length counts: 4 and 6 are equally near to 5, so 4. */
TEST_CASE (multi_bleu, brevity_and_references)
{
  static const char *const shorter[] = { "a b c d" }, *const longer[] = { "a b c d e" };
  static const char *const six[] = { "a b c d e f" }, *const four[] = { "a b c d" };
  static const char *const *const one[] = { six }, *const *const two[] = { six, four };

  check_line ("multi-bleu", 1, shorter, 1, one,
              SIGNATURE ("1", "lc-ascii") "60.65 100.0/100.0/100.0/100.0 (BP = 0.607 ratio = 0.667 hyp_len = 4 ref_len "
                                          "= 6)");
  check_line (
      "multi-bleu", 1, longer, 2, two,
      SIGNATURE ("2", "lc-ascii") "100.00 100.0/100.0/100.0/100.0 (BP = 1.000 ratio = 1.250 hyp_len = 5 ref_len "
                                  "= 4)");
}

/* The script reads bytes: letters with umlauts keep their case, and only ASCII white space separates words. */
TEST_CASE (multi_bleu, reads_bytes)
{
  static const char *const hypotheses[] = { "\xc3\x84pfel a\xc2\xa0"
                                            "b c\td e" };
  static const char *const set[] = { "\xc3\xa4pfel A\xc2\xa0"
                                     "B C D E" };
  static const char *const *const references[] = { set };

  /* Four of five words are right, and form a row: 3/4 pairs, 2/3 triples, 1/2 quadruples. */
  CHECK_NEAR (pow (4.0 / 5 * 3 / 4 * 2 / 3 * 1 / 2, .25) * 100, 66.87, .005);
  check_line ("multi-bleu", 1, hypotheses, 1, references,
              SIGNATURE ("1", "lc-ascii") "66.87 80.0/75.0/66.7/50.0 (BP = 1.000 ratio = 1.000 hyp_len = 5 ref_len = "
                                          "5)");
}

/* A Unicode space that stands alone counts as a word, even at the end of a line. */
TEST_CASE (multi_bleu, counts_white_space_of_unicode_as_words)
{
  static const char *const spaces[]
      = { "\xc2\xa0", "\xc2\x85", "\xe2\x80\xa8", "\xe3\x80\x80", "\xe2\x80\x83", "\x1c", "\x1f" };
  static const char *const set[] = { "a b c d e f", "a b c d" };
  static const char *const *const references[] = { set };

  /* Ten of eleven words are right; 8/9 pairs, 6/7 triples, 4/5 quadruples. */
  CHECK_NEAR (pow (10.0 / 11 * 8 / 9 * 6 / 7 * 4 / 5, .25) * 100, 86.28, .005);
  for (guint i = 0; i < G_N_ELEMENTS (spaces); i++)
    {
      const char *const lines[] = { plait_test_format ("a b c d e f %s", spaces[i]), "a b c d \t\v\f" };

      check_line (
          "multi-bleu", 2, lines, 1, references,
          SIGNATURE ("1", "lc-ascii") "86.28 90.9/88.9/85.7/80.0 (BP = 1.000 ratio = 1.100 hyp_len = 11 ref_len = 10)");
    }
}

TEST_CASE (multi_bleu, of_nothing)
{
  static const char *const nothing[] = { "" }, *const set[] = { "a" };
  static const char *const *const references[] = { set };

  check_line ("multi-bleu", 1, nothing, 1, references,
              SIGNATURE ("1", "lc-ascii") "0.00 0.0/0.0/0.0/0.0 (BP = 0.000 ratio = 0.000 hyp_len = 0 ref_len = 1)");
}
