/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include "process/random.h"
#include "significance/report.h"

#include <math.h>
#include <string.h>

/* Tests METEOR against values computed by hand, and its alignment against all possible alignments. */

#define MAX_WORDS 6

static double
score_of (const char *text, const char *hypothesis, const char *reference)
{
  const char *const *references[] = { &reference };
  PlaitTextPairs pairs = { 1, &hypothesis, 1, references };
  g_autoptr (PlaitMetric) metric = plait_metric_new (text, NULL);
  g_autoptr (PlaitResult) result = metric ? plait_evaluate (metric, &pairs, 0, 1, NULL) : NULL;

  CHECK (result != NULL);
  return result ? result->score : NAN;
}

TEST_CASE (meteor, by_hand)
{
  /* The penalty is .6 (chunks / matches)^.2, the mean of precision P and recall R is 1 / (.15 / P + .85 / R). */
  const struct
  {
    const char *hypothesis, *reference;
    double score;
  } cases[] = {
    { "the cat sat", "the cat sat", 100 },
    { "The CAT sat", "the cat sat", 100 },
    { "a b", "c d", 0 },
    { "", "c d", 0 },
    { "a b", "", 0 },
    { "", "", 0 },
    /* three chunks: on the mat | sat | the cat */
    { "the cat sat on the mat", "on the mat sat the cat", 100 * (1 - .6 * pow (3. / 6, .2)) },
    { "a b", "a b c d", 100 / (.15 + .85 / .5) * (1 - .6 * pow (1. / 2, .2)) },
    { "a b c d", "a b", 100 / (.15 / .5 + .85) * (1 - .6 * pow (1. / 2, .2)) },
    /* A match of stems has the weight .6. */
    { "dogs run", "dog runs", 60 },
    { "the dogs", "the dog", 80 },
    { "generously", "generous", 60 },
    /* If chunks and distances are equal, the word itself is matched before its stem. */
    { "run runs", "run runs", 100 },
    /* The second "the" is matched, because a match of the first would make two chunks. */
    { "the x the cat", "the cat", 100 / (.15 / .5 + .85) * (1 - .6 * pow (1. / 2, .2)) },
    { "He said: no.", "he said : no .", 100 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("\"%s\" against \"%s\"", cases[i].hypothesis, cases[i].reference);
      CHECK_NEAR (score_of ("meteor", cases[i].hypothesis, cases[i].reference), cases[i].score, 1e-10);
    }
  CHECK_NEAR (score_of ("meteor:exact", "the dogs", "the dog"), 50 * (1 - .6), 1e-10);
  CHECK_NEAR (score_of ("meteor", "generous", "general"), 0, 0); /* Porter's first algorithm would match them */
  CHECK_NEAR (score_of ("meteor:tok=none", "no.", "no ."), 0, 0);
}

TEST_CASE (meteor, of_several_references_the_best_counts_and_rows_add_up)
{
  const char *const hypotheses[] = { "a b c", "d e" };
  const char *const first[] = { "x y z", "d e" }, *const second[] = { "a b z", "e d" };
  const char *const *references[] = { first, second };
  PlaitTextPairs pairs = { 2, hypotheses, 2, references };
  g_autoptr (PlaitMetric) metric = plait_metric_new ("meteor", NULL);
  g_autoptr (PlaitResult) result = plait_evaluate (metric, &pairs, 0, 1, NULL);

  REQUIRE (result != NULL);
  /* 4 of 5 words match in each text. "d e" matches completely, so there is one chunk. */
  CHECK_NEAR (result->score, 80 * (1 - .6 * pow (1. / 4, .2)), 1e-10);
  CHECK_STRING (result->name, "METEOR (exact, stem)");
  CHECK_CONTAINS (result->signature,
                  "nrefs:2|lang:en|match:exact+stem|weights:1.5|function-words:none|case:lc|tok:13a|");
  CHECK_STRING (result->detail, "(P = 80.00 R = 80.00 penalty = 0.455)");
}

TEST_CASE (meteor, a_corpus_is_scored_as_by_the_released_scorer)
{
  /* The values were printed by meteor-1.5.jar with -l en -lower -m 'exact stem' -w '1.0 0.6' -p '0.85 0.2 0.6 0.5'
   * (content and function words have equal weights). */
  static const char *const hypotheses[]
      = { "the cat sat on the mat", "a dog runs home", "small birds sing", "the cat", "" };
  static const char *const other[]
      = { "the cat sat on the mat", "a dog ran home", "small bird sings", "the big cat", "four more words here" };
  static const struct
  {
    gsize sentences;
    const char *const *references;
    double score;
  } cases[] = { { 5, other, 36.5470405761804 }, { 1, other, 100 }, { 3, hypotheses, 100 } };
  g_autoptr (PlaitMetric) metric = plait_metric_new ("meteor:tok=none", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      PlaitTextPairs pairs = { cases[i].sentences, hypotheses, 1, &cases[i].references };
      g_autoptr (PlaitResult) result = plait_evaluate (metric, &pairs, 0, 1, NULL);

      CONTEXT ("case %u", i);
      REQUIRE (result != NULL);
      CHECK_NEAR (result->score, cases[i].score, 1e-10);
    }
}

static const char *const lexicon[] = { "run", "runs", "dog", "dogs", "the" };
static const guint stems[] = { 0, 0, 1, 1, 2 };

typedef struct
{
  guint n[2], words[2][MAX_WORDS];
  gint places[MAX_WORDS];
  guint matches, pieces, distance, exact; /* values of the best alignment so far */
} Search;

static void
judge (Search *search)
{
  guint matches = 0, pieces = 0, distance = 0, exact = 0;

  for (guint i = 0; i < search->n[0]; i++)
    {
      gint place = search->places[i];

      if (place < 0)
        continue;
      matches++;
      pieces += i == 0 || search->places[i - 1] < 0 || search->places[i - 1] + 1 != place;
      distance += (guint)ABS ((gint)i - place);
      exact += search->words[0][i] == search->words[1][place];
    }
  if (matches != search->matches     ? matches < search->matches
      : pieces != search->pieces     ? pieces > search->pieces
      : distance != search->distance ? distance > search->distance
                                     : exact <= search->exact)
    return;
  search->matches = matches;
  search->pieces = pieces;
  search->distance = distance;
  search->exact = exact;
}

static void
place_from (Search *search, guint i, guint taken)
{
  if (i >= MIN (search->n[0], MAX_WORDS))
    {
      judge (search);
      return;
    }
  search->places[i] = -1;
  place_from (search, i + 1, taken);
  for (guint j = 0; j < search->n[1]; j++)
    if (!(taken >> j & 1) && stems[search->words[0][i]] == stems[search->words[1][j]])
      {
        search->places[i] = (gint)j;
        place_from (search, i + 1, taken | 1u << j);
      }
}

TEST_CASE (meteor, finds_the_best_of_all_alignments)
{
  g_autoptr (PlaitMetric) metric = plait_metric_new ("meteor", NULL);

  for (guint trial = 0; trial < 300; trial++)
    {
      PlaitRandomKey key = plait_random_key (3, "alignment", NULL, trial);
      Search search = { .n = { 1 + (guint)plait_random_below (key, 0, MAX_WORDS),
                               1 + (guint)plait_random_below (key, 1, MAX_WORDS) } };
      g_autoptr (GString) first = g_string_new (NULL), second = g_string_new (NULL);
      GString *const text[] = { first, second };

      for (guint s = 0; s < 2; s++)
        for (guint i = 0; i < search.n[s]; i++)
          {
            guint word = (guint)plait_random_below (key, 2 + s * MAX_WORDS + i, G_N_ELEMENTS (lexicon));

            search.words[s][i] = word;
            g_string_append_printf (text[s], "%s ", lexicon[word]);
          }
      place_from (&search, 0, 0);
      const char *const hypotheses[] = { text[0]->str }, *const lines[] = { text[1]->str };
      const char *const *references[] = { lines };
      PlaitTextPairs pairs = { 1, hypotheses, 1, references };
      g_autoptr (PlaitStatistics) statistics = plait_metric_statistics (metric, &pairs, NULL);

      REQUIRE (statistics != NULL);
      CONTEXT ("\"%s\" against \"%s\"", text[0]->str, text[1]->str);
      CHECK_NEAR (statistics->values[2], search.exact, 0);
      CHECK_NEAR (statistics->values[3], search.matches - search.exact, 0);
      gboolean whole = search.matches == search.n[0] && search.matches == search.n[1] && search.pieces == 1;
      CHECK_NEAR (statistics->values[4], whole ? 0 : search.pieces, 0);
    }
}

TEST_CASE (meteor, long_texts_are_aligned_at_once)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < 1000; i++)
    g_string_append (text, i % 3 ? "the dog " : "a b ");
  CHECK_NEAR (score_of ("meteor", text->str, text->str), 100, 1e-10);
}
