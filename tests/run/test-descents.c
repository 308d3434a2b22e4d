/* SPDX-License-Identifier: MIT */
#include "run/result.h"
#include "harness.h"
#include "runs.h"

/* Runs whose combiner goes down a pyramid: what they keep of it. */

/* Tells sentences of 1 to 7 symbols again, from levels of blocks of two, with top1 but as @overrides have it. The run.
 * (transfer full) */
static PlaitStore *
run_descent (const char *name, const char *const *overrides)
{
  static const char text[]
      = "[experiment]\nname=levels\nseed=3\n"
        "[data]\ngenerate=copy\ntarget=target\nvocabulary_type=words\n"
        "generate.symbols=9\ngenerate.shortest=1\ngenerate.longest=7\n"
        "generate.train=40\ngenerate.validation=8\ngenerate.test=8\n"
        "[source a]\nencoder=pyramid\nleaves=bigru\nblock=2\n"
        "[decoder]\ntype=gru\ncombiner=descent\nlayers=1\nwidth=8\nstate_width=8\n"
        "[combiner]\ndescent=top1\n"
        "[train]\nbatch=8\nupdates=2\nwarm_up=10\nlearning_rate=1\n"
        "[decode]\nbeam=2\nmaximum_length=9\nminimum_length=2\n[evaluate]\nresamples=10\nattention=8\n";
  g_autofree char *file = g_strconcat (name, ".ini", NULL), *output = g_strconcat (name, ".h5", NULL);
  g_autofree char *path = plait_test_path (file), *run = plait_test_path (output);
  g_autoptr (GError) error = NULL;
  PlaitStore *store;

  CHECK (g_file_set_contents (path, text, -1, NULL));
  CHECK (test_run_with (path, overrides, run, FALSE, NULL, &error));
  CHECK_NO_ERROR (error);
  store = plait_store_open (run, &error);
  CHECK_NO_ERROR (error);
  return store;
}

static double
attribute (PlaitStore *store, const char *path, const char *name)
{
  GError *error = NULL;
  double value = -1;
  CONTEXT ("%s@%s", path, name);

  CHECK (plait_store_get_double (store, path, name, &value, &error));
  CHECK_NO_ERROR (error);
  return value;
}

/* Whether the results of @run have what its search came to, and whether that makes a column. */
static void
check_work (PlaitStore *run, gboolean column)
{
  static const char *const metrics[] = { "states_touched", "milliseconds_a_word" };
  static const char *const paths[] = { "/evaluation/test", "/environment/evaluation/test" };
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitRunResult) result = plait_run_result_new (run, &error);
  const PlaitRunResult *const results[] = { result };
  g_autoptr (GArray) measures = NULL;
  guint found = 0;

  CHECK_NO_ERROR (error);
  REQUIRE (result != NULL);
  measures = plait_run_results_measures (results, 1);
  for (guint i = 0; i < G_N_ELEMENTS (metrics); i++)
    {
      const PlaitRunScore *score = plait_run_result_find (result, "test", metrics[i]);

      REQUIRE (score != NULL);
      CHECK (score->aside == !column);
      CHECK_NEAR (score->score, attribute (run, paths[i], metrics[i]), 0);
      CHECK (score->score > 0);
      for (guint m = 0; m < measures->len; m++)
        found += g_str_equal (g_array_index (measures, PlaitMeasure, m).metric, metrics[i]);
    }
  CHECK_INT (found, column ? 2 : 0);
}

TEST_CASE (descents, are_told_by_what_they_touch)
{
  g_autoptr (PlaitStore) top = run_descent ("top", NULL);
  g_autoptr (PlaitStore) soft = run_descent ("soft", (const char *[]){ "combiner.descent=soft", NULL });
  g_autofree char *file = test_write_experiment ("tiny", NULL), *path = plait_test_path ("tiny.h5");
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitStore) all = NULL;
  double touched;

  REQUIRE (top && soft);
  touched = attribute (top, "/evaluation/test", "states_touched");
  check_work (top, TRUE);
  check_work (soft, TRUE);
  /* With two levels above seven leaves, at most 2 at the top, and 2 below each that goes on. */
  CHECK (touched >= 1 && touched <= 2 + 2 + 2);
  CHECK_NEAR (attribute (top, "/evaluation/test", "states_chosen"), touched, 0);
  CHECK (attribute (soft, "/evaluation/test", "states_touched") > touched);
  CHECK_NEAR (attribute (top, "/environment/evaluation/test", "milliseconds_a_word"),
              1e3 * attribute (top, "/environment/evaluation/test", "seconds")
                  / attribute (top, "/environment/evaluation/test", "words"),
              1e-9);

  CHECK (test_run_with (file, NULL, path, FALSE, NULL, &error));
  CHECK_NO_ERROR (error);
  all = plait_store_open (path, &error);
  REQUIRE (all != NULL);
  check_work (all, FALSE);
  CHECK_NEAR (attribute (all, "/evaluation/test", "states_chosen"), 0, 0);
}
