/* SPDX-License-Identifier: MIT */
/* Reading a corpus: its text files side by side, a block of lines at a time, encoded in parallel, then judged and
 * stored tuple by tuple. */
#include <string.h>

#include "base/error.h"
#include "data/corpus-private.h"
#include "data/text-file.h"

#define BLOCK_LINES 4096
#define BLOCK_BYTES                                                                                                    \
  (8 * 1024 * 1024)    /* of text, after which a block is full; one line of each stream may exceed it                  \
                        */
#define PIECE_LINES 64 /* what one thread encodes at a time */

/* The lines of one text stream in the present block. */
typedef struct
{
  PlaitTextReader *reader;
  GString *text;
  gsize ends[BLOCK_LINES]; /* of each line in text */
  gboolean blank[BLOCK_LINES];
  GArray *ids[BLOCK_LINES / PIECE_LINES]; /* gint32, of the lines of a piece end to end */
  guint first[BLOCK_LINES];               /* of each line in its piece's ids */
} Side;

typedef struct
{
  PlaitCorpus *corpus;
  gint64 *stream_of; /* of each side */
  Side *sides;       /* [n_sides] */
  gint64 n_sides;
  gint64 lines; /* in the block */
  gint64 pieces;
} Block;

static void
block_free (Block *block)
{
  for (gint64 i = 0; i < block->n_sides; i++)
    {
      Side *side = &block->sides[i];
      plait_text_reader_free (side->reader);
      if (side->text != NULL)
        g_string_free (side->text, TRUE);
      for (gsize j = 0; j < G_N_ELEMENTS (side->ids); j++)
        g_clear_pointer (&side->ids[j], g_array_unref);
    }
  g_free (block->sides);
  g_free (block->stream_of);
  g_free (block);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Block, block_free)

static Block *
block_new (PlaitCorpus *corpus, GError **error)
{
  g_autoptr (Block) block = g_new0 (Block, 1);
  block->corpus = corpus;
  block->sides = g_new0 (Side, corpus->n_streams);
  block->stream_of = g_new0 (gint64, corpus->n_streams);
  for (gint64 s = 0; s < corpus->n_streams; s++)
    {
      if (corpus->streams[s].kind != PLAIT_INPUT_TOKENS)
        continue;
      Side *side = &block->sides[block->n_sides];
      block->stream_of[block->n_sides++] = s;
      side->text = g_string_new (NULL);
      for (gsize j = 0; j < G_N_ELEMENTS (side->ids); j++)
        side->ids[j] = g_array_new (FALSE, FALSE, sizeof (gint32));
      side->reader = plait_text_reader_open (corpus->streams[s].path, error);
      if (side->reader == NULL)
        return NULL;
    }
  return g_steal_pointer (&block);
}

/* One file has ended where others go on: counts the lines of all of them for the message. */
static gboolean
fail_on_line_counts (Block *block, GError **error)
{
  for (gint64 i = 0; i < block->n_sides; i++)
    if (!plait_text_reader_skip_rest (block->sides[i].reader, error))
      return FALSE;
  const PlaitTextReader *first = block->sides[0].reader;
  gint64 lines = plait_text_reader_line (first);
  for (gint64 i = 1; i < block->n_sides; i++)
    {
      const PlaitTextReader *other = block->sides[i].reader;
      gint64 other_lines = plait_text_reader_line (other);
      if (other_lines != lines)
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "%s:%" G_GINT64_FORMAT ": the file has %" G_GINT64_FORMAT
                           " lines, but %s has %" G_GINT64_FORMAT
                           "; expected as many in both, since line i of each belongs to tuple i",
                           plait_text_reader_name (other), MIN (lines, other_lines) + 1, other_lines,
                           plait_text_reader_name (first), lines);
    }
  g_assert_not_reached ();
}

/* Reads the next line of @side into the block; FALSE at the end or on failure. */
static gboolean
read_line (Block *block, gint64 index, gint64 line, GError **error)
{
  Side *side = &block->sides[index];
  const PlaitCorpusStreamState *stream = &block->corpus->streams[block->stream_of[index]];
  gsize length;
  const char *text = plait_text_reader_next (side->reader, &length, error);
  if (text == NULL)
    return FALSE;
  side->blank[line] = plait_text_is_blank (text, length);
  if (side->blank[line] && block->corpus->empty_is_error)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s:%" G_GINT64_FORMAT ": the line is empty; expected a sentence of %s, since empty=error "
                       "(empty=missing would take the source as missing there)",
                       stream->path, plait_text_reader_line (side->reader), stream->name);
  g_string_append_len (side->text, text, (gssize)length);
  side->ends[line] = side->text->len;
  return TRUE;
}

/* Reads a block. FALSE on failure; no lines at the end. */
static gboolean
read_block (Block *block, GError **error)
{
  gsize bytes = 0;
  block->lines = 0;
  for (gint64 i = 0; i < block->n_sides; i++)
    g_string_truncate (block->sides[i].text, 0);
  while (block->lines < BLOCK_LINES && bytes < BLOCK_BYTES)
    {
      gint64 ended = 0;
      bytes = 0;
      for (gint64 i = 0; i < block->n_sides; i++)
        {
          g_autoptr (GError) cause = NULL;
          if (!read_line (block, i, block->lines, &cause))
            {
              if (cause != NULL)
                {
                  g_propagate_error (error, g_steal_pointer (&cause));
                  return FALSE;
                }
              ended++;
            }
          bytes += block->sides[i].text->len;
        }
      if (ended > 0 && ended < block->n_sides)
        return fail_on_line_counts (block, error);
      if (ended > 0)
        return TRUE;
      block->lines++;
    }
  return TRUE;
}

