/* SPDX-License-Identifier: MIT */
#include "data/feed.h"

#include "base/error.h"
#include "data/gather.h"
#include "data/text-file.h"

/* A stream. */
typedef struct
{
  char *name;
  char *path;              /* NULL: missing everywhere */
  PlaitGathered *gathered; /* what the batch in the making has of it */
  gboolean append_end;
  gboolean allow_unknown;
  PlaitVocabulary *vocabulary;
  PlaitTextReader *reader;
  PlaitFeatures *features;

  /* Of tokens with trees. */
  PlaitTreeMaker *trees;
  PlaitTextReader *tree_reader; /* NULL: they are made from the tokens */
  GArray *words;                /* gint32, ids of each word of one sentence */

  PlaitDocumentSettings settings;
  PlaitDocumentReader *documents; /* NULL: a line is a sentence, or the documents are missing everywhere */
} Side;

struct PlaitFeed
{
  Side *sides; /* sources, then the target if there is one */
  gint64 n_sources;
  gint64 n_sides;
  GPtrArray *streams; /* PlaitGathered, a side */
  gboolean empty_is_error;
  gint64 line; /* lines or documents read so far */

  gboolean cuts;           /* documents into chunks */
  PlaitDocument *cut_from; /* [n_sides], the document that has been read; of no sentences where there is none */
  GArray *ends;            /* gint64, of its chunks */
  gint64 first;            /* number of the first tuple of the batch in the making */
  GArray *lines;           /* gint64, of each tuple of it */
  GArray *chunks;          /* gint64, of each tuple in its document */
  PlaitBatch *whole;       /* more tuples than were asked for, of which so many have been given: */
  gint64 given;
};

/* What became of a tuple. */
typedef enum
{
  TAKEN,
  MISSING, /* of one side: as everywhere in it */
  END,
  FAILED,
} Take;

/*
 * Opening
 */

void
plait_feed_free (PlaitFeed *feed)
{
  if (!feed)
    return;
  for (gint64 i = 0; i < feed->n_sides; i++)
    {
      Side *side = &feed->sides[i];
      g_free (side->name);
      g_free (side->path);
      plait_vocabulary_unref (side->vocabulary);
      plait_text_reader_free (side->reader);
      plait_features_free (side->features);
      plait_tree_maker_free (side->trees);
      plait_text_reader_free (side->tree_reader);
      g_clear_pointer (&side->words, g_array_unref);
      plait_document_reader_free (side->documents);
    }
  plait_batch_free (feed->whole);
  g_clear_pointer (&feed->streams, g_ptr_array_unref);
  g_clear_pointer (&feed->ends, g_array_unref);
  g_clear_pointer (&feed->lines, g_array_unref);
  g_clear_pointer (&feed->chunks, g_array_unref);
  g_free (feed->cut_from);
  g_free (feed->sides);
  g_free (feed);
}

/* The text at @path, or column @column of the table, which may be taken once. */
static PlaitTextReader *
open_text (const char *path, guint column, GPtrArray *columns, GError **error)
{
  return column > 0 ? g_steal_pointer (&columns->pdata[column - 1]) : plait_text_reader_open_pipe (path, error);
}

/* The trees of a side whose sentences are text. */
static gboolean
open_trees (Side *side, const PlaitCorpusStream *stream, GPtrArray *columns, GError **error)
{
  side->trees = plait_tree_maker_new (stream->trees, stream->name);
  side->words = g_array_new (FALSE, FALSE, sizeof (gint32));
  side->gathered->trees = side->trees;
  if (!stream->path || !plait_tree_maker_reads (side->trees))
    return TRUE;
  side->tree_reader = open_text (stream->trees_path, stream->trees_column, columns, error);
  if (side->tree_reader)
    side->tree_reader = plait_text_reader_join_trees (side->tree_reader, FALSE);
  return side->tree_reader != NULL;
}

