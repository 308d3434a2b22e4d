/* SPDX-License-Identifier: MIT */
#include "metrics/translation-rate.h"
#include "run/result.h"
#include "cross-attention/token-attention.h"
#include "dumps/translation-rates.h"
#include "harness.h"
#include "runs.h"

#include <math.h>

/* Tests of rates of over- and under-translation, computed from attention. */

static const PlaitAttentionSelection of_all = { PLAIT_ATTENTION_MEAN, PLAIT_ATTENTION_MEAN };
static const PlaitAttentionSelection of_the_last = { PLAIT_ATTENTION_LAST, PLAIT_ATTENTION_MEAN };

/*
 * By hand. Memory 1 of two has two rows, and layer 1 of three does not attend to it. Two of three target rows count.
 * Layer 0 has the heads (.2 .8 / .6 .4) and (.4 .6 / 1 0): their mean is (.3 .7 / .8 .2), its sum over target rows 1.1
 * .9. Layer 2 has one head (.5 .5 / 0 1), with the sum .5 1.5. The mean of the layers is .8 1.2.
 */
TEST_CASE (translation_rates, sums_by_hand)
{
  PlaitScalar first[] = { .2f, .8f, .6f, .4f, 1, 0, .4f, .6f, 1, 0, 0, 1 };
  PlaitScalar last[] = { .5f, .5f, 0, 1, 1, 0 };
  PlaitRecordedLayer nothing[3] = { { 0 } }, layers[] = { { 2, first }, { 0 }, { 1, last } };
  PlaitRecordedAttention second = { NULL, NULL, 1, layers };
  PlaitRecordedAttention attentions = { &second, NULL, 0, nothing };
  static const gint64 three[] = { 0, 3 }, two[] = { 0, 2 };
  static const PlaitMemory memories[] = { { .rows = { 1, three } }, { .rows = { 1, two } } };
  PlaitAttentionRecord attention = {
    .n_layers = 3,
    .n_memories = 2,
    .queries = { 1, three },
    .memories = memories,
    .attentions = &attentions,
  };
  double sums[2] = { 0 }, of_last[2] = { 0 }, none[3] = { 0 };

  CHECK (plait_attention_sums (&attention, 1, 0, 2, of_all, sums));
  CHECK_NEAR (sums[0], .8, 1e-6);
  CHECK_NEAR (sums[1], 1.2, 1e-6);
  CHECK (plait_attention_sums (&attention, 1, 0, 2, of_the_last, of_last));
  CHECK_NEAR (of_last[0], .5, 1e-6);
  CHECK_NEAR (of_last[1], 1.5, 1e-6);
  CHECK (!plait_attention_sums (&attention, 0, 0, 2, of_all, none));

  /* Sums for one head of one layer and one target row; then for a layer that does not attend to the memory, and for a
   * head that does not exist. */
  double of_head[2] = { 0 };

  CHECK (plait_attention_sums (&attention, 1, 1, 2, (PlaitAttentionSelection){ 0, 1 }, of_head));
  CHECK_NEAR (of_head[0], 1, 1e-6);
  CHECK_NEAR (of_head[1], 0, 1e-6);
  CHECK (!plait_attention_sums (&attention, 1, 0, 1, (PlaitAttentionSelection){ 1, 0 }, none));
  CHECK (!plait_attention_sums (&attention, 1, 0, 1, (PlaitAttentionSelection){ 0, 2 }, none));
}

/* Layer 0 has two attentions to one memory, (.2 .8) and (1 0). Layer 1 has one attention, (.5 .5). The mean is taken
 * over the three attentions. */
TEST_CASE (translation_rates, take_the_mean_of_several_attentions)
{
  PlaitScalar first[] = { .2f, .8f }, second[] = { 1, 0 }, last[] = { .5f, .5f };
  PlaitRecordedLayer of_one[] = { { 1, first }, { 0 } }, of_other[] = { { 1, second }, { 1, last } };
  PlaitRecordedAttention other = { .name = "other", .layers = of_other };
  PlaitRecordedAttention attentions = { .next = &other, .layers = of_one };
  static const gint64 one[] = { 0, 1 }, two[] = { 0, 2 };
  static const PlaitMemory memory = { .rows = { 1, two } };
  PlaitAttentionRecord attention = {
    .n_layers = 2,
    .n_memories = 1,
    .queries = { 1, one },
    .memories = &memory,
    .attentions = &attentions,
  };
  double sums[2] = { 0 }, of_last[2] = { 0 };

  CHECK (plait_attention_sums (&attention, 0, 0, 1, of_all, sums));
  CHECK_NEAR (sums[0], 1.7 / 3, 1e-6);
  CHECK_NEAR (sums[1], 1.3 / 3, 1e-6);
  CHECK (plait_attention_sums (&attention, 0, 0, 1, of_the_last, of_last));
  CHECK_NEAR (of_last[0], .5, 1e-6);
}

/* Row 5 spans the leaves 0 to 2 and row 6 the leaves 2 to 4, so they share leaf 2; row 7 spans both rows. The weight .6
 * of row 7 gives .3 to each of the rows 5 and 6. Then the weights of the rows 5 and 6 go to three leaves each. */
