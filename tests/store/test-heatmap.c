/* SPDX-License-Identifier: MIT */
#include "tables/heatmap.h"

#include "harness.h"
#include "sample-file.h"
#include "tables/table.h"

#include <hdf5_hl.h>
#include <string.h>

static PlaitStore *
open_sample (const char *name)
{
  const char *path = plait_test_path (name);
  plait_test_write_sample (path);
  PlaitStore *store = plait_store_open (path, NO_ERROR);
  return store;
}

static void
check_attribute (PlaitStore *store, const char *path, const char *name, const char *expected)
{
  CONTEXT ("%s of %s", name, path);
  g_autofree char *text = plait_store_attribute_text (store, path, name, 1000, NO_ERROR);
  CHECK_STRING (text, expected);
}

TEST_CASE (store_heatmap, leads_viewers_to_it)
{
  g_autoptr (PlaitStore) store = open_sample ("run.h5");
  check_attribute (store, "/", "default", "attention");
  check_attribute (store, "/", "NX_class", "NXroot");
  check_attribute (store, "/attention", "default", "test");
  check_attribute (store, "/attention/test/0", "default", "en");
  check_attribute (store, "/attention/test/0/en", "NX_class", "NXdata");
  check_attribute (store, "/attention/test/0/en", "signal", "weights");
  check_attribute (store, "/attention/test/0/en", "axes", "layer, head, target, row");
  check_attribute (store, "/attention/test/0/en/target", "long_name", "target: 0 \u2581ein, 1 \u2581Mann, 2 </s>");
  check_attribute (store, "/attention/test/0/en/row_labels", "CLASS", "DIMENSION_SCALE");
}