PlaitFeed *
plait_feed_open (const PlaitCorpusStream *sources, gint64 n_sources, const PlaitCorpusStream *target,
                 const PlaitFeedTable *table, gboolean empty_is_error, GError **error)
{
  g_autoptr (GPtrArray) columns = NULL;
  g_autoptr (PlaitFeed) feed = NULL;
  if (table && table->path && table->columns > 0)
    {
      columns = plait_text_reader_open_columns (table->path, table->columns, error);
      if (!columns)
        return NULL;
    }
  feed = g_new0 (PlaitFeed, 1);
  feed->n_sources = n_sources;
  feed->n_sides = n_sources + (target != NULL);
  feed->empty_is_error = empty_is_error;
  feed->sides = g_new0 (Side, feed->n_sides);
  feed->streams = g_ptr_array_new_with_free_func (plait_gathered_free);
  feed->cut_from = g_new0 (PlaitDocument, feed->n_sides);
  feed->ends = g_array_new (FALSE, FALSE, sizeof (gint64));
  feed->lines = g_array_new (FALSE, FALSE, sizeof (gint64));
  feed->chunks = g_array_new (FALSE, FALSE, sizeof (gint64));
  gboolean any = FALSE;
  for (gint64 i = 0; i < feed->n_sides; i++)
    {
      const PlaitCorpusStream *stream = i < n_sources ? &sources[i] : target;
      Side *side = &feed->sides[i];
      side->name = g_strdup (stream->name);
      side->path = g_strdup (stream->path);
      side->gathered = plait_gathered_new (side->name, stream->kind);
      side->gathered->target = stream->target;
      g_ptr_array_add (feed->streams, side->gathered);
      side->append_end = stream->append_end;
      side->allow_unknown = stream->allow_unknown;
      if (plait_input_kind_is_text (stream->kind))
        {
          side->vocabulary = stream->vocabulary ? plait_vocabulary_ref (stream->vocabulary) : NULL;
          if (stream->path)
            side->reader = open_text (stream->path, stream->column, columns, error);
        }
      else if (stream->path)
        side->features = stream->open_features (stream->path, stream->dataset, error);
      if (stream->path && !side->reader && !side->features)
        return NULL;
      side->gathered->features = side->features;
      if (stream->trees && !open_trees (side, stream, columns, error))
        return NULL;
      side->settings = stream->documents;
      feed->cut_from[i].settings = &side->settings;
      if (side->settings.layout != PLAIT_LAYOUT_SENTENCES)
        {
          side->gathered->documents = &side->settings;
          if (side->reader)
            side->documents = plait_document_reader_new (side->reader, &side->settings, error);
          if (side->reader && !side->documents)
            return NULL;
        }
      feed->cuts |= side->settings.maximum > 0 && !side->settings.truncates;
      any |= i < n_sources && stream->path;
    }
  if (!any)
    return plait_fail_null (error, PLAIT_ERROR_INPUT, "every source is missing; give one of them a file");
  return g_steal_pointer (&feed);
}

/*
 * Reading, one tuple after the other
 */

static const char *
side_place (const Side *side)
{
  return side->reader ? plait_text_reader_name (side->reader) : side->path;
}

static Take
fail_on_empty (const PlaitFeed *feed, const Side *side, GError **error)
{
  plait_fail (
      error, PLAIT_ERROR_INPUT,
      "%s:%jd: the %s; expected one of %s, since empty=error (empty=missing would take the source as missing there)",
      side_place (side), side->documents ? feed->cut_from[side - feed->sides].line : feed->line + 1,
      side->documents ? "document has no sentences" : "sentence is empty", side->name);
  return FAILED;
}

static gboolean
must_not_be_empty (const PlaitFeed *feed, const Side *side)
{
  return feed->empty_is_error && side - feed->sides < feed->n_sources;
}

static gboolean
fail_on_end (const char *ended, const char *going, gint64 line, GError **error)
{
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "%s:%jd: ends here, but %s goes on; expected as many sentences in both, since sentence i of each "
                     "belongs together",
                     ended, line, going);
}

