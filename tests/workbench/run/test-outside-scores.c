/* SPDX-License-Identifier: MIT */
#include "experiments.h"
#include "files.h"
#include "harness.h"
#include "run/result.h"
#include "runs.h"
#include "scoring/length-table.h"
#include "scoring/test.h"

#include <math.h>
#include <string.h>

/* Tests of external scores (evaluate.scores.NAME), commands and files of numbers, in runs and in plait test. */

#define SENTENCES 8

static const char text[] = SMALL_TRANSLATION (SMALL_SOURCE ("a") SMALL_SOURCE ("b"), "beam=1\nmaximum_length=8\n");

/* A command that gives sentence i the score i squared. The mean of the eight scores, 0 to 49, is 17.5. */
#define SQUARES "awk '{ print (NR - 1) * (NR - 1) }'"

static const char *
write_experiment (const char *score)
{
  return plait_test_write ("outside.ini", plait_test_format ("%sscores.mine=%s\n", text, score));
}

static const PlaitRunScore *
find_score (const PlaitRunResult *result, gboolean larger)
{
  return plait_run_result_find (result, "test", larger ? "score/mine/larger" : "score/mine/smaller");
}

/* Checks the score of the command SQUARES in the run @name. */
static void
check_squares (const char *name, gboolean larger)
{
  g_autoptr (PlaitStore) store = plait_store_open (plait_test_path (name), NO_ERROR);
  g_autoptr (PlaitRunResult) result = store ? plait_run_result_new (store, NO_ERROR) : NULL;
  const PlaitRunScore *score = result ? find_score (result, larger) : NULL;
  double stored[SENTENCES];

  REQUIRE (score && score->scorer && score->statistics);
  CHECK_NEAR (score->score, 17.5, 1e-12);
  CHECK_STRING (score->name, "mine");
  CHECK (score->low < 17.5 && score->high > 17.5);
  CHECK_INT (plait_metric_larger_is_better (score->scorer), larger);
  CHECK_INT (score->statistics->sentences, SENTENCES);
  CHECK (plait_store_read (store, "/evaluation/test/scores/mine", PLAIT_STORE_DOUBLE, SENTENCES, stored, NO_ERROR));
  for (guint i = 0; i < SENTENCES; i++)
    CHECK_NEAR (stored[i], i * i, 0);
}

TEST_CASE (outside_scores, of_a_command)
{
  const char *path = write_experiment (SQUARES);
  const char *const smaller[] = { "evaluate.smaller_is_better=mine", NULL };

  CHECK (test_run (path, plait_test_path ("larger.h5"), FALSE, 1, NULL, NULL, NO_ERROR));
  check_squares ("larger.h5", TRUE);
  CHECK (test_run_with (path, smaller, plait_test_path ("smaller.h5"), FALSE, NULL, NO_ERROR));
  check_squares ("smaller.h5", FALSE);
}

/* The command reads translation, reference and both sources. It runs in the folder of the data and knows the split. */
TEST_CASE (outside_scores, read_the_sentences)
{
  const char *path = write_experiment ("echo $PLAIT_SPLIT > split.txt; tee seen.tsv | awk '{ print NF }'");
  g_autoptr (PlaitStore) store = test_run_open (path, NULL, "seen.h5");
  static const char *const names[] = { "hypotheses", "references", "sources/a", "sources/b" };
  g_autofree char *seen = NULL, *split = NULL;
  g_auto (GStrv) lines = NULL;
  gint64 n;

  REQUIRE (store != NULL);
  REQUIRE (g_file_get_contents (plait_test_path ("seen.tsv"), &seen, NULL, NULL));
  REQUIRE (g_file_get_contents (plait_test_path ("split.txt"), &split, NULL, NULL));
  CHECK_STRING (split, "test\n");
  lines = g_strsplit (seen, "\n", -1);
  REQUIRE (g_strv_length (lines) == SENTENCES + 1);
  for (guint k = 0; k < G_N_ELEMENTS (names); k++)
    {
      g_auto (GStrv) expected = plait_store_read_strings (store, plait_test_format ("/evaluation/test/%s", names[k]),
                                                          1 << 20, &n, NO_ERROR);

      REQUIRE (expected && n == SENTENCES);
      for (guint i = 0; i < SENTENCES; i++)
        {
          g_auto (GStrv) fields = g_strsplit (lines[i], "\t", -1);

          REQUIRE (g_strv_length (fields) == G_N_ELEMENTS (names));
          CHECK_STRING (fields[k], expected[i]);
        }
    }
}

