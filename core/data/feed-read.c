/* SPDX-License-Identifier: MIT */
/* Reading the tuples of a feed, one after the other. */
#include "base/error.h"
#include "data/feed-private.h"
#include "data/text-file.h"

static const char *
side_place (const PlaitFeedSide *side)
{
  return side->reader ? plait_text_reader_name (side->reader) : side->path;
}

static gboolean
fail_on_empty (const PlaitFeed *feed, const PlaitFeedSide *side, GError **error)
{
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "%s:%" G_GINT64_FORMAT ": the %s; expected one of %s, since empty=error "
                     "(empty=missing would take the source as missing there)",
                     side_place (side), side->documents ? feed->cut_from[side - feed->sides].line : feed->line + 1,
                     side->documents ? "document has no sentences" : "sentence is empty", side->name);
}

static gboolean
must_not_be_empty (const PlaitFeed *feed, const PlaitFeedSide *side)
{
  return feed->empty_is_error && side - feed->sides < feed->n_sources;
}

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
take_tree (const PlaitFeed *feed, PlaitFeedSide *side, const char *line, gsize length, GError **error)
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

/* Whether @line of the target @side, whose ids begin with @first, is what its kind wants; of a label that may be
 * unknown none are left. */
static gboolean
check_target (const PlaitFeed *feed, PlaitFeedSide *side, guint first, const char *line, gsize length, GError **error)
{
  PlaitTargetLine where = { plait_text_reader_name (side->reader), feed->line + 1, line, length };
  const gint32 *ids = (const gint32 *)(gpointer)side->ids->data + first;
  gsize n = side->ids->len - first;
  if (!side->allow_unknown || !plait_target_is_unknown (side->target, ids, n))
    return plait_target_check (side->target, side->vocabulary, &feed->cut_from[0], ids, n, &where, error);
  g_array_set_size (side->ids, first);
  return TRUE;
}

/* Adds the ids of the next sentence of @side, and its tree. */
static PlaitFeedTake
take_tokens (const PlaitFeed *feed, PlaitFeedSide *side, GError **error)
{
  g_autoptr (GError) cause = NULL;
  gsize length = 0;
  const char *line = plait_text_reader_next (side->reader, &length, &cause);
  guint first = side->ids->len;
  gint32 eos = PLAIT_TOKEN_EOS;
  if (!plait_no_fault (&cause, error))
    return PLAIT_FEED_FAILED;
  if (side->trees)
    {
      g_array_set_size (side->words, 0);
      if (line)
        plait_vocabulary_encode_words (side->vocabulary, line, length, side->ids, side->words);
      if (!take_tree (feed, side, line, length, error))
        return PLAIT_FEED_FAILED;
    }
  else if (line && !plait_text_is_blank (line, length))
    plait_target_encode (side->target, side->vocabulary, line, length, side->ids);
  if (!line)
    return PLAIT_FEED_END;
  if (side->target != PLAIT_TARGET_TEXT && !check_target (feed, side, first, line, length, error))
    return PLAIT_FEED_FAILED;
  if (side->append_end && side->ids->len > first)
    g_array_append_val (side->ids, eos);
  return PLAIT_FEED_TAKEN;
}

/* Reads the next document of @side, which add_documents adds. */
static PlaitFeedTake
take_document (PlaitFeed *feed, PlaitFeedSide *side, GError **error)
{
  PlaitDocument *document = &feed->cut_from[side - feed->sides];
  g_autoptr (GError) cause = NULL;

  if (!plait_document_reader_encode (side->documents, side->vocabulary, document, &cause))
    return plait_no_fault (&cause, error) ? PLAIT_FEED_END : PLAIT_FEED_FAILED;
  if (!must_not_be_empty (feed, side) || document->n > 0)
    return PLAIT_FEED_TAKEN;
  fail_on_empty (feed, side, error);
  return PLAIT_FEED_FAILED;
}

/* Adds what @side has of a chunk of its document. */
static void
add_chunk (const PlaitFeed *feed, PlaitFeedSide *side, gint64 first, gint64 end)
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
static PlaitFeedTake
take_sentence (PlaitFeed *feed, PlaitFeedSide *side, GError **error)
{
  gint64 end = g_array_index (side->offsets, gint64, side->offsets->len - 1);
  if (side->documents)
    return take_document (feed, side, error);
  if (!side->path && side->bounds) /* documents that are missing everywhere */
    return PLAIT_FEED_MISSING;
  if (!side->path)
    {
      gint64 nodes = side->steps ? side->steps->len / 2 : 0;
      g_array_append_val (side->offsets, end);
      if (side->trees)
        g_array_append_val (side->nodes, nodes);
      return PLAIT_FEED_MISSING;
    }
  if (side->kind == PLAIT_INPUT_FEATURES)
    {
      if (feed->line == plait_feature_file_sentences (side->features))
        return PLAIT_FEED_END;
      end += plait_feature_file_length (side->features, feed->line);
    }
  else
    {
      PlaitFeedTake take = take_tokens (feed, side, error);
      if (take != PLAIT_FEED_TAKEN)
        return take;
      end = side->ids->len;
    }
  if (must_not_be_empty (feed, side) && end == g_array_index (side->offsets, gint64, side->offsets->len - 1))
    {
      fail_on_empty (feed, side, error);
      return PLAIT_FEED_FAILED;
    }
  g_array_append_val (side->offsets, end);
  return PLAIT_FEED_TAKEN;
}

PlaitFeedTake
plait_feed_take (PlaitFeed *feed, GError **error)
{
  const PlaitFeedSide *ended = NULL, *going = NULL;
  for (gint64 i = 0; i < feed->n_sides; i++)
    {
      PlaitFeedTake take = take_sentence (feed, &feed->sides[i], error);
      if (take == PLAIT_FEED_FAILED)
        return take;
      if (take != PLAIT_FEED_MISSING)
        *(take == PLAIT_FEED_END ? &ended : &going) = &feed->sides[i];
    }
  if (ended && going)
    {
      gint64 line = ended->reader ? plait_text_reader_line (ended->reader) : feed->line;
      fail_on_end (side_place (ended), side_place (going), line + 1, error);
      return PLAIT_FEED_FAILED;
    }
  if (ended)
    return PLAIT_FEED_END;
  if (!add_documents (feed, error))
    return PLAIT_FEED_FAILED;
  feed->line++;
  return PLAIT_FEED_TAKEN;
}
