/* SPDX-License-Identifier: MIT */
/* Caches an encoded corpus for the next process (text-cache.h): a file of ids for each stream and factor
 * (token-store.h), then one file with all other results of reading. */
#include <string.h>
#include <xxhash.h>

#include "corpus/corpus-private.h"

/* Increase it when equal text and settings give another corpus, or when the layout of the files changes. */
#define FORMAT 4

/* Header of the corpus file. After the header come: for each of the n_files files, the line at which the next file
 * begins (gint64); for each text stream and factor, a Stream; for each tuple, its line (guint32), if has_lines; and the
 * XXH3 hash of all bytes before the hash. */
typedef struct
{
  gint64 format; /* FORMAT; differs if the file is read with another byte order */
  gint64 lines;
  gint64 size;
  gint64 n_files;
  gint64 has_lines; /* TRUE: the file has the lines of the tuples */
} Head;

typedef struct
{
  PlaitCorpusCounts counts;
  guint64 checksum; /* checksum of the file of ids of the stream */
} Stream;

/* Returns the text streams of @corpus, each followed by its factors. (transfer container) (element-type
 * PlaitCorpusStreamState) */
static GPtrArray *
cached_streams (const PlaitCorpus *corpus)
{
  GPtrArray *cached = g_ptr_array_new ();

  for (gint64 s = 0; s < corpus->n_streams; s++)
    {
      PlaitCorpusStreamState *stream = &corpus->streams[s];

      if (!plait_input_kind_is_text (stream->kind))
        continue;
      g_ptr_array_add (cached, stream);
      for (guint f = 0; f < stream->n_factors; f++)
        g_ptr_array_add (cached, &stream->factors[f]);
    }
  return cached;
}

/* Appends lines for @stream and its factors to @text: @role, settings and digests that determine the tokens. FALSE if
 * the stream cannot be cached. */
static gboolean
append_stream (const PlaitCorpus *corpus, const PlaitCorpusStreamState *stream, const PlaitCorpusStream *of,
               const char *role, GString *text)
{
  if (!of->known || stream->unknown_use != PLAIT_UNKNOWN_ID || stream->trees
      || stream->documents.layout != PLAIT_LAYOUT_SENTENCES)
    return FALSE;
  g_string_append_printf (text, "%s %d %d %jd %s", role, stream->target, stream->allow_unknown, stream->maximum_length,
                          stream->vocabulary ? plait_vocabulary_hash (stream->vocabulary) : "none");
  for (gint64 i = 0; i < corpus->n_files; i++)
    g_string_append_printf (text, " %s", of->known[i]->digest);
  g_string_append_c (text, '\n');
  for (guint f = 0; f < stream->n_factors; f++)
    if (!append_stream (corpus, &stream->factors[f], &of->factors[f], "factor", text))
      return FALSE;
  return TRUE;
}

char *
plait_corpus_cache_key (const PlaitCorpus *corpus, const PlaitCorpusSettings *settings)
{
  g_autoptr (GString) text = g_string_new (NULL);

  g_string_append_printf (text, "plait corpus %d of plait " PLAIT_VERSION ": %d %d\n", FORMAT, corpus->empty_is_error,
                          corpus->keep_all);
  for (gint64 s = 0; s < corpus->n_streams; s++)
    {
      gboolean is_source = s < corpus->n_sources;

      if (plait_input_kind_is_text (corpus->streams[s].kind)
          && !append_stream (corpus, &corpus->streams[s], is_source ? &settings->sources[s] : settings->target,
                             is_source ? "source" : "target", text))
        return NULL;
    }
  return plait_digest_bytes (text->str, text->len);
}

/* Returns the path of the first text file. text-cache.h keeps the cached corpus beside this file. */
static const char *
place_of (const PlaitCorpus *corpus)
{
  gint64 s = 0;

  while (!plait_input_kind_is_text (corpus->streams[s].kind))
    s++;
  return corpus->streams[s].files->path;
}

