/* SPDX-License-Identifier: MIT */
/* Reading a corpus: its text files side by side, a block of lines at a time, encoded in parallel, then judged and
 * stored (corpus-store.c). */
#include "base/error.h"
#include "data/corpus-block.h"
#include "data/labels.h"

/* Bytes of text after which a block is full, as it is after BLOCK_LINES; one line of each stream may exceed them. */
#define BLOCK_BYTES (8 * 1024 * 1024)

static void
block_free (PlaitCorpusBlock *block)
{
  for (gint64 i = 0; i < block->n_sides; i++)
    {
      PlaitCorpusSide *side = &block->sides[i];
      plait_document_reader_free (side->documents);
      plait_text_reader_free (side->reader);
      g_clear_pointer (&side->sentences, g_array_unref);
      if (side->text)
        g_string_free (side->text, TRUE);
      for (gsize j = 0; j < G_N_ELEMENTS (side->ids); j++)
        {
          g_clear_pointer (&side->ids[j], g_array_unref);
          g_clear_pointer (&side->words[j], g_array_unref);
        }
    }
  g_array_unref (block->steps);
  g_array_unref (block->ends);
  g_array_unref (block->part);
  g_free (block->cut_from);
  g_free (block->sides);
  g_free (block);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitCorpusBlock, block_free)

/* One more side, which reads @path. NULL on failure. */
static PlaitCorpusSide *
add_side (PlaitCorpusBlock *block, gint64 stream, const char *path, GError **error)
{
  PlaitCorpusSide *side = &block->sides[block->n_sides++];
  side->stream = stream;
  side->text = g_string_new (NULL);
  side->reader = plait_text_reader_open (path, error);
  return side->reader ? side : NULL;
}

static gboolean
add_stream (PlaitCorpusBlock *block, gint64 number, GError **error)
{
  const PlaitCorpusStreamState *stream = &block->corpus->streams[number];
  PlaitCorpusSide *side = add_side (block, number, stream->path, error);
  if (!side)
    return FALSE;
  for (gsize j = 0; j < G_N_ELEMENTS (side->ids); j++)
    {
      side->ids[j] = g_array_new (FALSE, FALSE, sizeof (gint32));
      side->words[j] = stream->trees ? g_array_new (FALSE, FALSE, sizeof (gint32)) : NULL;
    }
  if (stream->documents.layout != PLAIT_LAYOUT_SENTENCES)
    {
      side->sentences = g_array_new (FALSE, FALSE, sizeof (PlaitDocumentSentence));
      side->documents = plait_document_reader_new (side->reader, &stream->documents, error);
      return side->documents != NULL;
    }
  if (!stream->trees_path)
    return TRUE;
  PlaitCorpusSide *trees = add_side (block, number, stream->trees_path, error);
  if (!trees)
    return FALSE;
  trees->is_trees = TRUE;
  side->trees = trees;
  return TRUE;
}

static PlaitCorpusBlock *
block_new (PlaitCorpus *corpus, GError **error)
{
  g_autoptr (PlaitCorpusBlock) block = g_new0 (PlaitCorpusBlock, 1);
  block->corpus = corpus;
  block->sides = g_new0 (PlaitCorpusSide, 2 * corpus->n_streams);
  block->steps = g_array_new (FALSE, FALSE, sizeof (gint32));
  block->cut_from = g_new0 (PlaitDocument, corpus->n_streams);
  block->ends = g_array_new (FALSE, FALSE, sizeof (gint64));
  block->part = g_array_new (FALSE, FALSE, sizeof (PlaitDocumentSentence));
  for (gint64 s = 0; s < corpus->n_streams; s++)
    if (plait_input_kind_is_text (corpus->streams[s].kind) && !add_stream (block, s, error))
      return NULL;
  return g_steal_pointer (&block);
}

/* Reads the next line or document of @side and appends its text. FALSE at the end or on failure. */
static gboolean
read_text (PlaitCorpusSide *side, GError **error)
{
  gsize length;
  const char *text;

  if (side->documents)
    {
      gboolean read = plait_document_reader_next (side->documents, side->text, side->sentences, &side->number, error);

      side->number = read ? side->number : plait_text_reader_line (side->reader) + 1;
      return read;
    }
  text = plait_text_reader_next (side->reader, &length, error);
  side->number = plait_text_reader_line (side->reader) + !text;
  if (text)
    g_string_append_len (side->text, text, (gssize)length);
  return text != NULL;
}

/* The lines or documents of @side, of which @n have been read, or -1 on failure. */
static gint64
count_all (PlaitCorpusSide *side, gint64 n, GError **error)
{
  g_autoptr (GError) cause = NULL;

  for (; read_text (side, &cause); n++)
    {
      g_string_truncate (side->text, 0);
      if (side->sentences)
        g_array_set_size (side->sentences, 0);
    }
  if (!cause)
    return n;
  g_propagate_error (error, g_steal_pointer (&cause));
  return -1;
}

/* One file has ended, as @ended says, where others go on: counts the lines of two of them for the message. */
static gboolean
fail_on_line_counts (PlaitCorpusBlock *block, const gboolean *ended, GError **error)
{
  gint64 other = 1, read = block->corpus->lines + block->lines;
  PlaitCorpusSide *sides[2] = { &block->sides[0] };
  gint64 place, n[2];
  gboolean is_same;

  while (ended[other] == ended[0])
    other++;
  sides[1] = &block->sides[other];
  place = sides[1]->number;
  is_same = !sides[0]->documents == !sides[1]->documents;
  for (guint i = 0; i < 2; i++)
    {
      n[i] = count_all (sides[i], read + !ended[i == 0 ? 0 : other], error);
      if (n[i] < 0)
        return FALSE;
    }
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "%s:%" G_GINT64_FORMAT ": the file has %" G_GINT64_FORMAT " %s, but %s has %" G_GINT64_FORMAT
                     "%s; expected as many in both, since %s i of each belongs to tuple i",
                     plait_text_reader_name (sides[1]->reader), place, n[1],
                     sides[1]->documents ? "documents" : "lines", plait_text_reader_name (sides[0]->reader), n[0],
                     is_same               ? ""
                     : sides[0]->documents ? " documents"
                                           : " lines",
                     sides[0]->documents || sides[1]->documents ? "document" : "line");
}

