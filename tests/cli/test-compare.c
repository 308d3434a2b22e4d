/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "call.h"
#include "files.h"
#include "harness.h"
#include "report-page.h"
#include "sample-run.h"
#include "tables/table.h"

/* Tests of plait compare and plait report. */

static void
write_runs (void)
{
  plait_test_write_run ("one.h5", &(PlaitTestRun){ "serial", plait_test_wrong });
  plait_test_write_run ("two.h5", &(PlaitTestRun){ "flat", plait_test_right });
}

TEST_CASE (compare_command, tests_against_the_first)
{
  write_runs ();
  PlaitTestCall call = QUIET (CALL ("compare", "one.h5", "two.h5", "one.h5", "--trials", "99"));

  CHECK_CONTAINS (call.output, "Scores on test\n  Run ");
  CHECK_CONTAINS (call.output, "  p (one seed)  p (Holm, one seed)  ");
  CHECK_CONTAINS (call.output, "  two                100.00        0.");
  CHECK_CONTAINS (call.output, "  1.0000              1.0000                  7.50\n"); /* a run against itself */
  CHECK_CONTAINS (call.output, "p compares with one: approximate randomisation, 99\n  shuffles, seed 12345");
  CHECK_CONTAINS (call.output, "  one           6             1014  one.h5\n");
  CHECK_CONTAINS (call.output, "Different settings\n"
                               "  Key               one     two   one\n"
                               "  decoder.combiner  serial  flat  serial\n");
}

/* Scores with other references stand in another table. */
TEST_CASE (compare_command, keeps_other_references_apart)
{
  write_runs ();
  plait_test_write_run ("three.h5", &(PlaitTestRun){ "flat", plait_test_right, .references = plait_test_wrong });
  plait_test_write_run ("four.h5", &(PlaitTestRun){ "flat", plait_test_wrong, .references = plait_test_wrong });
  PlaitTestCall call = DONE (CALL ("compare", "one.h5", "two.h5", "three.h5", "four.h5", "--trials", "99"));
  g_auto (GStrv) parts = g_strsplit (call.output, "Scores on test (references ", -1);

  REQUIRE (g_strv_length (parts) == 3);
  CHECK_CONTAINS (parts[1], "\n  one ");
  CHECK_CONTAINS (parts[1], "\n  two ");
  CHECK (!strstr (parts[1], "\n  three "));
  CHECK_CONTAINS (parts[1], "p compares with one:");
  CHECK_CONTAINS (parts[2], "\n  three ");
  CHECK_CONTAINS (parts[2], "\n  four ");
  CHECK_CONTAINS (parts[2], "p compares with three:");
  CHECK_CONTAINS (parts[2], "Runs with other references of this split have a table of their own.");
}

TEST_CASE (compare_command, writes_scores_for_papers)
{
  write_runs ();
  PlaitTestCall latex = DONE (CALL ("compare", "one.h5", "two.h5", "--trials", "99", "--format", "latex"));
  PlaitTestCall markdown = CALL ("compare", "one.h5", "two.h5", "--trials", "99", "--format", "markdown");
  PlaitTestCall csv = CALL ("compare", "one.h5", "two.h5", "--trials", "99", "--format", "csv");
  CHECK_REFUSED (CALL ("compare", "one.h5", "two.h5", "--format", "word"), "expected markdown, csv or latex");
  CHECK_REFUSED (CALL ("compare", "one.h5", "two.h5", "--format", "csv", "--json"), "leave out --json");

  CHECK (g_str_has_prefix (latex.output, "% Scores on test\n\\begin{tabular}{lrrrr}\n"));
  CHECK_CONTAINS (latex.output, "Run & chrF2 & p (one seed) & p (Holm, one seed) & perplexity per token ");
  CHECK_CONTAINS (latex.output, "\ntwo & 100.00 & 0.");
  CHECK (
      g_str_has_prefix (markdown.output, "## Scores on test\n\n| Run | chrF2 | p (one seed) | p (Holm, one seed) |"));
  CHECK (g_str_has_prefix (csv.output,
                           "Scores on test\nRun,chrF2,p (one seed),\"p (Holm, one seed)\",perplexity per token\n"));
}

