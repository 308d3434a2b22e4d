/* SPDX-License-Identifier: MIT */
#include "data/token-store.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"

#define MEMORY_LIMIT (64 * 1024 * 1024) /* bytes held before a file is made */
#define WRITE_SIZE (1024 * 1024)        /* bytes gathered between writes to it */
#define SENTENCES_LIMIT (1 << 29)
#define BLOCK 64 /* sentences between two known positions */

struct PlaitTokenStore
{
  gsize width;         /* bytes of an id: 2 or 4 */
  GByteArray *pending; /* all ids, or those not yet in the file */
  int descriptor;      /* -1: no file */
  gsize written;       /* bytes in the file */
  gpointer mapped;     /* of written bytes, after the end of the writing */

  GArray *lengths; /* guint32 a sentence */
  GArray *starts;  /* guint64: ids before sentence 0, BLOCK, 2 BLOCK, .. */
  guint64 tokens;
};

PlaitTokenStore *
plait_token_store_new (gint64 ids)
{
  PlaitTokenStore *store = g_new0 (PlaitTokenStore, 1);
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
  if (store->mapped)
    munmap (store->mapped, store->written);
  if (store->descriptor >= 0)
    close (store->descriptor);
  g_byte_array_unref (store->pending);
  g_array_unref (store->lengths);
  g_array_unref (store->starts);
  g_free (store);
}

static gboolean
fail_to_write (GError **error)
{
  return plait_fail (
      error, PLAIT_ERROR_FAILED,
      "%s: no room for the temporary file of an encoded corpus (%s); make room there, or set TMPDIR to a "
      "larger folder",
      g_get_tmp_dir (), g_strerror (errno));
}

static gboolean
spill (PlaitTokenStore *store, GError **error)
{
  if (store->descriptor < 0)
    {
      g_autofree char *path = g_build_filename (g_get_tmp_dir (), "plait-tokens-XXXXXX", NULL);
      store->descriptor = g_mkstemp (path);
      if (store->descriptor < 0)
        return fail_to_write (error);
      unlink (path);
    }
  gsize done = 0;
  while (done < store->pending->len)
    {
      ssize_t n = write (store->descriptor, store->pending->data + done, store->pending->len - done);
      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return fail_to_write (error);
      done += (gsize)n;
    }
  store->written += done;
  /* An emptied array would keep the 64 MiB that it once held, for as long as the corpus lives. */
  g_byte_array_unref (store->pending);
  store->pending = g_byte_array_new ();
  return TRUE;
}

gboolean
plait_token_store_append (PlaitTokenStore *store, const gint32 *ids, gsize n, GError **error)
{
  g_assert (!store->mapped && n <= G_MAXUINT32);
  if (store->lengths->len == SENTENCES_LIMIT)
    return plait_fail (error, PLAIT_ERROR_INPUT, "A corpus has more than %d sentences; split it", SENTENCES_LIMIT);
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

gboolean
plait_token_store_finish (PlaitTokenStore *store, GError **error)
{
  if (store->descriptor < 0)
    return TRUE;
  if (!spill (store, error))
    return FALSE;
  gpointer mapped = mmap (NULL, store->written, PROT_READ, MAP_SHARED, store->descriptor, 0);
  if (mapped == MAP_FAILED)
    return plait_fail (error, PLAIT_ERROR_FAILED, "The temporary file of an encoded corpus cannot be mapped: %s",
                       g_strerror (errno));
  madvise (mapped, store->written, MADV_RANDOM);
  store->mapped = mapped;
  return TRUE;
}

gint64
plait_token_store_length (const PlaitTokenStore *store, gint64 sentence)
{
  return g_array_index (store->lengths, guint32, sentence);
}

/* How many ids are before @sentence. */
static guint64
find_start (const PlaitTokenStore *store, gint64 sentence)
{
  const guint32 *lengths = (const guint32 *)store->lengths->data;
  guint64 start = g_array_index (store->starts, guint64, sentence / BLOCK);
  for (gint64 i = sentence - sentence % BLOCK; i < sentence; i++)
    start += lengths[i];
  return start;
}

static const guint8 *
all_ids (const PlaitTokenStore *store)
{
  return store->mapped ? store->mapped : store->pending->data;
}

gint32
plait_token_store_id (const PlaitTokenStore *store, gint64 sentence, gint64 place)
{
  guint64 at = find_start (store, sentence) + (guint64)place;

  g_assert (place >= 0 && place < plait_token_store_length (store, sentence));
  return store->width == 4 ? ((const gint32 *)(gconstpointer)all_ids (store))[at]
                           : ((const guint16 *)(gconstpointer)all_ids (store))[at];
}

void
plait_token_store_copy (const PlaitTokenStore *store, gint64 sentence, gint32 *ids)
{
  guint64 start = find_start (store, sentence);
  const guint8 *all = all_ids (store);
  gsize n = (gsize)plait_token_store_length (store, sentence);
  if (n == 0)
    return;
  if (store->width == 4)
    memcpy (ids, all + 4 * start, 4 * n);
  else
    {
      const guint16 *narrow = (const guint16 *)all + start;
      for (gsize i = 0; i < n; i++)
        ids[i] = narrow[i];
    }
}
