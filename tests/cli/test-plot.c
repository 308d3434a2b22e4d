/* SPDX-License-Identifier: MIT */
#include "cli/plot.h"

#include <hdf5.h>
#include <math.h>
#include <string.h>

#include "call.h"
#include "harness.h"
#include "sample-run.h"

/* plait plot, drawn where the build has cairo and Pango (PLAIT_HAS_PLOT). */

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
  g_autofree char *path = plait_test_path (name);
  char *bytes = NULL;

  CHECK (g_file_get_contents (path, &bytes, size, NULL));
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
      g_auto (PlaitTestCall) drawn = CALL ("plot", "one.h5", paths[i], "-o", "figure.svg", "--force");
      g_autofree char *svg = load ("figure.svg", &size);

      CHECK_INT (drawn.code, 0);
      CHECK_CONTAINS (drawn.errors, "figure.svg is written");
      REQUIRE (svg);
      /* 8 centimetres. */
      CHECK_CONTAINS (svg, "width=\"226.77");
    }
}

TEST_CASE (plot_command, writes_by_the_ending)
{
  gsize n_pdf = 0, n_again = 0, n_png = 0;

  NEEDS_PLOT;
  write_runs ();
  g_auto (PlaitTestCall) pdf = CALL ("plot", "one.h5", MAP, MAP, "-o", "a.pdf", "--width", "12", "--names", "a;b");
  g_auto (PlaitTestCall) again = CALL ("plot", "one.h5", MAP, MAP, "-o", "b.pdf", "--width", "12", "--names", "a;b");
  g_auto (PlaitTestCall) png = CALL ("plot", "one.h5", "two.h5", "flat.h5", CURVE, "-o", "a.png", "--labels", "none");
  g_autofree char *first = load ("a.pdf", &n_pdf), *second = load ("b.pdf", &n_again), *third = load ("a.png", &n_png);
  CHECK_INT (pdf.code, 0);
  CHECK_INT (again.code, 0);
  CHECK_INT (png.code, 0);
  REQUIRE (first && second && third);
  CHECK (g_str_has_prefix (first, "%PDF-"));
  CHECK (n_pdf == n_again && memcmp (first, second, n_pdf) == 0);
  CHECK (n_png > 8 && memcmp (third, "\211PNG\r\n\032\n", 8) == 0);
}

/* Two runs that differ in nothing that is set are one series with a band, the third another. */
TEST_CASE (plot_data, makes_one_series_of_seeds)
{
  g_autofree char *one = plait_test_path ("one.h5"), *two = plait_test_path ("two.h5"),
                  *flat = plait_test_path ("flat.h5");
  GError *error = NULL;

  write_runs ();
  g_autoptr (GPtrArray) runs = plait_runs_open ((char *[]){ one, two, flat, NULL }, FALSE, NULL, &error);
  CHECK_NO_ERROR (error);
  REQUIRE (runs);
  g_autoptr (PlaitPlotChart) bars = plait_plot_chart_new (runs, SCORES, "CHRF2", &error);
  CHECK_NO_ERROR (error);
  REQUIRE (bars);
  const PlaitPlotSeries *scores = bars->series->pdata[0];
  REQUIRE (scores->n == 2);
  CHECK_STRING (bars->categories[0], "serial");
  CHECK_STRING (bars->categories[1], "flat");
  CHECK (isfinite (scores->low[0]) && scores->low[0] <= scores->y[0] && scores->y[0] <= scores->high[0]);
  g_autoptr (PlaitPlotChart) curves = plait_plot_chart_new (runs, CURVE, NULL, &error);
  CHECK_NO_ERROR (error);
  REQUIRE (curves && curves->series->len == 2);
  const PlaitPlotSeries *curve = curves->series->pdata[0], *other = curves->series->pdata[1];
  CHECK_INT (curve->n, 3);
  CHECK (curve->high[0] >= curve->y[0] && isfinite (curve->low[0]));
  CHECK (isnan (other->low[0]));
  g_autoptr (PlaitPlotChart) lengths = plait_plot_chart_new (runs, LENGTHS, "chrf", &error);
  CHECK_NO_ERROR (error);
  REQUIRE (lengths);
  CHECK_INT (g_strv_length (lengths->categories), 3);
  /* No source has more than four words. */
  CHECK (isnan (((PlaitPlotSeries *)lengths->series->pdata[0])->y[2]));
  CHECK_STRING (lengths->y_title, "chrF2");
}

