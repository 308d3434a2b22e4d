/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "data/batch.h"
#include "data/feed-private.h"
#include "data/text-file.h"

void
plait_feed_free (PlaitFeed *feed)
{
  if (!feed)
    return;
  for (gint64 i = 0; i < feed->n_sides; i++)
    {
      PlaitFeedSide *side = &feed->sides[i];
      g_free (side->name);
      g_free (side->path);
      plait_vocabulary_unref (side->vocabulary);
      plait_text_reader_free (side->reader);
      plait_feature_file_free (side->features);
      g_clear_pointer (&side->ids, g_array_unref);
      g_clear_pointer (&side->offsets, g_array_unref);
      plait_tree_maker_free (side->trees);
      plait_text_reader_free (side->tree_reader);
      g_clear_pointer (&side->words, g_array_unref);
      g_clear_pointer (&side->steps, g_array_unref);
      g_clear_pointer (&side->nodes, g_array_unref);
      plait_document_reader_free (side->documents);
      g_clear_pointer (&side->sentences, g_array_unref);
      g_clear_pointer (&side->bounds, g_array_unref);
    }
  plait_batch_free (feed->whole);
  g_clear_pointer (&feed->ends, g_array_unref);
  g_clear_pointer (&feed->lines, g_array_unref);
  g_clear_pointer (&feed->chunks, g_array_unref);
  g_free (feed->cut_from);
  g_free (feed->sides);
  g_free (feed);
}

/* The text at @path, or column @column of the table, which may be taken once. */
static PlaitTextReader *
open_text (const char *path, guint column, PlaitTextReader **columns, GError **error)
{
  return column > 0 ? g_steal_pointer (&columns[column - 1]) : plait_text_reader_open_pipe (path, error);
}

/* The trees of a side whose sentences are text. */
static gboolean
open_trees (PlaitFeedSide *side, const PlaitCorpusStream *stream, PlaitTextReader **columns, GError **error)
{
  side->trees = plait_tree_maker_new (stream->trees, stream->name);
  side->words = g_array_new (FALSE, FALSE, sizeof (gint32));
  side->steps = g_array_new (FALSE, FALSE, sizeof (gint32));
  side->nodes = g_array_new (FALSE, FALSE, sizeof (gint64));
  if (!stream->path || !plait_tree_maker_reads (side->trees))
    return TRUE;
  side->tree_reader = open_text (stream->trees_path, stream->trees_column, columns, error);
  return side->tree_reader != NULL;
}

/* The documents of a side that has a text. */
static gboolean
open_documents (PlaitFeedSide *side, GError **error)
{
  side->sentences = g_array_new (FALSE, FALSE, sizeof (PlaitDocumentSentence));
  side->bounds = g_array_new (FALSE, FALSE, sizeof (gint64));
  if (side->reader)
    side->documents = plait_document_reader_new (side->reader, &side->settings, error);
  return side->documents || !side->reader;
}

static PlaitFeed *
feed_open (const PlaitCorpusStream *sources, gint64 n_sources, const PlaitCorpusStream *target,
           PlaitTextReader **columns, gboolean empty_is_error, GError **error)
{
  g_autoptr (PlaitFeed) feed = g_new0 (PlaitFeed, 1);
  feed->n_sources = n_sources;
  feed->n_sides = n_sources + (target != NULL);
  feed->empty_is_error = empty_is_error;
  feed->sides = g_new0 (PlaitFeedSide, feed->n_sides);
  feed->cut_from = g_new0 (PlaitDocument, feed->n_sides);
  feed->ends = g_array_new (FALSE, FALSE, sizeof (gint64));
  feed->lines = g_array_new (FALSE, FALSE, sizeof (gint64));
  feed->chunks = g_array_new (FALSE, FALSE, sizeof (gint64));
  gboolean any = FALSE;
  for (gint64 i = 0; i < feed->n_sides; i++)
    {
      const PlaitCorpusStream *stream = i < n_sources ? &sources[i] : target;
      PlaitFeedSide *side = &feed->sides[i];
      side->name = g_strdup (stream->name);
      side->path = g_strdup (stream->path);
      side->kind = stream->kind;
      side->append_end = stream->append_end;
      side->target = stream->target;
      side->allow_unknown = stream->allow_unknown;
      side->ids = g_array_new (FALSE, FALSE, sizeof (gint32));
      side->offsets = g_array_new (FALSE, FALSE, sizeof (gint64));
      if (plait_input_kind_is_text (stream->kind))
        {
          side->vocabulary = stream->vocabulary ? plait_vocabulary_ref (stream->vocabulary) : NULL;
          if (stream->path)
            side->reader = open_text (stream->path, stream->column, columns, error);
        }
      else if (stream->path)
        side->features = plait_feature_file_open (stream->path, stream->dataset, error);
      if (stream->path && !side->reader && !side->features)
        return NULL;
      if (stream->trees && !open_trees (side, stream, columns, error))
        return NULL;
      side->settings = stream->documents;
      feed->cut_from[i].settings = &side->settings;
      if (side->settings.layout != PLAIT_LAYOUT_SENTENCES && !open_documents (side, error))
        return NULL;
      feed->cuts |= side->settings.maximum > 0 && !side->settings.truncates;
      any |= i < n_sources && stream->path;
    }
  if (!any)
    return plait_fail_null (error, PLAIT_ERROR_INPUT, "every source is missing; give one of them a file");
  return g_steal_pointer (&feed);
}

