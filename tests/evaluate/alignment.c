/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include "significance/report.h"
#include "text/error.h"
#include "text/word-links.h"

#include <math.h>

/* Tests of word alignments scored against alignments by hand: their format, and AER, precision and recall. */

static double
score_of (const char *name, gsize n, const char *const *hypotheses, const char *const *references)
{
  const PlaitTextPairs pairs = { n, hypotheses, 1, &references };
  g_autoptr (PlaitMetric) metric = plait_metric_new (name, NO_ERROR);
  g_autoptr (PlaitResult) result = plait_evaluate (metric, &pairs, 0, 1, NO_ERROR);

  return result ? result->score : NAN;
}

TEST_CASE (word_links, in_order_with_their_marks)
{
  g_autoptr (GArray) links = g_array_new (FALSE, FALSE, sizeof (PlaitWordLink));
  static const PlaitWordLink expected[] = { { 0, 0, FALSE }, { 12, 3, TRUE }, { 1, 2, TRUE }, { 0, 0, FALSE } };

  CHECK (plait_word_links_parse (" 0-0  12p3\t1?2 0-0\r", links, NO_ERROR));
  REQUIRE (links->len == 4);
  for (guint i = 0; i < 4; i++)
    {
      const PlaitWordLink *link = &g_array_index (links, PlaitWordLink, i);

      CHECK_INT (link->source, expected[i].source);
      CHECK_INT (link->target, expected[i].target);
      CHECK_INT (link->possible, expected[i].possible);
    }
  CHECK (plait_word_links_parse ("", links, NO_ERROR));
  CHECK_INT (links->len, 0);
}

TEST_CASE (word_links, refuse_other_text)
{
  static const char *const wrong[]
      = { "0", "0-", "-1", "a-b", "0-0-1", "0--1", "1.0-2", "0-0,1-1", "0:1", "0-99999999999", "0 - 0", "\xff-1" };
  g_autoptr (GArray) links = g_array_new (FALSE, FALSE, sizeof (PlaitWordLink));

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr (GError) error = NULL;

      CHECK (!plait_word_links_parse (wrong[i], links, &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT,
                   "is not a link of a word alignment; write the positions of the source word");
    }
}

/* The example in the documentation of NLTK's alignment_error_rate, which gives 0.6666666666666667, with its precision
 * and recall. NLTK has no separate sure links; its possible links are counted as in Och & Ney 2003. */
TEST_CASE (alignment, equals_nltk)
{
  static const char *const found[] = { "0-0 1-2 2-1" }, *const reference[] = { "0-0 1-1 2-2" };

  CHECK_NEAR (score_of ("aer", 1, found, reference), 100 * 0.6666666666666667, 1e-9);
  CHECK_NEAR (score_of ("alignment-precision", 1, found, reference), 100 / 3.0, 1e-9);
  CHECK_NEAR (score_of ("alignment-recall", 1, found, reference), 100 / 3.0, 1e-9);
}

/*
 * Sentence 1: S = {0-0, 2-2}, P adds 0-1 and 1-1; A = {0-0, 0-1, 3-3}: 1 sure hit, 2 hits. The link 2-2 is given as
 * sure and as possible; it counts as sure. Links given twice count once. Sentence 2: S = {0-0}, A is empty. Sentence 3:
 * S and A are empty. Together |A| = 3 and |S| = 3: AER = 1 - (1 + 2) / 6, precision 2 / 3, recall 1 / 3.
 */
TEST_CASE (alignment, by_hand)
{
  static const char *const found[] = { "0-0 0-1 0p1 3-3 0-0", "", "" };
  static const char *const reference[] = { "0-0 0p1 1?1 2p2 2-2 2p2", "0-0", "" };

  CHECK_NEAR (score_of ("aer", 3, found, reference), 50, 1e-9);
  CHECK_NEAR (score_of ("alignment-precision", 3, found, reference), 200 / 3.0, 1e-9);
  CHECK_NEAR (score_of ("alignment-recall", 3, found, reference), 100 / 3.0, 1e-9);
  CHECK_NEAR (score_of ("aer", 1, found + 2, reference + 2), 0, 0);
  CHECK_NEAR (score_of ("aer", 3, reference, reference), 100 * (1 - (3 + 5) / (5 + 3.0)), 1e-9);
}

/* Compares scores of random alignments with the definition, computed over a table of all pairs of words. */
TEST_CASE (alignment, equals_the_definition)
{
  enum
  {
    N = 40,
    WORDS = 6,
  };
  g_autoptr (GRand) random = g_rand_new_with_seed (5);
  char *found[N], *reference[N];
  double a = 0, s = 0, as = 0, ap = 0;

  for (guint i = 0; i < N; i++)
    {
      g_autoptr (GString) own = g_string_new (NULL), right = g_string_new (NULL);

      for (guint k = 0; k < WORDS * WORDS; k++)
        {
          gboolean in_a = g_rand_double (random) < .3, in_s = g_rand_double (random) < .2;
          gboolean in_p = in_s || g_rand_double (random) < .2;

          if (in_a)
            g_string_append_printf (own, "%u-%u ", k / WORDS, k % WORDS);
          if (in_p)
            g_string_append_printf (right, "%u%c%u ", k / WORDS, in_s ? '-' : 'p', k % WORDS);
          a += in_a;
          s += in_s;
          as += in_a && in_s;
          ap += in_a && in_p;
        }
      found[i] = g_string_free (g_steal_pointer (&own), FALSE);
      reference[i] = g_string_free (g_steal_pointer (&right), FALSE);
    }
  CHECK_NEAR (score_of ("aer", N, (const char *const *)found, (const char *const *)reference),
              100 * (1 - (as + ap) / (a + s)), 1e-9);
  CHECK_NEAR (score_of ("alignment-precision", N, (const char *const *)found, (const char *const *)reference),
              100 * ap / a, 1e-9);
  CHECK_NEAR (score_of ("alignment-recall", N, (const char *const *)found, (const char *const *)reference),
              100 * as / s, 1e-9);
  for (guint i = 0; i < N; i++)
    {
      g_free (found[i]);
      g_free (reference[i]);
    }
}

TEST_CASE (alignment, refuses_what_it_cannot_compare)
{
  static const char *const found[] = { "0-0", "0-0 x" }, *const reference[] = { "0-0", "1-1" };
  const char *const *two[] = { reference, reference };
  const PlaitTextPairs bad = { 2, found, 1, two }, sets = { 1, found, 2, two };
  g_autoptr (PlaitMetric) metric = plait_metric_new ("aer", NO_ERROR);
  g_autoptr (GError) of_text = NULL, of_sets = NULL, of_documents = NULL;

  CHECK (!plait_evaluate (metric, &bad, 0, 1, &of_text));
  CHECK_ERROR (of_text, PLAIT_ERROR_INPUT, "AER, sentence 2: \"x\" is not a link");
  CHECK (!plait_evaluate (metric, &sets, 0, 1, &of_sets));
  CHECK_ERROR (of_sets, PLAIT_ERROR_INPUT,
               "AER compares with one reference alignment, but several are given; give one");
  CHECK (!plait_metric_new ("aer:unit=document", &of_documents));
  CHECK_ERROR (of_documents, PLAIT_ERROR_INPUT, "leave unit=document out");
}
