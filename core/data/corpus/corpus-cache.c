/* SPDX-License-Identifier: MIT */
/* Keeps an encoded corpus for the next process (text-cache.h): the ids of each stream in a file (token-store.h), and,
 * written last, one file with everything else that reading found out. */
#include <string.h>
#include <xxhash.h>

#include "corpus/corpus-private.h"

/* Increase it when equal text and settings give another corpus, or when the layout of the files changes. */
#define FORMAT 3

/* Header of the corpus file. After it come the ends of the files (gint64), a Stream for each text stream, the lines of
 * the tuples (guint32), and the XXH3 hash of all bytes before the hash. */
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

static gboolean
is_text (const PlaitCorpusStreamState *stream)
{
  return plait_input_kind_is_text (stream->kind);
}

char *
plait_corpus_cache_key (const PlaitCorpus *corpus, const PlaitCorpusSettings *settings)
{
  g_autoptr (GString) text = g_string_new (NULL);

  g_string_append_printf (text, "plait corpus %d of plait " PLAIT_VERSION ": %d %d\n", FORMAT, corpus->empty_is_error,
                          corpus->keep_all);
  for (gint64 s = 0; s < corpus->n_streams; s++)
    {
      const PlaitCorpusStreamState *stream = &corpus->streams[s];
      const PlaitCorpusStream *of = s < corpus->n_sources ? &settings->sources[s] : settings->target;

      if (!is_text (stream))
        continue;
      if (!of->known || stream->unknown_use != PLAIT_UNKNOWN_ID || stream->trees || stream->n_factors > 0
          || stream->documents.layout != PLAIT_LAYOUT_SENTENCES)
        return NULL;
      g_string_append_printf (text, "%s %d %d %jd %s", s < corpus->n_sources ? "source" : "target", stream->target,
                              stream->allow_unknown, stream->maximum_length,
                              stream->vocabulary ? plait_vocabulary_hash (stream->vocabulary) : "none");
      for (gint64 i = 0; i < corpus->n_files; i++)
        g_string_append_printf (text, " %s", of->known[i]->digest);
      g_string_append_c (text, '\n');
    }
  return plait_digest_bytes (text->str, text->len);
}

/* Returns the path of the first text file, next to which the corpus is cached. */
static const char *
place_of (const PlaitCorpus *corpus)
{
  gint64 s = 0;

  while (!is_text (&corpus->streams[s]))
    s++;
  return corpus->streams[s].files->path;
}

static char *
name_of_ids (const char *key, gint64 stream)
{
  return g_strdup_printf ("%s.%jd" PLAIT_TEXT_CACHE_IDS_SUFFIX, key, stream);
}

gboolean
plait_corpus_cache_begin (PlaitCorpus *corpus, const PlaitTextCache *text_cache, const char *key, GError **error)
{
  for (gint64 s = 0; s < corpus->n_streams; s++)
    {
      PlaitCorpusStreamState *stream = &corpus->streams[s];
      g_autofree char *name = name_of_ids (key, s);
      PlaitFile *file = is_text (stream) ? plait_text_cache_begin (text_cache, place_of (corpus), name) : NULL;

      if (is_text (stream) && (!file || !plait_token_store_keep (stream->tokens, file, error)))
        return FALSE;
    }
  return TRUE;
}

gboolean
plait_corpus_cache_end (PlaitCorpus *corpus, const PlaitTextCache *text_cache, const char *key, GError **error)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
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
  for (gint64 s = 0; s < corpus->n_streams; s++)
    if (is_text (&corpus->streams[s]))
      {
        PlaitCorpusStreamState *state = &corpus->streams[s];
        Stream stream = { state->counts, plait_token_store_checksum (state->tokens) };

        /* Another process wrote the file first: this process keeps using its own unlinked file. */
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
  PlaitCorpus *corpus;
  const PlaitTextCache *text_cache;
  const char *key;
  PlaitTokenStore **stores; /* [streams], NULL where a stream is not cached */
} Load;

static void
load_ids (gpointer data, gint64 piece, guint thread)
{
  const Load *load = data;
  const PlaitCorpusStreamState *stream = &load->corpus->streams[piece];
  g_autofree char *name = name_of_ids (load->key, piece);
  g_autofree char *path
      = is_text (stream) ? plait_text_cache_find (load->text_cache, place_of (load->corpus), name) : NULL;

  if (path)
    load->stores[piece] = plait_token_store_open (path, plait_corpus_ids (stream));
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
take (PlaitCorpus *corpus, const char *bytes, gsize length, PlaitTokenStore **stores)
{
  const Head *head = (const Head *)(gconstpointer)bytes;
  const gint64 *ends = (const gint64 *)(head + 1);
  const Stream *streams = (const Stream *)(ends + corpus->n_files), *stream = streams;
  const guint32 *lines;
  gsize n = 0, end = length - sizeof (guint64), before;
  guint64 checksum;

  for (gint64 s = 0; s < corpus->n_streams; s++)
    n += is_text (&corpus->streams[s]);
  lines = (const guint32 *)(streams + n);
  before = (gsize)((const char *)lines - bytes);
  if (length < before + sizeof checksum)
    return FALSE;
  memcpy (&checksum, bytes + end, sizeof checksum);
  if (head->format != FORMAT || head->n_files != corpus->n_files || XXH3_64bits (bytes, end) != checksum
      || end - before != (head->has_lines ? (gsize)head->size * sizeof *lines : 0)
      || (head->has_lines && !are_lines (lines, head->size, head->lines)))
    return FALSE;
  for (gint64 s = 0; s < corpus->n_streams; s++)
    if (is_text (&corpus->streams[s])
        && (!stores[s] || plait_token_store_checksum (stores[s]) != (stream++)->checksum
            || plait_token_store_sentences (stores[s]) != head->size))
      return FALSE;
  stream = streams;
  for (gint64 s = 0; s < corpus->n_streams; s++)
    if (is_text (&corpus->streams[s]))
      {
        corpus->streams[s].counts = (stream++)->counts;
        plait_token_store_free (corpus->streams[s].tokens);
        corpus->streams[s].tokens = g_steal_pointer (&stores[s]);
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

/* Returns the largest possible size of a corpus file for the ids in @stores. */
static gsize
most_bytes (const PlaitCorpus *corpus, PlaitTokenStore *const *stores)
{
  gsize most = sizeof (Head) + ((gsize)corpus->n_files + 1) * sizeof (guint64);

  for (gint64 s = 0; s < corpus->n_streams; s++)
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
  g_autofree PlaitTokenStore **stores = g_new0 (PlaitTokenStore *, corpus->n_streams);
  Load load = { corpus, text_cache, key, stores };
  gboolean taken;

  if (!path)
    return FALSE;
  plait_pool_run (pool, corpus->n_streams, load_ids, &load);
  bytes = plait_file_read (path, PLAIT_FILE_REGULAR, most_bytes (corpus, stores), "a cached corpus", NULL);
  taken = bytes && take (corpus, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), stores);
  for (gint64 s = 0; s < corpus->n_streams; s++)
    plait_token_store_free (stores[s]);
  if (!taken)
    plait_log_info (text_cache->log, "%s: is damaged or incomplete, so the text is read again", path);
  return taken;
}
