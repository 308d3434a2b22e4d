/* SPDX-License-Identifier: MIT */
#include "files/digest.h"
#include "files.h"
#include "harness.h"
#include "sample-file.h"
#include "system.h"

#include "hdf5/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

static guint
files_in_folder (void)
{
  g_autoptr (GDir) folder = g_dir_open (plait_test_folder (), 0, NULL);
  guint files = 0;
  while (g_dir_read_name (folder))
    files++;
  return files;
}

/* Writes a file with the single value @seed. Equal seeds must give equal bytes. */
static gboolean
write_value (const char *path, gint64 seed, GError **error)
{
  g_autoptr (PlaitStore) store = plait_store_create (path, error);
  return store && plait_store_set_int (store, "/", "seed", seed, error) && plait_store_commit (store, error);
}

static gint64
read_value (const char *path)
{
  gint64 seed = -1;
  g_autoptr (PlaitStore) store = plait_store_open (path, NO_ERROR);
  if (store)
    CHECK (plait_store_get_int (store, "/", "seed", &seed, NULL));
  return seed;
}

/* TRUE if a file with @bytes [size] is refused as damaged, with one sentence. */
static gboolean
is_refused (const char *path, const char *bytes, gsize size)
{
  GError *error = NULL;
  FILE *file = fopen (path, "we");
  fwrite (bytes, 1, size, file);
  fclose (file);
  g_autoptr (PlaitStore) store = plait_store_open (path, &error);
  gboolean refused = !store && g_error_matches (error, PLAIT_ERROR, PLAIT_ERROR_CORRUPT)
                     && g_str_has_prefix (error->message, path) && !strchr (error->message, '\n');
  g_clear_error (&error);
  return refused;
}

/* The file consists of a user block, the HDF5 data, and a hash and a mark for each block of 64 KiB. */
TEST_CASE (store_file, holds_the_hashes_of_its_blocks)
{
  const char *path = plait_test_path ("run.h5");
  plait_test_write_sample (path);
  g_autoptr (GBytes) bytes = plait_test_read (path);
  gsize size, length = 0;
  const char *data = g_bytes_get_data (bytes, &size);
  REQUIRE (sscanf (data, "plait-store\nformat 2\nlength %zu\n", &length) == 1 && length > 3 << 16);
  gsize end = 512 + length, n = (end + 65535) / 65536;
  REQUIRE (size == end + n * 17);
  g_autofree char *digest = plait_digest_bytes (data + end, size - end);
  g_autofree char *expected
      = g_strdup_printf ("plait-store\nformat 2\nlength %020zu\ndigest %s\nheader ", length, digest);
  CHECK (strncmp (data, expected, strlen (expected)) == 0);
  CHECK (memcmp (data + 512, "\211HDF\r\n\032\n", 8) == 0);
  for (gsize k = 0; k < n; k++)
    {
      gsize begin = k == 0 ? 512 : k << 16;
      XXH128_canonical_t hash;
      XXH128_canonicalFromHash (&hash, XXH3_128bits (data + begin, MIN ((k + 1) << 16, end) - begin));
      CHECK (memcmp (data + end + k * 16, hash.digest, 16) == 0);
    }
  /* The block with the superblock is marked as metadata; a block inside /large has only values. */
  CHECK_INT (data[end + n * 16], 1);
  CHECK (memchr (data + end + n * 16, 0, n) != NULL);
}

static herr_t
check_timeless (hid_t parent, const char *name, const H5O_info_t *object, void *data)
{
  int *objects = data;
  CONTEXT ("%s", name);
  CHECK_INT (object->atime, 0);
  CHECK_INT (object->mtime, 0);
  CHECK_INT (object->ctime, 0);
  CHECK_INT (object->btime, 0);
  ++*objects;
  return 0;
}

