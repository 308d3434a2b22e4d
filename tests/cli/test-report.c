/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>
#include <sys/wait.h>

#include "call.h"
#include "comparison/heatmap.h"
#include "files.h"
#include "harness.h"
#include "report-page.h"
#include "sample-run.h"
#include "tables/ragged.h"

/* Tests that the data for a report's script equal those of the run, and checks the drawings. */

/* Each weight in the page differs from the file's by at most half a 255th of the largest. Before the weights stand
 * their sums for each layer and target token, which are 1 (255) here. */
TEST_CASE (report, holds_the_weights_of_the_file)
{
  plait_test_write_run ("run.h5", &(PlaitTestRun){ "serial", plait_test_wrong });
  const char *path = plait_test_path ("run.h5");
  const char *html = page_of ("run.h5");
  g_auto (Pack) pack = { 0 };
  read_pack (&pack, html, 0);
  g_autoptr (PlaitStore) store = plait_store_open (path, NULL);

  REQUIRE (store != NULL);
  CHECK_CONTAINS (pack.json, "\"kept_layers\": 2,");
  CHECK_CONTAINS (pack.json, "\"kept_heads\": 2,");
  CHECK_CONTAINS (pack.json, "\"largest\": 1,");
  CHECK_CONTAINS (pack.json, "▁<b>a</b>");
  REQUIRE (pack.n == (gsize)2 * 3 + (gsize)2 * 2 * 3 * 2);
  for (guint i = 0; i < 6; i++)
    CHECK_INT (pack.bytes[i], 255);
  for (gint64 step = 0; step < 4; step++)
    {
      g_autoptr (PlaitHeatmap) heatmap
          = plait_heatmap_read (store, "/attention/test/0/en", (PlaitHeatmapSelection){ step / 2, step % 2, 0 }, NULL);

      REQUIRE (heatmap != NULL);
      for (gint64 i = 0; i < 6; i++)
        CHECK_NEAR (pack.bytes[6 + step * 6 + i] / 255., heatmap->values[i], .5 / 255 + 1e-12);
    }
}

TEST_CASE (report, holds_texts_and_scores_of_sentences)
{
  static const char *const sources[] = { "ein Mann", "zwei Hunde", "das Kind" };

  plait_test_write_run ("one.h5", &(PlaitTestRun){ "serial", plait_test_wrong, .sources = sources });
  plait_test_write_run ("two.h5", &(PlaitTestRun){ "flat", plait_test_right, .sources = sources });
  const char *html = page_of ("one.h5 two.h5");
  g_auto (Pack) index = { 0 };
  read_index (&index, html);

  CHECK_CONTAINS (index.json, "\"one\",");
  CHECK_CONTAINS (index.json, "\"two dogs run over green grass\""); /* reference of both runs, and translation of one */
  CHECK_CONTAINS (index.json, "\"two dogs run under green grass\""); /* translation that only one run has */
  CHECK_CONTAINS (index.json, "\"name\": \"en\",");
  CHECK_CONTAINS (index.json, "\"zwei Hunde\",");
  CHECK (g_strrstr (index.json, "zwei Hunde") == strstr (index.json, "zwei Hunde"));
  CHECK_CONTAINS (index.json, "\"name\": \"chrF2\",");
  CHECK_CONTAINS (index.json, "\"larger\": true,");
  const char *last = strstr (index.json, "\"run\": 1,");
  REQUIRE (last != NULL);
  CHECK_CONTAINS (last, "                100,\n                100,\n                100\n");
  CHECK_CONTAINS (index.json, "\"maps\": [\n            0,\n            1\n          ]");
}

/* The translations contain script, markup, changes of the writing direction, control characters and a character of four
 * bytes in UTF-8. */
