/* SPDX-License-Identifier: MIT */
#include "tables/ragged.h"

#include "harness.h"

#include <string.h>

static const char *const axes[] = { "target", "row" };

/* Returns value @k of item @i. */
static PlaitScalar
value_of (gint64 i, gint64 k)
{
  return (PlaitScalar)((i * 31 + k * 7) % 1000);
}

/* Appends item @i, which has (i + 2) % 5 rows of @columns weights and a label for each row. Every third item also has
 * "rare"; every item except the first also has "b/0". */
static void
append_item (PlaitStore *store, const char *group, gint64 i, gint64 columns)
{
  const gint64 shape[] = { (i + 2) % 5, columns };
  gint64 n = shape[0] * columns;
  g_autofree char *item = g_strdup_printf ("%s/%d.%d", group, (int)(i / 2), (int)(i % 2));
  g_autofree PlaitScalar *values = g_new (PlaitScalar, n + 1);
  g_auto (GStrv) labels = g_new0 (char *, shape[0] + 1);

  for (gint64 k = 0; k < n; k++)
    values[k] = value_of (i, k);
  for (gint64 k = 0; k < shape[0]; k++)
    labels[k] = g_strdup_printf ("%s%d", k == 1 ? "" : "\u6f22", (int)(i + k));
  CHECK (plait_store_append (store, item, "a", "weights", PLAIT_STORE_SCALAR, 2, shape, values, axes, NO_ERROR));
  CHECK (plait_store_append (store, item, "a", "labels", PLAIT_STORE_STRING, 1, shape, labels, NULL, NO_ERROR));
  if (i % 3 == 0)
    CHECK (plait_store_append (store, item, "a", "rare", PLAIT_STORE_INT64, 1, &(gint64){ 1 }, &i, NULL, NO_ERROR));
  if (i > 0)
    CHECK (plait_store_append (store, item, "b/0", "weights", PLAIT_STORE_SCALAR, 2, shape, values, NULL, NO_ERROR));
}

static PlaitStore *
write_items (const char *name, gint64 n, gint64 columns)
{
  const char *path = plait_test_path (name);
  g_autoptr (PlaitStore) store = plait_store_create (path, NO_ERROR);

  for (gint64 i = 0; store && i < n; i++)
    append_item (store, "/dump/test", i, columns);
  CHECK (store && plait_store_commit (store, NO_ERROR));
  PlaitStore *opened = plait_store_open (path, NO_ERROR);
  return opened;
}

static void
check_item (PlaitStore *store, gint64 i, gint64 columns)
{
  gint64 rows = (i + 2) % 5, n = rows * columns, count = 0, wrong = 0;
  g_autofree char *item = g_strdup_printf ("/dump/test/%d.%d", (int)(i / 2), (int)(i % 2));
  g_autofree char *weights = g_strconcat (item, "/a/weights", NULL), *labels = g_strconcat (item, "/a/labels", NULL);
  g_autofree char *rare = g_strconcat (item, "/a/rare", NULL), *other = g_strconcat (item, "/b/0/weights", NULL);
  g_autofree PlaitScalar *values = g_new0 (PlaitScalar, n + 1);
  PlaitStoreObject object;
  CONTEXT ("item %d", (int)i);

  CHECK (plait_store_describe (store, weights, &object, NO_ERROR));
  CHECK (object.kind == PLAIT_STORE_DATASET && object.type == PLAIT_STORE_SCALAR);
  CHECK_INT (object.rank, 2);
  CHECK_INT (object.shape[0], rows);
  CHECK_INT (object.shape[1], columns);
  CHECK (plait_store_read (store, weights, PLAIT_STORE_SCALAR, n, values, NO_ERROR));
  for (gint64 k = 0; k < n; k++)
    wrong += values[k] != value_of (i, k);
  CHECK_INT (wrong, 0);
  if (rows > 1)
    {
      CHECK (plait_store_read_rows (store, weights, PLAIT_STORE_SCALAR, rows - 1, 1, n, values, NO_ERROR));
      CHECK (values[columns - 1] == value_of (i, n - 1));
    }
  g_auto (GStrv) texts = plait_store_read_strings (store, labels, 1000, &count, NO_ERROR);
  CHECK_INT (count, rows);
  for (gint64 k = 0; texts && k < rows; k++)
    CHECK_STRING (texts[k], plait_test_format ("%s%d", k == 1 ? "" : "\u6f22", (int)(i + k)));
  CHECK (plait_store_describe (store, rare, &object, NO_ERROR));
  CHECK_INT (object.elements, i % 3 == 0);
  CHECK_INT (plait_store_has (store, other), i > 0);
}

