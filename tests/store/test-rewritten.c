/* SPDX-License-Identifier: MIT */
#include "files.h"
#include "harness.h"
#include "sample-file.h"
#include "foreign/feature.h"

#include <hdf5.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Opens a file of plait for writing, as another program (h5py, h5repack) would. */

static hid_t
open_elsewhere (const char *path)
{
  hid_t file = H5Fopen (path, H5F_ACC_RDWR, H5P_DEFAULT);

  CHECK (file >= 0);
  return file;
}

static void
write_number (hid_t file, const char *path, float value)
{
  hid_t data = H5Dopen2 (file, path, H5P_DEFAULT), space = H5Screate (H5S_SCALAR), all = H5Dget_space (data);
  const hsize_t first[2] = { 0, 1 };

  REQUIRE (data >= 0 && H5Sselect_elements (all, H5S_SELECT_SET, 1, first) >= 0);
  CHECK (H5Dwrite (data, H5T_NATIVE_FLOAT, space, all, H5P_DEFAULT, &value) >= 0);
  H5Sclose (all);
  H5Sclose (space);
  H5Dclose (data);
}

/* Adds a group that does not record the order of creation. */
static void
add_group (hid_t file, const char *path)
{
  hid_t group = H5Gcreate2 (file, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);

  CHECK (group >= 0);
  H5Gclose (group);
}

static char *
changes_of (const char *path)
{
  g_autoptr (PlaitStore) store = plait_store_open_rewritten (path, NULL, NO_ERROR);

  return store && plait_store_changes (store) ? plait_store_changes_text (plait_store_changes (store), 100) : NULL;
}

TEST_CASE (store_rewritten, is_opened_where_all_is_there)
{
  const char *path = plait_test_path ("run.h5");
  gint32 value = 0;

  plait_test_write_sample (path);
  g_autofree char *before = changes_of (path);
  CHECK (!before);
  H5Fclose (open_elsewhere (path));
  g_autofree char *text = changes_of (path);
  CHECK_STRING (text, "another program has rewritten it; all that plait wrote is unchanged");
  g_autoptr (PlaitStore) store = plait_store_open (path, NO_ERROR);
  REQUIRE (store != NULL);
  CHECK (plait_store_check (store, NO_ERROR));
  CHECK (plait_store_read_rows (store, "/large", PLAIT_STORE_INT32, 2, 1, 1, &value, NO_ERROR));
  CHECK_INT (value, 2 * 7919);
}

TEST_CASE (store_rewritten, stays_known_through_h5repack)
{
  g_autofree char *program = g_find_program_in_path ("h5repack");
  const char *path = plait_test_path ("run.h5"), *packed = plait_test_path ("packed.h5");
  int status = -1;

  if (!program)
    SKIP_TEST ("h5repack is not installed");
  plait_test_write_sample (path);
  REQUIRE (g_spawn_sync (NULL, (char *[]){ program, "-f", "GZIP=9", (char *)path, (char *)packed, NULL }, NULL, 0, NULL,
                         NULL, NULL, NULL, &status, NULL)
           && status == 0);
  g_autofree char *text = changes_of (packed);
  CHECK_STRING (text, "another program has rewritten it; all that plait wrote is unchanged");
}

TEST_CASE (store_rewritten, tells_what_was_added)
{
  const char *path = plait_test_path ("run.h5");

  plait_test_write_sample (path);
  hid_t file = open_elsewhere (path);
  add_group (file, "/mine");
  add_group (file, "/mine/below");
  H5Fclose (file);
  g_autofree char *text = changes_of (path);
  CHECK_STRING (text, "another program has rewritten it; added: /mine; all that plait wrote is unchanged");
  g_autoptr (PlaitStore) store = plait_store_open (path, NO_ERROR);
  CHECK (store != NULL);
}

