/* SPDX-License-Identifier: MIT */
#include "documents/labels.h"

#include <math.h>
#include <string.h>

#include "text/error.h"
#include "text/number.h"
#include "text/words.h"
#include "types/input.h"

/* Fails because training has no label @label. */
static gboolean
fail_unknown (const PlaitVocabulary *vocabulary, const char *label, const PlaitTargetLine *line, GError **error)
{
  gint32 size = plait_vocabulary_size (vocabulary);
  g_autoptr (GPtrArray) labels = g_ptr_array_new_null_terminated (8, NULL, TRUE);
  const char *nearest;

  for (gint32 id = PLAIT_TOKEN_SPECIALS; id < size; id++)
    g_ptr_array_add (labels, (gpointer)plait_vocabulary_piece (vocabulary, id));
  nearest = plait_nearest_name (label, (const char *const *)labels->pdata);
  return plait_fail (
      error, PLAIT_ERROR_INPUT,
      "%s:%jd: the label \"%s\" does not occur in training; expected one of its %d labels, such as \"%s\" (in a set "
      "that is scored, predict.unknown_labels=wrong would count it as an error of the model)",
      line->file, line->line, label, size - PLAIT_TOKEN_SPECIALS,
      nearest ? nearest : plait_vocabulary_piece (vocabulary, PLAIT_TOKEN_SPECIALS));
}

static gboolean
check_label (const PlaitVocabulary *vocabulary, const gint32 *ids, gsize n, const PlaitTargetLine *line, GError **error)
{
  g_autofree char *label = NULL;

  if (n > 0 && !plait_target_is_unknown (PLAIT_TARGET_LABELS, ids, n))
    return TRUE;
  if (n == 0)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s:%jd: the line is empty; expected a label, one of the %d of training", line->file, line->line,
                       plait_vocabulary_size (vocabulary) - PLAIT_TOKEN_SPECIALS);
  label = g_strstrip (g_strndup (line->text, line->length));
  return fail_unknown (vocabulary, label, line, error);
}

/* Returns the number of tokens of @document, without BOS and EOS. */
static gint64
count_tokens (const PlaitDocument *document)
{
  gint64 rows = 0, tokens = 0;

  for (gint64 i = 0; i < document->n; i++)
    rows += document->sentences[i].tokens;
  for (gint64 row = 0; row < rows; row++)
    tokens += plait_token_is_text (document->ids[row]);
  return tokens;
}

static gboolean
check_tags (const PlaitVocabulary *vocabulary, const PlaitDocument *document, const gint32 *ids, gsize n,
            const PlaitTargetLine *line, GError **error)
{
  gint64 tokens = count_tokens (document);
  gsize position = 0, length;

  if ((gint64)n != tokens)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s:%jd: has %zu tags, but the first source has %jd tokens there; expected a tag for each token "
                       "(data.vocabulary_type=words makes each word a token)",
                       line->file, line->line, n, tokens);
  for (gsize i = 0; i < n; i++)
    {
      const char *word = plait_words_next (line->text, line->length, &position, &length);
      g_autofree char *tag = g_strndup (word, word ? length : 0);

      if (ids[i] == PLAIT_TOKEN_UNKNOWN)
        return fail_unknown (vocabulary, tag, line, error);
    }
  return TRUE;
}

static void
encode_choice (const char *text, gsize length, GArray *ids)
{
  g_autofree char *number = g_strstrip (g_strndup (text, length));
  guint64 value;
  gint32 id;

  if (!g_ascii_string_to_unsigned (number, 10, 0, G_MAXINT32, &value, NULL))
    return;
  id = (gint32)value;
  g_array_append_val (ids, id);
}

static gboolean
check_choice (const gint32 *ids, gsize n, gint64 choices, const PlaitTargetLine *line, GError **error)
{
  g_autofree char *number = NULL;

  if (choices == 0)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s:%jd: belongs to a document without sentences, so there is nothing to choose from; add "
                       "sentences to the document",
                       line->file, line->line);
  if (n == 1 && ids[0] < choices)
    return TRUE;
  number = g_strstrip (g_strndup (line->text, line->length));
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "%s:%jd: \"%s\" is not the number of one of the %jd sentences of the document; expected the "
                     "number of the correct sentence, from 0 to %jd",
                     line->file, line->line, number, choices, choices - 1);
}

