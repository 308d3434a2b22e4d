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

/* Each rate can be read back from its text. Other text is refused. */
TEST_CASE (translation_rates, read_back_from_their_text)
{
  static const struct
  {
    PlaitTranslationFault fault;
    const char *text;
    double score; /* percentage if 1 of 12 words is above and 3 are below */
  } rates[] = {
    { PLAIT_OVER_TRANSLATION, "over-translation:of=search,source=en,layers=mean,bound=0.2", 100. / 12 },
    { PLAIT_UNDER_TRANSLATION, "under-translation:of=search,source=en,layers=mean,bound=0.2", 25 },
  };
  static const char *const others[] = { "bleu", "over-translation", "over-translation:of=search",
                                        "over:of=search,source=en", "perplexity:of=a,source=b" };
  const double sums[] = { 1, 3, 12 };
  char *of, *source;

  for (guint i = 0; i < G_N_ELEMENTS (rates); i++)
    {
      g_autoptr (PlaitMetric) made
          = plait_metric_new_translation_rate (rates[i].fault, .2, "search", "en", "mean", "rate en");
      g_autoptr (PlaitMetric) read
          = plait_metric_read_translation_rate (plait_metric_text (made), "rate en", &of, &source);
      CONTEXT ("%s", rates[i].text);

      REQUIRE (read != NULL);
      CHECK_STRING (of, "search");
      CHECK_STRING (source, "en");
      CHECK_STRING (plait_metric_text (made), rates[i].text);
      CHECK_STRING (plait_metric_text (read), rates[i].text);
      CHECK_STRING (plait_metric_title (read), "rate en");
      CHECK_NEAR (plait_metric_score (made, sums), rates[i].score, 1e-12);
      CHECK_NEAR (plait_metric_score (read, sums), rates[i].score, 1e-12);
      g_free (of);
      g_free (source);
    }
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    CHECK (!plait_metric_read_translation_rate (others[i], "none", &of, &source) && !of && !source);
}

enum
{
  SENTENCES = 8,
  MAX_ITEMS = 1 << 20,
};

/* Rates that a run stores. */
typedef struct
{
  const char *of;    /* search or forced */
  const char *group; /* group of /attention with the sentences that are counted */
  const char *source;
  const char *layers; /* mean or last */
  double bounds[2];   /* indexed by PlaitTranslationFault */
} Rates;

/* Counts, from the attention that @run stores, the tokens of the source in sentence @s. Sets counts[0] to the number of
 * tokens with more attention than bounds[0], counts[1] to that with less than bounds[1], and counts[2] to that of all
 * tokens. A target that was cut at the length limit has no end token to leave out. Returns TRUE if the target has an
 * end token. */
static gboolean
count_kept (PlaitStore *run, const Rates *rates, gint64 s, gint64 *counts)
{
  g_autofree char *group = g_strdup_printf ("/attention/%s/%jd/%s", rates->group, s, rates->source);
  g_autofree char *path = g_strconcat (group, "/weights", NULL), *labels = g_strconcat (group, "/target_labels", NULL);
  g_autofree double *weights = plait_store_read_array (run, path, PLAIT_STORE_DOUBLE, MAX_ITEMS, NULL, NO_ERROR);
  g_auto (GStrv) targets = plait_store_read_strings (run, labels, MAX_ITEMS, NULL, NO_ERROR);
  gboolean last_layer = g_str_equal (rates->layers, "last"), ended;
  PlaitStoreObject object;

  counts[0] = counts[1] = counts[2] = 0;
  if (!weights || !targets || !plait_store_describe (run, path, &object, NO_ERROR))
    return FALSE;
  CHECK_INT (object.rank, 4);
  CHECK_INT (g_strv_length (targets), object.shape[2]);
  ended = g_str_equal (targets[object.shape[2] - 1], "</s>");
  for (gint64 i = 0; i < object.shape[3] - 1; i++) /* the last row is the end token */
    {
      double sum = 0;

      for (gint64 l = last_layer ? object.shape[0] - 1 : 0; l < object.shape[0]; l++)
        for (gint64 h = 0; h < object.shape[1]; h++)
          for (gint64 t = 0; t < object.shape[2] - ended; t++)
            sum += weights[((l * object.shape[1] + h) * object.shape[2] + t) * object.shape[3] + i]
                   / (double)(object.shape[1] * (last_layer ? 1 : object.shape[0]));
      counts[0] += sum > rates->bounds[0];
      counts[1] += sum < rates->bounds[1];
      counts[2]++;
    }
  return ended;
}

/* Checks that @result has the share sums[@fault] / sums[2] as the score of @fault, and that the scorer that comparisons
 * use gives this score. */
static void
check_score (const PlaitRunResult *result, const Rates *rates, PlaitTranslationFault fault, const double *sums)
{
  g_autofree char *name
      = g_strdup_printf ("%s-translation:of=%s,source=%s,layers=%s,bound=%g", fault ? "under" : "over", rates->of,
                         rates->source, rates->layers, rates->bounds[fault]);
  const PlaitRunScore *score = plait_run_result_find (result, "test", name);
  double summed[3] = { 0 };
  CONTEXT ("%s", name);

  REQUIRE (score && score->scorer);
  CHECK_NEAR (score->score, 100 * sums[fault] / sums[2], 1e-9);
  CHECK_INT (score->statistics->sentences, SENTENCES);
  plait_statistics_sum (score->statistics, summed);
  CHECK_NEAR (plait_metric_score (score->scorer, summed), score->score, 1e-9);
}