TEST_CASE (translation_rates, spread_over_the_leaves_of_a_pyramid_by_hand)
{
  gint64 level[] = { 0, 0, 0, 0, 0, 1, 1, 2 }, first_child[] = { -1, -1, -1, -1, -1, 0, 2, 5 };
  gint64 n_children[] = { 0, 0, 0, 0, 0, 3, 3, 2 };
  const PlaitLinks links = { .level = level, .first_child = first_child, .n_children = n_children };
  double sums[] = { .1, 0, 0, 0, 0, .1, .3, .6 };
  static const double expected[] = { .1 + .4 / 3, .4 / 3, .4 / 3 + .2, .2, .2, 0, 0, 0 };

  plait_attention_spread_levels (&links, 8, sums);
  for (guint i = 0; i < 8; i++)
    CHECK_NEAR (sums[i], expected[i], 1e-12);
}

/* A sentence has the tree ((0 1) 2) and an end token. Of the weight .9 of the root, .3 goes to leaf 2 and .6 to
 * the node above the leaves 0 and 1. This node then has 1.2 and gives .6 to each of its leaves. */
TEST_CASE (translation_rates, spread_over_leaves_by_hand)
{
  static const gint64 left[] = { -1, -1, -1, -1, 0, 4 }, right[] = { -1, -1, -1, -1, 1, 2 };
  const PlaitLinks links = { .left = left, .right = right };
  double sums[] = { .1, .2, .3, .4, .6, .9 };
  static const double expected[] = { .7, .8, .6, .4, 0, 0 };

  plait_attention_spread (&links, 6, sums);
  for (guint i = 0; i < 6; i++)
    CHECK_NEAR (sums[i], expected[i], 1e-12);
}

/* A rate of under-translation can be read back from its text. Other text is refused. */
TEST_CASE (translation_rates, read_back_from_their_text)
{
  g_autoptr (PlaitMetric) made
      = plait_metric_new_translation_rate (PLAIT_UNDER_TRANSLATION, .2, "search", "en", "mean", "under en");
  static const char *const others[] = { "bleu", "over-translation", "over-translation:of=search",
                                        "over:of=search,source=en", "perplexity:of=a,source=b" };
  const double sums[] = { 1, 3, 12 };
  char *of, *source;
  g_autoptr (PlaitMetric) read
      = plait_metric_read_translation_rate (plait_metric_text (made), "under en", &of, &source);

  REQUIRE (read != NULL);
  CHECK_STRING (of, "search");
  CHECK_STRING (source, "en");
  CHECK_STRING (plait_metric_text (read), plait_metric_text (made));
  CHECK_STRING (plait_metric_title (read), "under en");
  CHECK_NEAR (plait_metric_score (read, sums), 25, 1e-12);
  g_free (of);
  g_free (source);
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    CHECK (!plait_metric_read_translation_rate (others[i], "none", &of, &source) && !of && !source);
}

enum
{
  SENTENCES = 8,
  MAX_ITEMS = 1 << 20,
};

/* Counts, from the attention that @run stores, the tokens of sentence @s of source @name. Sets counts[0] to the number
 * of tokens with more attention than bounds[0], counts[1] to that with less than bounds[1], and counts[2] to that of
 * all tokens. */
static void
count_kept (PlaitStore *run, const char *group, gint64 s, const char *name, gboolean last_layer, const double *bounds,
            gint64 *counts)
{
  g_autofree char *path = g_strdup_printf ("/attention/%s/%jd/%s/weights", group, s, name);
  PlaitStoreObject object;
  g_autofree double *weights = plait_store_read_array (run, path, PLAIT_STORE_DOUBLE, MAX_ITEMS, NULL, NULL);

  counts[0] = counts[1] = counts[2] = 0;
  REQUIRE (weights && plait_store_describe (run, path, &object, NULL) && object.rank == 4);
  for (gint64 i = 0; i < object.shape[3] - 1; i++) /* the last row is the end token */
    {
      double sum = 0;

      for (gint64 l = last_layer ? object.shape[0] - 1 : 0; l < object.shape[0]; l++)
        for (gint64 h = 0; h < object.shape[1]; h++)
          for (gint64 t = 0; t < object.shape[2] - 1; t++)
            sum += weights[((l * object.shape[1] + h) * object.shape[2] + t) * object.shape[3] + i]
                   / (double)(object.shape[1] * (last_layer ? 1 : object.shape[0]));
      counts[0] += sum > bounds[0];
      counts[1] += sum < bounds[1];
      counts[2]++;
    }
}

/* Checks that the table of source b of a run agrees, sentence by sentence, with the attention that the run stores for
 * the references, and that the rate of over-translation is the share in this table. */
