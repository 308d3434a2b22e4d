/* SPDX-License-Identifier: MIT */
/* Reads a corpus: its text files in step, a block of lines at a time; encodes the lines of a block in parallel, then
 * filters and stores them (corpus-store.c). */
#include "text/error.h"
#include "corpus/corpus-block.h"
#include "documents/labels.h"

/* A block has about BLOCK_BYTES bytes in all its texts, and at most BLOCK_LINES lines. The first block is small because
 * the length of lines is unknown; each later block has half, equally many or twice as many lines. */
#define BLOCK_BYTES (8 * 1024 * 1024)
#define FIRST_LINES 16

void
plait_corpus_block_free (PlaitCorpusBlock *block)
{
  if (!block)
    return;
  for (gint64 i = 0; i < block->n_sides; i++)
    {
      PlaitCorpusSide *side = &block->sides[i];
      plait_document_reader_free (side->lines);
      plait_text_reader_free (side->reader);
      g_clear_pointer (&side->sentences, g_array_unref);
      if (side->text)
        g_string_free (side->text, TRUE);
      for (gsize j = 0; j < G_N_ELEMENTS (side->ids); j++)
        {
          g_clear_pointer (&side->ids[j], g_array_unref);
          g_clear_pointer (&side->words[j], g_array_unref);
        }
      g_clear_pointer (&side->scratch, g_array_unref);
      g_clear_error (&side->error);
    }
  g_hash_table_unref (block->shared);
  g_array_unref (block->kept);
  g_array_unref (block->ends);
  g_free (block->cut_from);
  g_free (block->sides);
  g_free (block);
}

/* A text of a stream, or of its trees. */
typedef struct
{
  const char *path;
  guint column; /* column of a feed's table, from 1; 0: read @path */
} Text;

static gboolean
is_same_text (Text a, Text b)
{
  return a.column > 0 || b.column > 0 ? a.column == b.column : g_strcmp0 (a.path, b.path) == 0;
}

/* Returns how many of @streams [@n], of their files of trees and of their factors read @text. */
static guint
count_readers (const PlaitCorpusStreamState *streams, gint64 n, Text text)
{
  guint readers = 0;

  for (gint64 s = 0; s < n; s++)
    {
      const PlaitCorpusStreamState *stream = &streams[s];

      if (!stream->tokens || stream->absent)
        continue;
      readers += is_same_text (text, (Text){ stream->files->path, stream->column });
      readers += stream->files->trees_path
                 && is_same_text (text, (Text){ stream->files->trees_path, stream->trees_column });
      readers += count_readers (stream->factors, stream->n_factors, text);
    }
  return readers;
}

/* Opens @text, or takes its column of @columns. */
static PlaitTextReader *
open_once (const PlaitCorpusBlock *block, Text text, GPtrArray *columns, GError **error)
{
  if (text.column > 0)
    return g_steal_pointer (&columns->pdata[text.column - 1]);
  return block->by_turns ? plait_text_reader_open_pipe (text.path, error) : plait_text_reader_open (text.path, error);
}

/* Returns a reader of @text. Sides of a feed that read the same text share its lines, since a pipe can be read only
 * once. */
static PlaitTextReader *
open_text (PlaitCorpusBlock *block, Text text, GPtrArray *columns, GError **error)
{
  guint n = block->by_turns ? count_readers (block->corpus->streams, block->corpus->n_streams, text) : 1;
  g_autofree char *key = text.column > 0 ? g_strdup_printf ("%u", text.column) : g_strconcat ("/", text.path, NULL);
  GPtrArray *readers = g_hash_table_lookup (block->shared, key);
  PlaitTextReader *lines;

  if (n > 1 && !readers)
    {
      lines = open_once (block, text, columns, error);
      if (!lines)
        return NULL;
      readers = plait_text_reader_share (lines, n);
      g_hash_table_insert (block->shared, g_steal_pointer (&key), readers);
    }
  return readers ? g_ptr_array_steal_index (readers, 0) : open_once (block, text, columns, error);
}

/* Adds a side of @state, which is stream @stream or one of its factors. Takes ownership of @reader. NULL on failure. */
static PlaitCorpusSide *
add_side (PlaitCorpusBlock *block, gint64 stream, PlaitCorpusStreamState *state, PlaitTextReader *reader,
          const PlaitDocumentSettings *layout, gboolean is_trees, GError **error)
{
  PlaitCorpusSide *side = &block->sides[block->n_sides++];
  side->stream = stream;
  side->state = state;
  side->is_factor = state != &block->corpus->streams[stream];
  side->is_documents = layout->layout != PLAIT_LAYOUT_SENTENCES;
  side->text = g_string_new (NULL);
  side->sentences = g_array_new (FALSE, FALSE, sizeof (PlaitDocumentSentence));
  side->is_trees = is_trees;
  side->reader = reader && is_trees ? plait_text_reader_join_trees (reader, !block->by_turns) : reader;
  side->lines = side->reader ? plait_document_reader_new (side->reader, layout, error) : NULL;
  return side->lines ? side : NULL;
}

