/* SPDX-License-Identifier: MIT */
#include "base/digest.h"
#include "store/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The user block: lines that a person can read and check (tail -c +513 FILE | sha256sum), then zeros.
 *
 *   plait-store
 *   format 1
 *   length 00000000000000012345
 *   digest SHA-256 of the bytes from 512 on, in hexadecimal
 *   header SHA-256 of the lines above
 *
 * The last line tells a damaged format from a newer one.
 */
enum
{
  BLOCK_SIZE = 512, /* the least that HDF5 allows */
};

#define MAGIC "plait-store\n"

/* The one user block that belongs to these values. @block has BLOCK_SIZE bytes. */
static void
compose_block (char *block, gint64 format, gint64 length, const char *digest)
{
  memset (block, 0, BLOCK_SIZE);
  int used
      = g_snprintf (block, BLOCK_SIZE, MAGIC "format %" G_GINT64_FORMAT "\nlength %020" G_GINT64_FORMAT "\ndigest %s\n",
                    format, length, digest);
  g_autofree char *header = plait_digest_bytes (block, (gsize)used);
  g_snprintf (block + used, (gulong)(BLOCK_SIZE - used), "header %s\n", header);
}

/* Reads the values out of @block, which must be just what they compose to. */
static gboolean
parse_block (const char *block, gint64 *format, gint64 *length, char digest[PLAIT_DIGEST_LENGTH + 1])
{
  char text[BLOCK_SIZE + 1] = { 0 };
  memcpy (text, block, BLOCK_SIZE);
  /* %ld, not G_GINT64_FORMAT, whose %li takes leading zeros for octal. */
  if (sscanf (text, MAGIC "format %ld length %ld digest %64s", format, length, digest) != 3)
    return FALSE;
  if (*format < 1 || *length < 0 || strlen (digest) != PLAIT_DIGEST_LENGTH)
    return FALSE;
  char expected[BLOCK_SIZE];
  compose_block (expected, *format, *length, digest);
  return memcmp (block, expected, BLOCK_SIZE) == 0;
}

/* Digest of everything behind the user block of the open file. (transfer full) */
static char *
digest_of (const PlaitStore *store, GError **error)
{
  g_autofree char *name = g_strdup_printf ("/proc/self/fd/%d", store->fd);
  g_autoptr (GError) reason = NULL;
  char *digest = plait_digest_file (name, BLOCK_SIZE, &reason);
  if (digest == NULL)
    plait_fail (error, PLAIT_ERROR_FAILED, "%s: cannot read it to the end: %s", store->path, reason->message);
  return digest;
}

static gboolean
verify (const PlaitStore *store, GError **error)
{
  char block[BLOCK_SIZE];
  struct stat status;
  if (fstat (store->fd, &status) != 0)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: cannot read it: %s", store->path, g_strerror (errno));
  if (!S_ISREG (status.st_mode))
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: is not a file, expected one that plait wrote", store->path);
  ssize_t n = pread (store->fd, block, BLOCK_SIZE, 0);
  if (n < 0)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: cannot read it: %s", store->path, g_strerror (errno));
  if ((size_t)n < strlen (MAGIC) || memcmp (block, MAGIC, strlen (MAGIC)) != 0)
    return plait_fail (
        error, PLAIT_ERROR_CORRUPT,
        "%s: does not begin with \"plait-store\", so plait did not write it or its beginning is damaged; "
        "name a file that plait wrote, or restore a copy",
        store->path);

  gint64 format, length;
  char expected[PLAIT_DIGEST_LENGTH + 1];
  if (n < BLOCK_SIZE || !parse_block (block, &format, &length, expected))
    return plait_fail (error, PLAIT_ERROR_CORRUPT,
                       "%s: is damaged within its first %d bytes; restore a copy or make it anew", store->path,
                       BLOCK_SIZE);
  if (format > PLAIT_STORE_FORMAT)
    return plait_fail (error, PLAIT_ERROR_CORRUPT,
                       "%s: has format %" G_GINT64_FORMAT ", this plait reads up to %d; use the plait that wrote it or "
                       "a newer one",
                       store->path, format, PLAIT_STORE_FORMAT);
  if (status.st_size - BLOCK_SIZE != length)
    return plait_fail (error, PLAIT_ERROR_CORRUPT,
                       "%s: has %" G_GINT64_FORMAT " bytes, %" G_GINT64_FORMAT
                       " were written, so it was cut short or added to; restore a copy or make it anew",
                       store->path, (gint64)status.st_size, length + BLOCK_SIZE);
  g_autofree char *digest = digest_of (store, error);
  if (digest == NULL)
    return FALSE;
  if (strcmp (digest, expected) != 0)
    return plait_fail (error, PLAIT_ERROR_CORRUPT,
                       "%s: is damaged: its SHA-256 is %.12s..., %.12s... was written; restore a copy or make it anew",
                       store->path, digest, expected);
  return TRUE;
}

/* External links are opened by those who want them, as files of their own: nothing of them has been verified here. */
static herr_t
refuse_external (const char *parent_file, const char *parent_group, const char *child_file, const char *child_object,
                 unsigned *flags, hid_t access, void *data)
{
  return -1;
}