/* In a named evaluation, the command knows the split that it reads. */
TEST_CASE (outside_scores, know_the_split_of_a_named_evaluation)
{
  const char *path = write_experiment ("echo $PLAIT_SPLIT > split.txt; " SQUARES);
  const char *output = plait_test_path ("named.h5");
  const PlaitTestOptions options = { .name = "again", .threads = 1 };
  PlaitTestOutcome outcome;
  g_autofree char *split = NULL;

  REQUIRE (test_run (path, output, FALSE, 1, NULL, NULL, NO_ERROR));
  CHECK (unlink (plait_test_path ("split.txt")) == 0);
  CHECK (plait_test_file (output, NULL, &options, &outcome, NO_ERROR));
  REQUIRE (g_file_get_contents (plait_test_path ("split.txt"), &split, NULL, NULL));
  CHECK_STRING (split, "test\n");
}

/* The table of lengths says whether larger scores are better. */
TEST_CASE (outside_scores, by_length)
{
  static const char *const overrides[2][3]
      = { { "evaluate.length_bins=3", "evaluate.smaller_is_better=mine", NULL }, { "evaluate.length_bins=3", NULL } };
  const char *path = write_experiment (SQUARES);

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (PlaitStore) store = test_run_open (path, overrides[i], plait_test_format ("%u.h5", i));
      g_autoptr (GArray) rows
          = store ? plait_length_table_read (store, "/evaluation/test/length_bins", NO_ERROR) : NULL;
      g_autofree gint64 *larger = NULL;
      gint64 n;

      REQUIRE (rows && rows->len >= 2);
      CHECK_STRING (g_array_index (rows, PlaitLengthRow, rows->len - 1).name, "mine");
      larger = plait_store_get_list (store, "/evaluation/test/length_bins/score", "larger_is_better", PLAIT_STORE_INT64,
                                     &n, NO_ERROR);
      REQUIRE (larger && n == rows->len);
      CHECK_INT (larger[n - 1], i);
    }
}

TEST_CASE (outside_scores, of_a_file)
{
  const char *path = write_experiment ("file:numbers.txt");

  plait_test_write ("numbers.txt", "0\n1\n4\n9\n16\n25\n 36 \n49\r\n");
  CHECK (test_run (path, plait_test_path ("file.h5"), FALSE, 1, NULL, NULL, NO_ERROR));
  check_squares ("file.h5", TRUE);
}

/* If a score fails, the error says so, and everything else is stored. With another command the run is completed,
 * without training again. */