/* What is no number is drawn as such, and a map that has nothing else too. */
TEST_CASE (plot_command, draws_what_is_no_number)
{
  NEEDS_PLOT;
  write_runs ();
  g_autofree char *path = plait_test_path ("one.h5");
  hid_t file = H5Fopen (path, H5F_ACC_RDWR, H5P_DEFAULT),
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
  g_auto (PlaitTestCall) drawn = CALL ("plot", "one.h5", MAP, "-o", "figure.png");
  CHECK_INT (drawn.code, 0);
}

TEST_CASE (plot_command, refuses_in_words)
{
  NEEDS_PLOT;
  write_runs ();
  plait_test_write_run ("bare.h5", &(PlaitTestRun){ "serial", plait_test_wrong });
  plait_test_write ("there.svg", "kept\n");
  g_auto (PlaitTestCall) ending = CALL ("plot", "one.h5", MAP, "-o", "figure.gif");
  plait_test_check_refused (&ending, "must end in .svg, .pdf or .png");
  g_auto (PlaitTestCall) none = CALL ("plot", "one.h5", MAP);
  plait_test_check_refused (&none, "--output is missing");
  g_auto (PlaitTestCall) there = CALL ("plot", "one.h5", MAP, "-o", "there.svg");
  plait_test_check_refused (&there, "there.svg");
  g_auto (PlaitTestCall) nowhere = CALL ("plot", "one.h5", MAP, "-o", "no/folder/figure.svg");
  CHECK (nowhere.code != 0);
  CHECK_CONTAINS (nowhere.errors, "no/folder");
  g_auto (PlaitTestCall) file = CALL ("plot", "absent.h5", MAP, "-o", "figure.svg");
  plait_test_check_refused (&file, "absent.h5");
  g_auto (PlaitTestCall) path = CALL ("plot", "one.h5", "-o", "figure.svg");
  plait_test_check_refused (&path, "name a path");
  g_auto (PlaitTestCall) other = CALL ("plot", "one.h5", "/vocabulary", "-o", "figure.svg");
  plait_test_check_refused (&other, "expected a heatmap");
  g_auto (PlaitTestCall) beside = CALL ("plot", "one.h5", MAP, SCORES, "-o", "figure.svg");
  plait_test_check_refused (&beside, "is no heatmap");
  g_auto (PlaitTestCall) column = CALL ("plot", "one.h5", "/training/validation/speed", "-o", "figure.svg");
  plait_test_check_refused (&column, "/training/validation/speed");
  g_auto (PlaitTestCall) metric = CALL ("plot", "one.h5", SCORES, "--metric", "ter", "-o", "figure.svg");
  plait_test_check_refused (&metric, "no score by ter");
  g_auto (PlaitTestCall) bins = CALL ("plot", "bare.h5", LENGTHS, "-o", "figure.svg");
  plait_test_check_refused (&bins, "has no score");
  g_auto (PlaitTestCall) width = CALL ("plot", "one.h5", MAP, "-o", "figure.svg", "--width", "wide");
  plait_test_check_refused (&width, "expected a number from 2 to 100");
  g_auto (PlaitTestCall) labels = CALL ("plot", "one.h5", MAP, "-o", "figure.svg", "--labels", "words");
  plait_test_check_refused (&labels, "tokens, numbers or none");
}

#if !PLAIT_HAS_PLOT
TEST_CASE (plot_command, says_what_is_missing)
{
  g_auto (PlaitTestCall) call = CALL ("plot", "one.h5", MAP, "-o", "figure.svg");

  plait_test_check_refused (&call, "libcairo2-dev");
}
#endif