TEST_CASE (store_ragged, gives_every_item_back)
{
  g_autoptr (PlaitStore) store = write_items ("items.h5", 23, 3);

  for (gint64 i = 0; i < 23; i++)
    check_item (store, i, 3);
  CHECK (plait_store_check (store, NO_ERROR));
}

/* Rows are buffered and written chunk by chunk. Here most items are larger than a chunk. */
TEST_CASE (store_ragged, of_items_larger_than_what_is_held)
{
  g_autoptr (PlaitStore) store = write_items ("large.h5", 9, 40000);
  const char *copied = plait_test_path ("copied.h5");
  GError *error = NULL;

  for (gint64 i = 9; i-- > 0;)
    check_item (store, i, 40000);
  g_autoptr (PlaitStore) copy = plait_store_create (copied, NO_ERROR);
  CHECK (copy && plait_store_copy (copy, store, "/dump/test", NO_ERROR) && plait_store_commit (copy, NO_ERROR));
  g_autoptr (PlaitStore) opened = plait_store_open (copied, &error);
  REQUIRE (opened != NULL);
  check_item (opened, 7, 40000);
  check_item (opened, 2, 40000);
}

static void
check_members (PlaitStore *store, const char *path, const char *expected)
{
  GError *error = NULL;
  PlaitStoreObject object;
  g_auto (GStrv) members = plait_store_members (store, path, NO_ERROR);
  g_autofree char *joined = members ? g_strjoinv (" ", members) : NULL;
  CONTEXT ("%s", path);

  CHECK_STRING (joined, expected);
  CHECK (plait_store_describe (store, path, &object, &error) && object.kind == PLAIT_STORE_GROUP);
  CHECK_INT (object.members, members ? g_strv_length (members) : 0);
}