static void
check_run (const char *combiner, const char *layers, gboolean last_layer, const double *bounds)
{
  g_autofree char *combine = g_strconcat ("decoder.combiner=", combiner, NULL);
  g_autofree char *choose = g_strconcat ("evaluate.translation_rate_layers=", layers, NULL);
  g_autofree char *over = g_strdup_printf ("evaluate.translation_rate_over=%g", bounds[0]);
  g_autofree char *under = g_strdup_printf ("evaluate.translation_rate_under=%g", bounds[1]);
  const char *overrides[] = { combine, choose, "decoder.layers=2",     "evaluate.translation_rates=search;forced",
                              over,    under,  "evaluate.attention=8", "train.updates=1",
                              NULL };
  const char *experiment = test_write_experiment ("tiny", NULL);
  g_autoptr (PlaitStore) run = test_run_open (experiment, overrides, plait_test_format ("%s.h5", combiner));
  GError *error = NULL;
  static const char *const columns[] = { "over", "under", "words" };
  double sums[3] = { 0 };
  gint64 n_metrics = 0;

  REQUIRE (run != NULL);
  for (gint64 s = 0; s < SENTENCES; s++)
    {
      gint64 expected[3];
      CONTEXT ("sentence %d", (int)s);

      count_kept (run, "test-forced", s, "b", last_layer, bounds, expected);
      for (guint c = 0; c < 3; c++)
        {
          g_autofree char *column = g_strdup_printf ("/evaluation/test/translation_rates/forced/b/%s", columns[c]);
          gint64 found[SENTENCES] = { 0 };

          CHECK (plait_store_read (run, column, PLAIT_STORE_INT64, SENTENCES, found, NULL));
          CHECK_INT (found[s], expected[c]);
          sums[c] += (double)expected[c];
        }
    }
  CHECK (sums[0] > 0 && sums[1] > 0 && sums[0] + sums[1] < sums[2]);
  g_auto (GStrv) metrics
      = plait_store_read_strings (run, "/evaluation/test/metrics/metric", MAX_ITEMS, &n_metrics, &error);
  g_autofree double *scores
      = plait_store_read_array (run, "/evaluation/test/metrics/score", PLAIT_STORE_DOUBLE, MAX_ITEMS, NULL, &error);
  g_autofree char *name = g_strdup_printf ("over-translation:of=forced,source=b,layers=%s,bound=%g", layers, bounds[0]);
  gboolean found = FALSE;
  REQUIRE (metrics && scores);
  CHECK_INT (n_metrics,
             2 + 2 + 8); /* two metrics, two perplexities, two rates of two sources in search and forced decoding */
  for (gint64 i = 0; i < n_metrics; i++)
    if (g_str_equal (metrics[i], name))
      {
        found = TRUE;
        CHECK_NEAR (scores[i], 100 * sums[0] / sums[2], 1e-9);
      }
  CHECK (found);

  /* The scorer that comparisons use must give the score that the run stores. */
  g_autoptr (PlaitRunResult) result = plait_run_result_new (run, &error);
  REQUIRE (result != NULL);
  const PlaitRunScore *score = plait_run_result_find (result, "test", name);
  REQUIRE (score && score->scorer);
  CHECK_INT (score->statistics->sentences, SENTENCES);
  plait_statistics_sum (score->statistics, sums);
  CHECK_NEAR (plait_metric_score (score->scorer, sums), score->score, 1e-9);
}

TEST_CASE (translation_rates, are_what_the_kept_attention_says)
{
  check_run ("hierarchical", "mean", FALSE, (const double[]){ 1.7, 1.4 });
  check_run ("flat", "last", TRUE, (const double[]){ .8, .5 });
}

/* Rates of search are counted from the attention of the hypotheses. */
TEST_CASE (translation_rates, of_search_are_those_of_the_hypotheses)
{
  static const char *const overrides[] = { "evaluate.translation_rates=search",
                                           "evaluate.translation_rate_over=0.8",
                                           "evaluate.translation_rate_under=0.5",
                                           "evaluate.attention=8",
                                           "decode.minimum_length=4",
                                           "train.updates=1",
                                           NULL };
  const char *experiment = test_write_experiment ("tiny", NULL);
  g_autoptr (PlaitStore) run = test_run_open (experiment, overrides, "run.h5");
  gint64 over[SENTENCES] = { 0 };

  REQUIRE (run != NULL);
  CHECK (!plait_store_has (run, "/evaluation/test/translation_rates/forced"));
  CHECK (plait_store_read (run, "/evaluation/test/translation_rates/search/a/over", PLAIT_STORE_INT64, SENTENCES, over,
                           NULL));
  for (gint64 s = 0; s < SENTENCES; s++)
    {
      g_autofree char *labels = g_strdup_printf ("/attention/test/%jd/a/target_labels", s);
      g_auto (GStrv) targets = plait_store_read_strings (run, labels, MAX_ITEMS, NULL, NULL);
      gint64 expected[3];

      /* A hypothesis that was cut at the length limit has no end token to leave out. */
      REQUIRE (targets != NULL);
      if (!g_str_equal (targets[g_strv_length (targets) - 1], "</s>"))
        continue;
      count_kept (run, "test", s, "a", FALSE, (const double[]){ .8, .5 }, expected);
      CHECK_INT (over[s], expected[0]);
    }
}