/* Ignores a setting of a source in runs that do not read this source. */
TEST_CASE (compare_command, takes_settings_of_a_source_from_who_has_it)
{
  static const char *const more[]
      = { "[source a]\nlayers=1\nheads=2\n", "[source a]\nlayers=2\nheads=2\n[source b]\nlayers=3\nheads=4\n",
          "[source b]\nlayers=3\nheads=5\n" };

  plait_test_write_run ("one.h5", &(PlaitTestRun){ "serial", plait_test_wrong, .more = more[0] });
  plait_test_write_run ("two.h5", &(PlaitTestRun){ "flat", plait_test_right, .more = more[1] });
  plait_test_write_run ("three.h5", &(PlaitTestRun){ "flat", plait_test_right, .more = more[2] });
  PlaitTestCall call = DONE (CALL ("compare", "one.h5", "two.h5", "three.h5", "--test", "none"));
  PlaitTestCall json = CALL ("compare", "one.h5", "two.h5", "three.h5", "--test", "none", "--json");

  CHECK_CONTAINS (json.output, "\"source.a.layers\": 1,\n        \"source.b.heads\": null\n");
  CHECK_CONTAINS (json.output, "\"source.a.layers\": null,\n        \"source.b.heads\": 5\n");
  CHECK_CONTAINS (call.output, "  Key               one     two   three\n"
                               "  decoder.combiner  serial  flat  flat\n"
                               "  source.a.layers   1       2     –\n"
                               "  source.b.heads    –       4     5\n");
}

/* On a narrow terminal, long names keep their beginnings and ends. Each p and its mark stay in one line. */
TEST_CASE (compare_command, on_a_narrow_terminal)
{
  write_runs ();
  plait_test_write_run ("a-rather-long-name-of-a-run-with-its-combiner-flat.h5",
                        &(PlaitTestRun){ "flat", plait_test_right });
  const char *arguments[]
      = { "compare", "one.h5",    "two.h5", "a-rather-long-name-of-a-run-with-its-combiner-flat.h5", "--trials", "99",
          "--test",  "bootstrap", NULL };
  PlaitTestCall call = DONE (plait_test_call_on_terminal (60, arguments));

  CHECK_CONTAINS (call.output, "a-rather-lon…mbiner-flat");
  CHECK_CONTAINS (call.output, "a-rath…at.h5");
  CHECK_CONTAINS (call.output, "0.0200\033[36m * better");
}

TEST_CASE (compare_command, json)
{
  write_runs ();
  PlaitTestCall call = DONE (CALL ("compare", "one.h5", "two.h5", "--test", "bootstrap", "--json"));

  CHECK_CONTAINS (call.output, "\"score\": 100,");
  CHECK_CONTAINS (call.output, "\"test\": \"paired bootstrap\"");
  CHECK_CONTAINS (call.output, "\"decoder.combiner\": \"flat\"");
  CHECK_CONTAINS (call.output, "\"target_tokens_per_second\": 1014.5");
}

TEST_CASE (compare_command, tests_equivalence)
{
  write_runs ();
  PlaitTestCall text = DONE (CALL ("compare", "one.h5", "one.h5", "two.h5", "--margin", "0.5"));
  PlaitTestCall csv = DONE (CALL ("compare", "one.h5", "one.h5", "--margin", "0.5", "--format", "csv"));
  PlaitTestCall json = DONE (CALL ("compare", "one.h5", "two.h5", "--trials", "99", "--margin", "0.5", "--json"));
  CHECK_REFUSED (CALL ("compare", "one.h5", "two.h5", "--margin", "0"), "--margin");
  CHECK_REFUSED (CALL ("compare", "one.h5", "two.h5", "--margin", "1", "--test", "none"), "do not combine it with");
  CHECK_REFUSED (CALL ("compare", "one.h5", "two.h5", "--margin", "1", "--attention"), "do not combine it with");
  DONE (CALL ("report", "one.h5", "two.h5", "--margin", "0.5", "-o", "margin.html"));

  CHECK_CONTAINS (text.output, "  p (within 0.5)");
  CHECK_CONTAINS (text.output, "  +0.00          0.0001 ");
  CHECK_CONTAINS (text.output, "p (within 0.5) tests equivalence by two one-sided tests");
  CHECK_CONTAINS (csv.output, ",Difference,");
  CHECK_CONTAINS (json.output, "\"equivalence_p\": 1,\n");
  CHECK_CONTAINS (plait_test_read_text ("margin.html"), "p (within 0.5)");
}

