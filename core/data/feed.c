/* SPDX-License-Identifier: MIT */
#include "data/feed.h"

#include <string.h>

#include "base/error.h"
#include "data/batch.h"
#include "data/labels.h"
#include "data/text-file.h"
#include "store/feature.h"

/* A stream, and its sentences of the batch in the making. */
typedef struct
{
  char *name;
  char *path; /* NULL: missing everywhere */
  PlaitInputKind kind;
  gboolean append_end;
  PlaitTargetKind target;
  PlaitVocabulary *vocabulary;
  PlaitTextReader *reader;
  PlaitFeatureFile *features;
  GArray *ids;     /* gint32, of all sentences end to end */
  GArray *offsets; /* gint64, of each sentence and of the end, in ids or in feature rows */

  /* Of tokens with trees. */
  PlaitTreeMaker *trees;
  PlaitTextReader *tree_reader; /* NULL: they are made from the tokens */
  GArray *words;                /* gint32, ids of each word of one sentence */
  GArray *steps;                /* gint32, two a node, of all sentences end to end */
  GArray *nodes;                /* gint64, nodes before each sentence and in all */

  /* Of documents. */
  PlaitDocumentSettings settings;
  PlaitDocumentReader *documents; /* NULL: a line is a sentence, or the documents are missing everywhere */
  GArray *sentences;              /* PlaitDocumentSentence, of all tuples end to end */
  GArray *bounds;                 /* gint64, sentences before each tuple and in all; NULL: there are no documents */
} Side;

struct PlaitFeed
{
  Side *sides; /* sources, then the target if there is one */
  gint64 n_sources;
  gint64 n_sides;
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
open_trees (Side *side, const PlaitCorpusStream *stream, PlaitTextReader **columns, GError **error)
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
open_documents (Side *side, GError **error)
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
  feed->sides = g_new0 (Side, feed->n_sides);
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
      side->kind = stream->kind;
      side->append_end = stream->append_end;
      side->target = stream->target;
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
    {
      plait_fail (error, PLAIT_ERROR_INPUT, "every source is missing; give one of them a file");
      return NULL;
    }
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

static const char *
side_place (const Side *side)
{
  return side->reader ? plait_text_reader_name (side->reader) : side->path;
}

static gboolean
fail_on_empty (const PlaitFeed *feed, const Side *side, GError **error)
{
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "%s:%" G_GINT64_FORMAT ": the %s; expected one of %s, since empty=error "
                     "(empty=missing would take the source as missing there)",
                     side_place (side), side->documents ? feed->cut_from[side - feed->sides].line : feed->line + 1,
                     side->documents ? "document has no sentences" : "sentence is empty", side->name);
}

static gboolean
must_not_be_empty (const PlaitFeed *feed, const Side *side)
{
  return feed->empty_is_error && side - feed->sides < feed->n_sources;
}

typedef enum
{
  TAKE_DONE,
  TAKE_MISSING, /* as everywhere in this side */
  TAKE_END,
  TAKE_FAILED,
} Take;

static gboolean
fail_on_end (const char *ended, const char *going, gint64 line, GError **error)
{
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "%s:%" G_GINT64_FORMAT
                     ": ends here, but %s goes on; expected as many sentences in both, since sentence i of each "
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
      if (cause)
        {
          g_propagate_error (error, g_steal_pointer (&cause));
          return FALSE;
        }
      if (line && !tree.tree)
        return fail_on_end (tree.file, plait_text_reader_name (side->reader), feed->line + 1, error);
      if (!line && tree.tree)
        return fail_on_end (plait_text_reader_name (side->reader), tree.file, feed->line + 1, error);
    }
  if (!line)
    return TRUE;
  if (!plait_tree_maker_make (side->trees, &tree, side->steps, NULL, error))
    return FALSE;
  gint64 nodes = side->steps->len / 2;
  g_array_append_val (side->nodes, nodes);
  return TRUE;
}

/* Whether @line of the target @side, whose ids begin with @first, is what its kind wants. */
static gboolean
check_target (const PlaitFeed *feed, const Side *side, guint first, const char *line, gsize length, GError **error)
{
  PlaitTargetLine where = { plait_text_reader_name (side->reader), feed->line + 1, line, length };
  const gint32 *ids = (const gint32 *)(gpointer)side->ids->data + first;
  gsize n = side->ids->len - first;
  if (side->target == PLAIT_TARGET_LABELS)
    return plait_label_check (side->vocabulary, ids, n, &where, error);
  if (side->target == PLAIT_TARGET_CHOICE)
    return plait_choice_check (ids, n, feed->cut_from[0].n, &where, error);
  return plait_span_check (ids, n, plait_document_tokens (&feed->cut_from[0]), &where, error);
}

