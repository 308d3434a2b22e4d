/* SPDX-License-Identifier: MIT */
/* Filters the tuples that were read and encoded, and stores them: a tuple per line, or per chunk of a document. */
#include <string.h>

#include "text/error.h"
#include "corpus/corpus-block.h"
#include "documents/labels.h"

static const gint32 *
line_ids (const PlaitCorpusSide *side, gint64 line, gsize *n)
{
  *n = side->line_ids[line].n;
  return (const gint32 *)side->ids[line / PIECE_LINES]->data + side->line_ids[line].first;
}

/* Returns the input of a tree maker for line @line of the block. */
static PlaitTreeLine
tree_line (const PlaitCorpusSide *side, gint64 line)
{
  const gint32 *words = (const gint32 *)(gpointer)side->words[line / PIECE_LINES]->data;
  const PlaitCorpusSide *named = side->trees ? side->trees : side;
  PlaitTreeLine tree = { .number = named->numbers[line], .words = side->line_words[line].n };
  tree.file = plait_text_reader_name (named->reader);
  tree.sentence = plait_corpus_side_text (side, line, &tree.sentence_length);
  tree.pieces = tree.words > 0 ? words + side->line_words[line].first : NULL;
  if (side->trees)
    tree.tree = plait_corpus_side_text (side->trees, line, &tree.tree_length);
  return tree;
}

static gboolean
is_treeless (const PlaitCorpusBlock *block, const PlaitCorpusSide *side, gint64 line)
{
  PlaitTreeLine tree = tree_line (side, line);
  return plait_tree_maker_drops (block->corpus->streams[side->stream].trees, &tree);
}

/* Returns line @line of the block, a document of @side. */
static PlaitDocument
document_of (const PlaitCorpusBlock *block, const PlaitCorpusSide *side, gint64 line)
{
  gsize n;

  return (PlaitDocument){
    .ids = line_ids (side, line, &n),
    .sentences = (const PlaitDocumentSentence *)(gpointer)side->sentences->data + side->line_sentences[line].first,
    .n = side->line_sentences[line].n,
    .settings = &block->corpus->streams[side->stream].documents,
    .file = plait_text_reader_name (side->reader),
    .line = side->numbers[line],
  };
}

/* Returns line @line of the block as a document of one sentence. Writes this sentence to @sentence. */
static PlaitDocument
document_of_sentence (const PlaitCorpusSide *side, gint64 line, PlaitDocumentSentence *sentence)
{
  gsize n;
  const gint32 *ids = line_ids (side, line, &n);

  *sentence = (PlaitDocumentSentence){ .tokens = (gint32)n };
  return (PlaitDocument){ .ids = ids, .sentences = sentence, .n = 1 };
}

/* TRUE if documents of @stream are stored without the start token of their first sentence: @stream is a target, whose
 * decoder adds this token, and its vocabulary is not one that begins each text with BOS. */
static gboolean
drops_start (const PlaitCorpus *corpus, gint64 stream)
{
  return stream == corpus->n_sources && !plait_vocabulary_adds_bos (corpus->streams[stream].vocabulary);
}

static const gint32 *
tuple_ids (const PlaitCorpusBlock *block, const PlaitCorpusSide *side, const PlaitCorpusTuple *tuple,
           PlaitDocument *part, gsize *n)
{
  PlaitDocument document;
  gint64 rows;

  if (!side->is_documents)
    return line_ids (side, tuple->line, n);
  document = document_of (block, side, tuple->line);
  *part = plait_document_slice (&document, tuple->first, tuple->end, drops_start (block->corpus, side->stream), &rows);
  *n = (gsize)rows;
  return part->ids;
}

/* Counts the text tokens among @ids [n]; length limits count neither start tokens nor EOS. */
static gint64
count_text (const gint32 *ids, gsize n)
{
  gint64 tokens = 0;

  for (gsize i = 0; i < n; i++)
    tokens += plait_token_is_text (ids[i]);
  return tokens;
}