PlaitFeed *
plait_feed_open (const PlaitCorpusStream *sources, gint64 n_sources, const PlaitCorpusStream *target,
                 const PlaitFeedTable *table, gboolean empty_is_error, GError **error)
{
  guint n = table && table->path ? table->columns : 0;
  g_autofree PlaitTextReader **columns = g_new0 (PlaitTextReader *, n + 1);
  PlaitFeed *feed;

  if (n > 0 && !plait_text_reader_open_columns (table->path, n, columns, error))
    return NULL;
  feed = feed_open (sources, n_sources, target, columns, empty_is_error, error);
  for (guint i = 0; i < n; i++)
    plait_text_reader_free (columns[i]);
  return feed;
}

static void
begin_batch (PlaitFeed *feed)
{
  gint64 zero = 0;
  g_clear_pointer (&feed->whole, plait_batch_free);
  feed->first += feed->lines->len;
  g_array_set_size (feed->lines, 0);
  g_array_set_size (feed->chunks, 0);
  for (gint64 i = 0; i < feed->n_sides; i++)
    {
      PlaitFeedSide *side = &feed->sides[i];
      g_array_set_size (side->ids, 0);
      g_array_set_size (side->offsets, 0);
      g_array_append_val (side->offsets, zero);
      if (side->trees)
        {
          g_array_set_size (side->steps, 0);
          g_array_set_size (side->nodes, 0);
          g_array_append_val (side->nodes, zero);
        }
      if (side->bounds)
        {
          g_array_set_size (side->sentences, 0);
          g_array_set_size (side->bounds, 0);
          g_array_append_val (side->bounds, zero);
        }
    }
}

/* The next part of the batch that has more tuples than were asked for. */
static PlaitBatch *
next_part (PlaitFeed *feed, gint64 sentences, GError **error)
{
  gint64 n = MIN (sentences, feed->whole->n_sentences - feed->given);
  PlaitBatch *part = plait_batch_part (feed->whole, feed->given, n, error);
  feed->given += n;
  return part;
}

gint64
plait_feed_line (const PlaitFeed *feed, gint64 sentence)
{
  return g_array_index (feed->lines, gint64, sentence - feed->first);
}

char *
plait_feed_name (const PlaitFeed *feed, gint64 sentence)
{
  return plait_document_chunk_name (feed->cuts, plait_feed_line (feed, sentence),
                                    g_array_index (feed->chunks, gint64, sentence - feed->first));
}

PlaitBatch *
plait_feed_next (PlaitFeed *feed, gint64 sentences, GError **error)
{
  if (feed->whole && feed->given < feed->whole->n_sentences)
    return next_part (feed, sentences, error);
  begin_batch (feed);
  PlaitFeedTake take = PLAIT_FEED_TAKEN;
  while (feed->lines->len < sentences && (take = plait_feed_take (feed, error)) == PLAIT_FEED_TAKEN)
    ;
  gint64 n = feed->lines->len;
  if (take == PLAIT_FEED_FAILED || n == 0)
    return NULL;
  if (n <= sentences)
    return plait_feed_batch (feed, n, error);
  feed->given = 0;
  feed->whole = plait_feed_batch (feed, n, error);
  return feed->whole ? next_part (feed, sentences, error) : NULL;
}
