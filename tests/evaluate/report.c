/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include "text/error.h"
#include "metrics/perplexity.h"
#include "significance/report.h"

#include <math.h>

TEST_CASE (perplexity, by_hand)
{
  /* Three sentences with together 6 nats over 4 tokens and 3 words. */
  const double log_probabilities[] = { -2, -4, 0 };
  const gint64 tokens[] = { 1, 3, 0 }, words[] = { 1, 2, 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitStatistics) statistics = plait_perplexity_statistics (log_probabilities, tokens, words, 3, NO_ERROR);
  REQUIRE (statistics != NULL);

  g_autoptr (PlaitMetric) per_token = plait_metric_new_perplexity (PLAIT_PERPLEXITY_TOKEN);
  g_autoptr (PlaitMetric) per_word = plait_metric_new_perplexity (PLAIT_PERPLEXITY_WORD);
  g_autoptr (PlaitResult) token = plait_result_new (per_token, statistics, 0, 1, &error);
  g_autoptr (PlaitResult) word = plait_result_new (per_word, statistics, 0, 1, &error);
  REQUIRE (token && word);
  CHECK_NEAR (token->score, exp (1.5), 1e-12);
  CHECK_NEAR (word->score, exp (2), 1e-12);
  CHECK (!token->larger_is_better);

  g_autofree char *text = plait_result_to_text (word, 2);
  CHECK_STRING (text, "perplexity per word|unit:word|version:plait-" PLAIT_VERSION
                      " = 7.39 (log_probability = -6.000 tokens = 4 words = 3)");
}