static void
encode_span (const char *text, gsize length, GArray *ids)
{
  g_autofree char *span = g_strndup (text, length);
  gint64 first, last;

  if (plait_parse_span (span, &first, &last))
    g_array_append_vals (ids, ((const gint32[]){ (gint32)first + 1, (gint32)last + 1 }), 2);
}

static gboolean
check_span (const gint32 *ids, gsize n, const PlaitDocument *document, const PlaitTargetLine *line, GError **error)
{
  gint64 tokens = count_tokens (document);
  g_autofree char *text = NULL;

  if (n == 2 && ids[1] <= tokens && tokens > 0)
    return TRUE;
  text = g_strstrip (g_strndup (line->text, line->length));
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "%s:%jd: \"%s\" is not a span of the %jd tokens of the document; expected START END, the numbers "
                     "of the first and the last token of the span, counted from 0, or -1 for no answer",
                     line->file, line->line, text, tokens);
}

static void
encode_number (const char *text, gsize length, GArray *ids)
{
  g_autofree char *number = g_strstrip (g_strndup (text, length));
  double value;
  gint32 id;

  if (!plait_parse_double (number, &value) || !isfinite ((float)value))
    return;
  id = plait_id_of_number ((float)value);
  g_array_append_val (ids, id);
}

static gboolean
check_number (gsize n, const PlaitTargetLine *line, GError **error)
{
  g_autofree char *text = NULL;

  if (n == 1)
    return TRUE;
  text = g_strstrip (g_strndup (line->text, line->length));
  return plait_fail (error, PLAIT_ERROR_INPUT, "%s:%jd: \"%s\" is not a number; expected one number, such as 0.75",
                     line->file, line->line, text);
}

void
plait_target_encode (PlaitTargetKind kind, const PlaitVocabulary *vocabulary, const char *text, gsize length,
                     GArray *ids)
{
  if (kind == PLAIT_TARGET_CHOICE)
    encode_choice (text, length, ids);
  else if (kind == PLAIT_TARGET_SPAN)
    encode_span (text, length, ids);
  else if (kind == PLAIT_TARGET_NUMBER)
    encode_number (text, length, ids);
  else
    plait_vocabulary_encode_text (vocabulary, text, length, ids);
}

gboolean
plait_target_check (PlaitTargetKind kind, const PlaitVocabulary *vocabulary, const PlaitDocument *document,
                    const gint32 *ids, gsize n, const PlaitTargetLine *line, GError **error)
{
  if (kind == PLAIT_TARGET_TAGS)
    return check_tags (vocabulary, document, ids, n, line, error);
  if (kind == PLAIT_TARGET_CHOICE)
    return check_choice (ids, n, document->n, line, error);
  if (kind == PLAIT_TARGET_SPAN)
    return check_span (ids, n, document, line, error);
  if (kind == PLAIT_TARGET_NUMBER)
    return check_number (n, line, error);
  return check_label (vocabulary, ids, n, line, error);
}

void
plait_span_to_rows (const PlaitInput *input, gint64 sentence, gint32 *ids)
{
  gint64 first = input->rows.offsets[sentence], n = plait_ragged_length (input->rows, sentence);
  gint32 rows[2] = { 0, 0 }, token = 0;

  for (gint64 row = 0; row < n; row++)
    {
      token += plait_token_is_text (input->tokens[first + row]);
      for (guint i = 0; i < 2; i++)
        if (ids[i] > 0 && rows[i] == 0 && token == ids[i])
          rows[i] = (gint32)row;
    }
  memcpy (ids, rows, sizeof rows);
}

gint32
plait_span_token (const PlaitInput *input, gint64 sentence, gint64 row)
{
  const gint32 *tokens = input->tokens + input->rows.offsets[sentence];
  gint32 number = -1;

  if (tokens[row] == PLAIT_TOKEN_BOS)
    return -1;
  for (gint64 i = 0; i <= row; i++)
    number += plait_token_is_text (tokens[i]);
  return number;
}
