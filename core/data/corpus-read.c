/* SPDX-License-Identifier: MIT */
/* Reading a corpus: its text files side by side, a block of lines at a time, encoded in parallel, then judged and
 * stored tuple by tuple. */
#include <string.h>

#include "base/error.h"
#include "data/corpus-private.h"
#include "data/text-file.h"

/* Lines, or bytes of text, after which a block is full; one line of each stream may exceed them. */
#define BLOCK_LINES 4096
#define BLOCK_BYTES (8 * 1024 * 1024)
#define PIECE_LINES 64 /* what one thread encodes at a time */

/* The lines of one text stream, or of a source's trees, in the present block. */
typedef struct Side Side;

struct Side
{
  PlaitTextReader *reader;
  gint64 stream;     /* its place in the corpus */
  gboolean is_trees; /* of that stream */
  const Side *trees; /* of tokens whose trees are read; else NULL */
  GString *text;
  gsize ends[BLOCK_LINES]; /* of each line in text */
  gboolean blank[BLOCK_LINES];
  GArray *ids[BLOCK_LINES / PIECE_LINES]; /* gint32, of the lines of a piece end to end */
  guint first[BLOCK_LINES];               /* of each line in its piece's ids */

  /* Of tokens with trees: how many ids each word has, as with the ids above. */
  GArray *words[BLOCK_LINES / PIECE_LINES]; /* gint32 */
  guint first_word[BLOCK_LINES];
};

typedef struct
{
  PlaitCorpus *corpus;
  Side *sides; /* [n_sides] */
  gint64 n_sides;
  gint64 lines; /* in the block */
  gint64 pieces;
  GArray *steps; /* gint32, of one tree */
} Block;

static void
block_free (Block *block)
{
  for (gint64 i = 0; i < block->n_sides; i++)
    {
      Side *side = &block->sides[i];
      plait_text_reader_free (side->reader);
      if (side->text)
        g_string_free (side->text, TRUE);
      for (gsize j = 0; j < G_N_ELEMENTS (side->ids); j++)
        {
          g_clear_pointer (&side->ids[j], g_array_unref);
          g_clear_pointer (&side->words[j], g_array_unref);
        }
    }
  g_array_unref (block->steps);
  g_free (block->sides);
  g_free (block);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Block, block_free)

/* One more side, which reads @path. NULL on failure. */
static Side *
add_side (Block *block, gint64 stream, const char *path, GError **error)
{
  Side *side = &block->sides[block->n_sides++];
  side->stream = stream;
  side->text = g_string_new (NULL);
  side->reader = plait_text_reader_open (path, error);
  return side->reader ? side : NULL;
}

static gboolean
add_stream (Block *block, gint64 number, GError **error)
{
  const PlaitCorpusStreamState *stream = &block->corpus->streams[number];
  Side *side = add_side (block, number, stream->path, error);
  if (!side)
    return FALSE;
  for (gsize j = 0; j < G_N_ELEMENTS (side->ids); j++)
    {
      side->ids[j] = g_array_new (FALSE, FALSE, sizeof (gint32));
      side->words[j] = stream->trees ? g_array_new (FALSE, FALSE, sizeof (gint32)) : NULL;
    }
  if (!stream->trees_path)
    return TRUE;
  Side *trees = add_side (block, number, stream->trees_path, error);
  if (!trees)
    return FALSE;
  trees->is_trees = TRUE;
  side->trees = trees;
  return TRUE;
}

static Block *
block_new (PlaitCorpus *corpus, GError **error)
{
  g_autoptr (Block) block = g_new0 (Block, 1);
  block->corpus = corpus;
  block->sides = g_new0 (Side, 2 * corpus->n_streams);
  block->steps = g_array_new (FALSE, FALSE, sizeof (gint32));
  for (gint64 s = 0; s < corpus->n_streams; s++)
    if (plait_input_kind_is_text (corpus->streams[s].kind) && !add_stream (block, s, error))
      return NULL;
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
  gsize length;
  const char *text = plait_text_reader_next (side->reader, &length, error);
  if (!text)
    return FALSE;
  side->blank[line] = plait_text_is_blank (text, length);
  if (side->blank[line] && block->corpus->empty_is_error && !side->is_trees)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s:%" G_GINT64_FORMAT ": the line is empty; expected a sentence of %s, since empty=error "
                       "(empty=missing would take the source as missing there)",
                       plait_text_reader_name (side->reader), plait_text_reader_line (side->reader),
                       block->corpus->streams[side->stream].name);
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
              if (cause)
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
      else if (!side->blank[line])
        plait_vocabulary_encode (vocabulary, side->text->str + start, side->ends[line] - start, ids);
    }
}