TEST_CASE (store_ragged, has_a_group_an_item)
{
  g_autoptr (PlaitStore) store = write_items ("items.h5", 23, 3);
  g_autofree char *cut = plait_store_get_string (store, "/dump/test/a/weights", "sentence_i", NULL);
  g_autofree char *text = plait_store_get_string (store, "/dump/test/3.0/a/labels", "sentence_i", NULL);
  g_autofree char *names = plait_store_attribute_text (store, "/dump/test/3.0/a/weights", "axes", 100, NULL);
  PlaitScalar value;
  GError *error = NULL;

  check_members (store, "/dump/test",
                 "0.0 0.1 1.0 1.1 2.0 2.1 3.0 3.1 4.0 4.1 5.0 5.1 6.0 6.1 7.0 7.1 8.0 8.1 9.0 9.1 10.0 10.1 11.0");
  check_members (store, "/dump/test/0.0", "a");
  check_members (store, "/dump/test/11.0", "a b");
  check_members (store, "/dump/test/11.0/a", "weights labels rare");
  check_members (store, "/dump/test/11.0/b", "0");
  check_members (store, "/dump/test/11.0/b/0", "weights");
  check_members (store, "/dump/test/b/0", "weights weights_offsets weights_shape sentence");
  CHECK_STRING (cut, "weights[weights_offsets[i]:weights_offsets[i + 1]].reshape(weights_shape[i])");
  CHECK_STRING (text, "bytes(labels[labels_offsets[i]:labels_offsets[i + 1]]).decode().split(\"\\0\")[:-1]");
  CHECK_STRING (names, "target, row");
  CHECK (!plait_store_has (store, "/dump/test/12.0") && !plait_store_has (store, "/dump/test/0.0/b")
         && !plait_store_has (store, "/dump/test/0.0/a/weights/x") && !plait_store_has (store, "/dump/0.0/a"));
  CHECK (!plait_store_read (store, "/dump/test/0.0/a/weight", PLAIT_STORE_SCALAR, 1, &value, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT,
               "there is no /dump/test/0.0/a/weight; /dump/test/0.0/a has no member 'weight'; did you mean "
               "\"weights\"?");
  CHECK (!plait_store_read (store, "/dump/test/0.0/a", PLAIT_STORE_SCALAR, 1, &value, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "/dump/test/0.0/a is not a dataset");
  CHECK (!plait_store_read (store, "/dump/test/0.0/a/labels", PLAIT_STORE_SCALAR, 1, &value, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "/dump/test/0.0/a/labels holds elements of");
  CHECK (!plait_store_members (store, "/dump/test/12.0", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "there is no /dump/test/12.0");
}

static guint
count_datasets (PlaitStore *store, const char *path)
{
  g_auto (GStrv) members = plait_store_members (store, path, NULL);

  return members ? g_strv_length (members) : 0;
}

/* Equal items give equal bytes, and many items need only as many datasets as one. */
TEST_CASE (store_ragged, has_few_datasets)
{
  g_autoptr (PlaitStore) one = write_items ("one.h5", 1, 3), again = write_items ("again.h5", 200, 3);
  g_autoptr (PlaitStore) many = write_items ("many.h5", 200, 3);

  CHECK_INT (count_datasets (one, "/dump/test/a"), 8);
  CHECK_INT (count_datasets (many, "/dump/test/a"), 8);
  CHECK_STRING (plait_store_digest (many), plait_store_digest (again));
}

/* Viewers cannot cut an item out of an array, so one heatmap is also stored as a whole. */
TEST_CASE (store_ragged, leads_viewers_to_the_first_heatmap)
{
  static const char *const rows[] = { "a", "man" }, *const targets[] = { "ein", "Mann", "</s>" };
  static const char *const *const labels[] = { targets, rows };
  static const gint64 shape[] = { 3, 2 };
  static const PlaitScalar values[] = { .5, .5, 0, 1, 1, 0 };
  const PlaitStoreHeatmap heatmap = { "weights", 2, shape, values, axes, labels, "attention to en" };
  const char *path = plait_test_path ("maps.h5");
  PlaitScalar read[6];
  gint64 n = 0;
  GError *error = NULL;
  g_autoptr (PlaitStore) store = plait_store_create (path, NO_ERROR);

  REQUIRE (store != NULL);
  for (guint i = 0; i < 2; i++)
    CHECK (plait_store_append_heatmap (store, i == 0 ? "/attention/test/0" : "/attention/test/1", "en", &heatmap,
                                       NO_ERROR));
  CHECK (plait_store_append_attribute (store, "/attention/test/1", "en", "rows", "sentences", NO_ERROR));
  CHECK (plait_store_commit (store, NO_ERROR));
  g_autoptr (PlaitStore) opened = plait_store_open (path, NO_ERROR);
  REQUIRE (opened != NULL);
  g_autofree char *first = plait_store_get_string (opened, "/attention/test", "default", NO_ERROR);
  g_autofree char *title = plait_store_read_string (opened, "/attention/test/<first>/title", NO_ERROR);
  g_autofree char *class = plait_store_get_string (opened, "/attention/test/<first>", "NX_class", NO_ERROR);
  g_autofree char *signal = plait_store_get_string (opened, "/attention/test/1/en", "signal", NO_ERROR);
  g_autofree char *stand_for = plait_store_get_string (opened, "/attention/test/0/en", "rows", NO_ERROR);
  g_auto (GStrv) words = plait_store_read_strings (opened, "/attention/test/1/en/target_labels", 100, &n, NO_ERROR);

  CHECK_STRING (first, "<first>");
  CHECK_STRING (class, "NXdata");
  CHECK_STRING (title, "attention to en, sentence 0");
  CHECK_STRING (signal, "weights");
  CHECK_STRING (stand_for, "sentences");
  CHECK_INT (n, 3);
  CHECK_STRING (words ? words[2] : NULL, "</s>");
  CHECK (plait_store_read (opened, "/attention/test/<first>/weights", PLAIT_STORE_SCALAR, 6, read, &error));
  CHECK (memcmp (read, values, sizeof read) == 0);
  check_members (opened, "/attention/test", "0 1");
}

typedef struct
{
  const char *name;
  const char *items[2];
  gint64 offsets[3], shapes[4], n_offsets, n_shapes, text_offsets[3];
  const char *message; /* error of reading the values of item 0 (if @text, its strings); NULL: no error */
  gboolean text;
} Forged;

static PlaitStore *
write_forged (const Forged *forged)
{
  static const PlaitScalar values[] = { 1, 2, 3, 4, 5, 6 };
  static const char text[] = "a\0b\0c"; /* the last string ends with the NUL that ends the C array */
  const gint64 n_values = 6, n_text = sizeof text, two = 2, three = 3, shape[] = { forged->n_shapes, 2 };
  const char *path = plait_test_path ("forged.h5");
  g_autoptr (PlaitStore) store = plait_store_create (path, NULL);

  CHECK (plait_store_write (store, "/dump/a/x", PLAIT_STORE_SCALAR, 1, &n_values, values, 0, NULL));
  CHECK (plait_store_write (store, "/dump/a/x_offsets", PLAIT_STORE_INT64, 1, &forged->n_offsets, forged->offsets, 0,
                            NULL));
  CHECK (plait_store_write (store, "/dump/a/x_shape", PLAIT_STORE_INT64, 2, shape, forged->shapes, 0, NULL));
  CHECK (plait_store_write (store, "/dump/a/t", PLAIT_STORE_UINT8, 1, &n_text, text, 0, NULL));
  CHECK (plait_store_write (store, "/dump/a/t_offsets", PLAIT_STORE_INT64, 1, &three, forged->text_offsets, 0, NULL));
  CHECK (plait_store_set_string (store, "/dump/a/t", "text", "", NULL));
  CHECK (plait_store_write_strings (store, "/dump/a/sentence", forged->items, two, NULL));
  CHECK (plait_store_set_string (store, "/dump", "ragged", "sentence", NULL));
  CHECK (plait_store_commit (store, NULL));
  return plait_store_open (path, NULL);
}

TEST_CASE (store_ragged, whose_offsets_cannot_be_right_is_refused)
{
#define SOUND_TEXT                                                                                                     \
  {                                                                                                                    \
    0, 4, 6                                                                                                            \
  }
  static const Forged cases[] = {
    { "sound", { "0", "1" }, { 0, 4, 6 }, { 2, 2, 1, 2 }, 3, 2, SOUND_TEXT, NULL, FALSE },
    { "falling", { "0", "1" }, { 0, 7, 6 }, { 1, 7, 1, 2 }, 3, 2, SOUND_TEXT, "x_offsets has a wrong", FALSE },
    { "negative", { "0", "1" }, { 0, -4, 6 }, { 2, 2, 1, 2 }, 3, 2, SOUND_TEXT, "x_offsets has a wrong", FALSE },
    { "late", { "0", "1" }, { 2, 4, 6 }, { 1, 2, 1, 2 }, 3, 2, SOUND_TEXT, "x_offsets has a wrong", FALSE },
    { "too far", { "0", "1" }, { 0, 4, G_MAXINT64 }, { 2, 2, 1, 2 }, 3, 2, SOUND_TEXT, "x_offsets has a wrong", FALSE },
    { "short", { "0", "1" }, { 0, 6 }, { 2, 2, 1, 2 }, 2, 2, SOUND_TEXT, "x_offsets has a wrong", FALSE },
    { "other shape", { "0", "1" }, { 0, 4, 6 }, { 2, 3, 1, 2 }, 3, 2, SOUND_TEXT, "x_shape has a wrong", FALSE },
    { "huge shape", { "0", "1" }, { 0, 4, 6 }, { 1LL << 62, 1LL << 62, 1, 2 }, 3, 2, SOUND_TEXT, "x_shape", FALSE },
    { "negative shape", { "0", "1" }, { 0, 4, 6 }, { -2, -2, 1, 2 }, 3, 2, SOUND_TEXT, "x_shape has a wrong", FALSE },
    { "few shapes", { "0", "1" }, { 0, 4, 6 }, { 2, 2 }, 3, 1, SOUND_TEXT, "x_shape has a wrong", FALSE },
    { "twice",
      { "0", "0" },
      { 0, 4, 6 },
      { 2, 2, 1, 2 },
      3,
      2,
      SOUND_TEXT,
      "the name of item 1 is invalid or occurs twice",
      FALSE },
    { "a path", { "0", "1/a" }, { 0, 4, 6 }, { 2, 2, 1, 2 }, 3, 2, SOUND_TEXT, "is invalid or occurs twice", FALSE },
    { "no number", { "0", "a" }, { 0, 4, 6 }, { 2, 2, 1, 2 }, 3, 2, SOUND_TEXT, "is invalid or occurs twice", FALSE },
    { "endless", { "0", "1" }, { 0, 4, 6 }, { 2, 2, 1, 2 }, 3, 2, { 0, 3, 6 }, "a string of /dump/a/t lacks", TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (PlaitStore) store = write_forged (&cases[i]);
      PlaitScalar values[4] = { 0 };
      gint64 n = 0;
      g_autoptr (GError) error = NULL;
      CONTEXT ("%s", cases[i].name);

      REQUIRE (store != NULL);
      g_auto (GStrv) text = cases[i].text || !cases[i].message
                                ? plait_store_read_strings (store, "/dump/0/a/t", 100, &n, &error)
                                : NULL;
      if (!cases[i].text)
        CHECK_INT (plait_store_read (store, "/dump/0/a/x", PLAIT_STORE_SCALAR, 4, values, &error), !cases[i].message);
      if (cases[i].message)
        CHECK_CONTAINS (error ? error->message : "", cases[i].message);
      else
        CHECK (!error && values[3] == 4 && n == 2 && g_str_equal (text[1], "b"));
    }
}
