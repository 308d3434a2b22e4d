/* SPDX-License-Identifier: MIT */
#include "sample-run.h"

#include "run/length-table.h"
#include "harness.h"
#include "store/heatmap.h"
#include "store/table.h"

#define N 3

const char *const plait_test_right[]
    = { "a man rides a bike today", "two dogs run over green grass", "the child plays with a ball", NULL };
const char *const plait_test_wrong[]
    = { "a man rides bikes yesterday", "two dogs run under green grass", "the child play with the ball", NULL };

static void
write_attention (PlaitStore *store, gboolean turned)
{
  static const char *const axes[] = { "layer", "head", "target", "row" };
  static const char *const target[] = { "\u2581ein", "\u6f22\u5b57", "e\u0301\033[2J" };
  static const char *const row[] = { "\u2581<b>a</b>", "\u6f22" };
  static const char *const *const labels[] = { NULL, NULL, target, row };
  static const gint64 shape[] = { 2, 2, 3, 2 };
  /* The means over heads of the last layer: 1 0, .5 .5, 0 1. */
  PlaitScalar values[] = { .25, .75, .5, .5, 1, 0, .125, .875, 0, 1, .75, .25, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1 };
  GError *error = NULL;

  if (turned)
    {
      values[12] = 0;
      values[13] = 1;
    }
  plait_store_write_heatmap (store, "/attention/test/0/en",
                             &(PlaitStoreHeatmap){ .signal = "weights",
                                                   .rank = 4,
                                                   .shape = shape,
                                                   .values = values,
                                                   .axes = axes,
                                                   .labels = labels,
                                                   .title = "attention to en" },
                             &error);
  CHECK_NO_ERROR (error);
}

static void
write_training (PlaitStore *store)
{
  gint64 steps[30];
  double losses[30], rates[30], metrics[30];
  GError *error = NULL;

  for (gint64 i = 0; i < 30; i++)
    {
      steps[i] = (i + 1) * 100;
      losses[i] = 8. / (double)(i + 1);
      rates[i] = 1000 + (double)i;
      metrics[i] = (double)i / 2;
    }
  const PlaitStoreColumn updates[] = {
    { "step", PLAIT_STORE_INT64, steps, NULL },
    { "negative_log_likelihood", PLAIT_STORE_DOUBLE, losses, "nats a target token" },
    { "target_tokens_per_second", PLAIT_STORE_DOUBLE, rates, "1/s" },
  };
  const PlaitStoreColumn validation[] = {
    { "step", PLAIT_STORE_INT64, steps, NULL },
    { "negative_log_likelihood", PLAIT_STORE_DOUBLE, losses, "nats a target token" },
    { "metric", PLAIT_STORE_DOUBLE, metrics, NULL },
  };
  plait_store_write_table (store, "/training/updates", updates, 3, 30, "step", "negative_log_likelihood", &error);
  plait_store_write_table (store, "/training/validation", validation, 3, 3, "step", "negative_log_likelihood", &error);
  CHECK_NO_ERROR (error);
}

static void
write_evaluation (PlaitStore *store, const char *const *hypotheses)
{
  const char *const *references[] = { plait_test_right };
  PlaitTextPairs pairs = { N, hypotheses, 1, references };
  g_autoptr (PlaitMetric) metric = plait_metric_new ("chrf", NULL);
  GError *error = NULL;
  g_autoptr (PlaitResult) result = plait_evaluate (metric, &pairs, 100, 1, &error);

  CHECK_NO_ERROR (error);
  REQUIRE (result != NULL);
  const char *metrics[] = { result->metric, "perplexity" }, *names[] = { result->name, "perplexity per token" },
             *signatures[] = { result->signature, "unit:token" };
  double scores[] = { result->score, 7.5 }, low[] = { result->interval.low, 7.5 },
         high[] = { result->interval.high, 7.5 };
  const PlaitStoreColumn columns[] = {
    { "metric", PLAIT_STORE_STRING, metrics, NULL }, { "name", PLAIT_STORE_STRING, names, NULL },
    { "score", PLAIT_STORE_DOUBLE, scores, NULL },   { "low", PLAIT_STORE_DOUBLE, low, NULL },
    { "high", PLAIT_STORE_DOUBLE, high, NULL },      { "signature", PLAIT_STORE_STRING, signatures, NULL },
  };
  plait_store_write_table (store, "/evaluation/test/metrics", columns, 6, 2, NULL, NULL, &error);
  plait_store_write_strings (store, "/evaluation/test/hypotheses", hypotheses, N, &error);
  plait_store_write_strings (store, "/evaluation/test/references", plait_test_right, N, &error);
  CHECK_NO_ERROR (error);
}

static void
write_lengths (PlaitStore *store, const char *const *hypotheses, const char *const *sources)
{
  const PlaitEvaluateSettings settings = { .metrics = "chrf", .length_bins = "2;4" };
  g_autoptr (GPtrArray) rows = plait_length_table_new (&settings, N, hypotheses, plait_test_right, sources, NULL);

  REQUIRE (rows != NULL);
  CHECK (plait_length_table_write (rows, store, "/evaluation/test/length_bins", NULL));
}

void
plait_test_write_run (const char *name, const PlaitTestRun *run)
{
  g_autofree char *path = plait_test_path (name);
  g_autofree char *experiment
      = g_strdup_printf ("[experiment]\nname=sample\nseed=1\n\n[decoder]\ncombiner=%s\nlayers=2\n%s", run->combiner,
                         run->more ? run->more : "");
  PlaitScalar weights[6] = { 1, 2, 3, 4, 5, 6 };
  GError *error = NULL;
  g_autoptr (PlaitStore) store = plait_store_create (path, &error);

  CHECK_NO_ERROR (error);
  REQUIRE (store != NULL);
  CHECK (plait_store_set_string (store, "/", "experiment", experiment, &error));
  CHECK (plait_store_set_int (store, "/", "seed", 1, &error));
  CHECK (plait_store_make_group (store, "/environment", &error));
  CHECK (plait_store_set_string (store, "/environment", "command", "plait run <sample>.ini", &error));
  CHECK (plait_store_write_tensor (store, "/checkpoint/last/parameters/decoder/weight", plait_tensor (weights, 2, 3),
                                   &error));
  write_training (store);
  write_evaluation (store, run->hypotheses);
  if (run->sources)
    write_lengths (store, run->hypotheses, run->sources);
  write_attention (store, run->turned);
  CHECK (plait_store_link (store, "/checkpoint/chosen", "/checkpoint/last", &error));
  CHECK (plait_store_commit (store, &error));
  CHECK_NO_ERROR (error);
}