/* Reads the next line of @side into the block; FALSE at the end or on failure. */
static gboolean
read_line (PlaitCorpusBlock *block, gint64 index, gint64 line, GError **error)
{
  PlaitCorpusSide *side = &block->sides[index];
  gsize start = side->text->len;

  if (side->sentences)
    side->first_sentence[line] = side->sentences->len;
  if (!read_text (side, error))
    return FALSE;
  side->numbers[line] = side->number;
  side->ends[line] = side->text->len;
  side->blank[line] = plait_text_is_blank (side->text->str + start, side->text->len - start);
  if (side->blank[line] && block->corpus->empty_is_error && !side->is_trees)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s:%" G_GINT64_FORMAT ": the %s; expected a sentence of %s, since empty=error "
                       "(empty=missing would take the source as missing there)",
                       plait_text_reader_name (side->reader), side->number,
                       side->documents ? "document has no sentences" : "line is empty",
                       block->corpus->streams[side->stream].name);
  return TRUE;
}

/* Reads a block. FALSE on failure; no lines at the end. */
static gboolean
read_block (PlaitCorpusBlock *block, GError **error)
{
  g_autofree gboolean *ended = g_new0 (gboolean, block->n_sides);
  gsize bytes = 0;
  block->lines = 0;
  for (gint64 i = 0; i < block->n_sides; i++)
    {
      g_string_truncate (block->sides[i].text, 0);
      if (block->sides[i].sentences)
        g_array_set_size (block->sides[i].sentences, 0);
    }
  while (block->lines < BLOCK_LINES && bytes < BLOCK_BYTES)
    {
      gint64 n_ended = 0;
      bytes = 0;
      for (gint64 i = 0; i < block->n_sides; i++)
        {
          g_autoptr (GError) cause = NULL;
          if (!read_line (block, i, block->lines, &cause))
            {
              if (cause)
                {
                  g_propagate_error (error, g_steal_pointer (&cause));
                  return FALSE;
                }
              ended[i] = TRUE;
              n_ended++;
            }
          bytes += block->sides[i].text->len;
        }
      if (n_ended > 0 && n_ended < block->n_sides)
        return fail_on_line_counts (block, ended, error);
      if (n_ended > 0)
        return TRUE;
      block->lines++;
    }
  return TRUE;
}

static void
encode_piece (gpointer data, gint64 piece, guint thread)
{
  PlaitCorpusBlock *block = data;
  gint64 side_index = piece / block->pieces;
  gint64 part = piece % block->pieces;
  PlaitCorpusSide *side = &block->sides[side_index];
  const PlaitVocabulary *vocabulary = block->corpus->streams[side->stream].vocabulary;
  GArray *ids = side->ids[part], *words = side->words[part];
  if (side->is_trees)
    return;
  g_array_set_size (ids, 0);
  if (words)
    g_array_set_size (words, 0);
  gint64 end = MIN (block->lines, (part + 1) * PIECE_LINES);
  for (gint64 line = part * PIECE_LINES; line < end; line++)
    {
      gsize start = line > 0 ? side->ends[line - 1] : 0;
      side->first[line] = ids->len;
      if (words)
        {
          side->first_word[line] = words->len;
          plait_vocabulary_encode_words (vocabulary, side->text->str + start, side->ends[line] - start, ids, words);
        }
      else if (side->documents)
        plait_document_encode (vocabulary, side->text->str + start, side->ends[line] - start,
                               block->corpus->streams[side->stream].documents.starts, ids,
                               &g_array_index (side->sentences, PlaitDocumentSentence, side->first_sentence[line]));
      else if (!side->blank[line])
        plait_target_encode (block->corpus->streams[side->stream].target, vocabulary, side->text->str + start,
                             side->ends[line] - start, ids);
    }
}

static void
encode_block (PlaitCorpusBlock *block, PlaitPool *pool)
{
  block->pieces = (block->lines + PIECE_LINES - 1) / PIECE_LINES;
  gint64 pieces = block->pieces * block->n_sides;
  if (pool)
    plait_pool_run (pool, pieces, encode_piece, block);
  else
    for (gint64 piece = 0; piece < pieces; piece++)
      encode_piece (block, piece, 0);
}

gboolean
plait_corpus_read (PlaitCorpus *corpus, PlaitPool *pool, GError **error)
{
  g_autoptr (PlaitCorpusBlock) block = block_new (corpus, error);
  if (!block)
    return FALSE;
  if (block->n_sides == 0)
    return TRUE;
  do
    {
      if (!read_block (block, error))
        return FALSE;
      encode_block (block, pool);
      if (!plait_corpus_store_block (block, error))
        return FALSE;
    }
  while (block->lines > 0);
  for (gint64 s = 0; s < corpus->n_streams; s++)
    if ((corpus->streams[s].tokens && !plait_token_store_finish (corpus->streams[s].tokens, error))
        || (corpus->streams[s].steps && !plait_token_store_finish (corpus->streams[s].steps, error))
        || (corpus->streams[s].sentences && !plait_token_store_finish (corpus->streams[s].sentences, error)))
      return FALSE;
  if (corpus->lines == 0)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: the file is empty; expected one sentence a line",
                       corpus->streams[block->sides[0].stream].path);
  return TRUE;
}