static void
encode_block (Block *block, PlaitPool *pool)
{
  block->pieces = (block->lines + PIECE_LINES - 1) / PIECE_LINES;
  gint64 pieces = block->pieces * block->n_sides;
  if (pool)
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

/* The text of @line of the block. */
static const char *
line_text (const Side *side, gint64 line, gsize *length)
{
  gsize start = line > 0 ? side->ends[line - 1] : 0;
  *length = side->ends[line] - start;
  return side->text->str + start;
}

/* What trees are made from. */
static PlaitTreeLine
tree_line (const Block *block, const Side *side, gint64 line)
{
  const GArray *words = side->words[line / PIECE_LINES];
  gboolean last = line + 1 == block->lines || (line + 1) % PIECE_LINES == 0;
  PlaitTreeLine tree = { .number = block->corpus->lines + 1 };
  tree.file = plait_text_reader_name ((side->trees ? side->trees : side)->reader);
  tree.sentence = line_text (side, line, &tree.sentence_length);
  tree.words = (last ? words->len : side->first_word[line + 1]) - side->first_word[line];
  tree.pieces = tree.words > 0 ? (const gint32 *)(gpointer)words->data + side->first_word[line] : NULL;
  if (side->trees)
    tree.tree = line_text (side->trees, line, &tree.tree_length);
  return tree;
}

static gboolean
is_treeless (const Block *block, const Side *side, gint64 line)
{
  PlaitTreeLine tree = tree_line (block, side, line);
  return plait_tree_maker_drops (block->corpus->streams[side->stream].trees, &tree);
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
      const Side *side = &block->sides[i];
      PlaitCorpusStreamState *stream = &corpus->streams[side->stream];
      if (side->is_trees)
        continue;
      line_ids (side, block->lines, line, &n);
      if (n == 0 && side->stream == corpus->n_sources)
        {
          stream->counts.dropped_empty++;
          return FALSE;
        }
      if (stream->maximum_length > 0 && n > (gsize)stream->maximum_length)
        {
          stream->counts.dropped_long++;
          return FALSE;
        }
      if (side->trees && is_treeless (block, side, line))
        {
          stream->counts.dropped_treeless++;
          return FALSE;
        }
    }
  return TRUE;
}

static gboolean
store_tree (Block *block, const Side *side, gint64 line, GError **error)
{
  PlaitCorpusStreamState *stream = &block->corpus->streams[side->stream];
  PlaitTreeLine tree = tree_line (block, side, line);
  gboolean without;
  g_array_set_size (block->steps, 0);
  if (!plait_tree_maker_make (stream->trees, &tree, block->steps, &without, error))
    return FALSE;
  stream->counts.without_tree += without;
  return plait_token_store_append (stream->steps, (const gint32 *)(gpointer)block->steps->data, block->steps->len,
                                   error);
}

static gboolean
store_tuple (Block *block, gint64 line, GError **error)
{
  for (gint64 i = 0; i < block->n_sides; i++)
    {
      const Side *side = &block->sides[i];
      PlaitCorpusStreamState *stream = &block->corpus->streams[side->stream];
      if (side->is_trees)
        continue;
      gsize n;
      const gint32 *ids = line_ids (side, block->lines, line, &n);
      if (!plait_token_store_append (stream->tokens, ids, n, error)
          || (stream->trees && !store_tree (block, side, line, error)))
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
          if (!corpus->line_of)
            {
              corpus->line_of = g_array_new (FALSE, FALSE, sizeof (gint64));
              for (gint64 i = 0; i < corpus->size; i++)
                g_array_append_val (corpus->line_of, i);
            }
          continue;
        }
      if (!store_tuple (block, line, error))
        return FALSE;
      if (corpus->line_of)
        g_array_append_val (corpus->line_of, corpus->lines);
      corpus->size++;
    }
  return TRUE;
}

gboolean
plait_corpus_read (PlaitCorpus *corpus, PlaitPool *pool, GError **error)
{
  g_autoptr (Block) block = block_new (corpus, error);
  if (!block)
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
  for (gint64 s = 0; s < corpus->n_streams; s++)
    if ((corpus->streams[s].tokens && !plait_token_store_finish (corpus->streams[s].tokens, error))
        || (corpus->streams[s].steps && !plait_token_store_finish (corpus->streams[s].steps, error)))
      return FALSE;
  if (corpus->lines == 0)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: the file is empty; expected one sentence a line",
                       corpus->streams[block->sides[0].stream].path);
  return TRUE;
}
