/* SPDX-License-Identifier: MIT */
#include "corpus/token-store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "files/path.h"
#include "files/transfer.h"

#define MEMORY_LIMIT (64 * 1024 * 1024) /* bytes kept in memory before a file is made */
#define WRITE_SIZE (1024 * 1024)        /* bytes collected between writes to the file */
#define SENTENCES_LIMIT (1 << 29)
#define BLOCK 64 /* sentences between two stored start positions */

/* Trailer of a cached file. A cached file has the ids, zeros up to a multiple of eight bytes, the lengths (guint32) and
 * the trailer. */
typedef struct
{
  guint64 magic; /* MAGIC; differs if the file is read with another byte order */
  guint64 width;
  guint64 sentences;
  guint64 tokens;
  guint64 checksum; /* XXH3 hash of all bytes before this field */
} Tail;

#define MAGIC 0x31736469746c70u

struct PlaitTokenStore
{
  gint64 ids;          /* upper bound: all ids are smaller */
  gsize width;         /* bytes per id: 2 or 4 */
  GByteArray *pending; /* all ids, or those not yet in the file */
  int descriptor;      /* file of the ids; -1: there is no file yet */
  gsize written;       /* bytes in the file */
  PlaitFile *file;     /* cache file until it is committed, else NULL */
  char *name;          /* name of a cache file; NULL: a temporary file */
  XXH3_state_t *hash;  /* hash of the bytes written to the cache file */
  guint64 checksum;

  GArray *lengths; /* guint32, number of ids of each sentence */
  GArray *starts;  /* guint64: number of ids before sentences 0, BLOCK, 2 * BLOCK, ... */
  guint64 tokens;
};

PlaitTokenStore *
plait_token_store_new (gint64 ids)
{
  PlaitTokenStore *store = g_new0 (PlaitTokenStore, 1);
  store->ids = ids;
  store->width = ids <= 65536 ? 2 : 4;
  store->pending = g_byte_array_new ();
  store->descriptor = -1;
  store->lengths = g_array_new (FALSE, FALSE, sizeof (guint32));
  store->starts = g_array_new (FALSE, FALSE, sizeof (guint64));
  return store;
}

void
plait_token_store_free (PlaitTokenStore *store)
{
  if (!store)
    return;
  if (store->descriptor >= 0)
    close (store->descriptor);
  plait_file_abandon (store->file);
  XXH3_freeState (store->hash);
  g_byte_array_unref (store->pending);
  g_array_unref (store->lengths);
  g_array_unref (store->starts);
  g_free (store->name);
  g_free (store);
}

gboolean
plait_token_store_keep (PlaitTokenStore *store, PlaitFile *file, GError **error)
{
  g_assert (store->lengths->len == 0 && !store->file);
  store->file = file;
  store->name = g_strdup (plait_file_temporary (file));
  store->descriptor = TEMP_FAILURE_RETRY (open (store->name, O_RDWR | O_CLOEXEC));
  store->hash = XXH3_createState ();
  XXH3_64bits_reset (store->hash);
  return store->descriptor >= 0
         || plait_fail (error, PLAIT_ERROR_FAILED, "%s: cannot be opened (%s)", store->name, g_strerror (errno));
}

static gboolean
fail_to_write (const PlaitTokenStore *store, GError **error)
{
  if (store->name)
    return plait_fail (error, PLAIT_ERROR_FAILED, "%s: cannot be written (%s)", store->name, g_strerror (errno));
  return plait_fail (
      error, PLAIT_ERROR_FAILED,
      "%s: no room for the temporary file of an encoded corpus (%s); make room there, or set TMPDIR to a larger folder",
      plait_path_temporary (), g_strerror (errno));
}

static gboolean
write_bytes (PlaitTokenStore *store, gconstpointer bytes, gsize size, GError **error)
{
  if (store->hash)
    XXH3_64bits_update (store->hash, bytes, size);
  if (!plait_write_at (store->descriptor, bytes, size, (gint64)store->written))
    return fail_to_write (store, error);
  store->written += size;
  return TRUE;
}