/* Numbers are compared by their values, however they are written, also in settings of plugins, which are not loaded. A
 * missing setting of the core counts as its default. */
TEST_CASE (compare_command, compares_settings_by_their_values)
{
  static const char *const one = "[train]\nlearning_rate=1e-3\n[combiner]\nscale=.5\nkind=1e-1x\n";
  static const char *const two = "[train]\nlearning_rate=.001\n[combiner]\nscale=0.50\nkind=1e-1x\n";
  static const char *const three = "[train]\nlearning_rate=.002\n[combiner]\nscale=0.50\nkind=1e-1x\n";

  plait_test_write_run ("a-seed-1.h5", &(PlaitTestRun){ "serial", plait_test_wrong, .more = one });
  plait_test_write_run ("a-seed-2.h5", &(PlaitTestRun){ "serial", plait_test_right, .more = two, .seed = 2 });
  plait_test_write_run ("b.h5", &(PlaitTestRun){ "serial", plait_test_right, .more = three, .seed = 3 });
  plait_test_write_run ("c-seed-1.h5",
                        &(PlaitTestRun){ "serial", plait_test_wrong, .more = "[train]\nwindow=1\n[decode]\nbeam=5\n" });
  plait_test_write_run ("c-seed-2.h5", &(PlaitTestRun){ "serial", plait_test_right, .more = "[train]\n", .seed = 2 });
  PlaitTestCall spelt = DONE (CALL ("compare", "a-seed-1.h5", "a-seed-2.h5", "b.h5"));
  PlaitTestCall lacking = CALL ("compare", "c-seed-1.h5", "c-seed-2.h5");

  CHECK_CONTAINS (spelt.output, "\n  a, 2 seeds  ");
  CHECK_CONTAINS (spelt.output, "train.learning_rate");
  CHECK (!strstr (spelt.output, "combiner.scale"));
  CHECK_CONTAINS (lacking.output, "\n  c, 2 seeds  ");
  CHECK (!strstr (lacking.output, "train.window") && !strstr (lacking.output, "decode.beam"));
}

/* compare groups runs that differ only in their seed into one system, as a grid's table does. A second run with the
 * same seed is another system. */
