/* SPDX-License-Identifier: MIT */
#include "plot/plot.h"

#include <hdf5.h>
#include <math.h>
#include <string.h>

#include "call.h"
#include "files.h"
#include "harness.h"
#include "report-page.h"
#include "sample-run.h"

/* Tests of plait plot. Figures are drawn if the build has Cairo and Pango (PLAIT_HAS_PLOT). */

#define MAP "/attention/test/0/en"
#define CURVE "/training/validation/negative_log_likelihood"
#define SCORES "/evaluation/test/metrics"
#define LENGTHS "/evaluation/test/length_bins"

#define NEEDS_PLOT                                                                                                     \
  do                                                                                                                   \
    {                                                                                                                  \
      if (!PLAIT_HAS_PLOT)                                                                                             \
        SKIP_TEST ("this build has no cairo and Pango");                                                               \
    }                                                                                                                  \
  while (0)

static const char *const sources[] = { "one two", "one two three", "one" };

static void
write_runs (void)
{
  plait_test_write_run ("one.h5", &(PlaitTestRun){ "serial", plait_test_wrong, .sources = sources });
  plait_test_write_run ("two.h5", &(PlaitTestRun){ "serial", plait_test_right, .sources = sources, .seed = 2 });
  plait_test_write_run ("flat.h5", &(PlaitTestRun){ "flat", plait_test_right, .sources = sources });
}

static char *
load (const char *name, gsize *size)
{
  char *bytes = NULL;

  CHECK (g_file_get_contents (plait_test_path (name), &bytes, size, NULL));
  return bytes;
}

TEST_CASE (plot_command, draws_what_runs_hold)
{
  static const char *const paths[] = { MAP, CURVE, SCORES, LENGTHS };

  NEEDS_PLOT;
  write_runs ();
  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      CONTEXT ("%s", paths[i]);
      gsize size = 0;
      PlaitTestCall drawn = DONE (CALL ("plot", "one.h5", paths[i], "-o", "figure.svg", "--force"));
      g_autofree char *svg = load ("figure.svg", &size);

      CHECK_CONTAINS (drawn.errors, "figure.svg is written");
      REQUIRE (svg);
      /* The width is 8 centimetres. */
      CHECK_CONTAINS (svg, "width=\"226.77");
    }
}

TEST_CASE (plot_command, writes_by_the_ending)
{
  gsize n_pdf = 0, n_again = 0, n_png = 0;

  NEEDS_PLOT;
  write_runs ();
  DONE (CALL ("plot", "one.h5", MAP, MAP, "-o", "a.pdf", "--width", "12", "--names", "a;b"));
  PlaitTestCall comma = DONE (CALL ("plot", "one.h5", MAP, MAP, "-o", "c.pdf", "--width", "12", "--names", "a, b"));
  CHECK_CONTAINS (comma.errors, "--names has one name, because \";\" separates names; did you mean \"a;b\"?");
  DONE (CALL ("plot", "one.h5", MAP, MAP, "-o", "b.pdf", "--width", "12", "--names", "a;b"));
  DONE (CALL ("plot", "one.h5", "two.h5", "flat.h5", CURVE, "-o", "a.png", "--labels", "none"));
  g_autofree char *first = load ("a.pdf", &n_pdf), *second = load ("b.pdf", &n_again), *third = load ("a.png", &n_png);
  REQUIRE (first && second && third);
  CHECK (g_str_has_prefix (first, "%PDF-"));
  CHECK (n_pdf == n_again && memcmp (first, second, n_pdf) == 0);
  CHECK (n_png > 8 && memcmp (third, "\211PNG\r\n\032\n", 8) == 0);
}

static PlaitPlotChart *
chart_of (GPtrArray *runs, const char *path, const char *metric, const char *by, GError **error)
{
  return plait_plot_chart_new (runs, path, &(const PlaitPlotSelection){ .metric = metric, .by = by }, error);
}