static char *
name_of_ids (const char *key, guint stream)
{
  return g_strdup_printf ("%s.%u" PLAIT_TEXT_CACHE_IDS_SUFFIX, key, stream);
}

gboolean
plait_corpus_cache_begin (PlaitCorpus *corpus, const PlaitTextCache *text_cache, const char *key, GError **error)
{
  g_autoptr (GPtrArray) cached = cached_streams (corpus);

  for (guint s = 0; s < cached->len; s++)
    {
      PlaitCorpusStreamState *stream = cached->pdata[s];
      g_autofree char *name = name_of_ids (key, s);
      PlaitFile *file = plait_text_cache_begin (text_cache, place_of (corpus), name);

      if (!file || !plait_token_store_keep (stream->tokens, file, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
plait_corpus_cache_end (PlaitCorpus *corpus, const PlaitTextCache *text_cache, const char *key, GError **error)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autoptr (GPtrArray) cached = cached_streams (corpus);
  Head head = { FORMAT, corpus->lines, corpus->size, corpus->n_files, corpus->line_of != NULL };
  g_autofree char *name = g_strconcat (key, PLAIT_TEXT_CACHE_CORPUS_SUFFIX, NULL);
  g_autofree char *path = NULL;
  g_autofree char *folder = NULL;
  guint64 checksum;

  if (!plait_corpus_check (corpus, error))
    return FALSE;
  g_byte_array_append (bytes, (const guint8 *)&head, sizeof head);
  g_byte_array_append (bytes, (const guint8 *)(corpus->first_lines + 1),
                       (guint)((gsize)corpus->n_files * sizeof (gint64)));
  for (guint s = 0; s < cached->len; s++)
    {
      PlaitCorpusStreamState *state = cached->pdata[s];
      Stream stream = { state->counts, plait_token_store_checksum (state->tokens) };

      /* If publishing fails, or another process published the file first, this process keeps using its own unlinked
       * file. */
      if (!plait_token_store_commit (state->tokens))
        return TRUE;
      g_byte_array_append (bytes, (const guint8 *)&stream, sizeof stream);
    }
  if (corpus->line_of)
    g_byte_array_append (bytes, (const guint8 *)corpus->line_of->data, corpus->line_of->len * (guint)sizeof (guint32));
  checksum = XXH3_64bits (bytes->data, bytes->len);
  g_byte_array_append (bytes, (const guint8 *)&checksum, sizeof checksum);
  plait_text_cache_store (text_cache, place_of (corpus), name, bytes->data, bytes->len);
  path = plait_text_cache_find (text_cache, place_of (corpus), name);
  folder = path ? g_path_get_dirname (path) : NULL;
  if (!path)
    return TRUE;
  plait_log_info (text_cache->log, "%s keeps the encoded corpus for the next start (to disable: PLAIT_INDEX=none)",
                  folder);
  plait_text_cache_trim (text_cache, path);
  return TRUE;
}

typedef struct
{
  const PlaitCorpus *corpus;
  const GPtrArray *cached; /* the streams of @corpus that cached_streams() returns */
  const PlaitTextCache *text_cache;
  const char *key;
  PlaitTokenStore **stores; /* [cached], NULL if the file of the stream is absent or damaged */
} Load;

static void
load_ids (gpointer data, gint64 piece, guint thread)
{
  const Load *load = data;
  g_autofree char *name = name_of_ids (load->key, (guint)piece);
  g_autofree char *path = plait_text_cache_find (load->text_cache, place_of (load->corpus), name);

  if (path)
    load->stores[piece] = plait_token_store_open (path, plait_corpus_ids (load->cached->pdata[piece]));
}

/* TRUE if @lines [size] do not decrease and are below @end. */
static gboolean
are_lines (const guint32 *lines, gint64 size, gint64 end)
{
  for (gint64 i = 0; i < size; i++)
    if (lines[i] >= end || (i > 0 && lines[i] < lines[i - 1]))
      return FALSE;
  return TRUE;
}

/* Moves the counts, the lines and @stores into @corpus, if the corpus file @bytes is intact and matches the stores. */
static gboolean
take (PlaitCorpus *corpus, const GPtrArray *cached, const char *bytes, gsize length, PlaitTokenStore **stores)
{
  const Head *head = (const Head *)(gconstpointer)bytes;
  const gint64 *ends = (const gint64 *)(head + 1);
  const Stream *streams = (const Stream *)(ends + corpus->n_files);
  const guint32 *lines = (const guint32 *)(streams + cached->len);
  gsize end = length - sizeof (guint64), before = (gsize)((const char *)lines - bytes);
  guint64 checksum;

  if (length < before + sizeof checksum)
    return FALSE;
  memcpy (&checksum, bytes + end, sizeof checksum);
  if (head->format != FORMAT || head->n_files != corpus->n_files || XXH3_64bits (bytes, end) != checksum
      || end - before != (head->has_lines ? (gsize)head->size * sizeof *lines : 0)
      || (head->has_lines && !are_lines (lines, head->size, head->lines)))
    return FALSE;
  for (guint s = 0; s < cached->len; s++)
    if (!stores[s] || plait_token_store_checksum (stores[s]) != streams[s].checksum
        || plait_token_store_sentences (stores[s]) != head->size)
      return FALSE;
  for (guint s = 0; s < cached->len; s++)
    {
      PlaitCorpusStreamState *stream = cached->pdata[s];

      stream->counts = streams[s].counts;
      plait_token_store_free (stream->tokens);
      stream->tokens = g_steal_pointer (&stores[s]);
    }
  memcpy (corpus->first_lines + 1, ends, (gsize)corpus->n_files * sizeof *ends);
  corpus->lines = head->lines;
  corpus->size = head->size;
  if (head->has_lines)
    {
      corpus->line_of = g_array_sized_new (FALSE, FALSE, sizeof *lines, (guint)head->size);
      g_array_append_vals (corpus->line_of, lines, (guint)head->size);
    }
  return TRUE;
}

/* Returns the largest possible size of a corpus file for the ids in @stores [n]. */
static gsize
most_bytes (const PlaitCorpus *corpus, guint n, PlaitTokenStore *const *stores)
{
  gsize most = sizeof (Head) + ((gsize)corpus->n_files + 1) * sizeof (guint64);

  for (guint s = 0; s < n; s++)
    if (stores[s])
      most += sizeof (Stream) + (gsize)plait_token_store_sentences (stores[s]) * sizeof (guint32);
  return most;
}

gboolean
plait_corpus_cache_load (PlaitCorpus *corpus, const PlaitTextCache *text_cache, const char *key, PlaitPool *pool)
{
  g_autofree char *name = g_strconcat (key, PLAIT_TEXT_CACHE_CORPUS_SUFFIX, NULL);
  g_autofree char *path = plait_text_cache_find (text_cache, place_of (corpus), name);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GPtrArray) cached = cached_streams (corpus);
  g_autofree PlaitTokenStore **stores = g_new0 (PlaitTokenStore *, cached->len);
  Load load = { corpus, cached, text_cache, key, stores };
  gboolean taken;

  if (!path)
    return FALSE;
  plait_pool_run (pool, cached->len, load_ids, &load);
  bytes = plait_file_read (path, PLAIT_FILE_REGULAR, most_bytes (corpus, cached->len, stores), "a cached corpus", NULL);
  taken = bytes && take (corpus, cached, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), stores);
  for (guint s = 0; s < cached->len; s++)
    plait_token_store_free (stores[s]);
  if (!taken)
    plait_log_info (text_cache->log, "%s: is damaged or incomplete, so the text is read again", path);
  return taken;
}
