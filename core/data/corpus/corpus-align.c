/* SPDX-License-Identifier: MIT */
/* Word alignments of a source with the target, from words to rows. */
#include "text/error.h"
#include "text/word-links.h"
#include "corpus/corpus-private.h"
#include "lines/text-file.h"

/* The rows of each word of a sentence. */
typedef struct
{
  const PlaitCorpusStreamState *stream;
  GArray *ids;    /* gint32, ids of the sentence */
  GArray *words;  /* gint64 [ids], word of each row; -1: the row is in no word */
  GArray *begins; /* gint64 [n], first row of each word */
  GArray *ends;   /* gint64 [n], row after the last row of each word */
  gint64 n;
} Words;

static void
words_clear (Words *words)
{
  g_array_unref (words->ids);
  g_array_unref (words->words);
  g_array_unref (words->begins);
  g_array_unref (words->ends);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Words, words_clear)

static Words
words_new (const PlaitCorpusStreamState *stream)
{
  return (Words){ .stream = stream,
                  .ids = g_array_new (FALSE, FALSE, sizeof (gint32)),
                  .words = g_array_new (FALSE, FALSE, sizeof (gint64)),
                  .begins = g_array_new (FALSE, FALSE, sizeof (gint64)),
                  .ends = g_array_new (FALSE, FALSE, sizeof (gint64)) };
}

/* Reads the words of stored tuple @tuple. */
static gboolean
read_words (Words *words, gint64 tuple, GError **error)
{
  gint64 n = plait_token_store_length (words->stream->tokens, tuple);

  g_array_set_size (words->ids, (guint)n + 1);
  g_array_set_size (words->words, (guint)n + 1);
  if (!plait_token_store_read (words->stream->tokens, tuple, 0, n, (gint32 *)(gpointer)words->ids->data, error))
    return FALSE;
  words->n = plait_vocabulary_count_words (words->stream->vocabulary, (const gint32 *)(gpointer)words->ids->data, n,
                                           (gint64 *)(gpointer)words->words->data);
  g_array_set_size (words->begins, (guint)words->n + 1);
  g_array_set_size (words->ends, (guint)words->n + 1);
  for (gint64 row = n - 1; row >= 0; row--)
    {
      gint64 word = g_array_index (words->words, gint64, row);

      if (word < 0)
        continue;
      if (row == n - 1 || g_array_index (words->words, gint64, row + 1) != word)
        g_array_index (words->ends, gint64, word) = row + 1;
      g_array_index (words->begins, gint64, word) = row;
    }
  return TRUE;
}

static gboolean
check_word (const Words *words, gint64 word, GError **error)
{
  return word < words->n
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "a link names word %jd of %s, but the sentence has %jd words, counted from 0; give alignments "
                        "of this text, whose words are separated by white space",
                        word, words->stream->name, words->n);
}

/* Sets @rows to the pairs of rows that @links link. */
static gboolean
link_rows (const Words *source, const Words *target, const GArray *links, GArray *rows, GError **error)
{
  g_array_set_size (rows, 0);
  for (guint i = 0; i < links->len; i++)
    {
      const PlaitWordLink *link = &g_array_index (links, PlaitWordLink, i);

      if (!check_word (source, link->source, error) || !check_word (target, link->target, error))
        return FALSE;
      for (gint64 t = g_array_index (target->begins, gint64, link->target);
           t < g_array_index (target->ends, gint64, link->target); t++)
        for (gint64 s = g_array_index (source->begins, gint64, link->source);
             s < g_array_index (source->ends, gint64, link->source); s++)
          {
            const gint32 pair[] = { (gint32)s, (gint32)t };

            g_array_append_vals (rows, pair, 2);
          }
    }
  return TRUE;
}

/* State of reading the alignments of all files. */
typedef struct
{
  const PlaitCorpus *corpus;
  Words source, target;
  PlaitTokenStore *store;
  GArray *links; /* (element-type PlaitWordLink) links of one line */
  GArray *rows;  /* gint32, pairs of a source row and a target row */
  gint64 tuple;  /* next kept tuple */
} Reading;

/* Parses @text, the links of line @line of the corpus, and stores them if the line's tuple was kept. */
static gboolean
read_line (Reading *reading, const char *text, gint64 line, GError **error)
{
  gboolean kept = reading->tuple < reading->corpus->size && plait_corpus_line (reading->corpus, reading->tuple) == line;

  if (!plait_word_links_parse (text, reading->links, error))
    return FALSE;
  if (!kept)
    return TRUE;
  return read_words (&reading->source, reading->tuple, error) && read_words (&reading->target, reading->tuple++, error)
         && link_rows (&reading->source, &reading->target, reading->links, reading->rows, error)
         && plait_token_store_append (reading->store, (const gint32 *)(gpointer)reading->rows->data, reading->rows->len,
                                      error);
}

/* Reads the alignment file at @path, which belongs to file number @file of each stream. */
static gboolean
read_file (Reading *reading, const char *path, gint64 file, GError **error)
{
  const PlaitCorpus *corpus = reading->corpus;
  gint64 first = corpus->first_lines[file], n = corpus->first_lines[file + 1] - first, line = 0;
  g_autoptr (PlaitTextReader) reader = plait_text_reader_open (path, error);
  GError *cause = NULL;
  const char *text;

  for (; reader && (text = plait_text_reader_next (reader, NULL, &cause)); line++)
    if (line < n && !read_line (reading, text, first + line, &cause))
      {
        g_prefix_error (&cause, "%s:%jd: ", path, line + 1);
        break;
      }
  if (!reader || !plait_no_error (&cause, error))
    return FALSE;
  return line == n
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "%s: the file has %jd alignments, but %s has %jd lines; expected equal numbers, since line i "
                        "of one belongs to line i of the other",
                        path, line, reading->source.stream->files[file].path, n);
}

gboolean
plait_corpus_align (PlaitCorpus *corpus, gint64 source, const char *const *paths, GError **error)
{
  PlaitCorpusStreamState *stream = &corpus->streams[source];
  g_autoptr (PlaitTokenStore) store = plait_token_store_new (G_MAXINT32);
  g_autoptr (GArray) links = g_array_new (FALSE, FALSE, sizeof (PlaitWordLink));
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (gint32));
  g_auto (Words) words = words_new (stream), target_words = words_new (&corpus->streams[corpus->n_sources]);
  Reading reading = { corpus, words, target_words, store, links, rows, 0 };

  g_assert (plait_corpus_has_target (corpus) && stream->vocabulary && target_words.stream->vocabulary);
  if (!stream->link_files)
    stream->link_files = g_new0 (PlaitCorpusFile, corpus->n_files);
  for (gint64 i = 0; i < corpus->n_files; i++)
    {
      g_free (stream->link_files[i].path);
      stream->link_files[i] = (PlaitCorpusFile){ .path = g_strdup (paths[i]), .stamp = plait_file_stamp (paths[i]) };
      if (!read_file (&reading, paths[i], i, error))
        return FALSE;
    }
  if (!plait_token_store_finish (store, error))
    return FALSE;
  plait_token_store_free (stream->links);
  stream->links = g_steal_pointer (&store);
  return TRUE;
}