/* Two runs that differ only in seed are one series with a band; the third run is another series. */
TEST_CASE (plot_data, makes_one_series_of_seeds)
{
  const char *one = plait_test_path ("one.h5"), *two = plait_test_path ("two.h5"), *flat = plait_test_path ("flat.h5");

  write_runs ();
  g_autoptr (GPtrArray) runs
      = plait_runs_open ((char *[]){ (char *)one, (char *)two, (char *)flat, NULL }, FALSE, NULL, NO_ERROR);
  REQUIRE (runs);
  g_autoptr (PlaitPlotChart) bars = chart_of (runs, SCORES, "CHRF2", NULL, NO_ERROR);
  REQUIRE (bars);
  const PlaitPlotSeries *scores = bars->series->pdata[0];
  REQUIRE (scores->n == 2);
  CHECK_STRING (bars->categories[0], "serial");
  CHECK_STRING (bars->categories[1], "flat");
  CHECK (isfinite (scores->points[0].low) && scores->points[0].low <= scores->points[0].y
         && scores->points[0].y <= scores->points[0].high);
  g_autoptr (PlaitPlotChart) curves = chart_of (runs, CURVE, NULL, NULL, NO_ERROR);
  REQUIRE (curves && curves->series->len == 2);
  const PlaitPlotSeries *curve = curves->series->pdata[0], *other = curves->series->pdata[1];
  CHECK_INT (curve->n, 3);
  CHECK (curve->points[0].high >= curve->points[0].y && isfinite (curve->points[0].low));
  CHECK (isnan (other->points[0].low));
  g_autoptr (PlaitPlotChart) lengths = chart_of (runs, LENGTHS, "chrf", NULL, NO_ERROR);
  REQUIRE (lengths);
  CHECK_INT (g_strv_length (lengths->categories), 3);
  /* The third bin is empty, since no source has more than four words. */
  CHECK (isnan (((PlaitPlotSeries *)lengths->series->pdata[0])->points[2].y));
  CHECK_STRING (lengths->y_title, "chrF2");
}

/* If only one seed has a score, the band is the interval of this seed. */
TEST_CASE (plot_data, has_the_interval_of_the_seed_with_a_score)
{
  const char *one = plait_test_path ("one.h5"), *two = plait_test_path ("two.h5");

  write_runs ();
  for (guint without = 0; without < 2; without++)
    {
      g_autoptr (GPtrArray) runs
          = plait_runs_open ((char *[]){ (char *)one, (char *)two, NULL }, FALSE, NULL, NO_ERROR);
      REQUIRE (runs && runs->len == 2);
      PlaitRunScore *with = plait_run_at (runs, 1 - without)->result->scores->pdata[0];
      PlaitRunScore *missing = plait_run_at (runs, without)->result->scores->pdata[0];

      missing->score = NAN;
      missing->low = 70;
      missing->high = 80;
      with->low = 40;
      with->high = 60;
      g_autoptr (PlaitPlotChart) bars = chart_of (runs, SCORES, with->metric, NULL, NO_ERROR);
      REQUIRE (bars);
      const PlaitPlotPoint *point = ((PlaitPlotSeries *)bars->series->pdata[0])->points;
      CONTEXT ("seed %u has no score", without);
      CHECK_NEAR (point->y, with->score, 0);
      CHECK_NEAR (point->low, 40, 0);
      CHECK_NEAR (point->high, 60, 0);
    }
}

/* Writes share0.h5 to share4.h5, one system with three values of data.share, the largest by default, and another with
 * one value and two seeds. Returns their paths, NULL-terminated. (transfer container) */
static GPtrArray *
write_shares (void)
{
  static const char *const quarter = "\n[data]\nshare=0.25\n", *const half = "\n[data]\nshare=0.5\n";
  const PlaitTestRun made[] = { { "serial", plait_test_right, .more = half },
                                { "serial", plait_test_right },
                                { "serial", plait_test_wrong, .more = quarter },
                                { "flat", plait_test_wrong, .more = quarter },
                                { "flat", plait_test_right, .more = quarter, .seed = 2 } };
  GPtrArray *names = g_ptr_array_new ();

  for (guint i = 0; i < G_N_ELEMENTS (made); i++)
    {
      g_autofree char *name = g_strdup_printf ("share%u.h5", i);

      plait_test_write_run (name, &made[i]);
      g_ptr_array_add (names, (gpointer)plait_test_path (name));
    }
  g_ptr_array_add (names, NULL);
  return names;
}