/* Adds the sides of @stream: stream number @number of the corpus, or one of the factors of that stream. */
static gboolean
add_stream (PlaitCorpusBlock *block, gint64 number, PlaitCorpusStreamState *stream, GPtrArray *columns, GError **error)
{
  PlaitCorpusFile *file = &stream->files[block->file];
  PlaitTextReader *reader = open_text (block, (Text){ file->path, stream->column }, columns, error);
  PlaitCorpusSide *side = add_side (block, number, stream, reader, &stream->documents, FALSE, error);
  if (!side)
    return FALSE;
  g_free (file->path);
  file->path = g_strdup (plait_text_reader_name (side->reader));
  for (gsize j = 0; j < G_N_ELEMENTS (side->ids); j++)
    {
      side->ids[j] = g_array_sized_new (FALSE, FALSE, sizeof (gint32), 1); /* data is never NULL */
      side->words[j] = stream->trees ? g_array_new (FALSE, FALSE, sizeof (gint32)) : NULL;
    }
  side->scratch = g_array_new (FALSE, FALSE, side->is_documents ? sizeof (PlaitDocumentSentence) : sizeof (gint32));
  side->factors = &block->sides[block->n_sides];
  for (guint f = 0; f < stream->n_factors; f++)
    if (!add_stream (block, number, &stream->factors[f], columns, error))
      return FALSE;
  if (!file->trees_path)
    return TRUE;
  reader = open_text (block, (Text){ file->trees_path, stream->trees_column }, columns, error);
  side->trees = add_side (block, number, stream, reader, &(PlaitDocumentSettings){ 0 }, TRUE, error);
  return side->trees != NULL;
}

PlaitCorpusBlock *
plait_corpus_block_new (PlaitCorpus *corpus, gint64 file, gboolean by_turns, GPtrArray *columns, GError **error)
{
  g_autoptr (PlaitCorpusBlock) block = g_new0 (PlaitCorpusBlock, 1);
  gint64 most = 0;
  block->corpus = corpus;
  block->file = file;
  for (gint64 s = 0; s < corpus->n_streams; s++)
    most += 2 + corpus->streams[s].n_factors; /* the stream, its trees and its factors */
  block->sides = g_new0 (PlaitCorpusSide, most);
  block->by_turns = by_turns;
  block->wanted = FIRST_LINES;
  block->kept = g_array_new (FALSE, FALSE, sizeof (PlaitCorpusTuple));
  block->cut_from = g_new0 (PlaitDocument, corpus->n_streams);
  block->ends = g_array_new (FALSE, FALSE, sizeof (gint64));
  block->shared = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
  for (gint64 s = 0; s < corpus->n_streams; s++)
    if (corpus->streams[s].tokens && !corpus->streams[s].absent
        && !add_stream (block, s, &corpus->streams[s], columns, error))
      return NULL;
  return g_steal_pointer (&block);
}

/* Appends the next line or document of @side to its text. FALSE at the end or on failure. */
static gboolean
read_text (PlaitCorpusSide *side, GError **error)
{
  gboolean read = plait_document_reader_next (side->lines, side->text, side->sentences, &side->number, error);

  side->number = read ? side->number : plait_text_reader_line (side->reader) + 1;
  return read;
}

static void
empty_side (PlaitCorpusSide *side)
{
  g_string_truncate (side->text, 0);
  g_array_set_size (side->sentences, 0);
}

/* Reads the rest of @side, after @n lines or documents. Returns the number of all its lines or documents, or -1 on
 * failure. */
static gint64
count_all (PlaitCorpusSide *side, gint64 n, GError **error)
{
  g_autoptr (GError) cause = NULL;

  for (; read_text (side, &cause); n++)
    empty_side (side);
  return plait_no_error (&cause, error) ? n : -1;
}

/* Returns the line number, in the file of @side, of line @line of the block. @line may also be the line after the last
 * one. */
static gint64
number_of (const PlaitCorpusSide *side, gint64 line)
{
  return line < side->n_lines ? side->numbers[line] : side->number;
}

/* Returns the noun for entries of @side in messages, such as "lines". */
static const char *
entries_of (const PlaitCorpusSide *side)
{
  return side->is_documents ? "documents" : side->is_trees ? "trees" : "lines";
}

gboolean
plait_corpus_fail_on_end (const char *ended, const char *going, gint64 line, GError **error)
{
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "%s:%jd: ends here, but %s continues; expected equal numbers of sentences, since sentence i of "
                     "one belongs to sentence i of the other",
                     ended, line, going);
}