/* Adds the ids of the next sentence of @side, and its tree. */
static Take
take_tokens (const PlaitFeed *feed, Side *side, GError **error)
{
  g_autoptr (GError) cause = NULL;
  gsize length = 0;
  const char *line = plait_text_reader_next (side->reader, &length, &cause);
  guint first = side->ids->len;
  gint32 eos = PLAIT_TOKEN_EOS;
  if (cause)
    {
      g_propagate_error (error, g_steal_pointer (&cause));
      return TAKE_FAILED;
    }
  if (side->trees)
    {
      g_array_set_size (side->words, 0);
      if (line)
        plait_vocabulary_encode_words (side->vocabulary, line, length, side->ids, side->words);
      if (!take_tree (feed, side, line, length, error))
        return TAKE_FAILED;
    }
  else if (line && side->target == PLAIT_TARGET_SPAN)
    plait_span_encode (line, length, side->ids);
  else if (line && side->target == PLAIT_TARGET_CHOICE)
    plait_choice_encode (line, length, side->ids);
  else if (line && !plait_text_is_blank (line, length))
    plait_vocabulary_encode_text (side->vocabulary, line, length, side->ids);
  if (!line)
    return TAKE_END;
  if (side->target != PLAIT_TARGET_TEXT && !check_target (feed, side, first, line, length, error))
    return TAKE_FAILED;
  if (side->append_end && side->ids->len > first)
    g_array_append_val (side->ids, eos);
  return TAKE_DONE;
}

/* Reads the next document of @side, which add_documents adds. */
static Take
take_document (PlaitFeed *feed, Side *side, GError **error)
{
  PlaitDocument *document = &feed->cut_from[side - feed->sides];
  g_autoptr (GError) cause = NULL;

  if (!plait_document_reader_encode (side->documents, side->vocabulary, document, &cause))
    {
      if (!cause)
        return TAKE_END;
      g_propagate_error (error, g_steal_pointer (&cause));
      return TAKE_FAILED;
    }
  if (!must_not_be_empty (feed, side) || document->n > 0)
    return TAKE_DONE;
  fail_on_empty (feed, side, error);
  return TAKE_FAILED;
}

/* Adds what @side has of a chunk of its document. */
static void
add_chunk (const PlaitFeed *feed, Side *side, gint64 first, gint64 end)
{
  gint64 rows, offset, bound, i = side - feed->sides;
  gboolean is_target = i == feed->n_sources;
  PlaitDocument part = plait_document_part (&feed->cut_from[i], first, end,
                                            is_target && !plait_vocabulary_begins (side->vocabulary), &rows);
  gint32 eos = PLAIT_TOKEN_EOS;

  if (!is_target)
    plait_document_append_sentences (&part, rows, side->sentences);
  if (rows > 0)
    g_array_append_vals (side->ids, part.ids, (guint)rows);
  if (rows > 0 && side->append_end)
    g_array_append_val (side->ids, eos);
  offset = side->ids->len;
  bound = side->sentences->len;
  g_array_append_val (side->offsets, offset);
  g_array_append_val (side->bounds, bound);
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
        if (feed->sides[i].bounds)
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
  gint64 end = g_array_index (side->offsets, gint64, side->offsets->len - 1);
  if (side->documents)
    return take_document (feed, side, error);
  if (!side->path && side->bounds) /* documents that are missing everywhere */
    return TAKE_MISSING;
  if (!side->path)
    {
      gint64 nodes = side->steps ? side->steps->len / 2 : 0;
      g_array_append_val (side->offsets, end);
      if (side->trees)
        g_array_append_val (side->nodes, nodes);
      return TAKE_MISSING;
    }
  if (side->kind == PLAIT_INPUT_FEATURES)
    {
      if (feed->line == plait_feature_file_sentences (side->features))
        return TAKE_END;
      end += plait_feature_file_length (side->features, feed->line);
    }
  else
    {
      Take take = take_tokens (feed, side, error);
      if (take != TAKE_DONE)
        return take;
      end = side->ids->len;
    }
  if (must_not_be_empty (feed, side) && end == g_array_index (side->offsets, gint64, side->offsets->len - 1))
    {
      fail_on_empty (feed, side, error);
      return TAKE_FAILED;
    }
  g_array_append_val (side->offsets, end);
  return TAKE_DONE;
}

/* Adds the next sentence or document of every side. */
static Take
take_tuple (PlaitFeed *feed, GError **error)
{
  const Side *ended = NULL, *going = NULL;
  for (gint64 i = 0; i < feed->n_sides; i++)
    {
      Take take = take_sentence (feed, &feed->sides[i], error);
      if (take == TAKE_FAILED)
        return take;
      if (take != TAKE_MISSING)
        *(take == TAKE_END ? &ended : &going) = &feed->sides[i];
    }
  if (ended && going)
    {
      gint64 line = ended->reader ? plait_text_reader_line (ended->reader) : feed->line;
      fail_on_end (side_place (ended), side_place (going), line + 1, error);
      return TAKE_FAILED;
    }
  if (ended)
    return TAKE_END;
  if (!add_documents (feed, error))
    return TAKE_FAILED;
  feed->line++;
  return TAKE_DONE;
}