static gboolean
spill (PlaitTokenStore *store, GError **error)
{
  if (store->descriptor < 0)
    {
      g_autofree char *path = g_build_filename (plait_path_temporary (), "plait-tokens-XXXXXX", NULL);
      store->descriptor = g_mkstemp (path);
      if (store->descriptor < 0)
        return fail_to_write (store, error);
      unlink (path);
    }
  if (!write_bytes (store, store->pending->data, store->pending->len, error))
    return FALSE;
  /* Free the array instead of emptying it: an emptied one would keep its 64 MiB for the life of the corpus. */
  g_byte_array_unref (store->pending);
  store->pending = g_byte_array_new ();
  return TRUE;
}

gboolean
plait_token_store_append (PlaitTokenStore *store, const gint32 *ids, gsize n, GError **error)
{
  g_assert (n <= G_MAXUINT32);
  if (store->lengths->len == SENTENCES_LIMIT)
    return plait_fail (error, PLAIT_ERROR_INPUT, "A corpus has more than %d sentences; split the corpus",
                       SENTENCES_LIMIT);
  if (store->lengths->len % BLOCK == 0)
    g_array_append_val (store->starts, store->tokens);
  guint32 length = (guint32)n;
  g_array_append_val (store->lengths, length);
  store->tokens += n;

  guint old = store->pending->len;
  g_byte_array_set_size (store->pending, old + (guint)(n * store->width));
  if (store->width == 4 && n > 0)
    memcpy (store->pending->data + old, ids, n * 4);
  else
    for (gsize i = 0; i < n; i++)
      {
        guint16 id = (guint16)ids[i];
        memcpy (store->pending->data + old + 2 * i, &id, 2);
      }
  if (store->pending->len >= (store->descriptor < 0 ? MEMORY_LIMIT : WRITE_SIZE))
    return spill (store, error);
  return TRUE;
}

/* Returns the number of zero bytes between ids and lengths. */
static gsize
padding (guint64 tokens, gsize width)
{
  return (gsize)(-(tokens * width) & 7);
}

gboolean
plait_token_store_finish (PlaitTokenStore *store, GError **error)
{
  Tail tail = { MAGIC, store->width, store->lengths->len, store->tokens, 0 };
  const guint64 zeros = 0;

  if (store->descriptor < 0)
    return TRUE;
  if (!spill (store, error))
    return FALSE;
  if (!store->file)
    return TRUE;
  if (!write_bytes (store, &zeros, padding (store->tokens, store->width), error)
      || !write_bytes (store, store->lengths->data, 4 * (gsize)store->lengths->len, error)
      || !write_bytes (store, &tail, offsetof (Tail, checksum), error))
    return FALSE;
  store->checksum = XXH3_64bits_digest (store->hash);
  return write_bytes (store, &store->checksum, sizeof store->checksum, error);
}

guint64
plait_token_store_checksum (const PlaitTokenStore *store)
{
  return store->checksum;
}

gboolean
plait_token_store_commit (PlaitTokenStore *store)
{
  return plait_file_commit (g_steal_pointer (&store->file), NULL);
}

static gboolean
read_bytes (const PlaitTokenStore *store, gpointer bytes, gsize size, goffset offset, GError **error)
{
  gssize n = plait_read_at (store->descriptor, bytes, size, offset);

  return n == (gssize)size
         || plait_fail (error, PLAIT_ERROR_FAILED, "%s: the encoded corpus cannot be read (%s); run the command again",
                        store->name ? store->name : plait_path_temporary (),
                        n < 0 ? g_strerror (errno) : "it is cut off");
}

/* TRUE if all ids in @bytes are below store->ids. */
static gboolean
are_ids (const PlaitTokenStore *store, const guint8 *bytes, gsize size)
{
  guint32 most = 0;

  if (store->width == 2)
    for (gsize i = 0; i < size / 2; i++)
      most = MAX (most, ((const guint16 *)(gconstpointer)bytes)[i]);
  else
    for (gsize i = 0; i < size / 4; i++)
      most = MAX (most, ((const guint32 *)(gconstpointer)bytes)[i]);
  return most < store->ids;
}

