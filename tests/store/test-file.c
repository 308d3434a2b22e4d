/* SPDX-License-Identifier: MIT */
#include "base/digest.h"
#include "harness.h"
#include "sample.h"
#include "system.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static guint
files_in_folder (void)
{
  g_autoptr (GDir) folder = g_dir_open (plait_test_folder (), 0, NULL);
  guint files = 0;
  while (g_dir_read_name (folder) != NULL)
    files++;
  return files;
}

/* A file with the one value @seed; its bytes are those of every other such file. */
static gboolean
write_value (const char *path, gint64 seed, GError **error)
{
  g_autoptr (PlaitStore) store = plait_store_create (path, error);
  return store != NULL && plait_store_set_int (store, "/", "seed", seed, error) && plait_store_commit (store, error);
}

static gint64
read_value (const char *path)
{
  GError *error = NULL;
  gint64 seed = -1;
  g_autoptr (PlaitStore) store = plait_store_open (path, &error);
  CHECK_NO_ERROR (error);
  if (store != NULL)
    CHECK (plait_store_get_int (store, "/", "seed", &seed, NULL));
  return seed;
}

/* Whether @bytes are refused, in one sentence and as damaged. */
static gboolean
is_refused (const char *path, const char *bytes, gsize size)
{
  GError *error = NULL;
  FILE *file = fopen (path, "we");
  fwrite (bytes, 1, size, file);
  fclose (file);
  g_autoptr (PlaitStore) store = plait_store_open (path, &error);
  gboolean refused = store == NULL && g_error_matches (error, PLAIT_ERROR, PLAIT_ERROR_CORRUPT)
                     && g_str_has_prefix (error->message, path) && strchr (error->message, '\n') == NULL;
  g_clear_error (&error);
  return refused;
}

TEST_CASE (store_file, begins_with_what_it_is)
{
  g_autofree char *path = plait_test_path ("run.h5");
  plait_test_write_sample (path);
  g_autoptr (GBytes) bytes = plait_test_load (path);
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);
  g_autofree char *digest = plait_digest_bytes (data + 512, size - 512);
  g_autofree char *expected
      = g_strdup_printf ("plait-store\nformat 1\nlength %020u\ndigest %s\nheader ", (guint)size - 512, digest);
  CHECK (strncmp (data, expected, strlen (expected)) == 0);
  CHECK (memcmp (data + 512, "\211HDF\r\n\032\n", 8) == 0);
}

TEST_CASE (store_file, repeats_its_bytes)
{
  g_autofree char *one = plait_test_path ("one.h5");
  g_autofree char *two = plait_test_path ("two.h5");
  plait_test_write_sample (one);
  g_usleep (1100 * 1000); /* times in HDF5 have seconds */
  plait_test_write_sample (two);
  g_autoptr (GBytes) first = plait_test_load (one);
  g_autoptr (GBytes) second = plait_test_load (two);
  CHECK (g_bytes_equal (first, second));
}

TEST_CASE (store_file, notices_every_flip)
{
  g_autofree char *path = plait_test_path ("run.h5");
  g_autofree char *broken = plait_test_path ("broken.h5");
  REQUIRE (write_value (path, 1, NULL));
  g_autoptr (GBytes) bytes = plait_test_load (path);
  gsize size;
  g_autofree char *data = g_memdup2 (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  size = g_bytes_get_size (bytes);
  gsize missed = 0;
  for (gsize i = 0; i < size; i++)
    {
      char flip = (char)(1 << (i % 8));
      data[i] ^= flip;
      missed += !is_refused (broken, data, size);
      data[i] ^= flip;
    }
  CHECK_INT (missed, 0);
  CHECK (!is_refused (broken, data, size));
}

TEST_CASE (store_file, notices_every_truncation_and_addition)
{
  g_autofree char *path = plait_test_path ("run.h5");
  g_autofree char *broken = plait_test_path ("broken.h5");
  REQUIRE (write_value (path, 1, NULL));
  g_autoptr (GBytes) bytes = plait_test_load (path);
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);
  gsize missed = 0;
  for (gsize length = 0; length < size; length++)
    missed += !is_refused (broken, data, length);
  CHECK_INT (missed, 0);
  g_autofree char *longer = g_malloc0 (size + 1);
  memcpy (longer, data, size);
  CHECK (is_refused (broken, longer, size + 1));
  GError *error = NULL;
  CHECK (g_file_set_contents (broken, data, (gssize)size - 1, NULL));
  CHECK (plait_store_open (broken, &error) == NULL);
  CHECK_ERROR (error, PLAIT_ERROR_CORRUPT, "so it was cut short or added to");
}