TEST_CASE (store_file, repeats_its_bytes)
{
  const char *one = plait_test_path ("one.h5");
  const char *two = plait_test_path ("two.h5");
  int objects = 0;
  plait_test_write_sample (one);
  plait_test_write_sample (two);
  g_autoptr (GBytes) first = plait_test_read (one);
  g_autoptr (GBytes) second = plait_test_read (two);
  CHECK (g_bytes_equal (first, second));
  /* The bytes do not depend on the time. */
  hid_t file = H5Fopen (one, H5F_ACC_RDONLY, H5P_DEFAULT);
  CHECK (H5Ovisit2 (file, H5_INDEX_NAME, H5_ITER_INC, check_timeless, &objects, H5O_INFO_BASIC | H5O_INFO_TIME) >= 0);
  CHECK (objects > 10);
  H5Fclose (file);
}

static gboolean
is_whole (const char *path)
{
  GError *error = NULL;
  g_autoptr (PlaitStore) store = plait_store_open (path, &error);
  gboolean whole = store && plait_store_check (store, &error);
  if (!whole)
    CHECK_ERROR (error, PLAIT_ERROR_CORRUPT, path);
  return whole;
}

/* Returns the distance to the next byte to damage: 1 near both ends of the file, 211 in the middle, which in the
 * smallest file is a block that HDF5 reserves. */
static gsize
step_at (gsize i, gsize size)
{
  return i < 640 || i + 160 > size ? 1 : 211;
}

TEST_CASE (store_file, notices_every_flip)
{
  const char *path = plait_test_path ("run.h5");
  const char *broken = plait_test_path ("broken.h5");
  REQUIRE (write_value (path, 1, NULL));
  g_autoptr (GBytes) bytes = plait_test_read (path);
  g_autofree char *data = g_memdup2 (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  gsize size = g_bytes_get_size (bytes);
  gsize missed = 0;
  for (gsize i = 0; i < size; i += step_at (i, size))
    {
      char flip = (char)(1 << (i % 8));
      data[i] ^= flip;
      missed += !is_refused (broken, data, size) && is_whole (broken);
      data[i] ^= flip;
    }
  CHECK_INT (missed, 0);
  CHECK (!is_refused (broken, data, size));
}

typedef struct
{
  GChecksum *sum;
  gboolean values;
  GError *error;
} Contents;

static void
add_values (PlaitStore *store, const PlaitStoreVisit *visit, Contents *contents)
{
  if (visit->object.type == PLAIT_STORE_STRING)
    {
      g_auto (GStrv) strings = plait_store_read_strings (store, visit->path, 1 << 20, NULL, &contents->error);
      for (char **string = strings; string && *string; string++)
        g_checksum_update (contents->sum, (const guchar *)*string, -1);
      return;
    }
  g_autofree double *values
      = plait_store_read_array (store, visit->path, PLAIT_STORE_DOUBLE, 1 << 20, NULL, &contents->error);
  if (values)
    g_checksum_update (contents->sum, (const guchar *)values, (gssize)visit->object.elements * 8);
}

/* Appends the attributes and values of one object to a text. */
static PlaitStoreWalkAction
add_contents (PlaitStore *store, const PlaitStoreVisit *visit, gpointer data, GError **error)
{
  Contents *contents = data;
  g_checksum_update (contents->sum, (const guchar *)visit->path, -1);
  if (visit->object.kind != PLAIT_STORE_GROUP && visit->object.kind != PLAIT_STORE_DATASET)
    return PLAIT_STORE_WALK_CONTINUE;
  g_auto (GStrv) names = plait_store_attributes (store, visit->path, &contents->error);
  for (char **name = names; name && *name && !contents->error; name++)
    {
      g_autofree char *text = plait_store_attribute_text (store, visit->path, *name, 1000, &contents->error);
      if (text)
        g_checksum_update (contents->sum, (const guchar *)text, -1);
    }
  if (names && contents->values && visit->object.kind == PLAIT_STORE_DATASET)
    add_values (store, visit, contents);
  return !contents->error ? PLAIT_STORE_WALK_CONTINUE : PLAIT_STORE_WALK_STOP;
}

/* Returns a digest of the file's metadata, and of its values if @values. Returns NULL if the file is refused; checks
 * that the error says in one sentence that the file is damaged. (transfer full) */
static char *
read_contents (const char *path, gboolean values)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  Contents contents = { sum, values, NULL };
  g_autoptr (PlaitStore) store = plait_store_open (path, &contents.error);
  GError *stopped = NULL;
  if (store && !plait_store_walk (store, "/", 64, add_contents, &contents, &stopped) && !contents.error)
    contents.error = g_steal_pointer (&stopped);
  g_clear_error (&stopped);
  if (!contents.error)
    return g_strdup (g_checksum_get_string (sum));
  CHECK_CONTAINS (contents.error->message, path);
  CHECK (!strchr (contents.error->message, '\n'));
  CHECK_ERROR (contents.error, PLAIT_ERROR_CORRUPT, "is damaged");
  return NULL;
}

