/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "call.h"
#include "files.h"
#include "harness.h"
#include "report-page.h"
#include "sample-run.h"
#include "tables/ragged.h"

/* Tests of descents of a target word in plait show and plait report. */

#define PLACE "/descent/test/0/en"

static void
write_run (void)
{
  plait_test_write_run ("run.h5",
                        &(PlaitTestRun){ .combiner = "descent", .hypotheses = plait_test_wrong, .descends = TRUE });
}

TEST_CASE (descent, is_drawn_from_the_top_down)
{
  write_run ();
  PlaitTestCall call = QUIET (CALL ("show", "run.h5", PLACE, "--head", "0"));
  PlaitTestCall second = CALL ("show", "run.h5", PLACE, "--head", "0", "--word", "1");
  PlaitTestCall group = CALL ("show", "run.h5", "/descent/test/0", "--head", "0");

  CHECK_STRING (call.output, "descent to en  word 0 ▁ein  layer 0, head 0\n"
                             "level 2  2 of 2 rows weighed\n"
                             "  ▶ 0.75 ███████████████      a … d\n"
                             "    0.25 █████                e\n"
                             "level 1  2 of 3 rows weighed\n"
                             "  ▶ 0.50 ██████████           a … b\n"
                             "    0.50 ██████████           <i>c</i> … d\n"
                             "leaves  2 of 5 rows weighed\n"
                             "  • 0.90 ██████████████████   a\n"
                             "  • 0.10 ██                   b\n"
                             "▶ selected: its children are weighed next; • leaf that is read; a number is the share of "
                             "the row in its level, by the product of the weights from the top\n"
                             "words: 0 ▁ein, 1 Mann\n");
  CHECK_CONTAINS (second.output, "descent to en  word 1 Mann");
  CHECK_CONTAINS (second.output, "    0.20 ████                 a … b\n"
                                 "  ▶ 0.80 ████████████████     <i>c</i> … d\n");
  CHECK (g_str_has_prefix (group.output, "/descent/test/0/en\ndescent to en"));
  CHECK (g_str_has_suffix (group.output, call.output));
}

/* The heads select different rows. The mean over heads shows how many heads selected each row. */
TEST_CASE (descent, of_several_heads_tells_how_many_go_there)
{
  write_run ();
  PlaitTestCall call = CALL ("show", "run.h5", PLACE);

  CHECK_CONTAINS (call.output, "layer 0, mean of 2 heads\n");
  CHECK_CONTAINS (call.output, "  ▶ 0.50 ██████████           a … d  (1 of 2)\n"
                               "  ▶ 0.50 ██████████           e  (1 of 2)\n"
                               "level 1  3 of 3 rows weighed\n"
                               "  ▶ 0.25 █████                a … b  (1 of 2)\n"
                               "    0.25 █████                <i>c</i> … d  (0 of 2)\n");
}

TEST_CASE (descent, as_json)
{
  write_run ();
  PlaitTestCall all = DONE (CALL ("show", "run.h5", PLACE, "--json", "--head", "0"));
  PlaitTestCall one = CALL ("show", "run.h5", PLACE, "--json", "--head", "0", "--word", "1");
  PlaitTestCall tree = CALL ("show", "run.h5");

  CHECK_CONTAINS (all.output, "\"choice\": \"layer 0, head 0\"");
  CHECK_CONTAINS (all.output, "\"label\": \"▁ein\"");
  CHECK_CONTAINS (one.output, "\"word\": 1,\n      \"label\": \"Mann\",\n      \"levels\": [\n        {\n"
                              "          \"level\": 2,\n");
  CHECK (!strstr (one.output, "▁ein"));
  CHECK_CONTAINS (one.output, "              \"row\": 6,\n"
                              "              \"label\": \"<i>c</i> … d\",\n"
                              "              \"first_leaf\": 2,\n"
                              "              \"last_leaf\": 3,\n"
                              "              \"weight\": 0.8,\n"
                              "              \"path\": 0.6,\n"
                              "              \"share\": 0.");
  CHECK_CONTAINS (one.output, "              \"weighed\": 1,\n"
                              "              \"taken\": 1\n");
  CHECK_CONTAINS (tree.output, "0  descent: en\n");
}

/* Returns the page that plait report makes of @run. */
static const char *
report (const PlaitTestRun *run)
{
  plait_test_write_run ("run.h5", run);
  return page_of ("run.h5 --sentences 4");
}

/* The page stores the labels of rows and of both target words once, with markup only in the packed data. click.py tests
 * what the script draws. */