/* Reads the lengths. TRUE if all ids are below store->ids, and the number of ids and the checksum match @tail. */
static gboolean
load (PlaitTokenStore *store, const Tail *tail)
{
  gsize ids = tail->tokens * store->width + padding (tail->tokens, store->width);
  g_autofree guint8 *piece = g_malloc (WRITE_SIZE);
  gboolean fit = TRUE;

  for (gsize at = 0, n; at < ids; at += n)
    {
      n = MIN (ids - at, WRITE_SIZE);
      if (!read_bytes (store, piece, n, (goffset)at, NULL))
        return FALSE;
      XXH3_64bits_update (store->hash, piece, n);
      fit = fit && are_ids (store, piece, n);
    }
  g_array_set_size (store->lengths, (guint)tail->sentences);
  if (!read_bytes (store, store->lengths->data, 4 * tail->sentences, (goffset)ids, NULL))
    return FALSE;
  XXH3_64bits_update (store->hash, store->lengths->data, 4 * tail->sentences);
  XXH3_64bits_update (store->hash, tail, offsetof (Tail, checksum));
  store->checksum = XXH3_64bits_digest (store->hash);
  for (guint i = 0; i < store->lengths->len; i++)
    {
      if (i % BLOCK == 0)
        g_array_append_val (store->starts, store->tokens);
      store->tokens += g_array_index (store->lengths, guint32, i);
    }
  return fit && store->checksum == tail->checksum && store->tokens == tail->tokens;
}

PlaitTokenStore *
plait_token_store_open (const char *path, gint64 ids)
{
  g_autoptr (PlaitTokenStore) store = plait_token_store_new (ids);
  struct stat status;
  Tail tail;
  gsize size;

  store->name = g_strdup (path);
  store->hash = XXH3_createState ();
  XXH3_64bits_reset (store->hash);
  store->descriptor = plait_file_open (path, PLAIT_FILE_REGULAR, "an encoded corpus", &status, NULL);
  if (store->descriptor < 0 || status.st_size < (goffset)sizeof tail)
    return NULL;
  size = (gsize)status.st_size - sizeof tail;
  if (!read_bytes (store, &tail, sizeof tail, (goffset)size, NULL) || tail.magic != MAGIC || tail.width != store->width
      || tail.tokens > size || tail.sentences > SENTENCES_LIMIT
      || tail.tokens * store->width + padding (tail.tokens, store->width) + 4 * tail.sentences != size
      || !load (store, &tail))
    return NULL;
  posix_fadvise (store->descriptor, 0, 0, POSIX_FADV_RANDOM);
  return g_steal_pointer (&store);
}

gint64
plait_token_store_sentences (const PlaitTokenStore *store)
{
  return store->lengths->len;
}

gint64
plait_token_store_length (const PlaitTokenStore *store, gint64 sentence)
{
  return g_array_index (store->lengths, guint32, sentence);
}

/* Returns the number of ids before @sentence. */
static guint64
find_start (const PlaitTokenStore *store, gint64 sentence)
{
  const guint32 *lengths = (const guint32 *)(gpointer)store->lengths->data;
  guint64 start = g_array_index (store->starts, guint64, sentence / BLOCK);
  for (gint64 i = sentence - sentence % BLOCK; i < sentence; i++)
    start += lengths[i];
  return start;
}

gboolean
plait_token_store_read (const PlaitTokenStore *store, gint64 sentence, gint64 from, gint64 n, gint32 *ids,
                        GError **error)
{
  g_assert (from >= 0 && n >= 0 && from + n <= plait_token_store_length (store, sentence));
  if (n == 0)
    return TRUE;
  guint64 first = find_start (store, sentence) + (guint64)from;
  gsize size = (gsize)n * store->width;

  if (store->descriptor < 0)
    memcpy (ids, store->pending->data + first * store->width, size);
  else if (!read_bytes (store, ids, size, (goffset)(first * store->width), error))
    return FALSE;
  if (store->width == 2)
    for (gint64 i = n; i-- > 0;) /* from the last id to the first, because ids are widened from 2 to 4 bytes in place */
      {
        guint16 id;
        memcpy (&id, (const guint8 *)ids + 2 * i, 2);
        ids[i] = id;
      }
  return TRUE;
}