/* Adds the tree of the sentence @line of @side, whose words are encoded; @line is NULL at the end. */
static gboolean
take_tree (const PlaitFeed *feed, Side *side, const char *line, gsize length, GError **error)
{
  PlaitTreeLine tree = {
    .file = plait_text_reader_name (side->tree_reader ? side->tree_reader : side->reader),
    .number = feed->line + 1,
    .sentence = line,
    .sentence_length = length,
    .pieces = (const gint32 *)(gpointer)side->words->data,
    .words = side->words->len,
  };
  g_autoptr (GError) cause = NULL;
  if (side->tree_reader)
    {
      tree.tree = plait_text_reader_next (side->tree_reader, &tree.tree_length, &cause);
      if (!plait_no_fault (&cause, error))
        return FALSE;
      tree.number = plait_text_reader_line (side->tree_reader);
      if (line && !tree.tree)
        return fail_on_end (tree.file, plait_text_reader_name (side->reader), feed->line + 1, error);
      if (!line && tree.tree)
        return fail_on_end (plait_text_reader_name (side->reader), tree.file, feed->line + 1, error);
    }
  return !line || plait_tree_maker_make (side->trees, &tree, side->gathered->steps, NULL, error);
}

/* Whether @line of the target @side, whose ids begin with @first, is what its kind wants; of a label that may be
 * unknown none are left. */
static gboolean
check_target (const PlaitFeed *feed, Side *side, guint first, const char *line, gsize length, GError **error)
{
  PlaitTargetLine where = { plait_text_reader_name (side->reader), feed->line + 1, line, length };
  PlaitTargetKind kind = side->gathered->target;
  const gint32 *ids = (const gint32 *)(gpointer)side->gathered->ids->data + first;
  gsize n = side->gathered->ids->len - first;
  if (!side->allow_unknown || !plait_target_is_unknown (kind, ids, n))
    return plait_target_check (kind, side->vocabulary, &feed->cut_from[0], ids, n, &where, error);
  g_array_set_size (side->gathered->ids, first);
  return TRUE;
}

/* Adds the ids of the next sentence of @side, and its tree. */
static Take
take_tokens (const PlaitFeed *feed, Side *side, GError **error)
{
  g_autoptr (GError) cause = NULL;
  gsize length = 0;
  const char *line = plait_text_reader_next (side->reader, &length, &cause);
  GArray *ids = side->gathered->ids;
  guint first = ids->len;
  gint32 eos = PLAIT_TOKEN_EOS;
  if (!plait_no_fault (&cause, error))
    return FAILED;
  if (side->trees)
    {
      g_array_set_size (side->words, 0);
      if (line)
        plait_vocabulary_encode_words (side->vocabulary, line, length, ids, side->words);
      if (!take_tree (feed, side, line, length, error))
        return FAILED;
    }
  else if (line && !plait_text_is_blank (line, length))
    plait_target_encode (side->gathered->target, side->vocabulary, line, length, ids);
  if (!line)
    return END;
  if (side->gathered->target != PLAIT_TARGET_TEXT && !check_target (feed, side, first, line, length, error))
    return FAILED;
  if (side->append_end && ids->len > first)
    g_array_append_val (ids, eos);
  return TAKEN;
}

/* Reads the next document of @side, which add_documents adds. */
static Take
take_document (PlaitFeed *feed, Side *side, GError **error)
{
  PlaitDocument *document = &feed->cut_from[side - feed->sides];
  g_autoptr (GError) cause = NULL;

  if (!plait_document_reader_encode (side->documents, side->vocabulary, document, &cause))
    return plait_no_fault (&cause, error) ? END : FAILED;
  return document->n == 0 && must_not_be_empty (feed, side) ? fail_on_empty (feed, side, error) : TAKEN;
}

/* Adds what @side has of a chunk of its document. */
static void
add_chunk (const PlaitFeed *feed, Side *side, gint64 first, gint64 end)
{
  gint64 rows, i = side - feed->sides;
  gboolean is_target = i == feed->n_sources;
  PlaitDocument part = plait_document_part (&feed->cut_from[i], first, end,
                                            is_target && !plait_vocabulary_begins (side->vocabulary), &rows);
  gint32 eos = PLAIT_TOKEN_EOS;

  if (!is_target)
    plait_document_append_sentences (&part, rows, side->gathered->sentences);
  if (rows > 0)
    g_array_append_vals (side->gathered->ids, part.ids, (guint)rows);
  if (rows > 0 && side->append_end)
    g_array_append_val (side->gathered->ids, eos);
  plait_gathered_end (side->gathered, 0);
}