/* Flips bits all over a file of several blocks. Values that are read are right or refused. Metadata can always be
 * listed, unless opening fails. */
TEST_CASE (store_file, gives_out_no_flipped_byte)
{
  const char *path = plait_test_path ("run.h5");
  const char *broken = plait_test_path ("broken.h5");
  plait_test_write_sample (path);
  g_autoptr (GBytes) bytes = plait_test_read (path);
  gsize size = g_bytes_get_size (bytes);
  g_autofree char *data = g_memdup2 (g_bytes_get_data (bytes, NULL), size);
  g_autofree char *all = read_contents (path, TRUE), *metadata = read_contents (path, FALSE);
  REQUIRE (all && metadata);
  guint found_by_reading = 0, told = 0;
  for (gsize i = 0; i < size; i += i < 1024 || i + 256 > size ? 41 : 2003)
    {
      CONTEXT ("byte %d of %d", (int)i, (int)size);
      data[i] ^= (char)(1 << (i % 8));
      plait_test_write_bytes (broken, data, size);
      data[i] ^= (char)(1 << (i % 8));
      g_autofree char *read = read_contents (broken, TRUE);
      g_autofree char *described = read_contents (broken, FALSE);
      CHECK (!read);
      if (described)
        CHECK_STRING (described, metadata);
      found_by_reading += described && !read;
      told++;
      CHECK (!is_whole (broken));
    }
  CHECK (found_by_reading > told / 4);
  CHECK (is_whole (path));
}

TEST_CASE (store_file, notices_damage_while_it_is_open)
{
  const char *path = plait_test_path ("run.h5");
  GError *error = NULL;
  gint32 value;
  plait_test_write_sample (path);
  g_autoptr (GBytes) bytes = plait_test_read (path);
  gsize size = g_bytes_get_size (bytes);
  g_autoptr (PlaitStore) store = plait_store_open (path, NO_ERROR);
  REQUIRE (store != NULL);
  CHECK (plait_store_check (store, NO_ERROR) && plait_store_intact (store, NO_ERROR));
  /* Overwrite the whole file with zeros. Its metadata is already in memory. */
  g_autofree char *zeros = g_malloc0 (size);
  int file = open (path, O_WRONLY | O_CLOEXEC);
  REQUIRE (write (file, zeros, size) == (ssize_t)size);
  close (file);
  CHECK (plait_store_has (store, "/large"));
  CHECK (!plait_store_read_rows (store, "/large", PLAIT_STORE_INT32, 20000, 1, 1, &value, &error));
  CHECK_ERROR (error, PLAIT_ERROR_CORRUPT, "run.h5: is damaged within bytes ");
  CHECK (!plait_store_intact (store, &error));
  CHECK_ERROR (error, PLAIT_ERROR_CORRUPT, "run.h5: is damaged within bytes ");
  CHECK (!plait_store_check (store, &error));
  CHECK_ERROR (error, PLAIT_ERROR_CORRUPT, "run.h5: is damaged in ");
}