TEST_CASE (store_file, refuses_a_newer_format_in_words)
{
  g_autofree char *path = plait_test_path ("run.h5");
  GError *error = NULL;
  char block[600] = { 0 };
  g_autofree char *digest = plait_digest_bytes (block + 512, sizeof block - 512);
  int used = g_snprintf (block, 512, "plait-store\nformat 2\nlength %020d\ndigest %s\n", 88, digest);
  g_autofree char *header = plait_digest_bytes (block, (gsize)used);
  g_snprintf (block + used, 512 - (gulong)used, "header %s\n", header);
  REQUIRE (g_file_set_contents (path, block, sizeof block, NULL));
  CHECK (plait_store_open (path, &error) == NULL);
  CHECK_ERROR (error, PLAIT_ERROR_CORRUPT, "has format 2, this plait reads up to 1");
}

TEST_CASE (store_file, refuses_what_is_no_file_of_ours)
{
  g_autofree char *path = plait_test_path ("other");
  GError *error = NULL;
  CHECK (plait_store_open (path, &error) == NULL);
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "cannot open it: No such file");
  CHECK (plait_store_open (plait_test_folder (), &error) == NULL);
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "is not a file");
  REQUIRE (mkfifo (path, 0600) == 0);
  CHECK (plait_store_open (path, &error) == NULL);
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "is not a file");
  REQUIRE (unlink (path) == 0 && g_file_set_contents (path, "[experiment]\n", -1, NULL));
  CHECK (plait_store_open (path, &error) == NULL);
  CHECK_ERROR (error, PLAIT_ERROR_CORRUPT, "plait did not write it");
}

TEST_CASE (store_file, stands_until_the_commit)
{
  g_autofree char *path = plait_test_path ("run.h5");
  GError *error = NULL;
  CHECK (write_value (path, 1, &error));
  PlaitStore *store = plait_store_create (path, &error);
  REQUIRE (store != NULL);
  CHECK (plait_store_set_int (store, "/", "seed", 2, &error));
  CHECK_INT (read_value (path), 1);
  plait_store_free (store);
  CHECK_INT (read_value (path), 1);
  CHECK_INT (files_in_folder (), 1);
  CHECK (write_value (path, 3, &error));
  CHECK_INT (read_value (path), 3);
  CHECK_NO_ERROR (error);
  CHECK_INT (files_in_folder (), 1);
}

TEST_CASE (store_file, needs_a_place)
{
  g_autofree char *path = plait_test_path ("no/such/folder/run.h5");
  GError *error = NULL;
  CHECK (plait_store_create (path, &error) == NULL);
  REQUIRE (error != NULL);
  CHECK_CONTAINS (error->message, path);
  g_clear_error (&error);
  CHECK (plait_store_create (plait_test_folder (), &error) == NULL);
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, plait_test_folder ());
}

