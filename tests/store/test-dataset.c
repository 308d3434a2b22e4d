/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "hdf5/store.h"

#include <string.h>

/* Creates a new file, which reopen() closes and opens for reading. */
static PlaitStore *
create (const char *name)
{
  PlaitStore *store = plait_store_create (plait_test_path (name), NO_ERROR);
  return store;
}

/* Commits @store, then opens its file for reading. (transfer full) */
static PlaitStore *
reopen (PlaitStore *store)
{
  g_autofree char *path = g_strdup (plait_store_path (store));
  CHECK (plait_store_commit (store, NO_ERROR));
  plait_store_free (store);
  store = plait_store_open (path, NO_ERROR);
  return store;
}

TEST_CASE (store_dataset, keeps_every_type)
{
  g_autoptr (PlaitStore) store = create ("run.h5");
  GError *error = NULL;
  const float floats[] = { 1.5f, -0.f, 3e38f };
  const double doubles[] = { 1e-300, 2, -3 };
  const gint32 ints[] = { G_MININT32, 0, G_MAXINT32 };
  const gint64 longs[] = { G_MININT64, 0, G_MAXINT64 };
  const guint8 bytes[] = { 0, 128, 255 };
  gint64 three = 3;
  struct
  {
    const char *path;
    PlaitStoreType type;
    gconstpointer values;
    gsize size;
  } cases[] = {
    { "/float", PLAIT_STORE_FLOAT, floats, sizeof floats },
    { "/a/double", PLAIT_STORE_DOUBLE, doubles, sizeof doubles },
    { "/a/int32", PLAIT_STORE_INT32, ints, sizeof ints },
    { "/a/b/int64", PLAIT_STORE_INT64, longs, sizeof longs },
    { "/a/b/uint8", PLAIT_STORE_UINT8, bytes, sizeof bytes },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    CHECK (plait_store_write (store, cases[i].path, cases[i].type, 1, &three, cases[i].values, PLAIT_STORE_PLAIN,
                              NO_ERROR));
  CHECK (plait_store_write (store, "/scalar", PLAIT_STORE_DOUBLE, 0, NULL, doubles, PLAIT_STORE_PLAIN, NO_ERROR));

  store = reopen (g_steal_pointer (&store));
  REQUIRE (store != NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("%s", cases[i].path);
      PlaitStoreObject object;
      guint8 found[24];
      CHECK (plait_store_describe (store, cases[i].path, &object, NO_ERROR));
      CHECK_INT (object.kind, PLAIT_STORE_DATASET);
      CHECK_INT (object.type, cases[i].type);
      CHECK_INT (object.rank, 1);
      CHECK_INT (object.shape[0], 3);
      CHECK (plait_store_read (store, cases[i].path, cases[i].type, 3, found, NO_ERROR));
      CHECK (memcmp (found, cases[i].values, cases[i].size) == 0);
    }
  double scalar = 0;
  CHECK (plait_store_read (store, "/scalar", PLAIT_STORE_DOUBLE, 1, &scalar, &error));
  CHECK (scalar == 1e-300);
}

TEST_CASE (store_dataset, converts_without_loss_or_refuses)
{
  g_autoptr (PlaitStore) store = create ("run.h5");
  GError *error = NULL;
  gint64 two = 2;
  const gint32 ints[] = { -5, 7 };
  const gint64 longs[] = { (gint64)1 << 40, 7 };
  const float floats[] = { .5f, 2 };
  CHECK (plait_store_write (store, "/int", PLAIT_STORE_INT32, 1, &two, ints, PLAIT_STORE_PLAIN, NO_ERROR));
  CHECK (plait_store_write (store, "/long", PLAIT_STORE_INT64, 1, &two, longs, PLAIT_STORE_PLAIN, NO_ERROR));
  CHECK (plait_store_write (store, "/float", PLAIT_STORE_FLOAT, 1, &two, floats, PLAIT_STORE_PLAIN, NO_ERROR));
  gint64 wide[2];
  double real[2];
  gint32 narrow[2];
  CHECK (plait_store_read (store, "/int", PLAIT_STORE_INT64, 2, wide, NO_ERROR));
  CHECK_INT (wide[0], -5);
  CHECK (plait_store_read (store, "/float", PLAIT_STORE_DOUBLE, 2, real, NO_ERROR));
  CHECK_NEAR (real[0], .5, 0);
  CHECK (plait_store_read (store, "/int", PLAIT_STORE_DOUBLE, 2, real, NO_ERROR));
  CHECK_NEAR (real[1], 7, 0);
  CHECK (!plait_store_read (store, "/long", PLAIT_STORE_INT32, 2, narrow, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "/long holds elements of int64, which cannot be read as int32");
  CHECK (!plait_store_read (store, "/float", PLAIT_STORE_INT64, 2, wide, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "cannot be read as int64");
  CHECK (!plait_store_read (store, "/int", PLAIT_STORE_INT32, 1, narrow, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "/int has 2 elements instead of 1");
}

TEST_CASE (store_dataset, reads_rows_within_bounds)
{
  g_autoptr (PlaitStore) store = create ("run.h5");
  GError *error = NULL;
  gint64 shape[] = { 50, 40, 30 };
  g_autofree gint32 *values = g_new (gint32, 60000);
  for (int i = 0; i < 60000; i++)
    values[i] = i;
  CHECK (plait_store_write (store, "/cube", PLAIT_STORE_INT32, 3, shape, values, PLAIT_STORE_COMPRESSED, NO_ERROR));
  store = reopen (g_steal_pointer (&store));
  REQUIRE (store != NULL);

  PlaitStoreObject object;
  CHECK (plait_store_describe (store, "/cube", &object, NO_ERROR));
  CHECK (object.stored_bytes < 60000 * 4 / 2);
  g_autofree gint32 *rows = g_new (gint32, 2400);
  CHECK (plait_store_read_rows (store, "/cube", PLAIT_STORE_INT32, 48, 2, 2400, rows, NO_ERROR));
  CHECK_INT (rows[0], 48 * 1200);
  CHECK_INT (rows[2399], 59999);
  CHECK (plait_store_read_rows (store, "/cube", PLAIT_STORE_INT32, 50, 0, 0, NULL, NO_ERROR));
  CHECK (!plait_store_read_rows (store, "/cube", PLAIT_STORE_INT32, 48, 3, 9999, rows, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "has 50 rows, so 3 rows from row 48 on cannot be read");
  CHECK (!plait_store_read_rows (store, "/cube", PLAIT_STORE_INT32, G_MAXINT64, 2, 9999, rows, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "cannot be read");
  CHECK (!plait_store_read_rows (store, "/cube", PLAIT_STORE_INT32, 0, 2, 2399, rows, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "do not fit into a buffer of 2399 elements");
  CHECK (!plait_store_read_array (store, "/cube", PLAIT_STORE_INT32, 59999, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "at most 59999");
}

TEST_CASE (store_dataset, steps_over_the_stride_of_a_tensor)
{
  g_autoptr (PlaitStore) store = create ("run.h5");
  GError *error = NULL;
  PlaitScalar values[] = { 1, 2, -1, 3, 4, -1, 5, 6 };
  PlaitScalar found[] = { 0, 0, 9, 0, 0, 9, 0, 0 };
  CHECK (plait_store_write_tensor (store, "/w", (PlaitTensor){ values, 3, 2, 3 }, NO_ERROR));
  CHECK (plait_store_write_tensor (store, "/none", (PlaitTensor){ values, 0, 2, 3 }, NO_ERROR));
  store = reopen (g_steal_pointer (&store));
  REQUIRE (store != NULL);
  PlaitScalar flat[6];
  CHECK (plait_store_read (store, "/w", PLAIT_STORE_SCALAR, 6, flat, NO_ERROR));
  for (int i = 0; i < 6; i++)
    CHECK_NEAR (flat[i], i + 1, 0);
  CHECK (plait_store_read_tensor (store, "/w", (PlaitTensor){ found, 3, 2, 3 }, NO_ERROR));
  CHECK_NEAR (found[7], 6, 0);
  CHECK_NEAR (found[2], 9, 0);
  CHECK (plait_store_read_tensor (store, "/none", (PlaitTensor){ found, 0, 2, 3 }, NO_ERROR));
  CHECK (!plait_store_read_tensor (store, "/w", plait_tensor (found, 2, 3), &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "/w has the shape [3, 2] instead of [2, 3]");
}

TEST_CASE (store_dataset, keeps_bytes_and_emptiness)
{
  g_autoptr (PlaitStore) store = create ("run.h5");
  gint64 shape[] = { 2, 0, 3 };
  CHECK (plait_store_write_bytes (store, "/bytes", "a\0b\377", 4, NO_ERROR));
  CHECK (plait_store_write_bytes (store, "/nothing", NULL, 0, NO_ERROR));
  CHECK (plait_store_write (store, "/hollow", PLAIT_STORE_SCALAR, 3, shape, NULL, PLAIT_STORE_COMPRESSED, NO_ERROR));
  store = reopen (g_steal_pointer (&store));
  REQUIRE (store != NULL);
  g_autoptr (GBytes) bytes = plait_store_read_bytes (store, "/bytes", 4, NO_ERROR);
  g_autoptr (GBytes) nothing = plait_store_read_bytes (store, "/nothing", 4, NO_ERROR);
  REQUIRE (bytes && nothing);
  CHECK_INT (g_bytes_get_size (bytes), 4);
  CHECK (memcmp (g_bytes_get_data (bytes, NULL), "a\0b\377", 4) == 0);
  CHECK_INT (g_bytes_get_size (nothing), 0);
  PlaitStoreObject object;
  CHECK (plait_store_describe (store, "/hollow", &object, NO_ERROR));
  CHECK_INT (object.elements, 0);
  CHECK_INT (object.shape[2], 3);
  CHECK (plait_store_read (store, "/hollow", PLAIT_STORE_SCALAR, 0, NULL, NO_ERROR));
}

static void
check_list (PlaitStore *store, const char *path, const char *const *expected, gint64 n)
{
  CONTEXT ("%s", path);
  gint64 found = -1;
  g_auto (GStrv) values = plait_store_read_strings (store, path, 1 << 24, &found, NO_ERROR);
  REQUIRE (values != NULL);
  CHECK_INT (found, n);
  for (gint64 i = 0; i < MIN (found, n); i++)
    CHECK_STRING (values[i], expected[i]);
  CHECK (!values[found]);
}

TEST_CASE (store_dataset, keeps_text)
{
  g_autoptr (PlaitStore) store = create ("run.h5");
  GError *error = NULL;
  const char *const words[] = { "\u2581M\u00e4nner", "", "\U0001f600", "a" };
  const char *const empty[] = { "", "" };
  g_autofree char *long_line = g_strnfill (100000, 'x');
  g_autofree const char **uneven = g_new (const char *, 1000);
  for (int i = 0; i < 1000; i++)
    uneven[i] = i == 500 ? long_line : "short";
  CHECK (plait_store_write_string (store, "/text/one", "\u00fcber", NO_ERROR));
  CHECK (plait_store_write_string (store, "/text/empty", "", NO_ERROR));
  CHECK (plait_store_write_strings (store, "/text/words", words, 4, NO_ERROR));
  CHECK (plait_store_write_strings (store, "/text/blank", empty, 2, NO_ERROR));
  CHECK (plait_store_write_strings (store, "/text/none", NULL, 0, NO_ERROR));
  CHECK (plait_store_write_strings (store, "/text/uneven", uneven, 1000, NO_ERROR));
  CHECK (plait_store_link (store, "/text/linked", "/text/words", NO_ERROR));
  CHECK (plait_store_link (store, "/text/pool", "/text/uneven", NO_ERROR));
  store = reopen (g_steal_pointer (&store));
  REQUIRE (store != NULL);

  g_autofree char *one = plait_store_read_string (store, "/text/one", &error);
  g_autofree char *blank = plait_store_read_string (store, "/text/empty", &error);
  CHECK_STRING (one, "\u00fcber");
  CHECK_STRING (blank, "");
  check_list (store, "/text/words", words, 4);
  check_list (store, "/text/blank", empty, 2);
  check_list (store, "/text/none", NULL, 0);
  check_list (store, "/text/uneven", uneven, 1000);
  check_list (store, "/text/linked", words, 4);
  check_list (store, "/text/pool", uneven, 1000);
  /* The texts take 105 kB; slots of equal size for them would take 100 MB. */
  PlaitStoreObject object;
  CHECK (plait_store_describe (store, "/text/uneven", &object, &error));
  CHECK_INT (object.kind, PLAIT_STORE_GROUP);
  CHECK (!plait_store_read_strings (store, "/text/uneven", 1000, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "at most 1000");
  CHECK (!plait_store_read_string (store, "/text/words", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "/text/words holds 4 strings instead of one");
}

TEST_CASE (store_dataset, refuses_text_that_is_none)
{
  g_autoptr (PlaitStore) store = create ("run.h5");
  GError *error = NULL;
  const char *const words[] = { "good", "b\377d" };
  CHECK (!plait_store_write_strings (store, "/words", words, 2, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "/words: string 1 is not UTF-8");
  double value = 1;
  CHECK (plait_store_write (store, "/number", PLAIT_STORE_DOUBLE, 0, NULL, &value, PLAIT_STORE_PLAIN, &error));
  CHECK (!plait_store_read_strings (store, "/number", 100, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "/number is neither a fixed-length string");
}