TEST_CASE (perplexity, refuses_impossible_sums)
{
  static const struct
  {
    double log_probability;
    gint64 tokens, words;
    const char *message;
  } cases[] = {
    { 0.5, 1, 1, "sentence 1 has log-probability 0.5 for 1 tokens and 1 words" },
    { NAN, 1, 1, "log-probability nan" },
    { -1, -1, 1, "for -1 tokens" },
    { -1, 1, -1, "and -1 words" },
    { -1, 0, 1, "has 0 tokens and 1 words" },
    { -1, 1, 0, "has 1 tokens and 0 words" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      CHECK (!plait_perplexity_statistics (&cases[i].log_probability, &cases[i].tokens, &cases[i].words, 1, &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, cases[i].message);
    }
}

TEST_CASE (perplexity, of_nothing)
{
  /* A resample may consist of sentences without words. */
  g_autoptr (PlaitMetric) metric = plait_metric_new_perplexity (PLAIT_PERPLEXITY_WORD);
  const double end_alone[] = { -1, 1, 0 }, nothing[] = { 0, 0, 0 };
  CHECK (isinf (plait_metric_score (metric, end_alone)));
  CHECK_NEAR (plait_metric_score (metric, nothing), 1, 0);
}

TEST_CASE (perplexity, of_an_impossible_sentence_is_infinite)
{
  const double log_probabilities[] = { -INFINITY, -1 };
  const gint64 counts[] = { 1, 1 };
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitStatistics) statistics = plait_perplexity_statistics (log_probabilities, counts, counts, 2, &error);
  REQUIRE (statistics != NULL);
  g_autoptr (PlaitMetric) metric = plait_metric_new_perplexity (PLAIT_PERPLEXITY_TOKEN);
  g_autoptr (PlaitResult) result = plait_result_new (metric, statistics, 0, 1, &error);
  REQUIRE (result != NULL);
  CHECK (isinf (result->score));
  g_autoptr (PlaitJson) json = plait_json_new ();
  plait_result_add_json (result, json);
  CHECK_CONTAINS (plait_json_string (json), "\"score\": null");

  /* The difference of infinite scores is NaN and never significant. */
  PlaitComparison comparison;
  REQUIRE (plait_compare_systems (metric, statistics, statistics, PLAIT_TEST_PERMUTATION, 20, 1, &comparison, &error));
  CHECK (comparison.p == 1);
}

static PlaitResult example = {
  .metric = (char *)"bleu:tok=none",
  .name = (char *)"BLEU",
  .signature = (char *)"nrefs:1|\"\\\t\001é",
  .detail = (char *)"detail",
  .score = 23.456,
  .sentences = 12,
  .interval = { .resamples = 1000, .seed = 5, .mean = 23.4449, .low = 22, .high = 25.5, .half_range = 1.75 },
};

TEST_CASE (report, text)
{
  g_autofree char *text = plait_result_to_text (&example, 2);
  CHECK_STRING (text, "BLEU|nrefs:1|\"\\\t\001é = 23.46 (μ = 23.44 ± 1.75) detail");
  g_autofree char *cell = plait_table_score_text ("%.1f", plait_result_score (&example));
  CHECK_STRING (cell, "23.5 [22.0, 25.5]");

  PlaitResult bare = example;
  bare.interval.resamples = 0;
  bare.detail = NULL;
  g_autofree char *bare_text = plait_result_to_text (&bare, 0);
  CHECK_STRING (bare_text, "BLEU|nrefs:1|\"\\\t\001é = 23");
  g_autofree char *bare_cell = plait_table_score_text ("%.2f", plait_result_score (&bare));
  CHECK_STRING (bare_cell, "23.46");
}

TEST_CASE (report, json)
{
  g_autoptr (PlaitJson) json = plait_json_new ();
  plait_json_begin_array (json, NULL);
  plait_result_add_json (&example, json);
  PlaitResult bare = {
    .metric = (char *)"m", .name = (char *)"{", .signature = (char *)"", .score = 0.1 + 0.2, .larger_is_better = TRUE
  };
  plait_result_add_json (&bare, json);
  plait_json_end_array (json);
  CHECK_STRING (plait_json_string (json), "[\n"
                                          "  {\n"
                                          "    \"name\": \"BLEU\",\n"
                                          "    \"score\": 23.456,\n"
                                          "    \"signature\": \"nrefs:1|\\\"\\\\\\u0009\\u0001é\",\n"
                                          "    \"verbose_score\": \"detail\",\n"
                                          "    \"metric\": \"bleu:tok=none\",\n"
                                          "    \"larger_is_better\": false,\n"
                                          "    \"sentences\": 12,\n"
                                          "    \"confidence_mean\": 23.4449,\n"
                                          "    \"confidence_var\": 1.75,\n"
                                          "    \"confidence_low\": 22,\n"
                                          "    \"confidence_high\": 25.5,\n"
                                          "    \"resamples\": 1000,\n"
                                          "    \"seed\": 5\n"
                                          "  },\n"
                                          "  {\n"
                                          "    \"name\": \"{\",\n"
                                          "    \"score\": 0.30000000000000004,\n"
                                          "    \"signature\": \"\",\n"
                                          "    \"metric\": \"m\",\n"
                                          "    \"larger_is_better\": true,\n"
                                          "    \"sentences\": 0\n"
                                          "  }\n"
                                          "]\n");
}

TEST_CASE (report, comparison)
{
  PlaitComparison comparison = { PLAIT_TEST_PERMUTATION, 10000, 3, 20, 21.25, 1.25, -1, 0.0123, 0.0123, 0, 0, 0, 0 };
  g_autoptr (PlaitJson) json = plait_json_new ();
  plait_json_begin_object (json, NULL);
  plait_comparison_add_json (&comparison, json, "comparison");
  plait_json_end_object (json);
  CHECK_STRING (plait_json_string (json), "{\n"
                                          "  \"comparison\": {\n"
                                          "    \"test\": \"approximate randomisation\",\n"
                                          "    \"baseline\": 20,\n"
                                          "    \"system\": 21.25,\n"
                                          "    \"difference\": 1.25,\n"
                                          "    \"better\": -1,\n"
                                          "    \"p\": 0.0123,\n"
                                          "    \"adjusted_p\": 0.0123,\n"
                                          "    \"trials\": 10000,\n"
                                          "    \"seed\": 3\n"
                                          "  }\n"
                                          "}\n");

  comparison
      = (PlaitComparison){ PLAIT_TEST_BOOTSTRAP, 1000, 3, 20, 18.5, -1.5, 1, 0.01, 0.02, -1.5, -2.5, -0.25, 0.25 };
  g_autoptr (PlaitJson) of_bootstrap = plait_json_new ();
  plait_comparison_add_json (&comparison, of_bootstrap, NULL);
  CHECK_CONTAINS (plait_json_string (of_bootstrap), "  \"seed\": 3,\n"
                                                    "  \"mean\": -1.5,\n"
                                                    "  \"low\": -2.5,\n"
                                                    "  \"high\": -0.25,\n"
                                                    "  \"share_better\": 0.25\n"
                                                    "}\n");
}

/* The mark after p says whether the system is better or worse, as the metric defines it. */
TEST_CASE (report, a_mark_says_better_or_worse)
{
  static const char *const right[] = { "a b c d e f" }, *const wrong[] = { "f e d c b x" };
  const char *const *references[] = { right };
  const struct
  {
    const char *metric;
    const char *const *baseline, *const *system;
    double p;
    gint better;
    const char *mark;
  } cases[] = {
    { "chrf", wrong, right, 0.01, 1, " * better" }, { "chrf", right, wrong, 0.01, -1, " * worse" },
    { "ter", wrong, right, 0.01, 1, " * better" },  { "ter", right, wrong, 0.01, -1, " * worse" },
    { "ter", right, wrong, 0.06, -1, "" },          { "ter", right, right, 0.06, 0, "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (PlaitMetric) metric = plait_metric_new (cases[i].metric, NULL);
      g_autoptr (PlaitStatistics) one
          = plait_metric_statistics (metric, &(PlaitTextPairs){ 1, cases[i].baseline, 1, references }, NULL);
      g_autoptr (PlaitStatistics) other
          = plait_metric_statistics (metric, &(PlaitTextPairs){ 1, cases[i].system, 1, references }, NULL);
      g_autoptr (PlaitTable) table = plait_table_new ();
      PlaitComparison comparison;

      CONTEXT ("case %u", i);
      REQUIRE (plait_compare_systems (metric, one, other, PLAIT_TEST_PERMUTATION, 9, 1, &comparison, NULL));
      CHECK_INT (comparison.better, cases[i].better);
      comparison.adjusted_p = cases[i].p;
      plait_comparison_columns (table, plait_comparison_seeds (i % 3, i / 3));
      plait_comparison_cells (table, &comparison);
      CHECK_STRING (plait_table_cell_mark (plait_table_cell (table, 0, 1)), cases[i].mark);
      CHECK_STRING (plait_table_get_column (table, 1)->title, i % 3 == 0   ? "p (Holm)"
                                                              : i / 3 == 0 ? "p (Holm, one seed)"
                                                                           : "p (Holm, some of one seed)");
    }
}

TEST_CASE (report, signature_tells_resamples_and_seed)
{
  const char *hypotheses[] = { "a b c d", "e f g h i" }, *set[] = { "a b c d", "e f g x i" };
  const char *const *references[] = { set };
  PlaitTextPairs pairs = { 2, hypotheses, 1, references };
  g_autoptr (PlaitMetric) metric = plait_metric_new ("bleu", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitResult) result = plait_evaluate (metric, &pairs, 200, 12345, NO_ERROR);
  REQUIRE (result != NULL);
  CHECK_STRING (result->signature,
                "nrefs:1|bs:200|seed:12345|case:mixed|eff:no|tok:13a|smooth:exp|version:plait-" PLAIT_VERSION);
  CHECK_INT (result->interval.resamples, 200);
  CHECK (result->interval.low <= result->score && result->score <= result->interval.high);

  g_autoptr (PlaitResult) again = plait_evaluate (metric, &pairs, 200, 12345, &error);
  CHECK_NEAR (again->interval.mean, result->interval.mean, 0);
  g_autoptr (PlaitResult) other = plait_evaluate (metric, &pairs, 200, 12346, &error);
  CHECK (other->interval.mean != result->interval.mean);
  CHECK (!plait_evaluate (metric, &pairs, PLAIT_MAX_TRIALS + 1, 1, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "number of resamples");
}