/* Some megabytes, so that the limit strikes in the middle of the data, of metadata or of the end, as @limit has it. */
static gboolean
write_much (const char *path, GError **error)
{
  g_autoptr (PlaitStore) store = plait_store_create (path, error);
  if (store == NULL)
    return FALSE;
  g_autofree gint32 *values = g_new0 (gint32, 100000);
  for (int i = 0; i < 10; i++)
    {
      gint64 n = 100000;
      g_autofree char *place = g_strdup_printf ("/some/group/dataset-%d", i);
      if (!plait_store_write (store, place, PLAIT_STORE_INT32, 1, &n, values, PLAIT_STORE_PLAIN, error))
        return FALSE;
    }
  return plait_store_commit (store, error);
}

TEST_CASE (store_file, survives_a_full_disk)
{
  g_autofree char *path = plait_test_path ("run.h5");
  struct rlimit old;
  REQUIRE (write_value (path, 1, NULL));
  REQUIRE (getrlimit (RLIMIT_FSIZE, &old) == 0);
  signal (SIGXFSZ, SIG_IGN);
  for (rlim_t limit = 0; limit <= 4000000; limit += 333333)
    {
      CONTEXT ("at most %d bytes", (int)limit);
      GError *error = NULL;
      struct rlimit full = { limit, old.rlim_max };
      REQUIRE (setrlimit (RLIMIT_FSIZE, &full) == 0);
      gboolean written = write_much (path, &error);
      setrlimit (RLIMIT_FSIZE, &old);
      CHECK (!written);
      CHECK_ERROR (error, PLAIT_ERROR_FAILED, "File too large");
      CHECK_INT (read_value (path), 1);
      CHECK_INT (files_in_folder (), 1);
    }
  signal (SIGXFSZ, SIG_DFL);
  GError *error = NULL;
  CHECK (write_much (path, &error));
  CHECK_NO_ERROR (error);
}

TEST_CASE (store_file, survives_every_failing_call)
{
  g_autofree char *path = plait_test_path ("run.h5");
  REQUIRE (write_value (path, 1, NULL));
  plait_test_system_begin (PLAIT_TEST_SYSTEM_COUNT, 0, 0);
  REQUIRE (write_value (path, 1, NULL));
  int calls = plait_test_system_end ();
  CHECK (calls > 10);
  for (int i = 0; i < calls; i++)
    {
      CONTEXT ("call %d of %d fails", i, calls);
      GError *error = NULL;
      REQUIRE (write_value (path, 1, NULL));
      plait_test_system_begin (PLAIT_TEST_SYSTEM_FAIL, i, ENOSPC);
      gboolean written = write_value (path, 2, &error);
      plait_test_system_end ();
      /* The old one, or after the rename the new one, whole; never a success that did not happen. */
      gint64 value = read_value (path);
      CHECK (written ? value == 2 : value == 1 || value == 2);
      CHECK (written == (error == NULL));
      g_clear_error (&error);
    }
}

static void
write_two (gpointer path)
{
  write_value (path, 2, NULL);
}

TEST_CASE (store_file, survives_a_kill_at_every_call)
{
  g_autofree char *path = plait_test_path ("run.h5");
  plait_test_system_begin (PLAIT_TEST_SYSTEM_COUNT, 0, 0);
  REQUIRE (write_value (path, 1, NULL));
  int calls = plait_test_system_end ();
  for (int i = 0; i < calls * 2; i++)
    {
      CONTEXT ("killed %s call %d of %d", i % 2 == 0 ? "before" : "after", i / 2, calls);
      GError *error = NULL;
      REQUIRE (write_value (path, 1, NULL));
      plait_test_system_begin (i % 2 == 0 ? PLAIT_TEST_SYSTEM_KILL_BEFORE : PLAIT_TEST_SYSTEM_KILL_AFTER, i / 2, 0);
      CHECK (plait_test_system_fork (write_two, path));
      plait_test_system_end ();
      gint64 value = read_value (path);
      CHECK (value == 1 || value == 2);
      /* What the dead left is gone with the next write. */
      CHECK (write_value (path, 3, &error));
      CHECK_NO_ERROR (error);
      CHECK_INT (files_in_folder (), 1);
    }
}