TEST_CASE (descent, stands_in_the_report)
{
  static const char *const labels[] = { "\"<i>c</i>\"", "\"a … d\"", "\"Mann\"" };
  const char *html
      = report (&(PlaitTestRun){ .combiner = "descent", .hypotheses = plait_test_wrong, .descends = TRUE });
  g_auto (Pack) pack = { 0 };
  read_pack (&pack, html, 0);

  CHECK_CONTAINS (pack.json, "\"title\": \"descent to en\",\n      \"choice\": \"layer 0, mean of 2 heads\",\n");
  CHECK_CONTAINS (pack.json, "\"highest\": 2,");
  CHECK_CONTAINS (pack.json, "\"targets\": [\n        \"▁ein\",\n        \"Mann\"\n      ]");
  for (guint i = 0; i < G_N_ELEMENTS (labels); i++)
    {
      CONTEXT ("%s", labels[i]);
      CHECK_CONTAINS (pack.json, labels[i]);
      CHECK (strstr (pack.json, labels[i]) == g_strrstr (pack.json, labels[i]));
    }
  CHECK (!strstr (html, "<i>"));
}

/* In a report without descents or attention, their lists are empty, and the page does not mention them. */
TEST_CASE (descent, is_not_spoken_of_in_a_report_without_one)
{
  const char *plain = report (&(PlaitTestRun){ .combiner = "serial", .hypotheses = plait_test_wrong });
  const char *bare
      = report (&(PlaitTestRun){ .combiner = "serial", .hypotheses = plait_test_wrong, .inattentive = TRUE });
  g_auto (Pack) pack = { 0 }, index = { 0 };
  read_pack (&pack, plain, 0);
  read_index (&index, bare);
  g_autofree char *without_script = page_without_scripts (bare);

  CHECK_CONTAINS (pack.json, "\"descents\": []");
  CHECK_CONTAINS (bare, "<h2>Translations</h2>");
  CHECK_CONTAINS (index.json, "\"attention\": []");
  CHECK (!strstr (without_script, "escent") && !strstr (without_script, "ttention"));
}

/* Three sentences of 100 words, with 18 rows weighed for each word. */
TEST_CASE (descent, of_long_sentences_leaves_the_report_small)
{
  PlaitTestRun run = { .combiner = "descent", .hypotheses = plait_test_wrong, .descends = TRUE };
  const char *few = report (&run);

  run.long_descents = 3;
  const char *many = report (&run);
  CHECK (strlen (many) < strlen (few) + 30000);
  for (guint i = 0; i < 3; i++)
    {
      g_auto (Pack) pack = { 0 };
      read_pack (&pack, many, 1 + i);
      CHECK_CONTAINS (pack.json, "\"bytes\": 11000"); /* 2 bytes for each word and 6 for each row */
    }
}

/* A report draws a descent of 600 words. If a descent is too large, the report refers to plait show. */
TEST_CASE (descent, of_very_many_words_is_left_to_show)
{
  const char *html = report (&(PlaitTestRun){
      .combiner = "descent", .hypotheses = plait_test_wrong, .long_descents = 1, .descent_words = 12000 });
  const char *fewer = report (&(PlaitTestRun){
      .combiner = "descent", .hypotheses = plait_test_wrong, .long_descents = 1, .descent_words = 600 });
  g_auto (Pack) pack = { 0 }, whole = { 0 };
  read_pack (&pack, html, 1);
  read_pack (&whole, fewer, 1);

  CHECK_CONTAINS (whole.json, "\"bytes\": 66000");
  CHECK_CONTAINS (pack.json, "has too many values to be drawn; plait show draws it word by word.");
  CHECK_CONTAINS (pack.json, "\"descents\": []");
}

/* If one of the compared runs selects rows, all runs have a column with the number of rows weighed. */
TEST_CASE (descent, is_told_beside_plain_attention_by_what_it_touches)
{
  const char *page = plait_test_path ("both.html");

  plait_test_write_run (
      "down.h5",
      &(PlaitTestRun){ .combiner = "descent", .hypotheses = plait_test_wrong, .descends = TRUE, .touched = 12.5 });
  plait_test_write_run ("all.h5",
                        &(PlaitTestRun){ .combiner = "serial", .hypotheses = plait_test_wrong, .touched = 62.5 });
  plait_test_write_run ("old.h5", &(PlaitTestRun){ .combiner = "flat", .hypotheses = plait_test_wrong });
  PlaitTestCall call = DONE (CALL ("compare", "all.h5", "down.h5", "old.h5", "--trials", "2"));
  PlaitTestCall json = CALL ("compare", "all.h5", "down.h5", "--json", "--trials", "2");
  PlaitTestCall plain = DONE (CALL ("compare", "all.h5", "old.h5", "--trials", "2"));
  DONE (CALL ("report", "all.h5", "down.h5", "--output", page));

  CHECK_CONTAINS (call.output, "states touched  ms/word\n");
  CHECK_CONTAINS (call.output, "         62.50     0.62\n");
  CHECK_CONTAINS (call.output, "         12.50     0.12\n");
  CHECK_CONTAINS (call.output, "             –        –\n");
  CHECK_CONTAINS (json.output, "\"states_touched\"");
  CHECK (!strstr (plain.output, "touched") && !strstr (plain.output, "ms/word"));
  const char *html = plait_test_read_text (page);
  CHECK_CONTAINS (html, "states touched");
}