TEST_CASE (report, keeps_what_is_hostile_in_its_pack)
{
  static const char *const hostile[] = { "</script><script>document.title='x'</script>", "\"'><img onerror=x>&amp;\\",
                                         "\u202egnp.\u2066 😀 \302\205\033[2J", NULL };

  plait_test_write_run ("run.h5", &(PlaitTestRun){ "serial", hostile });
  const char *html = page_of ("run.h5");
  g_auto (Pack) index = { 0 };
  read_index (&index, html);
  guint scripts = 0;

  for (const char *p = html; (p = strstr (p, "<script")); p++)
    scripts++;
  CHECK_INT (scripts, 2);
  CHECK (!strstr (html, "<img") && !strstr (html, "\u202e") && !strstr (html, "\u2066") && !strstr (html, "\033"));
  CHECK_CONTAINS (index.json, "\"</script><script>document.title='x'</script>\"");
  CHECK_CONTAINS (index.json, "\"\\\"'><img onerror=x>&amp;\\\\\"");
  CHECK_CONTAINS (index.json, "😀");
  CHECK (!strstr (index.json, "\u202e") && !strstr (index.json, "\\u001b"));
}

/* The security policy of the page allows only the script in it. */
TEST_CASE (report, names_the_digest_of_its_script)
{
  plait_test_write_run ("run.h5", &(PlaitTestRun){ "serial", plait_test_wrong });
  const char *html = page_of ("run.h5");
  const char *begin = strstr (html, "<script>"), *end = begin ? strstr (begin, "</script>") : NULL;

  REQUIRE (end != NULL);
  begin += strlen ("<script>");
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  guint8 digest[32];
  gsize length = sizeof digest;
  g_checksum_update (checksum, (const guchar *)begin, end - begin);
  g_checksum_get_digest (checksum, digest, &length);
  g_autofree char *text = g_base64_encode (digest, length);
  CHECK_CONTAINS (html, plait_test_format ("script-src 'sha256-%s'", text));
}

/* The first of many sentences have the weights of every head, the next ones means of heads, so that the page stays
 * small. */
TEST_CASE (report, of_many_sentences_stays_small)
{
  plait_test_write_run ("run.h5", &(PlaitTestRun){ "serial", plait_test_wrong, .many = 200 });
  const char *html = page_of ("run.h5 --sentences 1");
  g_auto (Pack) index = { 0 }, first = { 0 }, last = { 0 };

  read_index (&index, html);
  read_pack (&first, html, 0);
  read_pack (&last, html, 199);

  CHECK (strlen (html) > 3000000);
  CHECK (strlen (html) < 5000000);
  CHECK_CONTAINS (index.json, "\"name\": \"199\",");
  CHECK_CONTAINS (first.json, "\"kept_heads\": 4,");
  CHECK_CONTAINS (last.json, "\"kept_heads\": 1,");
  CHECK_CONTAINS (last.json, "\"heads\": 4,");
}

/* Each of two heads descends through another top row, so in the mean over heads both rows have half of the weight. */
TEST_CASE (report, holds_descents_of_the_file)
{
  static const guint8 rows[][6] = { { 8, 0, 128, 128, 128, 128 }, { 9, 0, 128, 128, 128, 128 } };

  plait_test_write_run ("run.h5", &(PlaitTestRun){ "descent", plait_test_wrong, .descends = TRUE });
  const char *html = page_of ("run.h5");
  g_auto (Pack) pack = { 0 };
  read_pack (&pack, html, 0);

  CHECK_CONTAINS (pack.json, "\"title\": \"descent to en\",");
  CHECK_CONTAINS (pack.json, "\"ways\": 2,");
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    CHECK (memmem (pack.bytes, pack.n, rows[i], sizeof rows[i]) != NULL);
}

/* Draws one curve with a band for runs that differ only in their seed. The title of the plot is the name of its
 * metric. */