static hid_t
utf8_list (hid_t class)
{
  hid_t list = H5Pcreate (class);
  H5Pset_char_encoding (list, H5T_CSET_UTF8);
  return list;
}

/* What makes files repeatable: no times, members in the order of their making. */
static void
set_group_creation (hid_t list)
{
  H5Pset_obj_track_times (list, FALSE);
  H5Pset_link_creation_order (list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
}

static PlaitStore *
store_new (const char *path, gboolean writing)
{
  plait_store_quiet ();
  PlaitStore *store = g_new0 (PlaitStore, 1);
  store->path = g_strdup (path);
  store->writing = writing;
  store->fd = -1;
  store->driver = plait_store_driver ();
  store->file = -1;
  store->access = H5Pcreate (H5P_LINK_ACCESS);
  H5Pset_elink_cb (store->access, refuse_external, NULL);
  store->link = utf8_list (H5P_LINK_CREATE);
  store->attribute = utf8_list (H5P_ATTRIBUTE_CREATE);
  store->group = H5Pcreate (H5P_GROUP_CREATE);
  set_group_creation (store->group);
  return store;
}

PlaitStore *
plait_store_open (const char *path, GError **error)
{
  g_autoptr (PlaitStore) store = store_new (path, FALSE);
  store->fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* does not wait for the writer of a pipe */
  if (store->fd < 0)
    {
      plait_fail (error, PLAIT_ERROR_INPUT, "%s: cannot open it: %s", path, g_strerror (errno));
      return NULL;
    }
  if (!verify (store, error))
    return NULL;
  g_auto (StoreId) access = plait_store_access (store->driver, store->fd, &store->failure);
  store->file = H5Fopen (path, H5F_ACC_RDONLY, access);
  if (store->file < 0)
    {
      plait_store_fail (store, NULL, "open it as HDF5", error);
      return NULL;
    }
  return g_steal_pointer (&store);
}

PlaitStore *
plait_store_create (const char *path, GError **error)
{
  g_autoptr (PlaitStore) store = store_new (path, TRUE);
  store->replacement = plait_file_begin (path, error);
  if (store->replacement == NULL)
    return NULL;
  store->fd = open (plait_file_temporary (store->replacement), O_RDWR | O_CLOEXEC);
  if (store->fd < 0)
    {
      plait_fail (error, PLAIT_ERROR_FAILED, "%s: cannot write the new file beside it: %s", path, g_strerror (errno));
      return NULL;
    }
  g_auto (StoreId) access = plait_store_access (store->driver, store->fd, &store->failure);
  g_auto (StoreId) creation = H5Pcreate (H5P_FILE_CREATE);
  set_group_creation (creation);
  /* 1.8 is what every tool reads; its groups are small and its metadata checksummed. */
  if (access >= 0 && H5Pset_libver_bounds (access, H5F_LIBVER_V18, H5F_LIBVER_V18) >= 0
      && H5Pset_userblock (creation, BLOCK_SIZE) >= 0)
    store->file = H5Fcreate (path, H5F_ACC_TRUNC, creation, access);
  if (store->file < 0 || store->failure != 0)
    {
      plait_store_fail (store, NULL, "begin the new file", error);
      return NULL;
    }
  if (!plait_store_set_int (store, "/", "format", PLAIT_STORE_FORMAT, error))
    return NULL;
  return g_steal_pointer (&store);
}

/* Writes the user block over the zeros that HDF5 left there. */
static gboolean
seal (PlaitStore *store, GError **error)
{
  struct stat status;
  g_autofree char *digest = digest_of (store, error);
  if (digest == NULL)
    return FALSE;
  char block[BLOCK_SIZE];
  gboolean good = fstat (store->fd, &status) == 0;
  if (good)
    {
      compose_block (block, PLAIT_STORE_FORMAT, (gint64)status.st_size - BLOCK_SIZE, digest);
      good = pwrite (store->fd, block, BLOCK_SIZE, 0) == BLOCK_SIZE;
    }
  if (!good)
    return plait_fail (error, PLAIT_ERROR_FAILED, "%s: cannot write the digest of the new file: %s", store->path,
                       g_strerror (errno));
  return TRUE;
}

gboolean
plait_store_commit (PlaitStore *store, GError **error)
{
  g_assert (store->writing && store->file >= 0);
  herr_t closed = H5Fclose (store->file);
  store->file = -1;
  if (closed < 0 || store->failure != 0)
    return plait_store_fail (store, NULL, "finish the new file", error);
  if (!seal (store, error))
    return FALSE;
  int descriptor = store->fd;
  store->fd = -1;
  if (close (descriptor) != 0)
    return plait_fail (error, PLAIT_ERROR_FAILED, "%s: cannot finish the new file: %s", store->path,
                       g_strerror (errno));
  return plait_file_commit (g_steal_pointer (&store->replacement), error);
}

void
plait_store_free (PlaitStore *store)
{
  if (store == NULL)
    return;
  /* An abandoned file is not worth its writes. */
  if (store->writing && store->file >= 0 && store->failure == 0)
    store->failure = ECANCELED;
  if (store->file >= 0)
    H5Fclose (store->file);
  store_id_release (store->driver);
  if (store->fd >= 0)
    close (store->fd);
  plait_file_abandon (store->replacement);
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
