/* SPDX-License-Identifier: MIT */
#include "foreign/feature.h"

#include "files.h"
#include "harness.h"
#include "process/sandbox.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Makes a file as a user's script would, with the values 0, 1, 2, ... in the order of storage. */

static void
make (const char *path, const char *name, hid_t type, int rank, const hsize_t *shape, hid_t creation)
{
  hid_t file = H5Fcreate (path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  hid_t space = H5Screate_simple (rank, shape, NULL);
  hid_t links = H5Pcreate (H5P_LINK_CREATE);
  H5Pset_create_intermediate_group (links, 1);
  hid_t data = H5Dcreate2 (file, name, type, space, links, creation, H5P_DEFAULT);
  hssize_t n = H5Sget_simple_extent_npoints (space);
  if (n <= 1 << 20)
    {
      g_autofree double *values = g_new (double, n + 1);
      for (hssize_t i = 0; i < n; i++)
        values[i] = (double)(i % 100);
      if (H5Tget_class (type) != H5T_STRING)
        H5Dwrite (data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    }
  H5Dclose (data);
  H5Pclose (links);
  H5Sclose (space);
  H5Fclose (file);
}

static hid_t
chunked (int rank, const hsize_t *chunk)
{
  hid_t list = H5Pcreate (H5P_DATASET_CREATE);
  H5Pset_chunk (list, rank, chunk);
  H5Pset_deflate (list, 4);
  return list;
}

/* Checks that @error names the file @path in one line. */
static void
check_names (const GError *error, const char *path)
{
  REQUIRE (error != NULL);
  CHECK_CONTAINS (error->message, path);
  CHECK (!strchr (error->message, '\n'));
}

/* Checks that @path is refused with one sentence, which contains @part. */
static void
check_refused (const char *path, const char *dataset, PlaitErrorCode code, const char *part)
{
  GError *error = NULL;
  PlaitFeatures *file = plait_feature_file_open (path, dataset, &error);
  CHECK (!file);
  plait_features_free (file);
  check_names (error, path);
  CHECK_ERROR (error, code, part);
}

TEST_CASE (store_feature, reads_any_number_type)
{
  const char *path = plait_test_path ("features.h5");
  const hsize_t shape[] = { 5, 2, 3 };
  const hid_t types[] = { H5T_IEEE_F32LE, H5T_IEEE_F64BE, H5T_STD_I8LE, H5T_STD_U16BE, H5T_STD_I64LE, H5T_STD_U32LE };
  for (gsize i = 0; i < G_N_ELEMENTS (types); i++)
    {
      CONTEXT ("type %d", (int)i);
      GError *error = NULL;
      make (path, "/features", types[i], 3, shape, i % 2 == 0 ? H5P_DEFAULT : chunked (3, (hsize_t[]){ 2, 2, 2 }));
      g_autoptr (PlaitFeatures) file = plait_feature_file_open (path, NULL, NO_ERROR);
      REQUIRE (file != NULL);
      CHECK_INT (file->sentences, 5);
      CHECK_INT (file->width, 3);
      /* Reads sentences, in any order, into columns of a wider matrix. */
      PlaitScalar values[4 * 5];
      for (int j = 0; j < 20; j++)
        values[j] = -1;
      CHECK (file->read (file, (gint64[]){ 4, 1 }, 2, (PlaitTensor){ values, 4, 3, 5 }, NO_ERROR));
      CHECK_NEAR (values[0], 24, 0);
      CHECK_NEAR (values[7], 29, 0);
      CHECK_NEAR (values[8], -1, 0);
      CHECK_NEAR (values[10], 6, 0);
      CHECK_NEAR (values[17], 11, 0);
      CHECK (!file->read (file, (gint64[]){ 5 }, 1, plait_tensor (values, 2, 3), &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, "has 5 sentences, so sentence 5, counted from 0, cannot be read");
    }
}

TEST_CASE (store_feature, reads_half_floats_and_named_datasets)
{
  const char *path = plait_test_path ("features.h5");
  GError *error = NULL;
  hid_t half = H5Tcopy (H5T_IEEE_F32LE);
  H5Tset_fields (half, 15, 10, 5, 0, 10);
  H5Tset_size (half, 2);
  H5Tset_ebias (half, 15);
  make (path, "/images/test", half, 3, (hsize_t[]){ 3, 1, 4 }, H5P_DEFAULT);
  g_autoptr (PlaitFeatures) file = plait_feature_file_open (path, "/images/test", NO_ERROR);
  REQUIRE (file != NULL);
  PlaitScalar values[4];
  CHECK (file->read (file, (gint64[]){ 2 }, 1, plait_tensor (values, 1, 4), &error));
  CHECK_NEAR (values[3], 11, 0);
  check_refused (path, NULL, PLAIT_ERROR_INPUT, "root group has no dataset");
  check_refused (path, "/images/train", PLAIT_ERROR_INPUT, "there is no dataset '/images/train'");
  check_refused (path, "/images", PLAIT_ERROR_INPUT, "there is no dataset '/images'");
}

TEST_CASE (store_feature, refuses_other_shapes_and_types)
{
  const char *path = plait_test_path ("features.h5");
  make (path, "/x", H5T_IEEE_F32LE, 2, (hsize_t[]){ 5, 2 }, H5P_DEFAULT);
  check_refused (path, NULL, PLAIT_ERROR_INPUT, "/x has 2 dimensions; expected three, [sentence, position, width]");
  make (path, "/x", H5T_IEEE_F32LE, 3, (hsize_t[]){ 5, 0, 2 }, H5P_DEFAULT);
  check_refused (path, NULL, PLAIT_ERROR_INPUT, "/x has the size 0 in dimension 2, counted from 1");
  make (path, "/x", H5T_C_S1, 3, (hsize_t[]){ 5, 1, 2 }, H5P_DEFAULT);
  check_refused (path, NULL, PLAIT_ERROR_INPUT, "/x does not hold numbers");
}

TEST_CASE (store_feature, refuses_claims_that_cannot_be_true)
{
  const char *path = plait_test_path ("features.h5");
  hid_t late = H5Pcreate (H5P_DATASET_CREATE);
  H5Pset_alloc_time (late, H5D_ALLOC_TIME_LATE);
  make (path, "/x", H5T_IEEE_F32LE, 3, (hsize_t[]){ 1 << 30, 100, 1000 }, late);
  check_refused (path, NULL, PLAIT_ERROR_INPUT, "claims the shape [1073741824, 100, 1000], which a file of");
  make (path, "/x", H5T_IEEE_F32LE, 3, (hsize_t[]){ 1, 1 << 30, 1 << 30 }, late);
  check_refused (path, NULL, PLAIT_ERROR_INPUT, "which take more than 1 GiB");
  make (path, "/x", H5T_IEEE_F32LE, 3, (hsize_t[]){ (hsize_t)1 << 40, 1, 1 }, late);
  check_refused (path, NULL, PLAIT_ERROR_INPUT, "1099511627776 in dimension 1");

  /* A dataset that cannot grow must not have chunks larger than itself. */
  hid_t file = H5Fcreate (path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  hid_t space = H5Screate_simple (3, (hsize_t[]){ 5, 2, 2 }, (hsize_t[]){ H5S_UNLIMITED, 1 << 10, 1 << 10 });
  hid_t large = chunked (3, (hsize_t[]){ 1 << 7, 1 << 10, 1 << 10 });
  H5Dclose (H5Dcreate2 (file, "/x", H5T_IEEE_F32LE, space, H5P_DEFAULT, large, H5P_DEFAULT));
  H5Fclose (file);
  check_refused (path, NULL, PLAIT_ERROR_INPUT, "in chunks above 256 MiB");
}

TEST_CASE (store_feature, refuses_data_in_other_files)
{
  const char *path = plait_test_path ("features.h5");
  const char *other = plait_test_path ("other.raw");
  hid_t external = H5Pcreate (H5P_DATASET_CREATE);
  H5Pset_external (external, other, 0, 1000);
  make (path, "/x", H5T_IEEE_F32LE, 3, (hsize_t[]){ 5, 2, 2 }, external);
  check_refused (path, NULL, PLAIT_ERROR_INPUT, "the values of /x are in other files");

  const char *linked = plait_test_path ("linked.h5");
  make (path, "/x", H5T_IEEE_F32LE, 3, (hsize_t[]){ 5, 2, 2 }, H5P_DEFAULT);
  hid_t file = H5Fcreate (linked, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_external (path, "/x", file, "x", H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose (file);
  check_refused (linked, "/x", PLAIT_ERROR_INPUT, "there is no dataset '/x'");
}

/* Adds the dataset @name, of integers or of floats, to the file @path. */
static void
add_list (const char *path, const char *name, hid_t type, hsize_t n, const int *values)
{
  hid_t file = H5Fopen (path, H5F_ACC_RDWR, H5P_DEFAULT);
  hid_t space = H5Screate_simple (1, &n, NULL);
  hid_t data = H5Dcreate2 (file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite (data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  H5Dclose (data);
  H5Sclose (space);
  H5Fclose (file);
}

TEST_CASE (store_feature, reads_the_positions_that_count)
{
  const char *path = plait_test_path ("features.h5");
  const int lengths[] = { 2, 0, 3, 1 };
  make (path, "/x", H5T_IEEE_F32LE, 3, (hsize_t[]){ 4, 3, 2 }, H5P_DEFAULT);
  add_list (path, "/x_lengths", H5T_STD_U8LE, 4, lengths);
  g_autoptr (PlaitFeatures) file = plait_feature_file_open (path, NULL, NO_ERROR);
  REQUIRE (file != NULL);
  for (gint64 i = 0; i < 4; i++)
    CHECK_INT (plait_features_length (file, i), lengths[i]);
  PlaitScalar values[8];
  CHECK (file->read (file, (gint64[]){ 3, 1, 2 }, 3, plait_tensor (values, 4, 2), NO_ERROR));
  const int expected[] = { 18, 19, 12, 13, 14, 15, 16, 17 };
  for (int i = 0; i < 8; i++)
    CHECK_NEAR (values[i], expected[i], 0);
  CHECK (file->read_row (file, 2, 1, values, NO_ERROR));
  CHECK_NEAR (values[0], 14, 0);
  CHECK_NEAR (values[1], 15, 0);
}

TEST_CASE (store_feature, refuses_lengths_that_cannot_be)
{
  const char *path = plait_test_path ("features.h5");
  const struct
  {
    hid_t type;
    hsize_t n;
    int values[3];
    const char *part;
  } cases[] = {
    { H5T_STD_I32LE,
      2,
      { 1, 1 },
      "/x_lengths must hold 3 integers, the number of valid positions of each sentence of /x;" },
    { H5T_IEEE_F64LE,
      3,
      { 1, 1, 1 },
      "/x_lengths must hold 3 integers, the number of valid positions of each sentence of /x;" },
    { H5T_STD_I64LE, 3, { 1, 3, 1 }, "/x_lengths[1] is 3, expected the number of valid positions" },
    { H5T_STD_I8LE, 3, { 1, 1, -1 }, "/x_lengths[2] is -1, expected the number of valid positions" },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("case %d", (int)i);
      make (path, "/x", H5T_IEEE_F32LE, 3, (hsize_t[]){ 3, 2, 2 }, H5P_DEFAULT);
      add_list (path, "/x_lengths", cases[i].type, cases[i].n, cases[i].values);
      check_refused (path, "/x", PLAIT_ERROR_INPUT, cases[i].part);
    }
}

/* Values after the valid positions are never read, so they may be infinite. */
TEST_CASE (store_feature, refuses_what_is_not_finite)
{
  const char *path = plait_test_path ("features.h5");
  float values[12] = { 0 };
  values[7] = NAN;
  make (path, "/x", H5T_IEEE_F32LE, 3, (hsize_t[]){ 3, 2, 2 }, H5P_DEFAULT);
  hid_t file = H5Fopen (path, H5F_ACC_RDWR, H5P_DEFAULT);
  hid_t data = H5Dopen2 (file, "/x", H5P_DEFAULT);
  H5Dwrite (data, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  H5Dclose (data);
  H5Fclose (file);
  check_refused (path, NULL, PLAIT_ERROR_INPUT, "/x[1, 1, 1] is infinite or not a number");
  add_list (path, "/x_lengths", H5T_STD_I32LE, 3, (const int[]){ 2, 1, 2 });
  g_autoptr (PlaitFeatures) granted = plait_feature_file_open (path, NULL, NO_ERROR);
  CHECK (granted != NULL);
}

static void
overwrite (const char *path)
{
  hid_t file = H5Fopen (path, H5F_ACC_RDWR, H5P_DEFAULT), data = H5Dopen2 (file, "/features", H5P_DEFAULT);
  float values[2 * 3 * 4] = { 7 };
  CHECK (H5Dwrite (data, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Dclose (data);
  H5Fclose (file);
}

/* Overwrites the file at @path and then restores its time of modification. */
static void
overwrite_unseen (const char *path)
{
  struct stat status;
  CHECK (stat (path, &status) == 0);
  overwrite (path);
  struct timespec times[2] = { status.st_atim, status.st_mtim };
  CHECK (utimensat (AT_FDCWD, path, times, 0) == 0);
}

static void
replace (const char *path)
{
  g_autofree char *bytes = NULL;
  gsize length;
  CHECK (g_file_get_contents (path, &bytes, &length, NULL) && g_file_set_contents (path, bytes, (gssize)length, NULL));
}

static void
cut (const char *path)
{
  CHECK (truncate (path, 100) == 0);
}

static void delete (const char *path)
{
  CHECK (g_unlink (path) == 0);
}

TEST_CASE (store_feature, notices_that_its_file_changes)
{
  void (*const changes[]) (const char *path) = { overwrite, overwrite_unseen, replace, cut, delete };
  const char *path = plait_test_path ("features.h5");
  const gint64 sentence = 1;
  PlaitScalar values[12];
  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    {
      CONTEXT ("change %u", i);
      g_autoptr (GError) error = NULL;
      make (path, "/features", H5T_NATIVE_FLOAT, 3, (hsize_t[]){ 2, 3, 4 }, H5P_DEFAULT);
      g_autoptr (PlaitFeatures) file = plait_feature_file_open (path, NULL, NO_ERROR);
      REQUIRE (file != NULL);
      CHECK (file->read (file, &sentence, 1, plait_tensor (values, 3, 4), NO_ERROR));
      plait_test_await_tick ();
      changes[i](path);
      CHECK (!file->read (file, &sentence, 1, plait_tensor (values, 3, 4), &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT,
                   changes[i] == delete ? "features.h5: the file was removed while it was in use"
                                        : "features.h5: the file has been changed while it was in use");
    }
}

static gboolean
open_file (gpointer path, GError **error)
{
  g_autoptr (PlaitFeatures) file = plait_feature_file_open (path, NULL, error);
  return file != NULL;
}

/* Opens files in a process that may map little memory: a small file, one with sentences of 256 MiB, and one with chunks
 * of 48 MiB, which HDF5 reads as a whole. The large files are sparse. */
TEST_CASE (store_feature, tells_that_there_is_no_memory)
{
  const struct
  {
    gsize megabytes;
    hsize_t shape[3], chunk;
    const char *part; /* NULL: the file is opened */
  } cases[] = { { 40, { 16, 1, 1 << 10 }, 16, NULL },
                { 20, { 16, 1, 1 << 10 }, 16, "cannot be opened as HDF5: Cannot allocate memory" },
                { 40, { 1, 1 << 10, 1 << 16 }, 0, "features.h5: no memory for one sentence of features" },
                { 40, { 12, 1, 1 << 20 }, 12, "cannot read sentence 0 of /x: there is not enough memory" } };
  char *path = (char *)plait_test_path ("features.h5");
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("case %d", (int)i);
      g_autoptr (GError) error = NULL;
      hid_t creation = H5Pcreate (H5P_DATASET_CREATE);
      H5Pset_alloc_time (creation, H5D_ALLOC_TIME_EARLY);
      H5Pset_fill_time (creation, H5D_FILL_TIME_NEVER);
      if (cases[i].chunk > 0)
        {
          H5Pset_chunk (creation, 3, (hsize_t[]){ cases[i].chunk, 1, cases[i].shape[2] });
          H5Pset_shuffle (creation); /* chunks with a filter are read as a whole */
        }
      make (path, "/x", H5T_IEEE_F32LE, 3, cases[i].shape, creation);
      H5Pclose (creation);
      CHECK_INT (plait_sandbox_run (path, PLAIT_ERROR_CORRUPT, open_file, path,
                                    (PlaitSandboxLimits){ 20, 10, cases[i].megabytes << 20 }, &error),
                 !cases[i].part);
      if (!cases[i].part)
        continue;
      check_names (error, path);
      CHECK_ERROR (error, PLAIT_ERROR_FAILED, cases[i].part);
    }
}

TEST_CASE (store_feature, refuses_what_is_no_hdf5)
{
  const char *path = plait_test_path ("features.h5");
  check_refused (path, NULL, PLAIT_ERROR_INPUT, "cannot be opened (");
  check_refused (plait_test_folder (), NULL, PLAIT_ERROR_INPUT, "is a folder; expected HDF5");
  plait_test_write (path, "");
  check_refused (path, NULL, PLAIT_ERROR_INPUT, "cannot be opened as HDF5");
  plait_test_write (path, "not even close\n");
  check_refused (path, NULL, PLAIT_ERROR_INPUT, "cannot be opened as HDF5");
  make (path, "/x", H5T_IEEE_F32LE, 3, (hsize_t[]){ 20, 3, 4 }, H5P_DEFAULT);
  cut (path);
  check_refused (path, NULL, PLAIT_ERROR_INPUT, "cannot be opened as HDF5");
  REQUIRE (g_remove (path) == 0 && mkfifo (path, 0600) == 0);
  check_refused (path, NULL, PLAIT_ERROR_INPUT, "is not a regular file; expected HDF5");
}

/* Returns random bits from a generator of the test's own, so that every test run damages the same bytes. */
static guint64
next_random (guint64 *state)
{
  *state += 0x9e3779b97f4a7c15u;
  guint64 z = (*state ^ (*state >> 30)) * 0xbf58476d1ce4e5b9u;
  return (z ^ (z >> 27)) * 0x94d049bb133111ebu >> 16;
}

/* Opens @path and, if that succeeds, reads all of it; reading may fail. Checks that each error names the file in one
 * line. */
static void
read_if_granted (const char *path, guint *granted)
{
  GError *error = NULL;
  g_autoptr (PlaitFeatures) file = plait_feature_file_open (path, NULL, &error);
  if (!file)
    {
      check_names (error, path);
      g_clear_error (&error);
      return;
    }
  ++*granted;
  gint64 width = file->width;
  for (gint64 i = 0; i < MIN (20, file->sentences); i++)
    {
      gint64 length = plait_features_length (file, i);
      g_autofree PlaitScalar *values = g_new (PlaitScalar, (gsize)(length * width));

      if (!file->read (file, &i, 1, plait_tensor (values, length, width), &error))
        check_names (error, path);
      g_clear_error (&error);
    }
}

TEST_CASE (store_feature, survives_damaged_files)
{
  const char *whole = plait_test_path ("whole.h5");
  const char *broken = plait_test_path ("broken.h5");
  guint64 state = 1;
  guint granted = 0, tried = 0;
  for (int kind = 0; kind < 2; kind++)
    {
      make (whole, "/x", H5T_IEEE_F32LE, 3, (hsize_t[]){ 20, 3, 4 },
            kind == 0 ? H5P_DEFAULT : chunked (3, (hsize_t[]){ 4, 3, 4 }));
      g_autofree char *bytes = NULL;
      gsize size;
      REQUIRE (g_file_get_contents (whole, &bytes, &size, NULL));
      for (int i = 0; i < 250; i++, tried++)
        {
          CONTEXT ("file %d, damage %d", kind, i);
          g_autofree char *damaged = g_memdup2 (bytes, size);
          gsize length = i % 8 == 7 ? next_random (&state) % size : size;
          /* Damage headers more often than the rest, because they matter most. */
          for (int j = i % 3; j >= 0; j--)
            damaged[next_random (&state) % (i % 2 == 0 ? MIN (size, 1024) : size)] = (char)next_random (&state);
          FILE *file = fopen (broken, "we");
          fwrite (damaged, 1, length, file);
          fclose (file);
          read_if_granted (broken, &granted);
        }
    }
  /* Damage to values is not detected, so some files can be opened. Some damage to metadata is detected. */
  CHECK (granted > 0 && granted < tried);
}