TEST_CASE (report, has_bands_over_seeds)
{
  plait_test_write_run ("a_seed-1.h5", &(PlaitTestRun){ "serial", plait_test_wrong, .more = "[train]\nmetric=chrf\n" });
  plait_test_write_run ("a_seed-2.h5",
                        &(PlaitTestRun){ "serial", plait_test_wrong, .more = "[train]\nmetric=chrf\n", .seed = 2 });
  const char *html = page_of ("a_seed-1.h5 a_seed-2.h5");
  const char *band = strstr (html, "<polygon class=\"band\"");

  CHECK_CONTAINS (html, "</span>a, 2 seeds</span>");
  CHECK_CONTAINS (html, "<figcaption>Validation chrF2</figcaption>");
  CHECK_CONTAINS (html, "a band is the standard deviation over seeds");
  REQUIRE (band != NULL);
  /* The metrics of the two runs are 0 and 2, .5 and 2.5, 1 and 3: means with bands of 1.414, cut at the plot's
   * limits. */
  CHECK_CONTAINS (band, "points=\"52,18.3 250,10 448,10 448,195.7 250,204 52,204\"/>");
}

/* One validation is only a point, so the losses of training are drawn. */
TEST_CASE (report, draws_training_where_there_is_one_validation)
{
  for (guint once = 0; once < 2; once++)
    {
      CONTEXT ("validated %s", once ? "once" : "three times");
      plait_test_write_run ("one.h5", &(PlaitTestRun){ "serial", plait_test_wrong, .validated_once = once });
      plait_test_write_run ("two.h5", &(PlaitTestRun){ "flat", plait_test_wrong, .validated_once = once });
      const char *html = page_of ("one.h5 two.h5");

      CHECK ((strstr (html, "<figcaption>Negative log-likelihood, nats a target token, in training</") != NULL)
             == once);
    }
}

/* After eight runs colours repeat with other dashes: in curves, legend and tables. */
TEST_CASE (report, tells_the_curves_of_many_runs_apart)
{
  g_autoptr (GHashTable) strokes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = 0; i < 20; i++)
    {
      g_autofree char *name = g_strdup_printf ("run%u.h5", i);
      g_autofree char *more = g_strdup_printf ("[decode]\nmaximum_length=%u\n", 10 + i);

      plait_test_write_run (name, &(PlaitTestRun){ "serial", plait_test_wrong, .more = more });
      g_string_append_printf (names, "%s%s", i > 0 ? " " : "", name);
    }
  const char *html = page_of (names->str);
  const char *training = strstr (html, "<h2>Training</h2>"); /* before it are the scores over decode.maximum_length */
  const char *first = training ? strstr (training, "<polyline") : NULL,
             *end = first ? strstr (first, "</figure>") : NULL;

  for (const char *curve = first; curve && curve < end; curve = strstr (curve + 1, "<polyline"))
    g_hash_table_add (strokes, g_strndup (curve, (gsize)(strstr (curve, " points=") - curve)));
  CHECK_INT (g_hash_table_size (strokes), 20);
  CHECK_CONTAINS (html, "<span class=\"key\"><span class=\"swatch\" style=\"background:var(--c1)\"></span>run1</span>");
  CHECK_CONTAINS (html, "<span class=\"key\"><svg class=\"curve\" viewBox=\"0 0 30 10\"><path class=\"d1\" "
                        "stroke=\"var(--c1)\" d=\"M0 5h30\"/></svg>run9</span>");
  CHECK_CONTAINS (html, "<path class=\"d2\" stroke=\"var(--c3)\" d=\"M0 5h30\"/></svg>run19</td>");
}

