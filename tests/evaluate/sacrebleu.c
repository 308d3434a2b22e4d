/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "sacrebleu-cases.h"

#include "significance/report.h"
#include "words/text.h"

#include <locale.h>
#include <string.h>

/* Returns sacreBLEU's signature with plait's version in it. (transfer full) */
static char *
expected_text (guint corpus, guint metric)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "%s%s%s%s", metric_cases[metric].name, score_cases[corpus].references,
                          metric_cases[metric].signature, score_cases[corpus].by_metric[metric].text);
  g_string_replace (text, SACREBLEU_VERSION, "version:plait-" PLAIT_VERSION, 1);
  return g_string_free (text, FALSE);
}

static void
check_score (guint corpus, guint m)
{
  CONTEXT ("corpus \"%s\", metric %s", corpora[corpus].name, metric_cases[m].metric);
  const char *const *references[3];
  for (guint k = 0; k < corpora[corpus].sets; k++)
    references[k] = corpora[corpus].references[k];
  PlaitTextPairs pairs = { corpora[corpus].sentences, corpora[corpus].hypotheses, corpora[corpus].sets, references };

  g_autoptr (PlaitMetric) metric = plait_metric_new (metric_cases[m].metric, NO_ERROR);
  REQUIRE (metric != NULL);
  g_autoptr (PlaitResult) result = plait_evaluate (metric, &pairs, 0, 1, NO_ERROR);
  REQUIRE (result != NULL);
  CHECK_NEAR (result->score, score_cases[corpus].by_metric[m].score, 1e-10);
  CHECK_INT (result->sentences, corpora[corpus].sentences);
  g_autofree char *text = plait_result_to_text (result, 2), *expected = expected_text (corpus, m);
  CHECK_STRING (text, expected);
}

static void
check_all_scores (void)
{
  for (guint corpus = 0; corpus < G_N_ELEMENTS (corpora); corpus++)
    for (guint m = 0; m < G_N_ELEMENTS (metric_cases); m++)
      check_score (corpus, m);
}

TEST_CASE (sacrebleu, scores)
{
  check_all_scores ();
}

TEST_CASE (sacrebleu, scores_do_not_depend_on_the_locale)
{
  static const char *const names[] = { "de_DE.UTF-8", "cs_CZ.UTF-8", "fr_FR.UTF-8", "tr_TR.UTF-8", "de_DE", "tr_TR" };
  gboolean any = FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (setlocale (LC_ALL, names[i]))
      {
        any = TRUE;
        check_all_scores ();
      }
  setlocale (LC_ALL, "C");
  if (!any)
    SKIP_TEST ("no locale with a decimal comma or a dotless i is installed");
}

TEST_CASE (sacrebleu, tokens)
{
  for (guint i = 0; i < G_N_ELEMENTS (token_cases); i++)
    {
      CONTEXT ("line \"%s\"", token_cases[i].line);
      g_autofree char *line = g_strdup (token_cases[i].line);
      g_autofree char *tokens = plait_tokenise_13a (line);
      CHECK_STRING (tokens, token_cases[i].tokens);
      g_autofree char *international = plait_tokenise_international (token_cases[i].line);
      CHECK_STRING (international, token_cases[i].international);
      g_autofree char *characters = plait_tokenise_characters (token_cases[i].line);
      CHECK_STRING (characters, token_cases[i].characters);
      g_autofree char *chinese = plait_tokenise_chinese (token_cases[i].line);
      CHECK_STRING (chinese, token_cases[i].chinese);
    }
}

TEST_CASE (sacrebleu, lower_case)
{
  for (guint i = 0; i < G_N_ELEMENTS (lower_cases); i++)
    {
      CONTEXT ("text \"%s\"", lower_cases[i].text);
      g_autofree char *lower = plait_text_lower (lower_cases[i].text);
      CHECK_STRING (lower, lower_cases[i].lower);
    }
}