/* Adds the document that the sides have read, whole or in chunks. */
static gboolean
add_documents (PlaitFeed *feed, GError **error)
{
  gint64 all = G_MAXINT64, first = 0;

  g_array_set_size (feed->ends, 0);
  if (!feed->cuts)
    g_array_append_val (feed->ends, all);
  else if (!plait_documents_cut (feed->cut_from, feed->n_sides, feed->ends, error))
    return FALSE;
  for (gint64 c = 0; c < feed->ends->len; c++)
    {
      gint64 end = g_array_index (feed->ends, gint64, c);

      for (gint64 i = 0; i < feed->n_sides; i++)
        if (feed->sides[i].gathered->documents)
          add_chunk (feed, &feed->sides[i], first, end);
      g_array_append_val (feed->lines, feed->line);
      g_array_append_val (feed->chunks, c);
      first = end;
    }
  return TRUE;
}

/* Adds the next sentence of @side to the batch; a document is only read. */
static Take
take_sentence (PlaitFeed *feed, Side *side, GError **error)
{
  PlaitGathered *gathered = side->gathered;
  gint64 rows;

  if (side->documents)
    return take_document (feed, side, error);
  if (!side->path)
    {
      if (!gathered->documents) /* else a chunk comes to its end */
        plait_gathered_end (gathered, 0);
      return MISSING;
    }
  if (side->features)
    {
      if (feed->line == side->features->sentences)
        return END;
      rows = plait_features_length (side->features, feed->line);
      g_array_append_val (gathered->lines, feed->line);
    }
  else
    {
      guint first = gathered->ids->len;
      Take take = take_tokens (feed, side, error);

      if (take != TAKEN)
        return take;
      rows = gathered->ids->len - first;
    }
  if (rows == 0 && must_not_be_empty (feed, side))
    return fail_on_empty (feed, side, error);
  plait_gathered_end (gathered, rows);
  return TAKEN;
}

/* Adds the next sentence or document of every side to the batch in the making: one tuple, or the chunks of a
 * document. */
static Take
take_tuple (PlaitFeed *feed, GError **error)
{
  const Side *ended = NULL, *going = NULL;
  for (gint64 i = 0; i < feed->n_sides; i++)
    {
      Take take = take_sentence (feed, &feed->sides[i], error);
      if (take == FAILED)
        return take;
      if (take != MISSING)
        *(take == END ? &ended : &going) = &feed->sides[i];
    }
  if (ended && going)
    {
      gint64 line = ended->reader ? plait_text_reader_line (ended->reader) : feed->line;
      fail_on_end (side_place (ended), side_place (going), line + 1, error);
      return FAILED;
    }
  if (ended)
    return END;
  if (!add_documents (feed, error))
    return FAILED;
  feed->line++;
  return TAKEN;
}

/*
 * Batches
 */

static void
begin_batch (PlaitFeed *feed)
{
  g_clear_pointer (&feed->whole, plait_batch_free);
  feed->first += feed->lines->len;
  g_array_set_size (feed->lines, 0);
  g_array_set_size (feed->chunks, 0);
  for (gint64 i = 0; i < feed->n_sides; i++)
    plait_gathered_restart (feed->sides[i].gathered);
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
plait_feed_place (const PlaitFeed *feed, gint64 sentence, gint64 stream)
{
  const Side *side = &feed->sides[stream];

  return g_strdup_printf (side->documents ? "%s: document %jd" : "%s:%jd", side_place (side),
                          plait_feed_line (feed, sentence) + 1);
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
  g_autoptr (PlaitBatch) batch = NULL;
  Take take = TAKEN;

  if (feed->whole && feed->given < feed->whole->n_sentences)
    return next_part (feed, sentences, error);
  begin_batch (feed);
  while (feed->lines->len < sentences && (take = take_tuple (feed, error)) == TAKEN)
    ;
  if (take == FAILED || feed->lines->len == 0)
    return NULL;
  batch = plait_gathered_batch (feed->streams, feed->n_sources, feed->lines->len, -1, error);
  if (!batch)
    return NULL;
  for (gint64 i = 0; i < batch->n_sentences; i++)
    plait_batch_fill (gint64, batch->sentence)[i] = feed->first + i;
  if (batch->n_sentences <= sentences)
    return g_steal_pointer (&batch);
  feed->given = 0;
  feed->whole = g_steal_pointer (&batch);
  return next_part (feed, sentences, error);
}