/* Refuses to copy unreadable values, because libhdf5 would crash. */
TEST_CASE (store_file, copies_nothing_damaged)
{
  static const char *const paths[] = { "/scores", "/large", "/training", "/attention", "/evaluation", "/vocabulary" };
  const char *path = plait_test_path ("run.h5");
  const char *other = plait_test_path ("other.h5");
  guint opened = 0;
  plait_test_write_sample (path);
  REQUIRE (write_value (other, 1, NULL));
  g_autoptr (GBytes) bytes = plait_test_read (path);
  gsize size = g_bytes_get_size (bytes);
  g_autofree char *data = g_memdup2 (g_bytes_get_data (bytes, NULL), size);
  for (gsize i = 0; i < size; i += 5003)
    {
      CONTEXT ("byte %d of %d", (int)i, (int)size);
      GError *error = NULL;
      data[i] ^= 1;
      plait_test_write_bytes (path, data, size);
      data[i] ^= 1;
      g_autoptr (PlaitStore) from = plait_store_open (path, NULL);
      if (!from)
        continue;
      g_autoptr (PlaitStore) to = plait_store_create (other, &error);
      REQUIRE (to != NULL);
      gboolean copied = TRUE;
      for (gsize k = 0; copied && k < G_N_ELEMENTS (paths); k++)
        copied = plait_store_copy (to, from, paths[k], &error);
      CHECK (!copied);
      CHECK_ERROR (error, PLAIT_ERROR_CORRUPT, "run.h5: is damaged within bytes ");
      opened++;
    }
  CHECK (opened > 10);
  CHECK_INT (read_value (other), 1);
}

TEST_CASE (store_file, notices_every_truncation_and_addition)
{
  const char *path = plait_test_path ("run.h5");
  const char *broken = plait_test_path ("broken.h5");
  REQUIRE (write_value (path, 1, NULL));
  g_autoptr (GBytes) bytes = plait_test_read (path);
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);
  gsize missed = 0, end = 0;
  REQUIRE (sscanf (data, "plait-store\nformat 2\nlength %zu\n", &end) == 1);
  end += 512;
  for (gsize length = 0; length < size; length += step_at (length, size))
    missed += length != end && !is_refused (broken, data, length);
  CHECK_INT (missed, 0);
  /* If only the hashes are missing, the table of contents still shows that the file is whole. */
  CHECK (!is_refused (broken, data, end) && is_whole (broken));
  g_autofree char *longer = g_malloc0 (size + 1);
  memcpy (longer, data, size);
  CHECK (is_refused (broken, longer, size + 1));
  GError *error = NULL;
  plait_test_write_bytes (broken, data, size - 1);
  CHECK (!plait_store_open (broken, &error));
  CHECK_ERROR (error, PLAIT_ERROR_CORRUPT, "so the file was cut short or extended");
}

TEST_CASE (store_file, refuses_other_formats_in_words)
{
  static const struct
  {
    int format;
    const char *words;
  } others[] = {
    { 1, "has format 1, but this plait reads format 2; make the file again with this plait" },
    { 3, "has format 3, but this plait reads format 2; use the plait that wrote it or a newer one" },
  };
  const char *path = plait_test_path ("run.h5");

  for (gsize i = 0; i < G_N_ELEMENTS (others); i++)
    {
      GError *error = NULL;
      char block[600] = { 0 };
      g_autofree char *digest = plait_digest_bytes (block + 512, sizeof block - 512);
      int used
          = g_snprintf (block, 512, "plait-store\nformat %d\nlength %020d\ndigest %s\n", others[i].format, 88, digest);
      g_autofree char *header = plait_digest_bytes (block, (gsize)used);
      g_snprintf (block + used, 512 - (gulong)used, "header %s\n", header);
      plait_test_write_bytes (path, block, sizeof block);
      CHECK (!plait_store_open (path, &error));
      CHECK_ERROR (error, PLAIT_ERROR_CORRUPT, others[i].words);
    }
}