TEST_CASE (descent, refuses)
{
  write_run ();
  CHECK_REFUSED (CALL ("show", "run.h5", PLACE, "--word", "2"), "/descent/test/0/en has no word 2; expected 0 to 1");
  CHECK_REFUSED (CALL ("show", "run.h5", PLACE, "--json", "--word", "9"), "has no word 9; expected 0 to 1");
  CHECK_REFUSED (CALL ("show", "run.h5", PLACE, "--word", "-1"), "--word");
  CHECK_REFUSED (CALL ("show", "run.h5", PLACE, "--head", "2"), "has no head 2; expected 0 to 1, or mean");
  CHECK_REFUSED (CALL ("show", "run.h5", PLACE, "--layer", "1"), "has no layer 1; expected 0 to 0, or mean");
}

/* Copies the descent of run.h5 to @name and damages its array @spoilt, if any: removes the last number (@cut), or
 * sets the first or last number (@last) to @number. */
static void
write_spoilt (const char *name, const char *spoilt, gboolean cut, gboolean last, gint64 number)
{
  static const char *const arrays[]
      = { "extents",     "row_level", "row_first_child", "row_children", "entry_offsets", "set_parent",
          "set_offsets", "row",       "weight",          "path",         "taken" };
  static const char *const labels[] = { "target_labels", "row_labels" };
  const char *from = plait_test_path ("run.h5"), *to = plait_test_path (name);
  g_autoptr (PlaitStore) run = plait_store_open (from, NULL);
  g_autoptr (PlaitStore) store = plait_store_create (to, NULL);

  REQUIRE (run && store);
  for (guint i = 0; i < G_N_ELEMENTS (labels); i++)
    {
      g_autofree char *path = g_strdup_printf (PLACE "/%s", labels[i]);
      gint64 n = 0;
      g_auto (GStrv) texts = plait_store_read_strings (run, path, 1000, &n, NULL);

      CHECK (
          plait_store_append (store, "/descent/test/0", "en", labels[i], PLAIT_STORE_STRING, 1, &n, texts, NULL, NULL));
    }
  for (guint i = 0; i < G_N_ELEMENTS (arrays); i++)
    {
      g_autofree char *path = g_strdup_printf (PLACE "/%s", arrays[i]);
      gint64 n = 0;
      g_autofree double *values = plait_store_read_array (run, path, PLAIT_STORE_DOUBLE, 1000, &n, NULL);
      g_autofree gint64 *numbers = g_new (gint64, 1000);
      gboolean here = g_str_equal (arrays[i], spoilt), real = i == 8 || i == 9;

      REQUIRE (values && n > 0);
      if (here && !cut)
        values[last ? n - 1 : 0] = (double)number;
      for (gint64 k = 0; k < n; k++)
        numbers[k] = real ? 0 : (gint64)values[k];
      n -= here && cut;
      CHECK (plait_store_append (store, "/descent/test/0", "en", arrays[i],
                                 real ? PLAIT_STORE_DOUBLE : PLAIT_STORE_INT64, 1, &n,
                                 real ? (gconstpointer)values : numbers, NULL, NULL));
    }
  CHECK (plait_store_commit (store, NULL));
}

static void
check_spoilt (const char *spoilt, gboolean cut, gboolean last, gint64 number)
{
  CONTEXT ("%s %s %s %d", spoilt, cut ? "is cut" : "has", last ? "last" : "first", (int)number);

  write_spoilt ("spoilt.h5", spoilt, cut, last, number);
  PlaitTestCall call = CALL ("show", "spoilt.h5", PLACE, "--json");
  CHECK_REFUSED (call, "spoilt.h5: the descent " PLACE " cannot be drawn: its arrays contradict each other");
}

TEST_CASE (descent, whose_arrays_contradict_each_other_is_refused)
{
  static const char *const read[] = { "extents",     "row_level", "row_first_child", "row_children", "entry_offsets",
                                      "set_offsets", "row",       "weight",          "path",         "taken" };
  static const gint64 numbers[] = { -5, G_MAXINT32 };

  write_run ();
  write_spoilt ("whole.h5", "", FALSE, FALSE, 0);
  DONE (CALL ("show", "whole.h5", PLACE, "--json"));
  for (guint i = 0; i < G_N_ELEMENTS (read); i++)
    check_spoilt (read[i], TRUE, FALSE, 0);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      check_spoilt ("row_level", FALSE, FALSE, numbers[i]);
      check_spoilt ("row_first_child", FALSE, TRUE, numbers[i]);
      check_spoilt ("row_children", FALSE, TRUE, numbers[i]);
      check_spoilt ("entry_offsets", FALSE, FALSE, numbers[i]);
      check_spoilt ("set_offsets", FALSE, TRUE, numbers[i]);
      check_spoilt ("row", FALSE, TRUE, numbers[i]);
      check_spoilt ("extents", FALSE, FALSE, numbers[i]);
      check_spoilt ("extents", FALSE, TRUE, numbers[i]);
    }
  /* Rows that are descendants of themselves. */
  check_spoilt ("row_first_child", FALSE, TRUE, 9);
}
