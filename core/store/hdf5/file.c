/* SPDX-License-Identifier: MIT */
#include "files/digest.h"
#include "files/file-stamp.h"
#include "files/transfer.h"
#include "process/sandbox.h"
#include "hdf5/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The user block: lines of text that a person can read and check, then zeros.
 *
 *   plait-store
 *   format 2
 *   length 00000000000000012345    bytes of HDF5, from 512 on
 *   digest SHA-256 of the table of hashes after these bytes (blocks.c), in hexadecimal
 *   header SHA-256 of the lines above
 *
 * If the line "header" is correct, an unknown format number is from another version of plait, not from damage.
 */
#define MAGIC "plait-store\n"

/* Assumed parsing speed. A child process gets extra time for a large file, computed from this speed. */
#define BYTES_A_SECOND ((gint64)32 << 20)
/* Maximum bytes of chunked values that the child process reads. */
#define SANDBOX_BYTES ((gint64)16 << 20)
/* Maximum number of names that a message lists for each kind of change. The command plait verify lists all. */
#define NAMES_IN_MESSAGE 6

typedef struct
{
  gint64 format;
  gint64 length;
  char digest[PLAIT_DIGEST_LENGTH + 1];
} Header;

/* Writes the user block of @header into @block, PLAIT_STORE_USER_BLOCK bytes. */
static void
compose_block (char *block, const Header *header)
{
  memset (block, 0, PLAIT_STORE_USER_BLOCK);
  int used = g_snprintf (block, PLAIT_STORE_USER_BLOCK, MAGIC "format %jd\nlength %020jd\ndigest %s\n", header->format,
                         header->length, header->digest);
  g_autofree char *digest = plait_digest_bytes (block, (gsize)used);
  g_snprintf (block + used, (gulong)(PLAIT_STORE_USER_BLOCK - used), "header %s\n", digest);
}

/* Reads @header from @block. FALSE unless compose_block gives exactly the same block. */
static gboolean
parse_block (const char *block, Header *header)
{
  char text[PLAIT_STORE_USER_BLOCK + 1] = { 0 };
  memcpy (text, block, PLAIT_STORE_USER_BLOCK);
  if (sscanf (text, MAGIC "format %jd length %jd digest %64s", &header->format, &header->length, header->digest) != 3)
    return FALSE;
  if (header->format < 1 || header->length < 0 || strlen (header->digest) != PLAIT_DIGEST_LENGTH)
    return FALSE;
  char expected[PLAIT_STORE_USER_BLOCK];
  compose_block (expected, header);
  return memcmp (block, expected, PLAIT_STORE_USER_BLOCK) == 0;
}

/*
 * Correct hashes say that a file is unchanged, not who wrote it. Malicious metadata can crash libhdf5, so a file is
 * parsed in a child process first, unless this process knows its digest.
 */
static GMutex known_mutex;
static GHashTable *known; /* digests of files that this process has written, or parsed in a child process */

static gboolean
is_known (const char *digest)
{
  g_mutex_lock (&known_mutex);
  gboolean found = known && g_hash_table_contains (known, digest);
  g_mutex_unlock (&known_mutex);
  return found;
}

static void
make_known (const char *digest)
{
  g_mutex_lock (&known_mutex);
  if (!known)
    known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_hash_table_add (known, g_strdup (digest));
  g_mutex_unlock (&known_mutex);
}

gboolean
plait_store_write_hashes (int fd, gint64 format, const GByteArray *metadata)
{
  Header header = { .format = format };
  char block[PLAIT_STORE_USER_BLOCK];
  struct stat status;
  if (fstat (fd, &status) != 0)
    return FALSE;
  header.length = (gint64)status.st_size - PLAIT_STORE_USER_BLOCK;
  g_autofree char *digest = plait_store_blocks_append (fd, (gint64)status.st_size, metadata);
  if (!digest)
    return FALSE;
  g_strlcpy (header.digest, digest, sizeof header.digest);
  compose_block (block, &header);
  make_known (digest);
  return plait_write_at (fd, block, sizeof block, 0);
}