TEST_CASE (compare_command, takes_seeds_for_one_system)
{
  plait_test_write_run ("one-seed-1.h5", &(PlaitTestRun){ "serial", plait_test_wrong });
  plait_test_write_run ("one-seed-2.h5", &(PlaitTestRun){ "serial", plait_test_right, .seed = 2 });
  plait_test_write_run ("two.h5", &(PlaitTestRun){ "flat", plait_test_right });
  plait_test_write_run ("again.h5", &(PlaitTestRun){ "flat", plait_test_right });
  PlaitTestCall text = DONE (CALL ("compare", "one-seed-1.h5", "two.h5", "one-seed-2.h5", "again.h5"));
  PlaitTestCall csv = CALL ("compare", "one-seed-1.h5", "two.h5", "one-seed-2.h5", "--format", "csv");
  PlaitTestCall latex = CALL ("compare", "one-seed-1.h5", "two.h5", "one-seed-2.h5", "--format", "latex");
  PlaitTestCall markdown = CALL ("compare", "one-seed-1.h5", "two.h5", "one-seed-2.h5", "--format", "markdown");
  PlaitTestCall json = DONE (CALL ("compare", "one-seed-1.h5", "two.h5", "one-seed-2.h5", "--json"));
  PlaitTestCall alone = CALL ("compare", "one-seed-1.h5", "one-seed-2.h5");
  DONE (CALL ("report", "one-seed-1.h5", "two.h5", "one-seed-2.h5", "-o", "page.html"));
  const char *page = plait_test_read_text ("page.html");

  CHECK_CONTAINS (text.output, "\n  one, 2 seeds  ");
  CHECK_CONTAINS (text.output, "\n  two ");
  CHECK_CONTAINS (text.output, "\n  again ");
  CHECK_CONTAINS (text.output, "82.68 ± 24.49");
  CHECK_CONTAINS (csv.output, "\n\"one, 2 seeds\",");
  CHECK_CONTAINS (latex.output, "\none, 2 seeds & ");
  CHECK_CONTAINS (markdown.output, "\n| one, 2 seeds | ");
  CHECK_CONTAINS (json.output, "\"name\": \"one, 2 seeds\"");
  CHECK_CONTAINS (json.output, "\"seeds\": 2,");
  CHECK_CONTAINS (json.output, "\"test\": \"t test over seeds and sentences\"");
  CHECK (!strstr (json.output, "approximate randomisation"));
  CHECK_CONTAINS (text.output, "compares with one, 2 seeds:");
  CHECK (!strstr (alone.output, "p compares with"));
  CHECK_CONTAINS (alone.output, "± is the standard deviation over seeds.");
  CHECK_CONTAINS (page, "p compares with one, 2 seeds: approximate randomisation, 10000 "
                        "shuffles, seed 12345");
  CHECK_CONTAINS (page, "If a system has several seeds, the test is a t test over seeds and sentences");
}

/* Prints the number of sentences in each bin of lengths, which differs between runs with different sources. */
TEST_CASE (compare_command, scores_by_length_of_the_source)
{
  static const char *const sources[] = { "one two", "one two three", "one" };
  static const char *const others[] = { "one two", "one two", "one" };

  plait_test_write_run ("one.h5", &(PlaitTestRun){ "serial", plait_test_right, .sources = sources });
  plait_test_write_run ("two.h5", &(PlaitTestRun){ "flat", plait_test_right, .sources = others });
  plait_test_write_run ("three.h5", &(PlaitTestRun){ "flat", plait_test_right });
  PlaitTestCall call = DONE (CALL ("compare", "one.h5", "two.h5", "three.h5", "--test", "none"));
  PlaitTestCall json = CALL ("compare", "one.h5", "--json");
  DONE (CALL ("report", "one.h5", "two.h5", "-o", "page.html"));
  const char *page = plait_test_read_text ("page.html");

  CHECK_CONTAINS (call.output, "By words of the source: chrF2 on test\n"
                               "  Words    Sentences     one         two  three\n"
                               "  to 2             2  100.00  100.00 (3)\n"
                               "  3-4              1  100.00       – (0)\n"
                               "  above 4          0       –           –\n");
  CHECK_CONTAINS (json.output, "\"words\": \"3-4\",");
  CHECK_CONTAINS (json.output, "\"score\": null,");
  CHECK_CONTAINS (page, "By words of the source: chrF2 on test");
  CHECK_CONTAINS (page, "<td>to 2</td><td class=\"number\">2</td><td class=\"number\">100.00</td>");
}