/* Makes a page of a dump of plait translate --attention, which has no scores, training or settings. */
TEST_CASE (report, of_a_dump)
{
  static const char *const axes[] = { "target", "row" };
  static const char *const targets[] = { "ja", "</s>" }, *const rows[] = { "yes", "sir", "</s>" };
  static const char *const *const labels[] = { targets, rows };
  static const gint64 shape[] = { 2, 3 };
  static PlaitScalar weights[] = { .5, .25, .25, 0, 0, 1 };
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitStore) store = plait_store_create (plait_test_path ("dump.h5"), &error);

  REQUIRE (store != NULL);
  CHECK (plait_store_append_heatmap (
      store, "/attention/text/7", "en",
      &(PlaitStoreHeatmap){ "weights", 2, shape, weights, axes, labels, "attention to en" }, &error));
  /* a heatmap whose weights are missing */
  CHECK (plait_store_append_attribute (store, "/attention/text/7", "torn", "signal", "weights", &error));
  CHECK (plait_store_append (store, "/attention/text/7", "torn", "other", PLAIT_STORE_INT64, 1, shape, shape, NULL,
                             &error));
  CHECK (plait_store_commit (store, &error));
  plait_test_write_run ("run.h5", &(PlaitTestRun){ "serial", plait_test_wrong });
  const char *html = page_of ("dump.h5"), *both = page_of ("dump.h5 run.h5");
  g_auto (Pack) pack = { 0 };
  read_pack (&pack, html, 0);
  CHECK_REFUSED (CALL ("compare", "dump.h5", "run.h5"),
                 "dump.h5: is not a run; expected a file that plait run or plait grid made");

  REQUIRE (pack.n == 2 + 6);
  static const guint8 expected[] = { 255, 255, 128, 64, 64, 0, 0, 255 };
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    CHECK_INT (pack.bytes[i], expected[i]);
  CHECK_CONTAINS (html, "<h1>dump</h1>");
  CHECK_CONTAINS (pack.json, "\"title\": \"attention to en\"");
  CHECK_CONTAINS (pack.json,
                  "\"undrawn\": [\n    \"torn cannot be drawn: its values are missing or have the wrong shape.\"");
  CHECK (!strstr (html, "<h2>Scores</h2>") && !strstr (html, "<h2>Training</h2>")
         && !strstr (html, "<h2>Settings</h2>"));
  CHECK_CONTAINS (both, "<h2>Scores</h2>");
  CHECK (!strstr (both, "What differs:"));
}

/* Writes the page of @run to the file @name and returns its path. */
static const char *
write_page (const char *name, const PlaitTestRun *run)
{
  plait_test_write_run ("run.h5", run);
  return plait_test_write (name, page_of ("run.h5"));
}

/* Uses the page in a browser as a user does (click.py). Skipped if there is no browser, which plait does not
 * require. */
TEST_CASE (report, is_clicked_through)
{
  static const char *const sources[] = { "ein Mann", "zwei Hunde", "das Kind" };
  const char *script = plait_test_source_path ("tests/cli/click.py");
  const char *page = plait_test_path ("page.html");
  g_autofree char *out = NULL, *problems = NULL;
  const char *descent = write_page (
      "descent.html", &(PlaitTestRun){ .combiner = "descent", .hypotheses = plait_test_wrong, .descends = TRUE });
  const char *document = write_page (
      "document.html", &(PlaitTestRun){ .combiner = "serial", .hypotheses = plait_test_wrong, .document = 200 });
  const char *wide
      = write_page ("wide.html", &(PlaitTestRun){ .combiner = "serial", .hypotheses = plait_test_wrong, .wide = TRUE });
  const char *command[] = { "python3", script, page, descent, document, wide, NULL };
  int status = 0;

  plait_test_write_run ("one.h5",
                        &(PlaitTestRun){ "hierarchical", plait_test_wrong, .sources = sources, .hierarchical = TRUE });
  plait_test_write_run ("two.h5", &(PlaitTestRun){ "serial", plait_test_right, .turned = TRUE });
  const char *html = page_of ("one.h5 two.h5");
  CHECK (*html != '\0');
  if (!g_spawn_sync (NULL, (char **)command, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, &problems, &status, NULL))
    SKIP_TEST ("python3 is not installed; what the script of a report draws is not looked at");
  if (WIFEXITED (status) && WEXITSTATUS (status) == 77)
    SKIP_TEST ("no Chromium is installed; what the script of a report draws is not looked at");
  CONTEXT ("the clicks say: %s%s", out, problems);
  CHECK_INT (status, 0);
}
