/* SPDX-License-Identifier: MIT */
#pragma once

#include "documents/documents.h"
#include "types/input.h"
#include "vocabulary/vocabulary.h"

/* Lines of targets: text, or labels, or which of the sentences or tokens of a document are the right ones. */

/* What the lines of a target are. */
typedef enum
{
  PLAIT_TARGET_TEXT,   /* its tokens, and the end: what decoders of sequences predict */
  PLAIT_TARGET_LABELS, /* one label each, of a vocabulary of labels: one row, which counts from the first label as 0 */
  PLAIT_TARGET_CHOICE, /* the number, from 0, of a sentence of the first source, which is documents: one row. There is
                          no vocabulary */
  PLAIT_TARGET_SPAN,   /* "START END", the numbers from 0 of tokens of the first source, which is documents with start
                          tokens, that are not counted, or "-1": two rows, which are the rows of these tokens in the
                          document, or twice its first */
} PlaitTargetKind;

/* Where a line stands; for messages. */
typedef struct
{
  const char *file;
  gint64 line;
  const char *text;
  gsize length;
} PlaitTargetLine;

/* Appends what @text, a line that is not blank, says to @ids, an array of gint32: the ids of its text or label in
 * @vocabulary; the number of a choice; or the two of a span, each one more than it says, or for -1 two zeros. Nothing
 * of a choice or span that is none. */
void plait_target_encode (PlaitTargetKind kind, const PlaitVocabulary *vocabulary, const char *text, gsize length,
                          GArray *ids);

/* TRUE if @ids [n] of @line, which plait_target_encode gave, are what @kind, which is no text, wants: a label that
 * @vocabulary knows, the number of a sentence of @document, or a span of its tokens; PLAIT_ERROR_INPUT names file and
 * line if not, and the nearest label. */
gboolean plait_target_check (PlaitTargetKind kind, const PlaitVocabulary *vocabulary, const PlaitDocument *document,
                             const gint32 *ids, gsize n, const PlaitTargetLine *line, GError **error);

/* TRUE if they are a label that the vocabulary lacks. */
static inline gboolean
plait_target_is_unknown (PlaitTargetKind kind, const gint32 *ids, gsize n)
{
  return kind == PLAIT_TARGET_LABELS && n > 0 && ids[0] == PLAIT_TOKEN_UNKNOWN;
}

/* TRUE if the token @id is of the text itself: it may be masked, an answer may begin or end with it, and limits on the
 * text count it. */
static inline gboolean
plait_token_is_text (gint32 id)
{
  return id != PLAIT_TOKEN_BOS && id != PLAIT_TOKEN_EOS;
}

/* Makes @ids [2] rows of sentence @sentence of @input. */
void plait_span_to_rows (const PlaitInput *input, gint64 sentence, gint32 *ids);

/* The number of the token in row @row of sentence @sentence of @input, from 0; -1 of a start token. */
gint32 plait_span_token (const PlaitInput *input, gint64 sentence, gint64 row);