gboolean
plait_store_recognize (const char *path)
{
  char beginning[sizeof MAGIC - 1];
  int fd = TEMP_FAILURE_RETRY (open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  gboolean found = fd >= 0 && plait_read_at (fd, beginning, sizeof beginning, 0) == (ssize_t)sizeof beginning
                   && memcmp (beginning, MAGIC, sizeof beginning) == 0;

  if (fd >= 0)
    close (fd);
  return found;
}

/* Checks everything that must be correct before libhdf5 reads a byte. Sets *@other_length if the user block is correct,
 * but gives another length. */
static gboolean
verify (PlaitStore *store, gint64 size, gboolean *other_length, GError **error)
{
  char block[PLAIT_STORE_USER_BLOCK];
  Header header;
  ssize_t n = plait_read_at (store->fd, block, sizeof block, 0);
  if (n < 0)
    return plait_fail (error, plait_error_code (errno), "%s: cannot be read: %s", store->path, g_strerror (errno));
  if ((size_t)n < strlen (MAGIC) || memcmp (block, MAGIC, strlen (MAGIC)) != 0)
    return plait_fail (error, PLAIT_ERROR_CORRUPT,
                       "%s: does not begin with \"plait-store\", so plait did not write it or its beginning is "
                       "damaged; name a file that plait wrote, or restore a copy",
                       store->path);

  if (n < (ssize_t)sizeof block || !parse_block (block, &header))
    return plait_fail (error, PLAIT_ERROR_CORRUPT, "%s: is damaged within its first %d bytes; " PLAIT_STORE_REMEDY,
                       store->path, PLAIT_STORE_USER_BLOCK);
  if (header.format != PLAIT_STORE_FORMAT)
    return plait_fail (error, PLAIT_ERROR_CORRUPT, "%s: has format %jd, but this plait reads format %d; %s",
                       store->path, header.format, PLAIT_STORE_FORMAT,
                       header.format > PLAIT_STORE_FORMAT ? "use the plait that wrote it or a newer one"
                                                          : "make the file again with this plait");
  store->digest = g_strdup (header.digest);
  gint64 end = header.length + PLAIT_STORE_USER_BLOCK;
  gint64 written = end > size ? end : end + plait_store_blocks_table_size (end);
  if (size != written)
    {
      *other_length = TRUE;
      return plait_fail (
          error, PLAIT_ERROR_CORRUPT,
          "%s: has %jd bytes, but plait wrote %jd, so the file was cut short or extended; " PLAIT_STORE_REMEDY,
          store->path, size, written);
    }
  store->blocks = plait_store_blocks_open (store->fd, store->path, end, header.digest, error);
  return store->blocks != NULL;
}

static herr_t
refuse_external (const char *parent_file, const char *parent_group, const char *child_file, const char *child_object,
                 unsigned *flags, hid_t access, void *data)
{
  return -1;
}

void
plait_store_refuse_external (hid_t list)
{
  H5Pset_elink_cb (list, refuse_external, NULL);
}

static hid_t
utf8_list (hid_t class)
{
  hid_t list = H5Pcreate (class);
  H5Pset_char_encoding (list, H5T_CSET_UTF8);
  return list;
}

/* Makes files reproducible: no times, members in the order of creation. */
static void
set_group_creation (hid_t list)
{
  H5Pset_obj_track_times (list, FALSE);
  H5Pset_link_creation_order (list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
}

static PlaitStore *
store_new (const char *path, gboolean writing)
{
  plait_store_silence_hdf5 ();
  PlaitStore *store = g_new0 (PlaitStore, 1);
  store->path = g_strdup (path);
  store->writing = writing;
  store->fd = -1;
  store->driver = plait_store_driver ();
  store->file = -1;
  store->access = H5Pcreate (H5P_LINK_ACCESS);
  plait_store_refuse_external (store->access);
  store->link = utf8_list (H5P_LINK_CREATE);
  store->attribute = utf8_list (H5P_ATTRIBUTE_CREATE);
  store->group = H5Pcreate (H5P_GROUP_CREATE);
  set_group_creation (store->group);
  return store;
}

static gboolean
attach (PlaitStore *store, GError **error)
{
  PlaitStoreBytes bytes = { .fd = store->fd, .failure = &store->failure, .blocks = store->blocks };
  g_auto (StoreId) access = plait_store_access (store->driver, bytes);

  store->file = H5Fopen (store->path, H5F_ACC_RDONLY, access);
  return store->file >= 0 || plait_store_fail (store, NULL, "open it as HDF5", error);
}

typedef struct
{
  PlaitStore *store;
  const GError *fault; /* error about the length of the file */
} Rewritten;

/* TRUE if the file ends where its HDF5 superblock says; otherwise it was truncated or appended to. */
static gboolean
ends_as_hdf5 (const PlaitStore *store)
{
  /* Byte offset of the end-of-file address in the superblock, indexed by the version of the superblock. */
  static const gsize places[] = { 40, 44, 28, 28 };
  guint8 superblock[64];
  guint64 end;
  struct stat status;

  if (plait_read_at (store->fd, superblock, sizeof superblock, PLAIT_STORE_USER_BLOCK) != (ssize_t)sizeof superblock
      || memcmp (superblock, "\211HDF\r\n\032\n", 8) != 0 || superblock[8] >= G_N_ELEMENTS (places)
      || fstat (store->fd, &status) != 0)
    return FALSE;
  memcpy (&end, superblock + places[superblock[8]], sizeof end);
  return GUINT64_FROM_LE (end) == (guint64)status.st_size;
}

/* Opens the file as HDF5 and compares it with its table of contents. Runs in a child process first, because no byte has
 * been checked. */
static gboolean
take_rewritten (gpointer data, GError **error)
{
  Rewritten *rewritten = data;
  PlaitStore *store = rewritten->store;

  if (!attach (store, NULL) || !plait_store_has (store, PLAIT_STORE_CONTENTS))
    {
      g_propagate_error (error, g_error_copy (rewritten->fault));
      return FALSE;
    }
  g_clear_pointer (&store->digest, g_free);
  store->changes = plait_store_compare_contents (store, &store->digest, error);
  return store->changes != NULL;
}

static gboolean
try_in_child (const PlaitStore *store, PlaitSandboxFunc call, gpointer data, GError **error)
{
  PlaitSandboxLimits limits = PLAIT_SANDBOX_LIMITS;
  struct stat status;
  guint more = fstat (store->fd, &status) == 0 ? (guint)(status.st_size / BYTES_A_SECOND) : 0;

  g_autofree char *subject
      = g_strdup_printf ("%s: refused, " PLAIT_STORE_REMEDY ": HDF5 in a separate process", store->path);

  limits.wall_seconds += 2 * more;
  limits.processor_seconds += more;
  return plait_sandbox_run_with_subject (subject, PLAIT_ERROR_CORRUPT, call, data, limits, error);
}

static gboolean
open_rewritten (PlaitStore *store, const GError *fault, GError **error)
{
  PlaitFileStamp stamp = plait_file_stamp_open (store->fd);
  Rewritten rewritten = { store, fault };

  return try_in_child (store, take_rewritten, &rewritten, error) && take_rewritten (&rewritten, error)
         && plait_file_stamp_check (&stamp, store->path, error);
}

/* Parses all metadata of the file, and up to SANDBOX_BYTES of chunked values. Runs in the child process. */
static gboolean
parse_all (gpointer data, GError **error)
{
  PlaitStore *store = data;

  return attach (store, error) && plait_store_parse_all (store, SANDBOX_BYTES, error);
}

static gboolean
open_verified (PlaitStore *store, GError **error)
{
  if (!is_known (store->digest))
    {
      if (!try_in_child (store, parse_all, store, error))
        return FALSE;
      make_known (store->digest);
    }
  return attach (store, error);
}

/* Refuses a file in which another program has changed or removed something. */
static gboolean
check_changes (const PlaitStore *store, GError **error)
{
  if (!store->changes || store->changes->changed->len + store->changes->removed->len == 0)
    return TRUE;
  g_autofree char *text = plait_store_changes_text (store->changes, NAMES_IN_MESSAGE);
  return plait_fail (error, PLAIT_ERROR_CORRUPT, "%s: %s; " PLAIT_STORE_REMEDY, store->path, text);
}

/* Opens a file, whether or not other programs have rewritten it. */
static PlaitStore *
open_any (const char *path, GError **error)
{
  g_autoptr (PlaitStore) store = store_new (path, FALSE);
  g_autoptr (GError) fault = NULL;
  gboolean other_length = FALSE;
  struct stat status;

  store->fd = plait_file_open (path, PLAIT_FILE_REGULAR, "a file that plait wrote", &status, error);
  if (store->fd < 0)
    return NULL;
  if (verify (store, (gint64)status.st_size, &other_length, &fault))
    return open_verified (store, error) ? g_steal_pointer (&store) : NULL;
  if (!plait_store_check_closed (store->fd, path, error))
    return NULL;
  if (other_length && ends_as_hdf5 (store))
    return open_rewritten (store, fault, error) ? g_steal_pointer (&store) : NULL;
  g_propagate_error (error, g_steal_pointer (&fault));
  return NULL;
}

PlaitStore *
plait_store_open (const char *path, GError **error)
{
  g_autoptr (PlaitStore) store = open_any (path, error);

  return store && check_changes (store, error) ? g_steal_pointer (&store) : NULL;
}

PlaitStore *
plait_store_open_rewritten (const char *path, PlaitLog *log, GError **error)
{
  PlaitStore *store = open_any (path, error);

  if (store && store->changes)
    {
      g_autofree char *text = plait_store_changes_text (store->changes, NAMES_IN_MESSAGE);

      plait_log_warning (log, "%s: %s", path, text);
    }
  return store;
}

const PlaitStoreChanges *
plait_store_changes (const PlaitStore *store)
{
  return store->changes;
}

PlaitStore *
plait_store_create (const char *path, GError **error)
{
  g_autoptr (PlaitStore) store = store_new (path, TRUE);
  store->replacement = plait_file_begin (path, error);
  if (!store->replacement)
    return NULL;
  store->fd = TEMP_FAILURE_RETRY (open (plait_file_temporary (store->replacement), O_RDWR | O_CLOEXEC));
  if (store->fd < 0)
    return plait_fail_null (error, PLAIT_ERROR_FAILED,
                            "%s: cannot write the new file: %s; free some space, or name another file", path,
                            g_strerror (errno));
  store->metadata = g_byte_array_new ();
  PlaitStoreBytes bytes = { .fd = store->fd, .failure = &store->failure, .metadata = store->metadata };
  g_auto (StoreId) access = plait_store_access (store->driver, bytes);
  g_auto (StoreId) creation = H5Pcreate (H5P_FILE_CREATE);
  set_group_creation (creation);
  /* All tools read the format of HDF5 1.8. Its groups are small, and its metadata has checksums. */
  if (access >= 0 && H5Pset_libver_bounds (access, H5F_LIBVER_V18, H5F_LIBVER_V18) >= 0
      && H5Pset_userblock (creation, PLAIT_STORE_USER_BLOCK) >= 0)
    store->file = H5Fcreate (path, H5F_ACC_TRUNC, creation, access);
  if (store->file < 0 || store->failure != 0)
    return plait_store_fail_null (store, NULL, "begin the new file", error);
  if (!plait_store_set_int (store, "/", "format", PLAIT_STORE_FORMAT, error))
    return NULL;
  return g_steal_pointer (&store);
}

gboolean
plait_store_check (PlaitStore *store, GError **error)
{
  g_assert (!store->writing);
  /* A file that another program has rewritten does not have blocks: its objects were compared when it was opened. */
  return check_changes (store, error)
         && (!store->blocks || plait_store_blocks_check (store->blocks, store->path, error));
}

gboolean
plait_store_intact (const PlaitStore *store, GError **error)
{
  return !plait_store_blocks_fail (store->blocks, store->path, error);
}

gboolean
plait_store_commit (PlaitStore *store, GError **error)
{
  g_assert (store->writing && store->file >= 0);
  if (store->failure == 0 && !(plait_store_ragged_finish (store, error) && plait_store_write_contents (store, error)))
    return FALSE;
  plait_store_close_groups (store);
  herr_t closed = H5Fclose (store->file);
  store->file = -1;
  if (closed < 0 || store->failure != 0)
    return plait_store_fail (store, NULL, "finish the new file", error);
  if (!plait_store_write_hashes (store->fd, PLAIT_STORE_FORMAT, store->metadata))
    return plait_fail (error, PLAIT_ERROR_FAILED,
                       "%s: cannot write the hashes of the new file: %s; free some space, or name another file",
                       store->path, g_strerror (errno));
  int descriptor = store->fd;
  store->fd = -1;
  if (close (descriptor) != 0)
    return plait_fail (error, PLAIT_ERROR_FAILED,
                       "%s: cannot finish the new file: %s; free some space, or name another file", store->path,
                       g_strerror (errno));
  return plait_file_commit (g_steal_pointer (&store->replacement), error);
}

void
plait_store_free (PlaitStore *store)
{
  if (!store)
    return;
  /* Do not write the rest of an abandoned file. */
  if (store->writing && store->file >= 0 && store->failure == 0)
    store->failure = ECANCELED;
  g_clear_pointer (&store->ragged, g_hash_table_unref);
  g_clear_pointer (&store->appended, g_ptr_array_unref);
  plait_store_close_groups (store);
  if (store->file >= 0)
    H5Fclose (store->file);
  store_id_release (store->driver);
  if (store->fd >= 0)
    close (store->fd);
  plait_file_abandon (store->replacement);
  g_free (store->digest);
  plait_store_changes_free (store->changes);
  plait_store_blocks_free (store->blocks);
  g_clear_pointer (&store->metadata, g_byte_array_unref);
  store_id_release (store->access);
  store_id_release (store->link);
  store_id_release (store->attribute);
  store_id_release (store->group);
  g_free (store->path);
  g_free (store);
}

const char *
plait_store_path (const PlaitStore *store)
{
  return store->path;
}

const char *
plait_store_digest (const PlaitStore *store)
{
  g_assert (!store->writing);
  return store->digest;
}