TEST_CASE (store_rewritten, tells_what_was_changed_and_removed)
{
  static const char *const weight = "/checkpoint/best/parameters/source/en/weight";
  const char *path = plait_test_path ("run.h5");
  GError *error = NULL;

  plait_test_write_sample (path);
  hid_t file = open_elsewhere (path);
  write_number (file, weight, 7);
  CHECK (H5Ldelete (file, "/attention/test", H5P_DEFAULT) >= 0);
  CHECK (H5Adelete (file, "seed") >= 0);
  H5Fclose (file);
  g_autofree char *text = changes_of (path);
  CHECK_STRING (text, "another program has rewritten it; changed: / (its attributes), "
                      "/checkpoint/best/parameters/source/en/weight; removed: /attention/test");
  /* plait_store_open() cannot warn, so it refuses the file. */
  CHECK (!plait_store_open (path, &error));
  CHECK_ERROR (error, PLAIT_ERROR_CORRUPT, weight);
  /* A new file that is written from the changed one is complete. */
  const char *next = plait_test_path ("next.h5");
  g_autoptr (PlaitStore) from = plait_store_open_rewritten (path, NULL, &error);
  REQUIRE (from != NULL);
  CHECK (!plait_store_check (from, &error));
  CHECK_ERROR (error, PLAIT_ERROR_CORRUPT, weight);
  g_autoptr (PlaitStore) to = plait_store_create (next, NO_ERROR);
  CHECK (to && plait_store_copy (to, from, "/", NO_ERROR) && plait_store_commit (to, NO_ERROR));
  g_autofree char *after = changes_of (next);
  CHECK (!after);
}

TEST_CASE (store_rewritten, is_named_as_it_is_opened)
{
  const char *path = plait_test_path ("run.h5");
  g_autofree char *said = NULL;
  size_t size = 0;
  FILE *stream = open_memstream (&said, &size);

  plait_test_write_sample (path);
  hid_t file = open_elsewhere (path);
  write_number (file, "/scores", 7);
  H5Fclose (file);
  {
    g_autoptr (PlaitLog) log = plait_log_new_with ((PlaitLogSettings){ .stream = stream, .now = g_get_monotonic_time });
    g_autoptr (PlaitStore) store = plait_store_open_rewritten (path, log, NULL);
    CHECK (store != NULL);
  }
  fclose (stream);
  CHECK_CONTAINS (said, "warning: ");
  CHECK_CONTAINS (said, "run.h5: another program has rewritten it; changed: /scores\n");
}

/* Opens @path for writing in a process that is then killed. Before that, the process adds a group if @adds, and flushes
 * the file if @flushes. */
