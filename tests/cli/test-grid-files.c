/* SPDX-License-Identifier: MIT */
#include <glib/gstdio.h>
#include <string.h>

#include "call.h"
#include "files.h"
#include "harness.h"
#include "experiments.h"
#include "hdf5/store.h"

/* Tests of grids whose cells read different files. */

static const char experiment[]
    = "[data]\n"
      "folder=one\n"
      "train.a=a\n"
      "train.b=b\n"
      "train.c=c\n"
      "validation.a=a\n"
      "validation.b=b\n"
      "validation.c=c\n"
      "test.a=a\n"
      "test.b=b\n"
      "test.c=c\n"
      "target=c\n"
      "vocabulary_type=words\n"
      "vocabulary_size=0\n" TINY_SOURCE ("a") TINY_SOURCE ("b") TINY_DECODER TINY_TRAINING TINY_SEARCH
    "[evaluate]\nresamples=5\nattention=1\n[grid]\n";

/* Writes the text of all streams to @folder, with the text @b for stream b, and tiny.ini with the axes @axes. */
static void
write_grid (const char *axes, const char *folder, const char *b)
{
  g_autofree char *text = g_strconcat (experiment, axes, NULL);
  const char *const texts[][2] = { { "a", "u v w\nv w\nw u\n" }, { "b", b }, { "c", "x y\ny x\nx x\n" } };

  plait_test_make_folder (folder);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    plait_test_write (plait_test_format ("%s/%s", folder, texts[i][0]), texts[i][1]);
  plait_test_write ("tiny.ini", text);
}

TEST_CASE (command_grid, says_everywhere_which_cells_are_left_out)
{
  static const char told[] = "1 cell is left out, because an earlier cell has the same settings and file contents: "
                             "data.folder=two equals data.folder=one";

  write_grid ("data.folder=one;two\n", "one", "r s\ns r\nr r\n");
  write_grid ("data.folder=one;two\n", "two", "r s\ns r\nr r\n");
  PlaitTestCall check = CALL ("check", "tiny.ini");
  CHECK_STRING (check.errors, "");
  CHECK_CONTAINS (check.output, "tiny.ini: no mistake was found in 1 cell\n");
  CHECK_CONTAINS (check.output, told);
  PlaitTestCall plan = CALL ("grid", "tiny.ini", "--dry-run");
  CHECK_CONTAINS (plan.output, "Left out, duplicates of an earlier cell\n  data.folder=two: equals data.folder=one\n");
  PlaitTestCall run = DONE (CALL ("grid", "tiny.ini"));
  CHECK_CONTAINS (run.errors, told);
  CHECK_CONTAINS (run.output, "data.folder=two equals data.folder=one\n");
  const char *table = plait_test_read_text ("tiny/table.md");
  CHECK_CONTAINS (table, told);
  DONE (CALL ("report", "tiny/grid.h5", "--output", "tiny.html"));
  const char *page = plait_test_read_text ("tiny.html");
  CHECK_CONTAINS (page, told);
  /* The tables that plait test makes tell of the cell that is left out too. */
  DONE (CALL ("test", "tiny/grid.h5", "--set", "decode.beam=2", "--as", "wide"));
  const char *again = plait_test_read_text ("tiny/table.md");
  CHECK_CONTAINS (again, told);
}

TEST_CASE (command_grid, runs_cells_that_differ_in_a_file_alone)
{
  write_grid ("data.folder=one;two\n", "one", "r s\ns r\nr r\n");
  write_grid ("data.folder=one;two\n", "two", "r s\ns r\ns s\n");
  PlaitTestCall plan = CALL ("grid", "tiny.ini", "--dry-run");
  PlaitTestCall run = DONE (CALL ("grid", "tiny.ini", "--jobs", "2"));
  PlaitTestCall seeds = CALL ("grid", "tiny.ini", "--dry-run", "--set", "grid.experiment.seed=1;2");
  const char *page = plait_test_read_text ("tiny/table.md");

  CHECK (!strstr (run.errors, "left out"));
  CHECK_CONTAINS (run.errors, "2 cells are finished");
  /* If each cell has one seed, p tells only about the choice of sentences. */
  CHECK_CONTAINS (page, "| p (one seed) | p (Holm, one seed) |");
  CHECK_CONTAINS (page, "experiment.seed=1;2;3");
  CHECK_CONTAINS (run.errors, "experiment.seed=1;2;3");
  CHECK_CONTAINS (plan.output, "experiment.seed=1;2;3");
  CHECK (!strstr (seeds.output, "experiment.seed=1;2;3"));
}