/* Checks that the table of a source agrees, sentence by sentence, with the attention that @run stores, and that the
 * rates of over- and under-translation are the shares in this table. Adds the counts of the table to @sums. Returns the
 * number of targets with an end token. */
static guint
check_source (PlaitStore *run, const PlaitRunResult *result, const Rates *rates, double *sums)
{
  static const char *const columns[] = { "over", "under", "words" };
  gint64 found[3][SENTENCES] = { 0 };
  guint ended = 0;
  CONTEXT ("%s, %s", rates->of, rates->source);

  for (guint c = 0; c < 3; c++)
    CHECK (plait_store_read (
        run, plait_test_format ("/evaluation/test/translation_rates/%s/%s/%s", rates->of, rates->source, columns[c]),
        PLAIT_STORE_INT64, SENTENCES, found[c], NO_ERROR));
  for (gint64 s = 0; s < SENTENCES; s++)
    {
      gint64 expected[3];
      CONTEXT ("sentence %d", (int)s);

      ended += count_kept (run, rates, s, expected);
      for (guint c = 0; c < 3; c++)
        {
          CHECK_INT (found[c][s], expected[c]);
          sums[c] += (double)expected[c];
        }
    }
  check_score (result, rates, PLAIT_OVER_TRANSLATION, sums);
  check_score (result, rates, PLAIT_UNDER_TRANSLATION, sums);
  return ended;
}

/* Checks the rates of both sources, in search and in forced decoding, in a run with the combiner @combiner. Its
 * training is so short that some hypotheses are cut at the length limit. */
static void
check_run (const char *combiner, const char *layers, const double *bounds)
{
  static const char *const sources[] = { "a", "b" };
  const char *overrides[] = { plait_test_format ("decoder.combiner=%s", combiner),
                              plait_test_format ("evaluate.translation_rate_layers=%s", layers),
                              plait_test_format ("evaluate.translation_rate_over=%g", bounds[0]),
                              plait_test_format ("evaluate.translation_rate_under=%g", bounds[1]),
                              "decoder.layers=2",
                              "evaluate.translation_rates=search;forced",
                              "evaluate.attention=8",
                              "train.updates=1",
                              NULL };
  const char *experiment = test_write_experiment_of_two ("tiny", NULL);
  g_autoptr (PlaitStore) run = test_run_open (experiment, overrides, plait_test_format ("%s.h5", combiner));
  g_autoptr (PlaitRunResult) result = run ? plait_run_result_new (run, NO_ERROR) : NULL;
  gint64 n_metrics = 0;

  REQUIRE (result != NULL);
  for (guint i = 0; i < 2; i++)
    {
      Rates forced = { "forced", "test-forced", sources[i], layers, { bounds[0], bounds[1] } };
      Rates search = { "search", "test", sources[i], layers, { bounds[0], bounds[1] } };
      double sums[3] = { 0 }, of_search[3] = { 0 };

      CHECK_INT (check_source (run, result, &forced, sums), SENTENCES);
      CHECK (check_source (run, result, &search, of_search) < SENTENCES);
      CHECK (sums[0] > 0 && sums[1] > 0 && sums[0] + sums[1] < sums[2]);
    }
  g_auto (GStrv) metrics
      = plait_store_read_strings (run, "/evaluation/test/metrics/metric", MAX_ITEMS, &n_metrics, NO_ERROR);
  REQUIRE (metrics != NULL);
  /* two metrics, two perplexities, two rates of two sources in search and forced decoding */
  CHECK_INT (n_metrics, 2 + 2 + 8);
}

TEST_CASE (translation_rates, are_what_the_kept_attention_says)
{
  check_run ("hierarchical", "mean", (const double[]){ 1.7, 1.4 });
  check_run ("flat", "last", (const double[]){ .8, .5 });
}

/* Rates of search are counted from the attention of the hypotheses. The end token of a hypothesis does not count. */
TEST_CASE (translation_rates, of_search_are_those_of_the_hypotheses)
{
  static const char *const overrides[] = { "evaluate.translation_rates=search", "evaluate.translation_rate_over=0.25",
                                           "evaluate.translation_rate_under=0.15", "evaluate.attention=8", NULL };
  const char *experiment = test_write_experiment ("tiny", NULL);
  g_autoptr (PlaitStore) run = test_run_open (experiment, overrides, "run.h5");
  g_autoptr (PlaitRunResult) result = run ? plait_run_result_new (run, NO_ERROR) : NULL;
  const Rates rates = { "search", "test", "a", "mean", { .25, .15 } };
  double sums[3] = { 0 };

  REQUIRE (result != NULL);
  CHECK (!plait_store_has (run, "/evaluation/test/translation_rates/forced"));
  CHECK (check_source (run, result, &rates, sums) > 0);
  CHECK (sums[0] > 0 && sums[1] > 0 && sums[0] + sums[1] < sums[2]);
}