TEST_CASE (outside_scores, lose_nothing_when_they_fail)
{
  static const struct
  {
    const char *score, *message;
  } cases[] = {
    { "echo first >&2; echo no model >&2; exit 3", "exit 3 failed: no model; everything else is stored" },
    { "no-such-program-here", "the command no-such-program-here failed: " },
    { "head -3 | awk '{ print 1 }'", "there are 3 numbers for 8 lines of test; expected one number for each line" },
    { "true", "there are 0 numbers for 8 lines of test" },
    { "awk '{ print NR == 5 ? \"nan\" : 1 }'", "line 5 is \"nan\"; expected a finite number" },
    { "awk '{ print NR == 2 ? \"good\" : 1 }'", "line 2 is \"good\"; expected a finite number" },
  };
  const char *const mended[] = { "evaluate.scores.mine=" SQUARES, NULL };
  const char *output = plait_test_path ("failed.h5");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const char *path = write_experiment (cases[i].score);
      g_autoptr (PlaitStore) store = NULL;
      g_autofree char *status = NULL, *key = NULL;
      g_autoptr (GError) error = NULL;

      CONTEXT ("%s", cases[i].score);
      unlink (output);
      CHECK (!test_run (path, output, FALSE, 1, NULL, NULL, &error));
      REQUIRE (error != NULL);
      CHECK_CONTAINS (error->message, "evaluate.scores.mine of test: ");
      CHECK_CONTAINS (error->message, cases[i].message);
      store = plait_store_open (output, NO_ERROR);
      REQUIRE (store != NULL);
      status = plait_store_get_string (store, "/", "status", NO_ERROR);
      key = plait_store_get_string (store, "/", "key", NO_ERROR);
      CHECK_STRING (status, "complete");
      CHECK (g_str_has_prefix (key, "incomplete "));
      CHECK (plait_store_has (store, "/evaluation/test/hypotheses"));
      CHECK (!plait_store_has (store, "/evaluation/test/scores/mine"));
    }
  /* plait test with the same command fails again; with another command it completes the file. */
  const PlaitTestOptions options = { .threads = 1 };
  PlaitTestOutcome outcome;
  g_autoptr (GError) again = NULL;

  CHECK (!plait_test_file (output, NULL, &options, &outcome, &again));
  CHECK (again && strstr (again->message, "line 2 is"));
  CHECK (plait_test_file (output, test_overrides (mended), &options, &outcome, NO_ERROR));
  CHECK_INT (outcome.made, 1);
  check_squares ("failed.h5", TRUE);
  CHECK (plait_test_file (output, test_overrides (mended), &options, &outcome, NO_ERROR));
  CHECK_INT (outcome.made, 0);
}

/* If the file of numbers has changed, it is read again. */
TEST_CASE (outside_scores, follow_their_file)
{
  const char *path = write_experiment ("file:numbers.txt"), *output = plait_test_path ("changed.h5");
  const PlaitTestOptions options = { .threads = 1 };
  PlaitTestOutcome outcome;

  plait_test_write ("numbers.txt", "1\n1\n1\n1\n1\n1\n1\n1\n");
  CHECK (test_run (path, output, FALSE, 1, NULL, NULL, NO_ERROR));
  CHECK (plait_test_file (output, NULL, &options, &outcome, NO_ERROR));
  CHECK_INT (outcome.made, 0);
  plait_test_write ("numbers.txt", "0\n1\n4\n9\n16\n25\n36\n49\n");
  CHECK (plait_test_file (output, NULL, &options, &outcome, NO_ERROR));
  CHECK_INT (outcome.made, 1);
  check_squares ("changed.h5", TRUE);
}

TEST_CASE (outside_scores, are_checked_before_training)
{
  static const struct
  {
    const char *override, *message;
  } cases[] = {
    { "evaluate.scores.mine=", "[evaluate] scores.mine: is empty; give a command, or file:FILE" },
    { "evaluate.scores.my/score=true", "\"my/score\" is not a name for a score" },
    { "evaluate.scores.mine=file:none.txt", "none.txt; name a file of numbers" },
    { "evaluate.smaller_is_better=mien",
      "[evaluate] smaller_is_better: there is no score \"mien\"; did you mean \"mine\"?" },
  };
  const char *path = write_experiment (SQUARES);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const char *const overrides[] = { cases[i].override, NULL };
      g_autoptr (PlaitRegistry) registry = plait_registry_new ();
      g_autoptr (PlaitProblems) problems = plait_problems_new ();
      g_autoptr (PlaitExperiment) experiment
          = plait_experiment_check (path, test_overrides (overrides), PLAIT_RESOLVE_CHECK_FILES, registry, problems);
      g_autoptr (GError) error = NULL;

      CHECK (!experiment && !plait_problems_report (problems, PLAIT_ERROR_INPUT, &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, cases[i].message);
    }
}