static void
fill_trees (const Side *side, const PlaitInput *input)
{
  const PlaitTrees *trees = input->trees;
  gint64 n = trees->nodes.n;
  memcpy (plait_batch_fill (gint64, trees->nodes.offsets), side->nodes->data, (gsize)(n + 1) * sizeof (gint64));
  for (gint64 i = 0; i < n; i++)
    {
      gint64 first = trees->nodes.offsets[i];
      plait_tree_maker_fill (
          side->trees, (const gint32 *)(gpointer)side->steps->data + 2 * first, plait_ragged_length (trees->nodes, i),
          plait_ragged_length (input->rows, i), plait_batch_fill (gint64, trees->left) + first,
          plait_batch_fill (gint64, trees->right) + first, plait_batch_fill (const char *, trees->labels) + first);
    }
}

static gboolean
fill_source (const PlaitFeed *feed, gint64 source, PlaitBatch *batch, GError **error)
{
  const Side *side = &feed->sides[source];
  PlaitInput *input = &plait_batch_fill (PlaitInput, batch->inputs)[source];
  gint64 n = batch->n_sentences;
  memcpy (plait_batch_fill (gint64, input->rows.offsets), side->offsets->data, (gsize)(n + 1) * sizeof (gint64));
  for (gint64 i = 0; i < n; i++)
    input->n_missing += plait_input_is_missing (input, i);
  if (side->features)
    return plait_feature_file_read (side->features, (const gint64 *)(gpointer)feed->lines->data, n, input->features,
                                    error);
  if (input->trees)
    fill_trees (side, input);
  if (input->documents)
    plait_batch_fill_documents (input, (const PlaitDocumentSentence *)(gpointer)side->sentences->data,
                                (const gint64 *)(gpointer)side->bounds->data);
  if (side->ids->len > 0)
    memcpy (plait_batch_fill (gint32, input->tokens), side->ids->data, side->ids->len * sizeof (gint32));
  return TRUE;
}

static void
fill_target (const Side *side, PlaitBatch *batch)
{
  const gint64 *ends = (const gint64 *)side->offsets->data;
  gint64 *offsets = plait_batch_fill (gint64, batch->target_rows.offsets);
  offsets[0] = 0;
  for (gint64 i = 0; i < batch->n_sentences; i++)
    {
      gint64 n = ends[i + 1] - ends[i];
      plait_batch_fill_target (batch, side->target, offsets[i], (const gint32 *)side->ids->data + ends[i], n);
      if (side->target == PLAIT_TARGET_SPAN)
        plait_span_to_rows (&batch->inputs[0], i, plait_batch_fill (gint32, batch->target_outputs) + offsets[i]);
      offsets[i + 1] = offsets[i] + n + plait_target_has_end (side->target);
    }
}

static PlaitBatch *
make_batch (const PlaitFeed *feed, gint64 n, GError **error)
{
  g_autofree PlaitBatchSource *sources = g_new0 (PlaitBatchSource, feed->n_sources);
  for (gint64 s = 0; s < feed->n_sources; s++)
    {
      const Side *side = &feed->sides[s];
      sources[s] = (PlaitBatchSource){ .name = side->name, .kind = side->kind };
      sources[s].rows = g_array_index (side->offsets, gint64, n);
      if (side->features)
        sources[s].width = plait_feature_file_width (side->features);
      sources[s].has_trees = side->trees != NULL;
      if (side->trees)
        sources[s].nodes = g_array_index (side->nodes, gint64, n);
      sources[s].has_documents = side->bounds != NULL;
      sources[s].starts = side->settings.starts;
      sources[s].has_roles = side->settings.roles > 0;
      if (side->bounds)
        sources[s].sentences = g_array_index (side->bounds, gint64, n);
    }
  const Side *target = feed->n_sides > feed->n_sources ? &feed->sides[feed->n_sources] : NULL;
  gint64 target_rows = target ? (gint64)target->ids->len + n * plait_target_has_end (target->target) : -1;
  g_autoptr (PlaitBatch) batch = plait_batch_new (n, sources, feed->n_sources, target_rows, error);
  if (!batch)
    return NULL;
  for (gint64 i = 0; i < n; i++)
    plait_batch_fill (gint64, batch->sentence)[i] = feed->first + i;
  for (gint64 s = 0; s < feed->n_sources; s++)
    if (!fill_source (feed, s, batch, error))
      return NULL;
  if (target)
    fill_target (target, batch);
  return g_steal_pointer (&batch);
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
      Side *side = &feed->sides[i];
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
  Take take = TAKE_DONE;
  while (feed->lines->len < sentences && (take = take_tuple (feed, error)) == TAKE_DONE)
    ;
  gint64 n = feed->lines->len;
  if (take == TAKE_FAILED || n == 0)
    return NULL;
  if (n <= sentences)
    return make_batch (feed, n, error);
  feed->given = 0;
  feed->whole = make_batch (feed, n, error);
  return feed->whole ? next_part (feed, sentences, error) : NULL;
}
