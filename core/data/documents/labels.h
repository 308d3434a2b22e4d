/* SPDX-License-Identifier: MIT */
#pragma once

#include <string.h>

#include "documents/documents.h"
#include "types/input.h"
#include "vocabulary/vocabulary.h"

/* Lines of targets: texts, labels, tags of tokens, choices of sentences, spans of tokens, or numbers. */

typedef enum
{
  PLAIT_TARGET_TEXT,   /* the tokens of the text and EOS, predicted by a sequence decoder */
  PLAIT_TARGET_LABELS, /* one label per line, from a vocabulary of labels; one row, which is the number of the label */
  PLAIT_TARGET_TAGS,   /* a label for each token of the first source, separated by white space; one row each */

  /* The number, from 0, of a sentence of the first source's document; one row; without vocabulary. */
  PLAIT_TARGET_CHOICE,

  /* The line "START END" has the numbers of the first and the last token of the answer, from 0, in the first source's
   * document without start tokens. It becomes two rows: the rows of these tokens in the document. The line "-1", no
   * answer, becomes the first row of the document twice. */
  PLAIT_TARGET_SPAN,

  PLAIT_TARGET_NUMBER, /* one number per line; one row, whose id has the bits of the number as a float */
} PlaitTargetKind;

/* A line of a target and its position, for messages. */
typedef struct
{
  const char *file;
  gint64 line;
  const char *text;
  gsize length;
} PlaitTargetLine;

/* Appends the values of @text, a non-blank line, to @ids (gint32). A text, label or tags: the ids in @vocabulary. A
 * choice: its number. A span: its two numbers, each plus 1; two zeros for -1. A number: its id. Appends nothing if a
 * choice, span or number is malformed. */
void plait_target_encode (PlaitTargetKind kind, const PlaitVocabulary *vocabulary, const char *text, gsize length,
                          GArray *ids);

/* TRUE if @ids [n], encoded from @line, are valid for @kind (not PLAIT_TARGET_TEXT): one label in @vocabulary, a tag in
 * @vocabulary for each token of @document, the number of a sentence of @document, a span of its tokens, or a number.
 * Otherwise sets PLAIT_ERROR_INPUT, which names file and line, and the nearest label if a label is unknown. */
gboolean plait_target_check (PlaitTargetKind kind, const PlaitVocabulary *vocabulary, const PlaitDocument *document,
                             const gint32 *ids, gsize n, const PlaitTargetLine *line, GError **error);

/* Returns the target id that stands for @number. */
static inline gint32
plait_id_of_number (float number)
{
  gint32 id;

  memcpy (&id, &number, sizeof id);
  return id;
}

/* Returns the number that the target id @id stands for. */
static inline float
plait_number_of_id (gint32 id)
{
  float number;

  memcpy (&number, &id, sizeof number);
  return number;
}

/* TRUE if @kind predicts labels from a vocabulary of labels. */
static inline gboolean
plait_target_has_labels (PlaitTargetKind kind)
{
  return kind == PLAIT_TARGET_LABELS || kind == PLAIT_TARGET_TAGS;
}

/* TRUE if a label of @ids [n] is not in the vocabulary. */
static inline gboolean
plait_target_is_unknown (PlaitTargetKind kind, const gint32 *ids, gsize n)
{
  gboolean unknown = FALSE;

  for (gsize i = 0; i < n && plait_target_has_labels (kind); i++)
    unknown |= ids[i] == PLAIT_TOKEN_UNKNOWN;
  return unknown;
}

/* TRUE if token @id belongs to the text, so it is neither BOS nor EOS. Tokens of the text may be masked, may begin or
 * end an answer, and count towards length limits. */
static inline gboolean
plait_token_is_text (gint32 id)
{
  return id != PLAIT_TOKEN_BOS && id != PLAIT_TOKEN_EOS;
}

/* Converts @ids [2], a span that plait_target_encode appended, to rows of sentence @sentence of @input. */
void plait_span_to_rows (const PlaitInput *input, gint64 sentence, gint32 *ids);

/* Returns the number, from 0, of the token in row @row of sentence @sentence of @input, counted without start tokens;
 * -1 for a start token. */
gint32 plait_span_token (const PlaitInput *input, gint64 sentence, gint64 row);