TEST_CASE (store_file, refuses_what_is_no_file_of_ours)
{
  const char *path = plait_test_path ("other");
  GError *error = NULL;
  CHECK (!plait_store_open (path, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "cannot be opened (No such file");
  CHECK (!plait_store_open (plait_test_folder (), &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "is a folder; expected a file that plait wrote");
  REQUIRE (mkfifo (path, 0600) == 0);
  CHECK (!plait_store_open (path, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "is not a regular file; expected a file that plait wrote");
  REQUIRE (unlink (path) == 0 && g_file_set_contents (path, "[experiment]\n", -1, NULL));
  CHECK (!plait_store_open (path, &error));
  CHECK_ERROR (error, PLAIT_ERROR_CORRUPT, "plait did not write it");
}

TEST_CASE (store_file, stands_until_the_commit)
{
  const char *path = plait_test_path ("run.h5");
  CHECK (write_value (path, 1, NO_ERROR));
  PlaitStore *store = plait_store_create (path, NO_ERROR);
  REQUIRE (store != NULL);
  CHECK (plait_store_set_int (store, "/", "seed", 2, NO_ERROR));
  CHECK_INT (read_value (path), 1);
  plait_store_free (store);
  CHECK_INT (read_value (path), 1);
  CHECK_INT (files_in_folder (), 1);
  CHECK (write_value (path, 3, NO_ERROR));
  CHECK_INT (read_value (path), 3);
  CHECK_INT (files_in_folder (), 1);
}

TEST_CASE (store_file, needs_a_place)
{
  const char *path = plait_test_path ("no/such/folder/run.h5");
  GError *error = NULL;
  CHECK (!plait_store_create (path, &error));
  REQUIRE (error != NULL);
  CHECK_CONTAINS (error->message, path);
  g_clear_error (&error);
  CHECK (!plait_store_create (plait_test_folder (), &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, plait_test_folder ());
}

/* Writes some megabytes, so that a limit is reached in the middle of values, of metadata or of the end. */
static gboolean
write_much (const char *path, GError **error)
{
  g_autoptr (PlaitStore) store = plait_store_create (path, error);
  if (!store)
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
  const char *path = plait_test_path ("run.h5");
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
  CHECK (write_much (path, NO_ERROR));
}

TEST_CASE (store_file, survives_every_failing_call)
{
  const char *path = plait_test_path ("run.h5");
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
      /* The file is the old one or, after the rename, the complete new one. Success is never reported wrongly. */
      gint64 value = read_value (path);
      CHECK (written ? value == 2 : value == 1 || value == 2);
      CHECK (written == (!error));
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
  const char *path = plait_test_path ("run.h5");
  plait_test_system_begin (PLAIT_TEST_SYSTEM_COUNT, 0, 0);
  REQUIRE (write_value (path, 1, NULL));
  int calls = plait_test_system_end ();
  for (int i = 0; i < calls * 2; i++)
    {
      CONTEXT ("killed %s call %d of %d", i % 2 == 0 ? "before" : "after", i / 2, calls);
      REQUIRE (write_value (path, 1, NULL));
      plait_test_system_begin (i % 2 == 0 ? PLAIT_TEST_SYSTEM_KILL_BEFORE : PLAIT_TEST_SYSTEM_KILL_AFTER, i / 2, 0);
      CHECK (plait_test_system_fork (write_two, (gpointer)path));
      plait_test_system_end ();
      gint64 value = read_value (path);
      CHECK (value == 1 || value == 2);
      /* The next write deletes the temporary file of the killed process. */
      CHECK (write_value (path, 3, NO_ERROR));
      CHECK_INT (files_in_folder (), 1);
    }
}