static void
write_grid (void)
{
  g_autoptr (PlaitStore) store = plait_store_create (plait_test_path ("grid.h5"), NO_ERROR);

  REQUIRE (store != NULL);
  static const char *const titles[] = {
    "test BLEU",
    "test BLEU standard deviation",
    "test BLEU low",
    "test BLEU high",
    "test BLEU p",
    "test BLEU adjusted p",
    "test perplexity",
    "test perplexity low",
    "test perplexity high",
    "rate",
  };
  static const char *const combiners[] = { "serial", "flat" };
  static const double numbers[][G_N_ELEMENTS (titles)] = {
    { 30.5, .125, NAN, NAN, NAN, NAN, 3.5, 3.5, 3.5, 999.5 },
    { 32.25, NAN, 31, 33, .00617, .01234, 2.25, 2.25, 2.25, 7946.125 },
  };
  g_autoptr (PlaitTable) summary = plait_table_new ();
  plait_table_column (summary, PLAIT_TABLE_WORDS, "decoder.combiner");
  for (guint c = 0; c < G_N_ELEMENTS (titles); c++)
    plait_table_column (summary, PLAIT_TABLE_NUMBERS, titles[c]);
  for (guint r = 0; r < G_N_ELEMENTS (combiners); r++)
    {
      plait_table_text (summary, PLAIT_TABLE_PLAIN, combiners[r]);
      for (guint c = 0; c < G_N_ELEMENTS (titles); c++)
        plait_table_real (summary, numbers[r][c]);
    }
  CHECK (plait_store_write_table (store, "/summary", summary, NO_ERROR));
  CHECK (plait_store_link_external (store, "/runs/first-0123abcd", "one.h5", "/", NO_ERROR));
  CHECK (plait_store_link_external (store, "/runs/second-4567cdef", "two.h5", "/", NO_ERROR));
  CHECK (plait_store_commit (store, NO_ERROR));
}

TEST_CASE (compare_command, unfolds_a_grid)
{
  write_runs ();
  write_grid ();
  PlaitTestCall call = DONE (CALL ("compare", "grid.h5", "--test", "none"));

  CHECK_CONTAINS (call.output, "  decoder.combiner  serial  flat\n");
  CHECK_CONTAINS (call.output, "  Key               first   second\n");
}

/* The name of a cell may begin with the name of another cell. */
TEST_CASE (compare_command, shows_names_of_cells_without_digests)
{
  write_runs ();
  PlaitStore *store = plait_store_create (plait_test_path ("grid.h5"), NO_ERROR);
  CHECK (plait_store_link_external (store, "/runs/flat-0123abcd", "one.h5", "/", NO_ERROR));
  CHECK (plait_store_link_external (store, "/runs/flat-wide-4567cdef", "two.h5", "/", NO_ERROR));
  CHECK (plait_store_commit (store, NO_ERROR));
  plait_store_free (store);
  PlaitTestCall call = DONE (CALL ("compare", "grid.h5", "--test", "none"));

  CHECK_CONTAINS (call.output, "  Key               flat    flat-wide\n");
}

TEST_CASE (compare_command, reports_no_table_of_a_grid_over_several_references)
{
  write_runs ();
  write_grid ();
  DONE (CALL ("report", "grid.h5", "-o", "alike.html"));
  plait_test_write_run ("two.h5", &(PlaitTestRun){ "flat", plait_test_right, .references = plait_test_wrong });
  DONE (CALL ("report", "grid.h5", "-o", "apart.html"));
  const char *one = plait_test_read_text ("alike.html"), *two = plait_test_read_text ("apart.html");

  CHECK_CONTAINS (one, "32.25");
  CHECK (!strstr (two, "32.25"));
  CHECK_CONTAINS (two, "The cells have different references of a split");
}