TEST_CASE (store_heatmap, the_default_can_be_set)
{
  GError *error = NULL;
  g_autoptr (PlaitStore) store = plait_store_create (plait_test_path ("other.h5"), NO_ERROR);
  CHECK (plait_store_make_group (store, "/a/b", NO_ERROR) && plait_store_make_group (store, "/a/c", NO_ERROR));
  CHECK (plait_store_set_default (store, "/a/b", NO_ERROR) && plait_store_set_default (store, "/a/c", NO_ERROR));
  check_attribute (store, "/", "default", "a");
  check_attribute (store, "/a", "default", "c");
  CHECK (!plait_store_set_default (store, "/a/d", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "there is no /a/d");
}

/* Accepts long labels, many labels, and an axis of length 0. */
TEST_CASE (store_heatmap, takes_any_size)
{
  const char *path = plait_test_path ("run.h5");
  g_autofree char *word = g_strnfill (500, 'w');
  g_autofree const char **words = g_new (const char *, 300);
  g_autofree PlaitScalar *values = g_new0 (PlaitScalar, 300);
  for (int i = 0; i < 300; i++)
    words[i] = word;
  g_autoptr (PlaitStore) store = plait_store_create (path, NO_ERROR);
  PlaitStoreHeatmap heatmap = { .signal = "weights",
                                .rank = 2,
                                .shape = (gint64[]){ 1, 300 },
                                .values = values,
                                .axes = (const char *[]){ "target", "row" },
                                .labels = (const char *const *[]){ NULL, words } };
  CHECK (plait_store_write_heatmap (store, "/attention/0/en", &heatmap, NO_ERROR));
  check_attribute (store, "/attention/0/en/row", "long_name", "row: 0 wwwwwwwwwwwwwwwwwwwwwww\u2026, \u2026");
  heatmap.shape = (gint64[]){ 1, 0 };
  heatmap.labels = NULL;
  CHECK (plait_store_write_heatmap (store, "/attention/0/de", &heatmap, NO_ERROR));
  CHECK (plait_store_commit (store, NO_ERROR));
}

/* Viewers cut captions at the border, so plait shortens captions that are too wide on the display. */
TEST_CASE (store_heatmap, captions_fit)
{
  const char *words[] = { "\u6f22\u5b57", "\u2581Mann", "f\033", "d", "e", "f", "g", "hhhhhhh", NULL };
  const PlaitScalar values[8] = { 0 };
  g_autoptr (PlaitStore) store = plait_store_create (plait_test_path ("run.h5"), NO_ERROR);
  PlaitStoreHeatmap heatmap = { .signal = "weights",
                                .rank = 1,
                                .shape = (gint64[]){ 8 },
                                .values = values,
                                .axes = (const char *[]){ "target" },
                                .labels = (const char *const *[]){ words } };
  CHECK (plait_store_write_heatmap (store, "/whole", &heatmap, NO_ERROR));
  check_attribute (store, "/whole/target", "long_name",
                   "target: 0 \u6f22\u5b57, 1 \u2581Mann, 2 f\ufffd, 3 d, 4 e, 5 f, 6 g, 7 hhhhhhh");
  words[7] = "hhhhhhhh";
  CHECK (plait_store_write_heatmap (store, "/cut", &heatmap, NO_ERROR));
  check_attribute (store, "/cut/target", "long_name",
                   "target: 0 \u6f22\u5b57, 1 \u2581Mann, 2 f\ufffd, 3 d, 4 e, 5 f, 6 g, \u2026");
}

/* A copy equals the original, axes included. */
TEST_CASE (store_copy, carries_everything_over)
{
  g_autoptr (PlaitStore) from = open_sample ("run.h5");
  const char *copy_path = plait_test_path ("copy.h5");
  GError *error = NULL;
  g_autoptr (PlaitStore) store = plait_store_create (copy_path, NO_ERROR);
  REQUIRE (store != NULL);
  CHECK (plait_store_copy (store, from, "/", NO_ERROR));
  CHECK (plait_store_commit (store, NO_ERROR));

  const char *arguments[] = { "h5diff", "-v", plait_test_path ("run.h5"), copy_path, NULL };
  g_autofree char *program = g_find_program_in_path ("h5diff");
  if (!program)
    SKIP_TEST ("h5diff is not installed");
  g_autofree char *out = NULL;
  int status = -1;
  /* h5diff follows references, so it also compares the dimension scales. */
  CHECK (g_spawn_sync (NULL, (char **)arguments, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, NULL, &status, &error));
  CONTEXT ("h5diff: %s", out);
  CHECK_INT (status, 0);
  CHECK (strstr (out, "/attention/test/0/en/weights") != NULL);
}

TEST_CASE (store_copy, takes_a_part_beside_others)
{
  g_autoptr (PlaitStore) from = open_sample ("run.h5");
  GError *error = NULL;
  g_autoptr (PlaitStore) store = plait_store_create (plait_test_path ("new.h5"), NO_ERROR);
  REQUIRE (store != NULL);
  CHECK (plait_store_set_int (store, "/", "seed", 1, NO_ERROR));
  CHECK (plait_store_copy (store, from, "/checkpoint/best", NO_ERROR));
  CHECK (plait_store_copy (store, from, "/attention", NO_ERROR));
  PlaitScalar weights[6] = { 0 };
  CHECK (
      plait_store_read (store, "/checkpoint/best/parameters/source/en/weight", PLAIT_STORE_SCALAR, 6, weights, &error));
  CHECK_NEAR (weights[3], 4, 0);
  CHECK (!plait_store_has (store, "/training"));
  CHECK (!plait_store_copy (store, from, "/checkpoint/best/parameters/source/en/weight", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "exists already");
  CHECK (!plait_store_copy (store, from, "/missing", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "there is no /missing");
}

/* A group of another program may have attributes called like those of tables and plots. */
TEST_CASE (store_copy, takes_what_only_resembles_a_table)
{
  const char *path = plait_test_path ("mine.h5");
  g_autoptr (PlaitStore) made = plait_store_create (path, NO_ERROR);
  REQUIRE (made && plait_store_make_group (made, "/mine", NO_ERROR));
  CHECK (plait_store_set_int (made, "/mine", "columns", 3, NO_ERROR));
  CHECK (plait_store_set_int (made, "/mine", "axes", 2, NO_ERROR));
  REQUIRE (plait_store_commit (made, NO_ERROR));

  g_autoptr (PlaitStore) from = plait_store_open (path, NO_ERROR);
  g_autoptr (PlaitStore) store = plait_store_create (plait_test_path ("new.h5"), NO_ERROR);
  gint64 columns = 0;
  REQUIRE (from && store);
  CHECK (plait_store_copy (store, from, "/mine", NO_ERROR));
  CHECK (plait_store_get_int (store, "/mine", "columns", &columns, NO_ERROR));
  CHECK_INT (columns, 3);
}

TEST_CASE (store_table, keeps_its_columns)
{
  g_autoptr (PlaitStore) store = open_sample ("run.h5");
  GError *error = NULL;
  gint64 rows = -1;
  g_auto (GStrv) columns = plait_store_table_columns (store, "/training", &rows, NO_ERROR);
  REQUIRE (columns != NULL);
  g_autofree char *joined = g_strjoinv (" ", columns);
  CHECK_STRING (joined, "step loss note");
  CHECK_INT (rows, 3);
  double losses[3];
  CHECK (plait_store_read (store, "/training/loss", PLAIT_STORE_DOUBLE, 3, losses, &error));
  CHECK_NEAR (losses[2], 2.125, 0);
  check_attribute (store, "/training", "signal", "loss");
  check_attribute (store, "/training/loss", "units", "nats");
  CHECK (!plait_store_table_columns (store, "/checkpoint", &rows, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "/checkpoint has no attribute 'columns'");
}

/* A struct in memory that has more members than the file has columns. */
typedef struct
{
  char *note;
  gboolean best;
  double loss;
  gint64 step;
  gint64 other;
} Row;

static void
row_clear (gpointer row)
{
  g_free (((Row *)row)->note);
}

static GArray *
rows_new (void)
{
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (Row));

  g_array_set_clear_func (rows, row_clear);
  return rows;
}

TEST_CASE (store_table, may_be_empty)
{
  static const PlaitStoreField fields[] = {
    PLAIT_STORE_FIELD (Row, step, INT64, NULL),
    PLAIT_STORE_FIELD (Row, note, STRING, NULL),
  };
  g_autoptr (PlaitStore) store = plait_store_create (plait_test_path ("run.h5"), NO_ERROR);
  g_autoptr (GArray) written = rows_new ();
  CHECK (plait_store_write_rows (store, "/training", written, fields, G_N_ELEMENTS (fields), NULL, NULL, NO_ERROR));
  gint64 rows = -1;
  g_auto (GStrv) names = plait_store_table_columns (store, "/training", &rows, NO_ERROR);
  CHECK (names && g_strv_length (names) == 2);
  CHECK_INT (rows, 0);
  CHECK (plait_store_read_table (store, "/training", fields, G_N_ELEMENTS (fields), 0, written, NO_ERROR));
  CHECK_INT (written->len, 0);
}

TEST_CASE (store_table, gives_rows_back)
{
  static const PlaitStoreField fields[] = {
    PLAIT_STORE_FIELD (Row, step, INT64, NULL),
    PLAIT_STORE_FIELD (Row, loss, DOUBLE, "nats"),
    PLAIT_STORE_FIELD (Row, best, INT32, NULL),
    PLAIT_STORE_FIELD (Row, note, STRING, NULL),
  };
  GError *error = NULL;
  g_autoptr (PlaitStore) store = plait_store_create (plait_test_path ("rows.h5"), &error);
  g_autoptr (GArray) rows = rows_new (), found = rows_new ();

  for (gint64 i = 0; i < 3; i++)
    {
      Row row = { g_strdup_printf ("note %jd", i), i == 1, 0.5 * (double)i, i + 1, 7 };
      Row before = { g_strdup ("gone"), TRUE, 1, 2, 3 };

      g_array_append_val (rows, row);
      g_array_append_val (found, before);
    }
  CHECK (plait_store_write_rows (store, "/training", rows, fields, G_N_ELEMENTS (fields), "step", "loss", &error));
  check_attribute (store, "/training/loss", "units", "nats");
  REQUIRE (plait_store_read_table (store, "/training", fields, G_N_ELEMENTS (fields), 3, found, &error));
  REQUIRE (found->len == 3);
  for (guint i = 0; i < 3; i++)
    {
      const Row *row = &g_array_index (found, Row, i), *written = &g_array_index (rows, Row, i);

      CHECK_STRING (row->note, written->note);
      CHECK_INT (row->best, written->best);
      CHECK_NEAR (row->loss, written->loss, 0);
      CHECK_INT (row->step, written->step);
      CHECK_INT (row->other, 0);
    }
  CHECK (!plait_store_read_table (store, "/training", fields, G_N_ELEMENTS (fields), 2, found, &error));
  CHECK_ERROR (error, PLAIT_ERROR_CORRUPT, "rows.h5:/training: has 3 rows; expected at most 2; restore");
}

/* If a column is missing, the strings that were already read still belong to the rows and are freed. */
TEST_CASE (store_table, misses_a_column)
{
  static const PlaitStoreField fields[] = {
    PLAIT_STORE_FIELD (Row, note, STRING, NULL),
    PLAIT_STORE_FIELD (Row, other, INT64, NULL),
  };
  g_autoptr (PlaitStore) store = open_sample ("run.h5");
  g_autoptr (GArray) rows = rows_new ();
  GError *error = NULL;

  CHECK (!plait_store_read_table (store, "/training", fields, G_N_ELEMENTS (fields), 3, rows, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "there is no /training/other");
  CHECK_INT (rows->len, 3);
}

/* Returns the scale name of the column @path if the column is a dimension scale. Otherwise returns "attached" and
 * checks that the column has one attached scale. (transfer full) */
static char *
scale_of (hid_t file, const char *path)
{
  hid_t column = H5Dopen2 (file, path, H5P_DEFAULT);
  char name[40] = "";

  CHECK (column >= 0);
  if (H5DSis_scale (column) > 0)
    CHECK (H5DSget_scale_name (column, name, sizeof name) > 0);
  else
    {
      CHECK_INT (H5DSget_num_scales (column, 0), 1);
      g_strlcpy (name, "attached", sizeof name);
    }
  H5Dclose (column);
  return g_strdup (name);
}

/* Each column has a dimension scale, also in a copy: readers of NetCDF such as h5netcdf need them. */
TEST_CASE (store_table, has_a_scale_for_each_column)
{
  static const struct
  {
    const char *column, *scale;
  } columns[] = { { "part/key", "attached" }, { "note", "note" }, { "loss", "attached" }, { "step", "attached" } };
  static const PlaitStoreField fields[] = {
    { "part/key", PLAIT_STORE_INT64, G_STRUCT_OFFSET (Row, other), NULL },
    PLAIT_STORE_FIELD (Row, note, STRING, NULL),
    PLAIT_STORE_FIELD (Row, loss, DOUBLE, NULL),
    PLAIT_STORE_FIELD (Row, step, INT64, NULL),
  };
  static const char *const files[] = { "rows.h5", "copy.h5" };
  const char *path = plait_test_path (files[0]), *copy_path = plait_test_path (files[1]);
  g_autoptr (PlaitStore) store = plait_store_create (path, NO_ERROR);
  g_autoptr (GArray) rows = rows_new ();
  Row row = { g_strdup ("note"), TRUE, 1, 2, 3 };

  g_array_append_val (rows, row);
  CHECK (plait_store_write_rows (store, "/table", rows, fields, G_N_ELEMENTS (fields), NULL, NULL, NO_ERROR)
         && plait_store_commit (store, NO_ERROR));
  g_autoptr (PlaitStore) from = plait_store_open (path, NO_ERROR);
  g_autoptr (PlaitStore) to = plait_store_create (copy_path, NO_ERROR);
  CHECK (to && plait_store_copy (to, from, "/table", NO_ERROR) && plait_store_commit (to, NO_ERROR));
  for (guint f = 0; f < G_N_ELEMENTS (files); f++)
    {
      hid_t file = H5Fopen (f == 0 ? path : copy_path, H5F_ACC_RDONLY, H5P_DEFAULT);

      for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
        {
          CONTEXT ("%s of %s", columns[i].column, files[f]);
          g_autofree char *scale = scale_of (file, plait_test_format ("/table/%s", columns[i].column));

          CHECK_STRING (scale, columns[i].scale);
        }
      H5Fclose (file);
    }
}