/* Each system is a curve over a logarithmic axis. */
TEST_CASE (plot_data, makes_curves_over_a_key)
{
  g_autoptr (GPtrArray) names = write_shares ();
  g_autoptr (GPtrArray) runs = plait_runs_open ((char **)names->pdata, FALSE, NULL, NO_ERROR);
  g_autoptr (PlaitPlotChart) chart = chart_of (runs, SCORES, "chrf2", "data.share", NO_ERROR);
  REQUIRE (chart && chart->series->len == 2);
  const PlaitPlotSeries *serial = chart->series->pdata[0], *flat = chart->series->pdata[1];
  CHECK_STRING (serial->name, "serial");
  CHECK_STRING (flat->name, "flat");
  REQUIRE (serial->n == 3 && flat->n == 1);
  CHECK (serial->points[0].y < serial->points[1].y && serial->points[1].y == serial->points[2].y);
  CHECK (fabs (serial->points[0].x - log (0.25)) < 1e-12 && serial->points[2].x == 0);
  CHECK (flat->points[0].y > serial->points[0].y && flat->points[0].y < serial->points[1].y
         && flat->points[0].low < flat->points[0].y);
  CHECK_STRING (chart->tick_names[0], "0.25");
  CHECK_STRING (chart->tick_names[2], "1");
  CHECK_STRING (chart->x_title, "data.share");
  CHECK_STRING (chart->y_title, "chrF2");

  g_autoptr (GError) error = NULL;
  CHECK (!chart_of (runs, SCORES, NULL, "decoder.combiner", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "--by decoder.combiner needs numbers, but the value of this run is serial");
  CHECK (!chart_of (runs, CURVE, NULL, "data.share", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "--by data.share draws scores");
  CHECK (!chart_of (runs, SCORES, NULL, "share", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "--by share is not a key");
  const PlaitPlotSelection linear = { "chrf2", "data.share", PLAIT_PLOT_SCALE_LINEAR };
  g_autoptr (PlaitPlotChart) straight = plait_plot_chart_new (runs, SCORES, &linear, NO_ERROR);
  REQUIRE (straight && straight->series->len == 2);
  CHECK (!straight->logarithmic && chart->logarithmic);
  CHECK_NEAR (((PlaitPlotSeries *)straight->series->pdata[0])->points[0].x, 0.25, 0);
  const PlaitPlotSelection zero = { "chrf2", "train.source_dropout", PLAIT_PLOT_SCALE_LOG };
  CHECK (!plait_plot_chart_new (runs, SCORES, &zero, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "needs positive numbers, but one value is train.source_dropout=0");
  g_autoptr (PlaitPlotChart) one = chart_of (runs, SCORES, "chrf2", "train.source_dropout", NO_ERROR);
  CHECK (one && !one->logarithmic);
  if (PLAIT_HAS_PLOT)
    DONE (CALL ("plot", "share0.h5", "share1.h5", "share2.h5", SCORES, "--by", "data.share", "--scale", "linear", "-o",
                "share.svg"));
}

/* The page has the curves on a logarithmic and on a linear axis, with the numbers of each point. */
TEST_CASE (plot_data, is_drawn_over_axes_in_reports)
{
  const char *html, *first, *linear;

  g_ptr_array_unref (write_shares ());
  html = page_of ("share0.h5 share1.h5 share2.h5 share3.h5 share4.h5");
  first = strstr (html, "<h2>Scores by data.share</h2>");
  REQUIRE (first != NULL);
  CHECK_CONTAINS (first, " checked>");
  CHECK_CONTAINS (first, "<title>serial, data.share 0.25: ");
  linear = strstr (first, "data.share (logarithmic)</text>");
  REQUIRE (linear != NULL);
  linear = strstr (linear, "data.share</text>");
  REQUIRE (linear != NULL);
  CHECK_CONTAINS (linear, "<title>serial, data.share 0.25: ");
  CHECK (!strstr (html, "<h2>Scores by experiment.seed</h2>"));
}

/* A heatmap without a finite value has a cross in each cell. */
TEST_CASE (plot_command, draws_what_is_no_number)
{
  NEEDS_PLOT;
  write_runs ();
  hid_t file = H5Fopen (plait_test_path ("one.h5"), H5F_ACC_RDWR, H5P_DEFAULT),
        data = H5Dopen2 (file, "/attention/test/en/weights", H5P_DEFAULT);
  hid_t space = H5Dget_space (data);
  gsize n = (gsize)H5Sget_simple_extent_npoints (space);
  g_autofree float *values = g_new (float, n);

  for (gsize i = 0; i < n; i++)
    values[i] = NAN;
  CHECK (H5Dwrite (data, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Sclose (space);
  H5Dclose (data);
  H5Fclose (file);
  DONE (CALL ("plot", "one.h5", MAP, "-o", "figure.svg"));
  g_autoptr (GRegex) grey = g_regex_new ("rgb\\(50%, ?50%, ?50%\\)", 0, 0, NO_ERROR);
  g_auto (GStrv) crosses = g_regex_split (grey, plait_test_read_text ("figure.svg"), 0);
  CHECK_INT (g_strv_length (crosses) - 1, 3 * 2);
}

/* The axis of bars includes 0, where the bars begin. */
TEST_CASE (plot_command, draws_bars_below_zero)
{
  static const char *const falling[] = { "3", "2", "1" }, *const rising[] = { "1", "2", "3" };
  static const char *const names[] = { "one.h5", "two.h5" };
  g_autoptr (GRegex) number = g_regex_new ("[ML] ([0-9.]+) ", 0, 0, NO_ERROR);
  g_autoptr (GMatchInfo) match = NULL;
  double largest = 0;

  NEEDS_PLOT;
  for (guint i = 0; i < 2; i++)
    plait_test_write_run (
        names[i], &(PlaitTestRun){ "serial", falling, .references = rising, .metric = "pearson", .seed = i + 1 });
  DONE (CALL ("plot", names[0], names[1], SCORES, "-o", "figure.svg"));
  g_regex_match (number, plait_test_read_text ("figure.svg"), 0, &match);
  for (; g_match_info_matches (match); g_match_info_next (match, NULL))
    {
      g_autofree char *text = g_match_info_fetch (match, 1);

      largest = MAX (largest, g_ascii_strtod (text, NULL));
    }
  CHECK (largest > 100 && largest < 226.78);
}

/* Names up to eight missing letters, and the packages of fonts that have them. */
TEST_CASE (plot_data, names_fonts_for_letters_that_none_has)
{
  static const struct
  {
    const char *letters;
    const char *text;
  } cases[] = {
    { "語",
      "no installed font has 語 (U+8A9E), which is drawn as a box; install fonts-noto-cjk (Debian), or another font "
      "that has it" },
    { "がド。Ａ",
      "no installed font has が (U+304C), ド (U+30C9), 。 (U+3002), Ａ (U+FF21), which are drawn as boxes; install "
      "fonts-noto-cjk (Debian), or another font that has them" },
    { "한अ😀",
      "no installed font has 한 (U+D55C), अ (U+0905), 😀 (U+1F600), which are drawn as boxes; install fonts-noto-cjk "
      "and fonts-noto-core and fonts-noto-color-emoji (Debian), or another font that has them" },
    { "\364\217\277\275", "no installed font has U+10FFFD, which is drawn as a box; no package of fonts has it: name "
                          "another font with --font, or use --labels numbers" },
    { "一二三四五六七八九十",
      "no installed font has 一 (U+4E00), 二 (U+4E8C), 三 (U+4E09), 四 (U+56DB), 五 (U+4E94), 六 "
      "(U+516D), 七 (U+4E03), 八 (U+516B) and 2 more, which are drawn as boxes; install "
      "fonts-noto-cjk (Debian), or another font that has them" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      glong n;
      g_autofree gunichar *letters = g_utf8_to_ucs4_fast (cases[i].letters, -1, &n);
      g_autofree char *text = plait_plot_missing_text (letters, (guint)n);

      CHECK_STRING (text, cases[i].text);
    }
}

/* Warns once of a character that no font has, wherever it is in the figure. */
TEST_CASE (plot_command, warns_of_letters_that_no_font_has)
{
  static const char warning[] = "warning: no installed font has U+10FFFD, which is drawn as a box;";

  NEEDS_PLOT;
  write_runs ();
  PlaitTestCall title = DONE (CALL ("plot", "one.h5", CURVE, "-o", "a.svg", "--x-title",
                                    "a\364\217\277\275b\364\217\277\275", "--y-title", "\364\217\277\275"));
  PlaitTestCall name = CALL ("plot", "one.h5", MAP, MAP, "-o", "a.png", "--names", "\364\217\277\275;b");
  PlaitTestCall bar = CALL ("plot", "one.h5", SCORES, "-o", "a.pdf", "--names", "\364\217\277\275");
  PlaitTestCall plain = CALL ("plot", "one.h5", CURVE, "-o", "b.svg", "--x-title", "ab");

  CHECK_CONTAINS (title.errors, warning);
  CHECK_CONTAINS (name.errors, "U+10FFFD, which are drawn as boxes; "); /* U+10FFFD, and the characters in the tokens */
  CHECK_CONTAINS (bar.errors, warning);
  CHECK (!strstr (plain.errors, "font"));
}

/* There are seven colours. Each of 15 lines has another colour or other dashes. */
TEST_CASE (plot_command, tells_many_lines_apart)
{
  g_autoptr (GHashTable) strokes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GPtrArray) words = g_ptr_array_new_with_free_func (g_free);

  NEEDS_PLOT;
  g_ptr_array_add (words, g_strdup ("plot"));
  for (guint i = 0; i < 15; i++)
    {
      char *name = g_strdup_printf ("run%02u.h5", i);
      g_autofree char *more = g_strdup_printf ("[decode]\nmaximum_length=%u\n", 10 + i);

      plait_test_write_run (name, &(PlaitTestRun){ "serial", plait_test_wrong, .more = more });
      g_ptr_array_add (words, name);
    }
  for (const char *const *word = (const char *const[]){ CURVE, "-o", "a.svg", NULL }; *word; word++)
    g_ptr_array_add (words, g_strdup (*word));
  g_ptr_array_add (words, NULL);
  DONE (plait_test_call (NULL, (const char *const *)words->pdata));
  gsize size = 0;
  g_autofree char *svg = load ("a.svg", &size);
  g_auto (GStrv) parts = g_strsplit (svg, "<path style=\"", -1);

  for (guint i = 1; parts[i]; i++)
    {
      const char *colour = strstr (parts[i], "stroke:rgb("), *dashes = strstr (parts[i], "stroke-dasharray:");
      const char *end = strchr (parts[i], '"');

      /* Lines with a width of 1 are curves. */
      if (colour && colour < end && strstr (parts[i], "stroke-width:1;") == strstr (parts[i], "stroke-width:"))
        g_hash_table_add (strokes, g_strdup_printf ("%.*s %.*s", (int)strcspn (colour, ";"), colour,
                                                    dashes && dashes < end ? (int)strcspn (dashes, ";") : 0, dashes));
    }
  CHECK_INT (g_hash_table_size (strokes), 15);
}

TEST_CASE (plot_command, refuses_in_words)
{
  NEEDS_PLOT;
  write_runs ();
  plait_test_write_run ("bare.h5", &(PlaitTestRun){ "serial", plait_test_wrong });
  plait_test_write ("there.svg", "kept\n");
  CHECK_REFUSED (CALL ("plot", "one.h5", MAP, "-o", "figure.gif"), "must end in .svg, .pdf or .png");
  CHECK_REFUSED (CALL ("plot", "one.h5", MAP), "--output is missing");
  CHECK_REFUSED (CALL ("plot", "one.h5", MAP, "-o", "there.svg"), "there.svg");
  PlaitTestCall nowhere = CALL ("plot", "one.h5", MAP, "-o", "no/folder/figure.svg");
  CHECK (nowhere.code != 0);
  CHECK_CONTAINS (nowhere.errors, "no/folder");
  CHECK_REFUSED (CALL ("plot", "absent.h5", MAP, "-o", "figure.svg"), "absent.h5");
  CHECK_REFUSED (CALL ("plot", "one.h5", "-o", "figure.svg"), "name a path");
  CHECK_REFUSED (CALL ("plot", "one.h5", "/vocabulary", "-o", "figure.svg"), "expected a heatmap");
  CHECK_REFUSED (CALL ("plot", "one.h5", MAP, SCORES, "-o", "figure.svg"), "is not a heatmap");
  CHECK_REFUSED (CALL ("plot", "one.h5", "/training/validation/speed", "-o", "figure.svg"),
                 "/training/validation/speed");
  CHECK_REFUSED (CALL ("plot", "one.h5", SCORES, "--metric", "ter", "-o", "figure.svg"), "no score for the metric ter");
  CHECK_REFUSED (CALL ("plot", "bare.h5", LENGTHS, "-o", "figure.svg"), "has no score");
  CHECK_REFUSED (CALL ("plot", "one.h5", MAP, "-o", "figure.svg", "--width", "wide"),
                 "expected a number from 2 to 100");
  CHECK_REFUSED (CALL ("plot", "one.h5", MAP, "-o", "figure.svg", "--labels", "words"), "tokens, numbers or none");
}

#if !PLAIT_HAS_PLOT
TEST_CASE (plot_command, says_what_is_missing)
{
  CHECK_REFUSED (CALL ("plot", "one.h5", MAP, "-o", "figure.svg"), "libcairo2-dev");
}
#endif