TEST_CASE (compare_command, attention_by_jensen_shannon)
{
  write_runs ();
  PlaitTestCall same = DONE (CALL ("compare", "one.h5", "two.h5", "--attention"));
  plait_test_write_run ("turned.h5", &(PlaitTestRun){ "serial", plait_test_wrong, TRUE });
  PlaitTestCall turned = CALL ("compare", "one.h5", "turned.h5", "--attention");
  PlaitTestCall json = CALL ("compare", "one.h5", "turned.h5", "--attention", "--json");
  CHECK_REFUSED (CALL ("compare", "one.h5", "--attention"), "--attention compares two files");
  CHECK_CONTAINS (same.output, "Attention to en on test\n"
                               "  Layer  Head 0  Head 1    Mean\n"
                               "      0  0.0000  0.0000  0.0000\n"
                               "      1  0.0000  0.0000  0.0000\n"
                               "  1 sentence\n");
  CHECK_CONTAINS (turned.output, "      0  0.0000  0.0000  0.0000\n"
                                 "      1  0.3333  0.0000  0.1667\n"); /* one of three rows differs */
  CHECK_CONTAINS (json.output, "\"memory\": \"en\"");
  CHECK_CONTAINS (json.output, "\"sentences\": 1");
  CHECK_CONTAINS (json.output, "0.3333333333333333,");
  /* The report has the divergences, too. */
  DONE (CALL ("report", "one.h5", "turned.h5", "-o", "page.html"));
  const char *page = plait_test_read_text ("page.html");

  CHECK_CONTAINS (page, "<h2>Differences in attention</h2>");
  CHECK_CONTAINS (page, "one and turned, attention to en on test: 1 sentence</h3>");
  CHECK_CONTAINS (page, "<tr><td class=\"number\">1</td><td class=\"number\">0.3333</td>"
                        "<td class=\"number\">0.0000</td><td class=\"number\">0.1667</td></tr>\n");
}

TEST_CASE (compare_command, tells_sentences_that_differ_most)
{
  write_runs ();
  PlaitTestCall text = DONE (CALL ("compare", "one.h5", "two.h5", "--differ", "1"));
  PlaitTestCall json = CALL ("compare", "one.h5", "two.h5", "--differ", "1", "--json");
  CHECK_REFUSED (CALL ("compare", "one.h5", "--differ", "1"), "--differ compares two runs, not 1");
  PlaitTestCall same = CALL ("compare", "one.h5", "one.h5", "--differ", "1");

  CHECK_CONTAINS (same.output, "none: both runs have equal scores in every sentence");
  CHECK_CONTAINS (text.output, "Sentences of test that differ most by chrF2\n");
  CHECK_CONTAINS (text.output, "  two        100.00  ");
  CHECK_CONTAINS (json.output, "\"metric\": \"chrf\",\n    \"rows\": 3,");
  CHECK_CONTAINS (json.output, "        100,\n        null\n");
  CHECK_CONTAINS (json.output, "\"a man rides bikes yesterday\"");
}

/* Counted by hand for one.h5, as right words of the references and of the hypotheses. Words that the training text
 * lacks: 8 of 12 and 8 of 12; words that it has once: 3 of 3 and 3 of 4; four times: 1 of 3 and 1 of 1. */
TEST_CASE (compare_command, scores_words_by_how_often_training_had_them)
{
  write_runs ();
  plait_test_write ("train.txt", "a man\na dog\na a\nthe dogs\n");
  PlaitTestCall text = DONE (CALL ("compare", "one.h5", "two.h5", "--frequencies", "train.txt"));
  PlaitTestCall json = CALL ("compare", "one.h5", "--frequencies", "train.txt", "--json");
  plait_test_write_run ("other.h5", &(PlaitTestRun){ "flat", plait_test_right, .metric = "ter" });
  PlaitTestCall mixed = DONE (CALL ("compare", "one.h5", "other.h5", "--frequencies", "train.txt"));
  CHECK_REFUSED (CALL ("compare", "one.h5", "--frequencies", "nowhere.txt"), "nowhere.txt");
  CHECK_REFUSED (CALL ("compare", "one.h5", "--frequencies", "train.txt", "--attention"),
                 "--format, --attention, --differ and --frequencies each print something else");

  CHECK_CONTAINS (text.output, "Words of test by their frequency in training: F1, %\n");
  CHECK_CONTAINS (text.output, "  never                   12  66.67  100.00\n");
  CHECK_CONTAINS (text.output, "  once                     3  85.71  100.00\n");
  CHECK_CONTAINS (text.output, "  2 to 4 times             3  50.00  100.00\n");
  CHECK_CONTAINS (text.output, "  5 to 9 times             0      –       –\n");
  CHECK_CONTAINS (mixed.output, "  never                   12  66.67  100.00\n"); /* no metric has both scores */
  CHECK_CONTAINS (json.output, "\"in_training\": \"once\",");
  CHECK_CONTAINS (json.output, "\"hypothesis_words\": 4,");
  CHECK_CONTAINS (json.output, "\"f1\": null");
}