/* TRUE if @tuple is kept; else counts the reason. */
static gboolean
is_kept (PlaitCorpusBlock *block, const PlaitCorpusTuple *tuple)
{
  PlaitCorpus *corpus = block->corpus;
  if (corpus->keep_all)
    return TRUE;
  for (gint64 i = 0; i < block->n_sides; i++)
    {
      gsize n;
      PlaitDocument part;
      const PlaitCorpusSide *side = &block->sides[i];
      PlaitCorpusStreamState *stream = &corpus->streams[side->stream];
      if (side->is_trees || side->is_factor)
        continue;
      const gint32 *ids = tuple_ids (block, side, tuple, &part, &n);
      /* Drop a target of another kind than text only if its line is blank. A line without ids for another reason, such
       * as a word in place of a number, fails when it is stored. */
      if (n == 0 && side->stream == corpus->n_sources
          && (stream->target == PLAIT_TARGET_TEXT || side->blank[tuple->line]))
        {
          stream->counts.dropped_empty++;
          return FALSE;
        }
      if (stream->maximum_length > 0 && stream->target == PLAIT_TARGET_TEXT
          && count_text (ids, n) > stream->maximum_length)
        {
          stream->counts.dropped_long++;
          return FALSE;
        }
      if (side->trees && is_treeless (block, side, tuple->line))
        {
          stream->counts.dropped_treeless++;
          return FALSE;
        }
    }
  return TRUE;
}

static gboolean
store_tree (const PlaitCorpusBlock *block, PlaitCorpusSide *side, gint64 line, GError **error)
{
  PlaitCorpusStreamState *stream = &block->corpus->streams[side->stream];
  PlaitTreeLine tree = tree_line (side, line);
  gboolean without;
  g_array_set_size (side->scratch, 0);
  if (!plait_tree_maker_make (stream->trees, &tree, side->scratch, &without, error))
    return FALSE;
  stream->counts.without_tree += without;
  return plait_token_store_append (stream->steps, (const gint32 *)(gpointer)side->scratch->data, side->scratch->len,
                                   error);
}

/* Stores the factors of line @line of @side, whose ids are @ids [n]. Fails unless each word has one token of each
 * factor. */