static void
encode_piece (gpointer data, gint64 piece, guint thread)
{
  Block *block = data;
  gint64 side_index = piece / block->pieces;
  gint64 part = piece % block->pieces;
  Side *side = &block->sides[side_index];
  const PlaitVocabulary *vocabulary = block->corpus->streams[block->stream_of[side_index]].vocabulary;
  GArray *ids = side->ids[part];
  g_array_set_size (ids, 0);
  gint64 end = MIN (block->lines, (part + 1) * PIECE_LINES);
  for (gint64 line = part * PIECE_LINES; line < end; line++)
    {
      gsize start = line > 0 ? side->ends[line - 1] : 0;
      side->first[line] = ids->len;
      if (!side->blank[line])
        plait_vocabulary_encode (vocabulary, side->text->str + start, side->ends[line] - start, ids);
    }
}

static void
encode_block (Block *block, PlaitPool *pool)
{
  block->pieces = (block->lines + PIECE_LINES - 1) / PIECE_LINES;
  gint64 pieces = block->pieces * block->n_sides;
  if (pool != NULL)
    plait_pool_run (pool, pieces, encode_piece, block);
  else
    for (gint64 piece = 0; piece < pieces; piece++)
      encode_piece (block, piece, 0);
}

static const gint32 *
line_ids (const Side *side, gint64 lines, gint64 line, gsize *n)
{
  const GArray *ids = side->ids[line / PIECE_LINES];
  gboolean last = line + 1 == lines || (line + 1) % PIECE_LINES == 0;
  *n = (last ? ids->len : side->first[line + 1]) - side->first[line];
  return (const gint32 *)ids->data + side->first[line];
}

/* Whether the tuple of line @line of the block stays; counts why not. */
static gboolean
is_kept (Block *block, gint64 line)
{
  PlaitCorpus *corpus = block->corpus;
  if (corpus->keep_all)
    return TRUE;
  for (gint64 i = 0; i < block->n_sides; i++)
    {
      gsize n;
      PlaitCorpusStreamState *stream = &corpus->streams[block->stream_of[i]];
      line_ids (&block->sides[i], block->lines, line, &n);
      if (n == 0 && block->stream_of[i] == corpus->n_sources)
        {
          stream->counts.dropped_empty++;
          return FALSE;
        }
      if (stream->maximum_length > 0 && n > (gsize)stream->maximum_length)
        {
          stream->counts.dropped_long++;
          return FALSE;
        }
    }
  return TRUE;
}

static gboolean
store_tuple (Block *block, gint64 line, GError **error)
{
  for (gint64 i = 0; i < block->n_sides; i++)
    {
      PlaitCorpusStreamState *stream = &block->corpus->streams[block->stream_of[i]];
      gsize n;
      const gint32 *ids = line_ids (&block->sides[i], block->lines, line, &n);
      if (!plait_token_store_append (stream->tokens, ids, n, error))
        return FALSE;
      stream->counts.tokens += (gint64)n;
      stream->counts.missing += n == 0;
      stream->counts.longest = MAX (stream->counts.longest, (gint64)n);
      for (gsize j = 0; j < n; j++)
        stream->counts.unknown += ids[j] == PLAIT_TOKEN_UNKNOWN;
    }
  return TRUE;
}

static gboolean
store_block (Block *block, GError **error)
{
  PlaitCorpus *corpus = block->corpus;
  for (gint64 line = 0; line < block->lines; line++, corpus->lines++)
    {
      if (!is_kept (block, line))
        {
          /* From the first drop on, tuples and lines go apart. */
          if (corpus->line_of == NULL)
            {
              corpus->line_of = g_array_new (FALSE, FALSE, sizeof (gint64));
              for (gint64 i = 0; i < corpus->size; i++)
                g_array_append_val (corpus->line_of, i);
            }
          continue;
        }
      if (!store_tuple (block, line, error))
        return FALSE;
      if (corpus->line_of != NULL)
        g_array_append_val (corpus->line_of, corpus->lines);
      corpus->size++;
    }
  return TRUE;
}

gboolean
plait_corpus_read (PlaitCorpus *corpus, PlaitPool *pool, GError **error)
{
  g_autoptr (Block) block = block_new (corpus, error);
  if (block == NULL)
    return FALSE;
  if (block->n_sides == 0)
    return TRUE;
  do
    {
      if (!read_block (block, error))
        return FALSE;
      encode_block (block, pool);
      if (!store_block (block, error))
        return FALSE;
    }
  while (block->lines > 0);
  for (gint64 i = 0; i < block->n_sides; i++)
    if (!plait_token_store_finish (corpus->streams[block->stream_of[i]].tokens, error))
      return FALSE;
  if (corpus->lines == 0)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: the file is empty; expected one sentence a line",
                       corpus->streams[block->stream_of[0]].path);
  return TRUE;
}