TEST_CASE (compare_command, refuses)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitStore) store = plait_store_create (plait_test_path ("other.h5"), &error);

  REQUIRE (store != NULL);
  CHECK (plait_store_set_int (store, "/", "seed", 1, &error) && plait_store_commit (store, &error));
  write_runs ();
  CHECK_REFUSED (CALL ("compare"), "an argument is missing");
  CHECK_REFUSED (CALL ("compare", "one.h5", "nowhere.h5"), "nowhere.h5: cannot be opened");
  CHECK_REFUSED (CALL ("compare", "other.h5"),
                 "other.h5: is not a run; expected a file that plait run or plait grid made");
  CHECK_REFUSED (CALL ("compare", "one.h5", "--test", "guess"), "expected permutation, bootstrap or none");
  CHECK_REFUSED (CALL ("compare", "one.h5", "--trials", "0"), "--trials cannot be \"0\"");
  CHECK_REFUSED (CALL ("report", "one.h5"), "--output is missing");
  CHECK_REFUSED (CALL ("report", "-o", "x.html"), "an argument is missing");
  CHECK_REFUSED (CALL ("report", "one.h5", "-o", "x.html", "--sentences", "some"), "--sentences cannot be \"some\"");
  CHECK_REFUSED (CALL ("report", "other.h5", "-o", "x.html"), "other.h5: is not a run");
  CHECK_REFUSED (CALL ("report", "one.h5", "-o", "nowhere/x.html"), "nowhere");
  CHECK (!plait_test_exists ("x.html"));
}

/* Returns the number of cells in the row of a table that begins at @row. */
static guint
count_cells (const char *row)
{
  guint n = 0;

  for (const char *end = strstr (row, "</tr>"); end && (row = strstr (row, "<t")) && row < end; row++)
    n += g_str_has_prefix (row, "<td") || g_str_has_prefix (row, "<th");
  return n;
}

/* Checks that all rows of each table of @html have equally many cells. Returns the number of tables. */
static guint
check_tables (const char *html)
{
  g_auto (GStrv) tables = g_strsplit (html, "<table>", -1);

  for (guint t = 1; tables[t]; t++)
    {
      g_auto (GStrv) parts = g_strsplit (tables[t], "</table>", 2), rows = g_strsplit (parts[0], "<tr>", -1);

      CONTEXT ("table %s", parts[0]);
      for (guint r = 1; rows[r]; r++)
        CHECK_INT (count_cells (rows[r]), count_cells (rows[1]));
    }
  return g_strv_length (tables) - 1;
}