/* Output of plait grid --dry-run, plait grid, plait compare and plait report for tiny.ini. */
typedef struct
{
  PlaitTestCall plan, compare;
  const char *table, *page;
} Told;

static Told
tell (void)
{
  Told told = { .plan = CALL ("grid", "tiny.ini", "--dry-run") };
  PlaitTestCall run = CALL ("grid", "tiny.ini", "--fresh", "--jobs", "2", "--quiet");
  DONE (CALL ("report", "tiny/grid.h5", "--output", "tiny.html", "--force"));

  CHECK_INT (told.plan.code, 0);
  CHECK_STRING (run.errors, "");
  told.compare = CALL ("compare", "tiny/grid.h5");
  told.table = plait_test_read_text ("tiny/table.md");
  told.page = plait_test_read_text ("tiny.html");
  return told;
}

TEST_CASE (command_grid, compares_what_is_per_token_of_one_vocabulary)
{
  static const char differs[] = "The vocabulary shared differs: ";
  static const char per_token[] = "perplexity per token";

  write_grid ("experiment.sources=a;a+b\nexperiment.seed=1;2\n", "one", "r s\ns r\nr r\n");
  {
    Told told = tell ();

    CHECK_CONTAINS (told.plan.output, "  shared  words, learnt from one/a, one/b, one/c\n");
    CHECK_CONTAINS (told.plan.output, "with [grid] vocabularies=own each cell learns");
    CHECK_CONTAINS (told.table, per_token);
    CHECK (!strstr (told.table, differs) && !strstr (told.compare.output, differs) && !strstr (told.page, differs));
  }
  write_grid ("experiment.sources=a;a+b\nvocabularies=own\n", "one", "r s\ns r\nr r\n");
  Told told = tell ();
  CHECK_CONTAINS (told.plan.output, "vocabulary shared: words, learnt from one/a, one/c\n");
  CHECK_CONTAINS (told.plan.output, "vocabulary shared: words, learnt from one/a, one/b, one/c\n");
  CHECK_CONTAINS (told.plan.output, "  shared  differs between cells, so");
  CHECK_CONTAINS (told.table, differs);
  CHECK_CONTAINS (told.table, "9 entries (");
  CHECK_CONTAINS (told.compare.output, differs);
  CHECK_CONTAINS (told.page, differs);
  CHECK_CONTAINS (told.page, "numbers per token cannot be compared between their curves");
  CHECK (!strstr (told.table, per_token) && !strstr (told.compare.output, per_token));
  CHECK_CONTAINS (told.table, "perplexity per word |");
  CHECK_CONTAINS (told.table, "perplexity per word can be compared only without unknown words");
  PlaitTestCall json = CALL ("compare", "tiny/grid.h5", "--json");
  CHECK_CONTAINS (json.output, differs);
  if (!PLAIT_HAS_PLOT)
    return;
  PlaitTestCall curves = CALL ("plot", "tiny/grid.h5", "/training/validation/accuracy", "--output", "a.svg");
  CHECK_CONTAINS (curves.errors, "so accuracy, which is per token, cannot be compared between them");
  PlaitTestCall scores
      = CALL ("plot", "tiny/grid.h5", "/evaluation/test/metrics", "--metric", "perplexity-word", "--output", "b.svg");
  CHECK (!strstr (scores.errors, "per token"));
}

TEST_CASE (command_grid, says_that_cells_are_trained_on_other_lines)
{
  static const char lines[]
      = "The runs are trained on different lines, because data.share, length limits, missing trees, empty targets or "
        "cut documents drop lines: 3 of 3 lines in a; 2 of 3 lines in a+b.";
  static const char batches[] = "Updates of 14 tokens, which count all text that is read, have different mean numbers "
                                "of sentences: 1.5 in a; 1.0 in a+b.";

  write_grid ("experiment.sources=a;a+b\nexperiment.seed=1\n[x]\n", "one", "r s r r\ns r\nr r\n");
  const char *text = plait_test_read_text ("tiny.ini");
  g_auto (GStrv) parts = g_strsplit (text, "batch=12\n", 2);
  g_autofree char *grid = g_strconcat ("[data]\nmaximum_source_length=3\n", parts[0] + strlen ("[data]\n"),
                                       "batch=14\nbatch_unit=tokens\n", parts[1], NULL);
  *strstr (grid, "[x]") = '\0';
  plait_test_write ("tiny.ini", grid);
  Told told = tell ();
  CHECK_CONTAINS (told.plan.output, "Other differences\n");
  CHECK_CONTAINS (told.plan.output, "The runs are trained on different lines");
  CHECK_CONTAINS (told.plan.output, "Updates of 14 tokens");
  CHECK_CONTAINS (told.table, lines);
  CHECK_CONTAINS (told.table, batches);
  CHECK_CONTAINS (told.compare.output, "The runs are trained on different lines");
  CHECK_CONTAINS (told.page, lines);
  /* The plan reports the difference for a finished cell too. */
  PlaitTestCall again = CALL ("grid", "tiny.ini", "--dry-run", "--json");
  CHECK_CONTAINS (again.output, "2 of 3 lines in experiment.sources=a+b experiment.seed=1");
}

