/* SPDX-License-Identifier: MIT */
#include "documents/documents.h"

#include <string.h>

#include "text/error.h"
#include "types/input.h"

void
plait_document_encode (const PlaitVocabulary *vocabulary, const char *text, gsize length, gboolean start_tokens,
                       GArray *ids, PlaitDocumentSentence *sentences)
{
  const gint32 start = PLAIT_TOKEN_BOS, unknown = PLAIT_TOKEN_UNKNOWN;
  gboolean begins = start_tokens || plait_vocabulary_adds_bos (vocabulary);

  for (const char *end = text + length, *next; text < end; text = next + 1, sentences++)
    {
      guint first = ids->len, words;

      next = memchr (text, '\n', (gsize)(end - text));
      next = next ? next : end;
      if (begins)
        g_array_append_val (ids, start);
      begins = start_tokens;
      words = ids->len;
      plait_vocabulary_encode (vocabulary, text, (gsize)(next - text), ids);
      if (ids->len == words)
        g_array_append_val (ids, unknown);
      sentences->tokens = (gint32)(ids->len - first);
    }
}

void
plait_document_decode (const PlaitVocabulary *vocabulary, const gint32 *ids, const char *const *words, gint64 n,
                       GString *text)
{
  for (gint64 first = 0, end; first < n; first = end + 1)
    {
      g_autofree char *sentence = NULL;

      for (end = first; end < n && ids[end] != PLAIT_TOKEN_BOS;)
        end++;
      if (end == first)
        continue;
      sentence
          = plait_vocabulary_decode_words (vocabulary, ids + first, words ? words + first : NULL, (gsize)(end - first));
      if (plait_text_is_blank (sentence, strlen (sentence)))
        continue;
      if (text->len > 0)
        g_string_append_c (text, '\n');
      g_string_append (text, sentence);
    }
}

static gint64
line_of (const PlaitDocument *document, gint64 sentence)
{
  return document->line + (document->settings->layout == PLAIT_LAYOUT_DOCUMENTS ? sentence : 0);
}

/* Checks that all streams with a non-empty document have equally many sentences, and sets *@n to that number. */
static gboolean
check_aligned (const PlaitDocument *documents, gint64 n_documents, gint64 *n, GError **error)
{
  const PlaitDocument *first = NULL;

  for (gint64 i = 0; i < n_documents; i++)
    {
      const PlaitDocument *document = &documents[i];

      if (document->n == 0)
        continue;
      if (first && document->n != first->n)
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "%s:%jd: the document has %jd sentences, but the document at %s:%jd has %jd; expected equal "
                           "numbers, since both documents are cut into chunks at the same sentences",
                           document->file, line_of (document, MIN (document->n, first->n)), document->n, first->file,
                           first->line, first->n);
      if (!first)
        first = document;
    }
  *n = first ? first->n : 0;
  return TRUE;
}

gboolean
plait_documents_cut (const PlaitDocument *documents, gint64 n_documents, GArray *ends, GError **error)
{
  g_autofree gint64 *tokens = g_new0 (gint64, n_documents);
  gint64 n, first = 0;

  if (!check_aligned (documents, n_documents, &n, error))
    return FALSE;
  g_array_set_size (ends, 0);
  for (gint64 sentence = 0; sentence < n; sentence++)
    {
      gboolean fits = TRUE;

      for (gint64 i = 0; i < n_documents; i++)
        {
          const PlaitDocument *document = &documents[i];
          gint64 more = document->n > 0 ? document->sentences[sentence].tokens : 0;
          gint64 maximum = document->settings->maximum;

          if (maximum > 0 && more > maximum)
            return plait_fail (error, PLAIT_ERROR_INPUT,
                               "%s:%jd: sentence %jd of the document has %jd tokens, but a chunk has at most %jd; "
                               "raise document_length or split the sentence",
                               document->file, line_of (document, sentence), sentence + 1, more, maximum);
          fits &= maximum == 0 || tokens[i] + more <= maximum;
        }
      if (!fits)
        {
          g_array_append_val (ends, sentence);
          first = sentence;
        }
      for (gint64 i = 0; i < n_documents; i++)
        tokens[i]
            = (sentence == first ? 0 : tokens[i]) + (documents[i].n > 0 ? documents[i].sentences[sentence].tokens : 0);
    }
  g_array_append_val (ends, n);
  return TRUE;
}

char *
plait_document_chunk_name (gboolean cut, gint64 document, gint64 chunk)
{
  return cut ? g_strdup_printf ("%jd.%jd", document, chunk) : g_strdup_printf ("%jd", document);
}

PlaitDocument
plait_document_slice (const PlaitDocument *document, gint64 first, gint64 end, gboolean drops_start, gint64 *rows)
{
  const PlaitDocumentSettings *settings = document->settings;
  gint64 maximum = settings->truncates ? settings->maximum : 0;
  PlaitDocument part = *document;

  first = MIN (first, document->n);
  end = MIN (end, document->n);
  for (gint64 i = 0; i < first; i++)
    part.ids += document->sentences[i].tokens;
  part.sentences = document->sentences + first;
  part.n = 0;
  part.line = line_of (document, first);
  *rows = 0;
  while (part.n < end - first && (maximum == 0 || *rows < maximum))
    *rows += part.sentences[part.n++].tokens;
  if (maximum > 0)
    *rows = MIN (*rows, maximum);
  if (drops_start && settings->start_tokens && *rows > 0)
    {
      part.ids++;
      --*rows;
    }
  return part;
}

void
plait_document_append_sentences (const PlaitDocument *part, gint64 rows, GArray *sentences)
{
  for (gint64 i = 0; i < part->n; i++)
    {
      PlaitDocumentSentence sentence = part->sentences[i];

      sentence.tokens = (gint32)MIN (sentence.tokens, rows);
      rows -= sentence.tokens;
      g_array_append_val (sentences, sentence);
    }
}
