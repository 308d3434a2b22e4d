/* SPDX-License-Identifier: MIT */
#include "call.h"
#include "experiments.h"
#include "files.h"
#include "harness.h"

#include <string.h>

#include "hdf5/store.h"

/* Tests of several references in an experiment. */

static const char experiment[]
    = "[experiment]\nseed=3\n[data]\nvocabulary_type=words\ntarget=t\n"
      "train.a=a\ntrain.t=t\nvalidation.a=a\nvalidation.t=t\nvalidation.t.reference.2=u\n"
      "test.a=a\ntest.t=t\ntest.t.reference.2=u\ntest.t.reference.loose=v\n" SMALL_SOURCE ("a")
          SMALL_DECODER ("serial") "[train]\nbatch=4\nepochs=15\nmetric=bleu\n"
                                   "[decode]\nbeam=1\nmaximum_length=6\n"
                                   "[evaluate]\nresamples=0\nmetrics=bleu;chrf;ter;"
                                   "rouge:type=L;meteor\n";

static void
write_files (void)
{
  plait_test_write ("small.ini", experiment);
  plait_test_write ("a", "x y z\ny z x\nz z\nx x y\n");
  plait_test_write ("t", "one two three\ntwo three one\nthree three\none one two\n");
  plait_test_write ("u", "one two two\n\nthree one\none two\n");
  plait_test_write ("v", "two\nthree\n\none two\n");
}

/* Writes the four strings at @path of @store as lines to the file @name. */
static void
extract (PlaitStore *store, const char *path, const char *name)
{
  gint64 n = 0;
  g_auto (GStrv) lines = plait_store_read_strings (store, path, 1 << 20, &n, NO_ERROR);

  REQUIRE (lines && n == 4);
  g_autofree char *text = g_strjoinv ("\n", lines);
  plait_test_write (name, plait_test_format ("%s\n", text));
}

/* Returns the member "score", with its name, that follows "@key": "@metric" in the JSON text @json; "none" if it is
 * missing. (transfer full) */
static char *
score_of (const char *json, const char *key, const char *metric)
{
  const char *at = strstr (json, plait_test_format ("\"%s\": \"%s\"", key, metric));

  at = at ? strstr (at, "\"score\": ") : NULL;
  return at ? g_strndup (at, strcspn (at, ",\n")) : g_strdup ("none");
}

static void
check_signatures (PlaitStore *store)
{
  gint64 n = 0;
  g_auto (GStrv) signatures
      = plait_store_read_strings (store, "/evaluation/test/metrics/signature", 1 << 20, &n, NO_ERROR);

  REQUIRE (signatures && n >= 5);
  for (guint i = 0; i < 5; i++)
    CHECK_CONTAINS (signatures[i], "nrefs:var|");
}

TEST_CASE (references, scores_are_those_of_all_references)
{
  write_files ();
  PlaitTestCall run = DONE (CALL ("run", "small.ini", "--output", "run.h5", "--json"));
  g_autoptr (PlaitStore) store = plait_store_open (plait_test_path ("run.h5"), NO_ERROR);

  REQUIRE (store != NULL);
  extract (store, "/evaluation/test/hypotheses", "hypotheses");
  extract (store, "/evaluation/test/references", "first");
  extract (store, "/evaluation/test/other_references/2", "second");
  extract (store, "/evaluation/test/other_references/loose", "third");
  check_signatures (store);
  PlaitTestCall one
      = QUIET (CALL ("evaluate", "-r", "first", "-i", "hypotheses", "-m", "chrf", "--resamples", "0", "--json"));
  PlaitTestCall all = QUIET (CALL ("evaluate", "-r", "first", "-r", "second", "-r", "third", "-i", "hypotheses", "-m",
                                   "bleu;chrf;ter;rouge:type=L;meteor", "--resamples", "0", "--json"));
  static const char *const metrics[][2] = { { "bleu", "BLEU" },
                                            { "chrf", "chrF2" },
                                            { "ter", "TER" },
                                            { "rouge:type=L", "ROUGE-L" },
                                            { "meteor", "METEOR (exact, stem)" } };
  for (guint m = 0; m < G_N_ELEMENTS (metrics); m++)
    {
      CONTEXT ("%s", metrics[m][0]);
      g_autofree char *expected = score_of (all.output, "name", metrics[m][1]);
      g_autofree char *got = score_of (run.output, "metric", metrics[m][0]);
      CHECK_STRING (got, expected);
    }
  g_autofree char *of_one = score_of (one.output, "name", "chrF2"), *of_all = score_of (all.output, "name", "chrF2");
  CHECK (!g_str_equal (of_one, of_all));
}

/* Runs with different references stand in tables of their own, whose titles name the references. */
TEST_CASE (references, runs_with_others_have_a_table_of_their_own)
{
  write_files ();
  QUIET (CALL ("run", "small.ini", "--output", "run.h5", "-q"));
  QUIET (CALL ("run", "small.ini", "--unset", "data.test.t.reference.2", "--output", "fewer.h5", "-q"));
  PlaitTestCall same = DONE (CALL ("compare", "run.h5", "run.h5")),
                other = DONE (CALL ("compare", "run.h5", "fewer.h5"));

  CHECK (!strstr (same.output, "(references "));
  CHECK_CONTAINS (other.output, "test (references ");
}

TEST_CASE (references, refusals)
{
  write_files ();
  plait_test_write ("short", "one\n");
  CHECK_REFUSED (CALL ("run", "small.ini", "--dry-run", "--set", "data.test.t.reference.loose=short"),
                 "short has 1 lines, but the target's file has 4; give equally many");
  CHECK_REFUSED (CALL ("run", "small.ini", "--dry-run", "--set", "data.train.t.reference.2=u"),
                 "training does not use further references; set this key for validation or a test split instead");
  CHECK_REFUSED (CALL ("run", "small.ini", "--dry-run", "--set", "data.test.a.reference.2=u"),
                 "no source reads the stream \"a.reference.2\"");
  CHECK_REFUSED (CALL ("run", "small.ini", "--dry-run", "--set", "evaluate.metrics=bleu:tok=flores200,model=x"), "x");
}

/* Cells with other references are checked one by one. */
TEST_CASE (references, of_each_cell_are_checked)
{
  write_files ();
  plait_test_write ("short", "one\n");
  plait_test_write ("grid.ini", plait_test_format ("%s[grid]\ndata.test.t.reference.loose=v;short\n", experiment));
  PlaitTestCall check = CALL ("check", "grid.ini");
  CHECK_CONTAINS (check.output, "short has 1 lines, but the target's file has 4; give equally many");
}