static gboolean
store_factors (const PlaitCorpusSide *side, gint64 line, const gint32 *ids, gsize n, GError **error)
{
  g_autofree gint64 *words = side->state->n_factors > 0 ? g_new (gint64, n) : NULL;
  gsize n_words = words ? (gsize)plait_vocabulary_count_words (side->state->vocabulary, ids, (gint64)n, words) : 0,
        tokens;

  for (guint f = 0; f < side->state->n_factors; f++)
    {
      const PlaitCorpusSide *factor = &side->factors[f];
      const gint32 *factor_ids = line_ids (factor, line, &tokens);

      if (tokens != n_words)
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "%s:%jd: the line has %zu tokens, but line %jd of %s has %zu words; expected one token for "
                           "each word, where white space separates words after the vocabulary's normalization",
                           plait_text_reader_name (factor->reader), factor->numbers[line], tokens, side->numbers[line],
                           plait_text_reader_name (side->reader), n_words);
      if (!plait_token_store_append (factor->state->tokens, factor_ids, tokens, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
store_sentences (PlaitCorpusSide *side, PlaitTokenStore *sentences, const PlaitDocument *part, gint64 rows,
                 GError **error)
{
  g_array_set_size (side->scratch, 0);
  plait_document_append_sentences (part, rows, side->scratch);
  return plait_token_store_append (sentences, (const gint32 *)(gpointer)side->scratch->data, 2 * side->scratch->len,
                                   error);
}

/* Checks that @ids [n], line @line of the target, are valid for its kind. */
static gboolean
check_target (const PlaitCorpusBlock *block, const PlaitCorpusSide *side, gint64 line, const gint32 *ids, gsize n,
              GError **error)
{
  const PlaitCorpusStreamState *stream = &block->corpus->streams[side->stream];
  const PlaitCorpusSide *first = &block->sides[0];
  PlaitDocumentSentence sentence;
  PlaitDocument document = first->stream != 0    ? (PlaitDocument){ NULL }
                           : first->is_documents ? document_of (block, first, line)
                                                 : document_of_sentence (first, line, &sentence);
  PlaitTargetLine where = { .file = plait_text_reader_name (side->reader), .line = side->numbers[line] };
  where.text = plait_corpus_side_text (side, line, &where.length);
  return plait_target_check (stream->target, stream->vocabulary, &document, ids, n, &where, error);
}

static gsize
count_unknown (const gint32 *ids, gsize n)
{
  gsize unknown = 0;

  for (gsize i = 0; i < n; i++)
    unknown += ids[i] == PLAIT_TOKEN_UNKNOWN;
  return unknown;
}

/* Stores the words of the first @kept unknown tokens of @tuple. */
static gboolean
store_unknown (const PlaitCorpusBlock *block, const PlaitCorpusSide *side, const PlaitCorpusTuple *tuple, gsize kept,
               GError **error)
{
  const PlaitCorpusStreamState *stream = &block->corpus->streams[side->stream];
  PlaitDocument document;
  gsize n, length;
  const gint32 *ids = line_ids (side, tuple->line, &n);
  const char *text = plait_corpus_side_text (side, tuple->line, &length), *end = text + length;

  if (!side->is_documents)
    return plait_unknown_words_append (stream->unknown, stream->vocabulary, text, length, ids, n, NULL, 0, kept, error);
  document = document_of (block, side, tuple->line);
  for (gint64 i = 0; i < MIN (tuple->first, document.n); i++)
    {
      const char *next = memchr (text, '\n', (gsize)(end - text));

      ids += document.sentences[i].tokens;
      text = next ? next + 1 : end;
    }
  return plait_unknown_words_append (stream->unknown, stream->vocabulary, text, (gsize)(end - text), ids, 0,
                                     document.sentences + MIN (tuple->first, document.n),
                                     MIN (tuple->end, document.n) - MIN (tuple->first, document.n), kept, error);
}

/* Stores the part of @tuple that comes from @side. */
static gboolean
store_tuple (const PlaitCorpusBlock *block, PlaitCorpusSide *side, const PlaitCorpusTuple *tuple, GError **error)
{
  PlaitCorpusStreamState *stream = &block->corpus->streams[side->stream];
  PlaitDocument part;
  gsize n;
  const gint32 *ids = tuple_ids (block, side, tuple, &part, &n);
  if (stream->allow_unknown && block->corpus->keep_all && plait_target_is_unknown (stream->target, ids, n))
    {
      stream->counts.unknown_labels++;
      n = 0;
    }
  else if (stream->target != PLAIT_TARGET_TEXT && !check_target (block, side, tuple->line, ids, n, error))
    return FALSE;
  if (!plait_token_store_append (stream->tokens, ids, n, error)
      || (stream->unknown && !store_unknown (block, side, tuple, count_unknown (ids, n), error))
      || (stream->trees && !store_tree (block, side, tuple->line, error))
      || !store_factors (side, tuple->line, ids, n, error)
      || (stream->sentences && !store_sentences (side, stream->sentences, &part, (gint64)n, error)))
    return FALSE;
  stream->counts.tokens += (gint64)n;
  stream->counts.missing += n == 0;
  stream->counts.longest = MAX (stream->counts.longest, (gint64)n);
  if (stream->vocabulary)
    stream->counts.unknown += (gint64)count_unknown (ids, n);
  return TRUE;
}

static void
store_side (gpointer data, gint64 piece, guint thread)
{
  PlaitCorpusBlock *block = data;
  PlaitCorpusSide *side = &block->sides[piece];

  for (guint i = 0; i < block->kept->len && !side->is_trees && !side->is_factor; i++)
    if (!store_tuple (block, side, &g_array_index (block->kept, PlaitCorpusTuple, i), &side->error))
      {
        side->failed_at = i;
        return;
      }
}

/* Begins to store the line number of every tuple, because tuple i will not be line i any more. */
static void
part_from_lines (PlaitCorpus *corpus)
{
  if (corpus->line_of)
    return;
  corpus->line_of = g_array_new (FALSE, FALSE, sizeof (guint32));
  for (guint32 line = (guint32)corpus->first; line < corpus->first + corpus->size; line++)
    g_array_append_val (corpus->line_of, line);
}

/* Sets block->ends to the ends of the chunks of line @line, or to G_MAXINT64 if documents are not cut. Counts cut and
 * truncated documents. */
static gboolean
find_ends (PlaitCorpusBlock *block, gint64 line, GError **error)
{
  PlaitCorpus *corpus = block->corpus;
  gint64 n = 0, all = G_MAXINT64;
  gboolean cuts = FALSE;

  for (gint64 i = 0; i < block->n_sides; i++)
    {
      const PlaitCorpusSide *side = &block->sides[i];
      PlaitCorpusStreamState *stream = &corpus->streams[side->stream];
      guint tokens = side->line_ids[line].n;

      if (!side->is_documents)
        continue;
      block->cut_from[n++] = document_of (block, side, line);
      if (!stream->documents.truncates)
        cuts |= stream->documents.maximum > 0;
      else if (stream->documents.maximum > 0 && tokens > stream->documents.maximum)
        {
          stream->counts.truncated++;
          stream->counts.tokens_lost += tokens - stream->documents.maximum;
        }
    }
  g_assert (!cuts || n == block->n_sides);
  g_array_set_size (block->ends, 0);
  if (cuts && !plait_documents_cut (block->cut_from, n, block->ends, error))
    return FALSE;
  if (!cuts)
    g_array_append_val (block->ends, all);
  if (block->ends->len > 1)
    {
      part_from_lines (corpus);
      corpus->cut++;
      corpus->chunks += block->ends->len;
    }
  return TRUE;
}

/* Adds the kept tuples of line @line to block->kept. */
static gboolean
filter_line (PlaitCorpusBlock *block, gint64 line, GError **error)
{
  PlaitCorpus *corpus = block->corpus;
  PlaitCorpusTuple tuple = { .line = line };
  guint32 number = (guint32)corpus->lines;

  if (corpus->lines > G_MAXUINT32)
    return plait_fail (error, PLAIT_ERROR_INPUT, "A corpus has more than %u lines; split the corpus", G_MAXUINT32);
  if (!find_ends (block, line, error))
    return FALSE;
  for (guint i = 0; i < block->ends->len; i++, tuple.first = tuple.end)
    {
      tuple.end = g_array_index (block->ends, gint64, i);
      if (!is_kept (block, &tuple))
        {
          part_from_lines (corpus);
          continue;
        }
      g_array_append_val (block->kept, tuple);
      if (corpus->line_of)
        g_array_append_val (corpus->line_of, number);
      corpus->size++;
    }
  return TRUE;
}

/* Stores the kept tuples. Reports the error of the first tuple that fails, on its first side. */
static gboolean
store_kept (PlaitCorpusBlock *block, PlaitPool *pool, GError **error)
{
  PlaitCorpusSide *failed = NULL;

  plait_pool_run (pool, block->n_sides, store_side, block);
  for (gint64 i = 0; i < block->n_sides; i++)
    if (block->sides[i].error && (!failed || block->sides[i].failed_at < failed->failed_at))
      failed = &block->sides[i];
  return !failed || plait_no_error (&failed->error, error);
}

gboolean
plait_corpus_store_block (PlaitCorpusBlock *block, PlaitPool *pool, GError **error)
{
  PlaitCorpus *corpus = block->corpus;
  g_autoptr (GError) unfit = NULL; /* error of the first line that filter_line refused */

  g_array_set_size (block->kept, 0);
  for (gint64 line = 0; line < block->lines && filter_line (block, line, &unfit); line++)
    corpus->lines++;
  if (!store_kept (block, pool, error))
    return FALSE;
  return plait_no_error (&unfit, error);
}