static void
leave_open (const char *path, gboolean adds, gboolean flushes)
{
  int status = 0;
  pid_t child = fork ();

  if (child == 0)
    {
      hid_t file = H5Fopen (path, H5F_ACC_RDWR, H5P_DEFAULT);

      if (adds)
        H5Gclose (H5Gcreate2 (file, "/mine", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
      if (flushes)
        H5Fflush (file, H5F_SCOPE_GLOBAL);
      raise (SIGKILL);
    }
  REQUIRE (child > 0 && waitpid (child, &status, 0) == child);
  CHECK (WIFSIGNALED (status));
}

TEST_CASE (store_rewritten, names_the_flag_that_a_killed_program_left)
{
  const char *path = plait_test_path ("run 1.h5");
  g_autofree char *command = g_strdup_printf ("h5clear -s '%s'", path);
  GError *error = NULL;

  for (int way = 0; way < 4; way++)
    {
      CONTEXT ("way %d", way);

      plait_test_write_sample (path);
      leave_open (path, way & 1, way & 2);
      CHECK (!plait_store_open (path, &error));
      CHECK_CONTAINS (error->message, command);
      CHECK_ERROR (error, PLAIT_ERROR_CORRUPT, "did not close it (HDF5's open flag is set)");
      /* Clear the flag of an open file, as h5clear does. */
      H5Fclose (open_elsewhere (path));
      g_autofree char *text = changes_of (path);
      CHECK_STRING (text, way == 3 ? "another program has rewritten it; added: /mine; all that plait wrote is unchanged"
                                   : "another program has rewritten it; all that plait wrote is unchanged");
    }
  plait_test_write_sample (path);
  hid_t file = open_elsewhere (path);
  CHECK (!plait_store_open (path, &error));
  CHECK_ERROR (error, PLAIT_ERROR_CORRUPT,
               "has this file open for writing (HDF5's open flag is set, and the file is locked)");
  H5Fclose (file);
}

/* Reads files of other programs that have superblocks of HDF5 1.8 and 1.10. */
TEST_CASE (store_rewritten, names_the_flag_on_features_too)
{
  static const H5F_libver_t versions[] = { H5F_LIBVER_V18, H5F_LIBVER_V110 };
  const hsize_t shape[] = { 2, 3, 4 };
  const char *path = plait_test_path ("features.h5");
  GError *error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (versions); i++)
    for (hsize_t block = 0; block <= 2048; block = MAX (512, 2 * block))
      {
        CONTEXT ("version %u, %u bytes before it", i, (guint)block);

        hid_t access = H5Pcreate (H5P_FILE_ACCESS), creation = H5Pcreate (H5P_FILE_CREATE);
        H5Pset_libver_bounds (access, versions[i], versions[i]);
        H5Pset_userblock (creation, block);
        hid_t file = H5Fcreate (path, H5F_ACC_TRUNC, creation, access);
        hid_t space = H5Screate_simple (3, shape, NULL);
        H5Dclose (H5Dcreate2 (file, "features", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        H5Sclose (space);
        H5Fclose (file);
        H5Pclose (access);
        H5Pclose (creation);
        g_autoptr (PlaitFeatures) sound = plait_feature_file_open (path, NULL, NO_ERROR);
        CHECK (sound != NULL);
        leave_open (path, FALSE, FALSE);
        CHECK (!plait_feature_file_open (path, NULL, &error));
        CHECK_ERROR (error, PLAIT_ERROR_CORRUPT, "h5clear -s ");
      }
}

/* Nothing in a rewritten file can be checked before HDF5 reads it, so a child process reads the file first. */
TEST_CASE (store_rewritten, survives_damage)
{
  const char *path = plait_test_path ("run.h5"), *broken = plait_test_path ("broken.h5");
  guint refused = 0, told = 0;

  plait_test_write_sample (path);
  H5Fclose (open_elsewhere (path));
  g_autoptr (GBytes) bytes = plait_test_read (path);
  gsize size = g_bytes_get_size (bytes);
  g_autofree char *data = g_memdup2 (g_bytes_get_data (bytes, NULL), size);
  for (gsize i = 512; i < size; i += i < 20000 ? 397 : 10007)
    {
      CONTEXT ("byte %d of %d", (int)i, (int)size);
      data[i] ^= (char)(1 << (i % 8));
      plait_test_write_bytes (broken, data, size);
      data[i] ^= (char)(1 << (i % 8));
      GError *error = NULL;
      g_autoptr (PlaitStore) store = plait_store_open_rewritten (broken, NULL, &error);
      CHECK (store || error);
      refused += !store;
      told += store && plait_store_changes (store)->changed->len > 0;
      if (error)
        CHECK_CONTAINS (error->message, "broken.h5");
      g_clear_error (&error);
    }
  CHECK (refused > 0 && told > 0);
}

/* Files of older versions contain these hashes, so they must never change. */
TEST_CASE (store_rewritten, hashes_contents_as_ever)
{
  static const double numbers[] = { 1, 2 };
  static const float floats[] = { 1, 2 };
  static const gint64 integers[] = { 1, 2 };
  static const guint8 bytes[] = { 1, 2 };
  static const char *const texts[] = { "a", "bc" };
  static const gint64 expected[] = {
    0, -3634429215597633071, -1026291153064200643, 9004876548272151058, 2406646248326187158, -1329028635514265281
  };
  const char *path = plait_test_path ("types.h5");
  g_autoptr (PlaitStore) store = plait_store_create (path, NULL);
  gint64 n = 2;

  REQUIRE (store != NULL);
  CHECK (plait_store_write (store, "/a", PLAIT_STORE_DOUBLE, 1, &n, numbers, PLAIT_STORE_PLAIN, NULL));
  CHECK (plait_store_write (store, "/b", PLAIT_STORE_FLOAT, 1, &n, floats, PLAIT_STORE_PLAIN, NULL));
  CHECK (plait_store_write (store, "/c", PLAIT_STORE_INT64, 1, &n, integers, PLAIT_STORE_PLAIN, NULL));
  CHECK (plait_store_write (store, "/d", PLAIT_STORE_UINT8, 1, &n, bytes, PLAIT_STORE_PLAIN, NULL));
  CHECK (plait_store_write_strings (store, "/e", texts, n, NULL));
  CHECK (plait_store_commit (store, NULL));
  plait_store_free (store);
  store = plait_store_open (path, NULL);
  REQUIRE (store != NULL);
  g_autofree gint64 *values = plait_store_read_array (store, "/contents/values", PLAIT_STORE_INT64, 100, &n, NULL);
  REQUIRE (values != NULL);
  CHECK_INT (n, G_N_ELEMENTS (expected));
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    CHECK_INT (values[i], expected[i]);
}
