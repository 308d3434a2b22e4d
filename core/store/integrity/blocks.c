/* SPDX-License-Identifier: MIT */

/*
 * The table of hashes after the HDF5 part of a file. The bytes of this part are checked against the hashes.
 *
 *   n x 16 bytes   XXH3-128 of each block, in canonical order (as xxh128sum prints it)
 *   n x 1 byte     1: the block contains metadata (headers, indices, attributes); 0: values only
 *
 * Block k begins at byte k * 65536. The first block leaves out the user block; the last one may be shorter.
 *
 * Damaged metadata can crash or hang libhdf5, or make an object seem to be missing. Therefore all blocks of metadata
 * are loaded and checked when the file is opened. Values are checked each time they are read.
 */
#include "files/digest.h"
#include "files/memory.h"
#include "files/transfer.h"
#include "hdf5/internal.h"

#include <errno.h>
#include <string.h>
#include <xxhash.h>

#define BLOCK ((gint64)1 << 16)
#define HASH sizeof (XXH128_canonical_t)
#define ENTRY (HASH + 1)

struct PlaitStoreBlocks
{
  int fd;
  gint64 end; /* end of the HDF5 part */
  gsize n;
  guint8 *table;
  guint8 **metadata;         /* [n] loaded blocks of metadata; NULL for blocks of values */
  guint8 *part;              /* copy of the last block of values that a caller read only in part */
  gsize part_number;         /* number of the block that @part holds; n if @part holds none */
  gint64 failed;             /* block whose read was the first to fail; -1: no read has failed */
  int problem;               /* errno of the read of block @failed; 0: the block is damaged, or the file ends in it */
  gboolean tolerates_damage; /* TRUE: damaged blocks read as zero */
};

static gsize
count_blocks (gint64 end)
{
  return (gsize)((end + BLOCK - 1) / BLOCK);
}

static gint64
block_begin (gsize k)
{
  return k == 0 ? PLAIT_STORE_USER_BLOCK : (gint64)k * BLOCK;
}

static gint64
block_end (gsize k, gint64 end)
{
  return MIN ((gint64)(k + 1) * BLOCK, end);
}

gint64
plait_store_blocks_table_size (gint64 end)
{
  return (gint64)(count_blocks (end) * ENTRY);
}

/* Reads @size bytes at @address into @buffer. FALSE with errno set; errno is 0 if the file ends too early. */
static gboolean
read_all (int fd, gint64 address, gint64 size, gpointer buffer)
{
  gssize n = plait_read_at (fd, buffer, (gsize)size, address);

  if (n >= 0 && n < size)
    errno = 0;
  return n == size;
}

/* Reads the whole block @k and checks it. */
static gboolean
load (PlaitStoreBlocks *blocks, gsize k, guint8 *buffer)
{
  gint64 begin = block_begin (k);
  gint64 size = block_end (k, blocks->end) - begin;
  XXH128_canonical_t hash;
  int problem = 0;

  if (!read_all (blocks->fd, begin, size, buffer))
    problem = errno;
  else
    {
      XXH128_canonicalFromHash (&hash, XXH3_128bits (buffer, (size_t)size));
      if (memcmp (&hash, blocks->table + k * HASH, HASH) == 0)
        return TRUE;
    }
  if (blocks->failed < 0)
    {
      blocks->failed = (gint64)k;
      blocks->problem = problem;
    }
  return FALSE;
}

/* Returns block @k in memory. A block of metadata is loaded already. A block of values is loaded into @part, unless
 * @part has this block already. NULL if the block is damaged or unreadable. (transfer none) */
static const guint8 *
cached_block (PlaitStoreBlocks *blocks, gsize k)
{
  if (blocks->metadata[k])
    return blocks->metadata[k];
  if (blocks->part_number != k)
    blocks->part_number = load (blocks, k, blocks->part) ? k : blocks->n;
  return blocks->part_number == k ? blocks->part : NULL;
}

/* Copies @n bytes of block @k, from its byte @from on. */
static gboolean
copy_part (PlaitStoreBlocks *blocks, gsize k, gsize from, gsize n, guint8 *to)
{
  gboolean whole = from == 0 && n == (gsize)(block_end (k, blocks->end) - block_begin (k));

  if (whole && !blocks->metadata[k])
    return load (blocks, k, to);
  const guint8 *cached = cached_block (blocks, k);
  if (cached)
    memcpy (to, cached + from, n);
  return cached != NULL;
}

gboolean
plait_store_blocks_read (PlaitStoreBlocks *blocks, gint64 address, gsize size, gpointer buffer)
{
  guint8 *to = buffer;

  if (address < 0)
    return FALSE;
  while (size > 0 && address < blocks->end)
    {
      gsize k = (gsize)(address / BLOCK);
      gint64 begin = block_begin (k);
      gsize n = MIN (size, (gsize)((address < begin ? begin : block_end (k, blocks->end)) - address));

      if (address < begin)
        memset (to, 0, n); /* the user block is not part of HDF5 */
      else if (!copy_part (blocks, k, (gsize)(address - begin), n, to))
        {
          if (!blocks->tolerates_damage)
            return FALSE;
          memset (to, 0, n);
        }
      to += n;
      address += (gint64)n;
      size -= n;
    }
  /* Bytes after the end of the HDF5 part read as zero. */
  memset (to, 0, size);
  return TRUE;
}

void
plait_store_blocks_tolerate_damage (PlaitStoreBlocks *blocks, gboolean tolerates_damage)
{
  if (blocks)
    blocks->tolerates_damage = tolerates_damage;
}