/* Fails because some files end at line @line of the block and others do not. Counts the lines of two of them for the
 * message, unless they may be pipes. */
static gboolean
fail_on_line_counts (PlaitCorpusBlock *block, gint64 line, GError **error)
{
  PlaitCorpusSide *sides[2] = { &block->sides[0] };
  gint64 other = 1, place, n[2];

  while ((block->sides[other].n_lines > line) == (sides[0]->n_lines > line))
    other++;
  sides[1] = &block->sides[other];
  if (block->by_turns) /* a pipe's remaining lines cannot be counted */
    return plait_corpus_fail_on_end (plait_text_reader_name (sides[sides[0]->n_lines > line]->reader),
                                     plait_text_reader_name (sides[sides[0]->n_lines == line]->reader),
                                     number_of (sides[sides[0]->n_lines > line], line), error);
  place = number_of (sides[1], line);
  for (guint i = 0; i < 2; i++)
    {
      if (!plait_no_error (&sides[i]->error, error)) /* report the error of a line after @line, if there is one */
        return FALSE;
      n[i] = count_all (sides[i], block->corpus->lines - block->corpus->first_lines[block->file] + sides[i]->n_lines,
                        error);
      if (n[i] < 0)
        return FALSE;
    }
  return plait_fail (
      error, PLAIT_ERROR_INPUT,
      "%s:%jd: the file has %jd %s, but %s has %jd%s%s; expected equal numbers, since %s i of each belongs to tuple i",
      plait_text_reader_name (sides[1]->reader), place, n[1], entries_of (sides[1]),
      plait_text_reader_name (sides[0]->reader), n[0], entries_of (sides[0]) == entries_of (sides[1]) ? "" : " ",
      entries_of (sides[0]) == entries_of (sides[1]) ? "" : entries_of (sides[0]),
      sides[0]->is_documents || sides[1]->is_documents ? "document" : "line");
}

gboolean
plait_corpus_fail_empty (const char *file, gint64 line, const char *stream, gboolean is_document, gboolean is_target,
                         GError **error)
{
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "%s:%jd: the %s; expected a sentence of %s, since empty=error (empty=missing %s)", file, line,
                     is_document ? "document has no sentences" : "line is empty", stream,
                     is_target ? "drops training tuples with an empty target" : "allows a missing source");
}

/* Reads the next line of @side into the block. FALSE at the end or on failure. */
static gboolean
read_line (PlaitCorpusBlock *block, PlaitCorpusSide *side, GError **error)
{
  gint64 line = side->n_lines;
  guint first = side->sentences->len;
  const char *text;
  gsize length;

  if (!read_text (side, error))
    return FALSE;
  side->numbers[line] = side->number;
  side->line_sentences[line] = (PlaitCorpusRange){ first, side->sentences->len - first };
  side->ends[line] = side->text->len;
  text = plait_corpus_side_text (side, line, &length);
  side->blank[line] = plait_text_is_blank (text, length);
  if (side->blank[line] && block->corpus->empty_is_error && !side->is_trees
      && !(block->by_turns && side->stream == block->corpus->n_sources))
    return plait_corpus_fail_empty (plait_text_reader_name (side->reader), side->number, side->state->name,
                                    side->is_documents, side->stream == block->corpus->n_sources, error);
  side->n_lines++;
  return TRUE;
}

static void
read_side (gpointer data, gint64 piece, guint thread)
{
  PlaitCorpusBlock *block = data;
  PlaitCorpusSide *side = &block->sides[piece];

  while (side->n_lines < block->wanted && read_line (block, side, &side->error))
    ;
}

static void
read_by_turns (PlaitCorpusBlock *block)
{
  gboolean going = TRUE;

  for (gint64 line = 0; going && line < block->wanted; line++)
    for (gint64 i = 0; i < block->n_sides && !(i > 0 && block->sides[i - 1].error); i++)
      going &= read_line (block, &block->sides[i], &block->sides[i].error);
}

/* Returns the number of lines for the next block. */
static gint64
next_wanted (const PlaitCorpusBlock *block)
{
  gsize bytes = 0;

  for (gint64 i = 0; i < block->n_sides; i++)
    bytes += block->sides[i].text->len;
  if (bytes > BLOCK_BYTES)
    return MAX (block->wanted / 2, 1);
  return bytes > BLOCK_BYTES / 2 ? block->wanted : MIN (2 * block->wanted, BLOCK_LINES);
}