TEST_CASE (report_command, one_page_that_needs_nothing_else)
{
  write_runs ();
  PlaitTestCall call = DONE (CALL ("report", "one.h5", "two.h5", "-o", "page.html", "--title", "A <title>"));
  PlaitTestCall again = CALL ("report", "-q", "one.h5", "two.h5", "-o", "again.html", "--title", "A <title>");
  const char *page = plait_test_read_text ("page.html"), *other = plait_test_read_text ("again.html");

  CHECK_STRING (call.output, "");
  CHECK_STRING (call.errors, "page.html is written\n");
  CHECK_STRING (again.errors, "");
  REQUIRE (page && other);
  CHECK_STRING (page, other);
  CHECK_CONTAINS (page, "<title>A &lt;title&gt;</title>");
  CHECK_CONTAINS (page, "100.00");
  /* The plot of the interval, between the score and p, has an empty header. */
  CHECK_CONTAINS (page, "<th class=\"number\">chrF2</th><th></th><th class=\"number\">p (one seed)</th>");
  CHECK_CONTAINS (page, "<polyline ");
  CHECK_CONTAINS (page, "two dogs run under green grass");
  CHECK_CONTAINS (page, "<td class=\"mono\">flat</td>");
  CHECK_CONTAINS (page, "combiner=serial");
  CHECK_CONTAINS (page, "plait run &lt;sample&gt;.ini");
  /* The first lines about a run show the digest of its file. */
  const char *run = plait_test_read_text ("one.h5");
  g_auto (GStrv) lines = g_strsplit (run, "\n", 5);
  CHECK_CONTAINS (page, plait_test_format ("one.h5 (%.23s…)", lines[3]));
  CHECK_CONTAINS (page, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; ");
  g_autofree char *bare = page_without_scripts (page);
  CHECK (check_tables (bare) > 4);
  static const char *const unwanted[]
      = { "http:", "https:", "<script", "src=", "url(", "href", "<b>", "\033", "nan", "inf" };
  for (guint i = 0; i < G_N_ELEMENTS (unwanted); i++)
    {
      CONTEXT ("unwanted %s", unwanted[i]);
      CHECK (!strstr (bare, unwanted[i]));
    }
}

TEST_CASE (report_command, of_a_grid)
{
  write_runs ();
  write_grid ();
  DONE (CALL ("report", "grid.h5", "-o", "page.html", "--sentences", "0"));
  const char *page = plait_test_read_text ("page.html");

  REQUIRE (page != NULL);
  CHECK_CONTAINS (page, "<h1>sample</h1>");
  CHECK_CONTAINS (page, "second</td>"); /* name of the cell, without the digest in its file's name */
  CHECK_CONTAINS (page, "<th class=\"number\">test BLEU</th><th class=\"number\">p</th>"
                        "<th class=\"number\">p (Holm)</th>"
                        "<th class=\"number\">test perplexity</th>");
  CHECK_CONTAINS (page, "<td class=\"number\">1000</td></tr>");
  CHECK_CONTAINS (page, "<td class=\"number\">7946</td></tr>");
  CHECK_CONTAINS (page, "<td class=\"number\">30.50 ± 0.12</td><td class=\"number\">–</td>");
  CHECK_CONTAINS (page, "<td class=\"number\">32.25 [31.00, 33.00]</td><td class=\"number\">0.0062</td>"
                        "<td class=\"number\">0.0123 *</td>");
  CHECK_CONTAINS (page, "<td class=\"number\">2.25</td>"); /* an interval of width 0 is not shown */
  CHECK (!strstr (page, "id=\"look\""));
}

/* Shows only the runs, scores and names that the user selects. */
TEST_CASE (compare_command, shows_what_is_chosen)
{
  write_runs ();
  plait_test_write_run ("third.h5", &(PlaitTestRun){ "parallel", plait_test_right });
  PlaitTestCall text = DONE (CALL ("compare", "one.h5", "two.h5", "third.h5", "--runs", "t*;one", "--metrics", "chrF2",
                                   "--names", "first; second;third"));
  PlaitTestCall some = DONE (CALL ("compare", "one.h5", "two.h5", "third.h5", "--runs", "t*"));

  CHECK_CONTAINS (text.output, "  first ");
  CHECK_CONTAINS (text.output, "  second");
  CHECK (strstr (text.output, "chrF2") && !strstr (text.output, "perplexity"));
  CHECK (strstr (some.output, "  two ") && !strstr (some.output, "  one "));
  CHECK_REFUSED (CALL ("compare", "one.h5", "two.h5", "--runs", "x*"),
                 "--runs: no run has a name like \"x*\"; the names are one, two");
  CHECK_REFUSED (CALL ("compare", "one.h5", "--metrics", "blue"),
                 "--metrics: no score is called \"blue\"; the scores are chrF2, perplexity per token");
  CHECK_REFUSED (CALL ("compare", "one.h5", "two.h5", "--names", "a"), "--names gives 1 names, but there are 2 rows");
  CHECK_REFUSED (CALL ("compare", "one.h5", "two.h5", "--names", "a;a"), "given twice");
  DONE (CALL ("report", "one.h5", "two.h5", "--names", "short;long", "--metrics", "chrF2", "-o", "chosen.html"));
  const char *page = plait_test_read_text ("chosen.html");

  CHECK_CONTAINS (page, "short");
}