static void
fail_blocks (const PlaitStoreBlocks *blocks, const char *path, gsize n, GError **error)
{
  gsize k = (gsize)blocks->failed;

  if (blocks->problem)
    plait_fail (error, PLAIT_ERROR_FAILED, "%s: cannot be read: %s", path, g_strerror (blocks->problem));
  else if (n > 1)
    plait_fail (error, PLAIT_ERROR_CORRUPT,
                "%s: is damaged in %zu of its %zu blocks, first within bytes %jd to %jd; " PLAIT_STORE_REMEDY, path, n,
                blocks->n, block_begin (k), block_end (k, blocks->end) - 1);
  else
    plait_fail (error, PLAIT_ERROR_CORRUPT, "%s: is damaged within bytes %jd to %jd; " PLAIT_STORE_REMEDY, path,
                block_begin (k), block_end (k, blocks->end) - 1);
}

gboolean
plait_store_blocks_fail (const PlaitStoreBlocks *blocks, const char *path, GError **error)
{
  if (!blocks || blocks->failed < 0)
    return FALSE;
  fail_blocks (blocks, path, 1, error);
  return TRUE;
}

gboolean
plait_store_blocks_check (PlaitStoreBlocks *blocks, const char *path, GError **error)
{
  gsize n = 0;

  /* Read blocks of metadata again, too: they may have been damaged on the disk since they were loaded. */
  for (gsize k = 0; k < blocks->n; k++)
    n += !load (blocks, k, blocks->part);
  blocks->part_number = blocks->n;
  if (n > 0)
    fail_blocks (blocks, path, n, error);
  return n == 0;
}

/* Reads the table and checks its digest. */
static gboolean
read_table (PlaitStoreBlocks *blocks, const char *path, const char *digest, GError **error)
{
  gsize size = (gsize)plait_store_blocks_table_size (blocks->end);
  g_autofree char *found = NULL;

  blocks->table = plait_memory_is_available (size) ? g_try_malloc (size) : NULL;
  blocks->metadata = g_try_new0 (guint8 *, blocks->n);
  blocks->part = g_try_malloc ((gsize)BLOCK);
  if (!blocks->table || !blocks->metadata || !blocks->part)
    return plait_fail (error, PLAIT_ERROR_FAILED, "%s: no memory for the hashes of its blocks", path);
  if (read_all (blocks->fd, blocks->end, (gint64)size, blocks->table))
    found = plait_digest_bytes (blocks->table, size);
  else if (errno)
    return plait_fail (error, PLAIT_ERROR_FAILED, "%s: cannot be read to the end: %s", path, g_strerror (errno));
  return g_strcmp0 (found, digest) == 0
         || plait_fail (
             error, PLAIT_ERROR_CORRUPT,
             "%s: is damaged within its last %zu bytes, which are the hashes of all other bytes; " PLAIT_STORE_REMEDY,
             path, size);
}

static gboolean
load_metadata (PlaitStoreBlocks *blocks, const char *path, GError **error)
{
  const guint8 *is_metadata = blocks->table + blocks->n * HASH;

  for (gsize k = 0; k < blocks->n; k++)
    if (is_metadata[k])
      {
        guint8 *block = g_try_malloc ((gsize)BLOCK);

        if (!block)
          return plait_fail (error, PLAIT_ERROR_FAILED, "%s: no memory for its metadata", path);
        blocks->metadata[k] = block;
        if (!load (blocks, k, block))
          {
            fail_blocks (blocks, path, 1, error);
            return FALSE;
          }
      }
  return TRUE;
}

PlaitStoreBlocks *
plait_store_blocks_open (int fd, const char *path, gint64 end, const char *digest, GError **error)
{
  g_autoptr (PlaitStoreBlocks) blocks = g_new0 (PlaitStoreBlocks, 1);

  blocks->fd = fd;
  blocks->end = end;
  blocks->part_number = blocks->n = count_blocks (end);
  blocks->failed = -1;
  if (!read_table (blocks, path, digest, error) || !load_metadata (blocks, path, error))
    return NULL;
  return g_steal_pointer (&blocks);
}

void
plait_store_blocks_free (PlaitStoreBlocks *blocks)
{
  if (!blocks)
    return;
  for (gsize k = 0; blocks->metadata && k < blocks->n; k++)
    g_free (blocks->metadata[k]);
  g_free (blocks->metadata);
  g_free (blocks->table);
  g_free (blocks->part);
  g_free (blocks);
}

gint64
plait_store_blocks_end (const PlaitStoreBlocks *blocks)
{
  return blocks->end;
}

void
plait_store_blocks_mark (GByteArray *metadata, gint64 address, gsize size)
{
  gsize first = (gsize)(address / BLOCK);
  gsize after = count_blocks (address + (gint64)size);
  guint old = metadata->len;

  if (size == 0)
    return;
  if (after > old)
    {
      g_byte_array_set_size (metadata, (guint)after);
      memset (metadata->data + old, 0, after - old);
    }
  memset (metadata->data + first, 1, after - first);
}

char *
plait_store_blocks_append (int fd, gint64 end, const GByteArray *metadata)
{
  gsize n = count_blocks (end);
  gsize size = (gsize)plait_store_blocks_table_size (end);
  g_autofree guint8 *table = g_try_malloc0 (size);
  g_autofree guint8 *block = g_try_malloc ((gsize)BLOCK);

  errno = ENOMEM;
  if (!table || !block)
    return NULL;
  for (gsize k = 0; k < n; k++)
    {
      gint64 length = block_end (k, end) - block_begin (k);

      if (!read_all (fd, block_begin (k), length, block))
        return NULL;
      XXH128_canonicalFromHash ((XXH128_canonical_t *)table + k, XXH3_128bits (block, (size_t)length));
    }
  memcpy (table + n * HASH, metadata->data, MIN (n, metadata->len));
  return plait_write_at (fd, table, size, end) ? plait_digest_bytes (table, size) : NULL;
}