/* Reads a block. FALSE on failure; block->lines is 0 at the end. */
static gboolean
read_block (PlaitCorpusBlock *block, PlaitPool *pool, GError **error)
{
  gint64 ended = 0;

  for (gint64 i = 0; i < block->n_sides; i++)
    {
      block->sides[i].n_lines = 0;
      empty_side (&block->sides[i]);
    }
  if (block->by_turns)
    read_by_turns (block);
  else
    plait_pool_run (pool, block->n_sides, read_side, block);
  block->lines = block->wanted;
  for (gint64 i = 0; i < block->n_sides; i++)
    block->lines = MIN (block->lines, block->sides[i].n_lines);
  if (block->lines == block->wanted)
    {
      block->wanted = next_wanted (block);
      return TRUE;
    }
  /* At least one side ends here or has a bad next line. Report the bad line of the first side that has one. If no line
   * is bad, check that all sides end here. */
  for (gint64 i = 0; i < block->n_sides; i++)
    {
      PlaitCorpusSide *side = &block->sides[i];

      if (side->n_lines > block->lines)
        continue;
      if (!plait_no_error (&side->error, error))
        return FALSE;
      ended++;
    }
  return ended == block->n_sides || fail_on_line_counts (block, block->lines, error);
}

static void
encode_piece (gpointer data, gint64 piece, guint thread)
{
  PlaitCorpusBlock *block = data;
  PlaitCorpusSide *side = &block->sides[piece / block->pieces];
  const PlaitCorpusStreamState *stream = side->state;
  gint64 part = piece % block->pieces, end = MIN (block->lines, (part + 1) * PIECE_LINES);
  GArray *ids = side->ids[part], *words = side->words[part];
  if (side->is_trees)
    return;
  g_array_set_size (ids, 0);
  if (words)
    g_array_set_size (words, 0);
  for (gint64 line = part * PIECE_LINES; line < end; line++)
    {
      guint first = ids->len, first_word = words ? words->len : 0;
      gsize length;
      const char *text = plait_corpus_side_text (side, line, &length);
      if (words)
        {
          plait_vocabulary_encode_words (stream->vocabulary, text, length, ids, words);
          side->line_words[line] = (PlaitCorpusRange){ first_word, words->len - first_word };
        }
      else if (side->is_documents)
        plait_document_encode (
            stream->vocabulary, text, length, stream->documents.start_tokens, ids,
            &g_array_index (side->sentences, PlaitDocumentSentence, side->line_sentences[line].first));
      else if (!side->blank[line])
        plait_target_encode (stream->target, stream->vocabulary, text, length, ids);
      side->line_ids[line] = (PlaitCorpusRange){ first, ids->len - first };
    }
}

gboolean
plait_corpus_block_next (PlaitCorpusBlock *block, PlaitPool *pool, GError **error)
{
  g_autoptr (GError) fault = NULL;

  /* When sides are read line by line in turn, first store the lines before the fault: an error in one of these lines
   * comes before the fault. */
  if (!read_block (block, pool, &fault) && !block->by_turns)
    return plait_no_error (&fault, error);
  block->pieces = (block->lines + PIECE_LINES - 1) / PIECE_LINES;
  plait_pool_run (pool, block->pieces * block->n_sides, encode_piece, block);
  return plait_corpus_store_block (block, pool, error) && plait_no_error (&fault, error);
}

gboolean
plait_corpus_stream_finish (const PlaitCorpusStreamState *stream, GError **error)
{
  PlaitTokenStore *stores[] = { stream->tokens, stream->steps, stream->sentences };
  gboolean good = TRUE;

  for (guint i = 0; good && i < G_N_ELEMENTS (stores); i++)
    good = !stores[i] || plait_token_store_finish (stores[i], error);
  for (guint f = 0; good && f < stream->n_factors; f++)
    good = plait_corpus_stream_finish (&stream->factors[f], error);
  return good && (!stream->unknown || plait_unknown_words_finish (stream->unknown, error));
}

/* Reads file @file of each text stream. */
static gboolean
read_files (PlaitCorpus *corpus, gint64 file, PlaitPool *pool, GError **error)
{
  g_autoptr (PlaitCorpusBlock) block = plait_corpus_block_new (corpus, file, FALSE, NULL, error);
  if (!block)
    return FALSE;
  if (block->n_sides == 0)
    return TRUE;
  do
    if (!plait_corpus_block_next (block, pool, error))
      return FALSE;
  while (block->lines > 0);
  corpus->first_lines[file + 1] = corpus->lines;
  return corpus->lines > corpus->first_lines[file]
         || plait_fail (error, PLAIT_ERROR_INPUT, "%s: the file is empty; expected one sentence a line",
                        corpus->streams[block->sides[0].stream].files[file].path);
}

gboolean
plait_corpus_read (PlaitCorpus *corpus, PlaitPool *pool, GError **error)
{
  for (gint64 file = 0; file < corpus->n_files; file++)
    if (!read_files (corpus, file, pool, error))
      return FALSE;
  for (gint64 s = 0; s < corpus->n_streams; s++)
    if (!plait_corpus_stream_finish (&corpus->streams[s], error))
      return FALSE;
  return TRUE;
}
