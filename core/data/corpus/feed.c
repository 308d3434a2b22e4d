/* SPDX-License-Identifier: MIT */
#include "corpus/feed.h"

#include "text/error.h"
#include "corpus/batch.h"
#include "corpus/corpus-block.h"

/* A reader of batches. Its corpus holds only the tuples of the lines that were read last. */
struct PlaitFeed
{
  PlaitCorpus *corpus;
  PlaitCorpusBlock *block;
  gint64 first; /* number, from the start of the feed, of the first tuple in @corpus */
  gint64 given; /* number of tuples of @corpus that batches have returned */
};

void
plait_feed_free (PlaitFeed *feed)
{
  if (!feed)
    return;
  plait_corpus_block_free (feed->block);
  plait_corpus_free (feed->corpus);
  g_free (feed);
}

PlaitFeed *
plait_feed_open (const PlaitCorpusStream *sources, gint64 n_sources, const PlaitCorpusStream *target,
                 const PlaitFeedTable *table, gboolean empty_is_error, GError **error)
{
  const PlaitCorpusSettings settings = {
    .sources = sources,
    .n_sources = n_sources,
    .target = target,
    .empty_is_error = empty_is_error,
    .keep_all = TRUE,
  };
  g_autoptr (GPtrArray) columns = NULL;
  g_autoptr (PlaitFeed) feed = NULL;
  gboolean any = FALSE;

  for (gint64 i = 0; i < n_sources; i++)
    any |= sources[i].paths && sources[i].paths[0];
  if (!any)
    return plait_fail_null (error, PLAIT_ERROR_INPUT, "every source is missing; give a file for at least one source");
  if (table && table->path && table->columns > 0)
    {
      columns = plait_text_reader_open_columns (table->path, table->columns, error);
      if (!columns)
        return NULL;
    }
  feed = g_new0 (PlaitFeed, 1);
  feed->corpus = plait_corpus_new (&settings, error);
  feed->block = feed->corpus ? plait_corpus_block_new (feed->corpus, 0, TRUE, columns, error) : NULL;
  return feed->block ? g_steal_pointer (&feed) : NULL;
}

/* Checks the features of the lines that were just read: at most @wanted lines, from line @first on. If the text or a
 * features file ends in these lines, the text and all features files must end at the same line. Without text, adds
 * entries of the features files as tuples. */
static gboolean
join_features (PlaitFeed *feed, gint64 first, gint64 wanted, GError **error)
{
  PlaitCorpus *corpus = feed->corpus;
  const char *ended = NULL, *going = NULL;
  gint64 lines = feed->block->n_sides > 0 ? feed->block->lines : wanted;

  for (gint64 s = 0; s < corpus->n_streams; s++)
    if (corpus->streams[s].features)
      lines = MIN (lines, corpus->streams[s].features->sentences - first);
  for (gint64 s = 0; s < corpus->n_streams; s++)
    {
      const PlaitCorpusStreamState *stream = &corpus->streams[s];
      gint64 its = stream->features ? stream->features->sentences - first : feed->block->lines;

      if (!stream->absent)
        *(its == lines ? &ended : &going) = stream->files->path;
    }
  if (lines < wanted && ended && going)
    return plait_corpus_fail_on_end (ended, going, first + lines + 1, error);
  if (feed->block->n_sides == 0)
    {
      corpus->lines += lines;
      corpus->size += lines;
    }
  for (gint64 s = 0; s < corpus->n_streams; s++)
    if (corpus->streams[s].features && !plait_corpus_count_features (corpus, &corpus->streams[s], error))
      return FALSE;
  return TRUE;
}

/* Reads lines until the corpus has @sentences tuples or the text ends. If documents are cut, reads one document at a
 * time, because one document can have enough chunks. */
static gboolean
read_tuples (PlaitFeed *feed, gint64 sentences, GError **error)
{
  PlaitCorpus *corpus = feed->corpus;
  gint64 first, wanted;

  feed->first += corpus->size;
  feed->given = 0;
  plait_corpus_clear (corpus);
  do
    {
      first = corpus->lines;
      feed->block->wanted = wanted = plait_corpus_cuts (corpus) ? 1 : MIN (sentences - corpus->size, BLOCK_LINES);
      if (feed->block->n_sides > 0 && !plait_corpus_block_next (feed->block, NULL, error))
        return FALSE;
      if (!join_features (feed, first, wanted, error))
        return FALSE;
    }
  while (corpus->size < sentences && corpus->lines == first + wanted);
  for (gint64 s = 0; s < corpus->n_streams; s++)
    if (!plait_corpus_stream_finish (&corpus->streams[s], error))
      return FALSE;
  return TRUE;
}

PlaitBatch *
plait_feed_next (PlaitFeed *feed, gint64 sentences, GError **error)
{
  g_autofree gint64 *tuples = NULL;
  PlaitBatch *batch;
  gint64 n;

  if (feed->given == feed->corpus->size && !read_tuples (feed, sentences, error))
    return NULL;
  n = MIN (sentences, feed->corpus->size - feed->given);
  if (n == 0)
    return NULL;
  tuples = g_new (gint64, n);
  for (gint64 i = 0; i < n; i++)
    tuples[i] = feed->given + i;
  batch = plait_corpus_batch (feed->corpus, tuples, n, error);
  for (gint64 i = 0; batch && i < n; i++)
    plait_batch_fill (gint64, batch->sentence)[i] = feed->first + tuples[i];
  feed->given += n;
  return batch;
}

gint64
plait_feed_line (const PlaitFeed *feed, gint64 sentence)
{
  return plait_corpus_line (feed->corpus, sentence - feed->first);
}

char *
plait_feed_location (const PlaitFeed *feed, gint64 sentence, gint64 stream)
{
  return plait_corpus_location (feed->corpus, stream, sentence - feed->first);
}

char *
plait_feed_name (const PlaitFeed *feed, gint64 sentence)
{
  return plait_corpus_name (feed->corpus, sentence - feed->first);
}