TEST_CASE (command_grid, says_that_cells_begin_with_less_of_another_run)
{
  write_grid ("decoder.combiner=serial;flat\n", "one", "r s\ns r\nr r\n");
  DONE (CALL ("run", "tiny.ini", "--output", "start.h5", "--quiet"));
  PlaitTestCall plan = CALL ("grid", "tiny.ini", "--dry-run", "--json", "--set", "train.initialise=start.h5");
  CHECK_CONTAINS (
      plan.output,
      "The runs take different numbers of parameters from train.initialise: all in decoder.combiner=serial; ");
  PlaitTestCall run = CALL ("grid", "tiny.ini", "--quiet", "--set", "train.initialise=start.h5");
  CHECK_CONTAINS (run.output, "all in serial; ");
  /* A cell with fewer sources takes all its parameters from the run too, so nothing is reported. */
  write_grid ("experiment.sources=a;a+b\n", "one", "r s\ns r\nr r\n");
  PlaitTestCall sources = DONE (CALL ("grid", "tiny.ini", "--dry-run", "--set", "train.initialise=start.h5"));
  CHECK (!strstr (sources.output, "numbers of parameters from train.initialise"));
}

/* Runs whose initial files had different contents are not seeds of one system. */
TEST_CASE (compare_command, tells_apart_what_training_began_with)
{
  write_grid ("decoder.combiner=serial;flat\n", "one", "r s\ns r\nr r\n");
  for (guint i = 0; i < 3; i++)
    {
      g_autofree char *seed = g_strdup_printf ("experiment.seed=%u", i + 1);
      g_autofree char *output = g_strdup_printf ("run-%u.h5", i + 1);
      PlaitTestCall start = { 0 };

      if (i != 1)
        start = CALL ("run", "tiny.ini", "--output", "start.h5", "--force", "--quiet", "--set", seed);
      PlaitTestCall run = DONE (
          CALL ("run", "tiny.ini", "--output", output, "--quiet", "--set", seed, "--set", "train.initialise=start.h5"));
      CONTEXT ("%s%s", start.errors ? start.errors : "", run.errors);
    }
  PlaitTestCall same = CALL ("compare", "run-1.h5", "run-2.h5");
  CHECK_CONTAINS (same.output, "run, 2 seeds");
  PlaitTestCall other = DONE (CALL ("compare", "run-1.h5", "run-3.h5"));
  CHECK (!strstr (other.output, ", 2 seeds"));
}

/* Cells that read other datasets of one feature file are checked one by one. */
TEST_CASE (command_grid, counts_the_sentences_of_each_dataset)
{
  static const float values[3] = { 1, 2, 3 };
  g_autoptr (PlaitStore) store = plait_store_create (plait_test_path ("f.h5"), NO_ERROR);

  for (gint64 n = 3; n >= 2; n--)
    CHECK (plait_store_write (store, n == 3 ? "/three" : "/two", PLAIT_STORE_FLOAT, 3, (const gint64[]){ n, 1, 1 },
                              values, PLAIT_STORE_PLAIN, NO_ERROR));
  CHECK (plait_store_commit (store, NO_ERROR));
  plait_test_write ("c", "x y\ny x\nx x\n");
  plait_test_write ("features.ini", "[data]\ntarget=c\ntrain.f=f.h5\ntrain.c=c\nvocabulary_type=words\n"
                                    "[source f]\nencoder=features\ndataset=/three\n" TINY_DECODER
                                    "[grid]\nsource.f.dataset=/three;/two\n");
  PlaitTestCall check = CALL ("check", "features.ini");
  CHECK_CONTAINS (check.output, "c has 3 lines, but train.f has 2");
}
