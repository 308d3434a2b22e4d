/* SPDX-License-Identifier: MIT */
#pragma once

#include "data/input.h"
#include "data/vocabulary.h"

/* Lines of targets that are no text: labels, and which of the sentences of a document is the right one. */

/* Where a line stands; for messages. */
typedef struct
{
  const char *file;
  gint64 line;
  const char *text;
  gsize length;
} PlaitTargetLine;

/* Whether @ids [n] of @line are a label that @vocabulary knows; PLAIT_ERROR_INPUT names file, line and the nearest
 * label if not. */
gboolean plait_label_check (const PlaitVocabulary *vocabulary, const gint32 *ids, gsize n, const PlaitTargetLine *line,
                            GError **error);

/* Appends the whole number that @text is to @ids, an array of gint32; nothing if it is none. */
void plait_choice_encode (const char *text, gsize length, GArray *ids);

/* Whether @ids [n] of @line, which plait_choice_encode gave, count one of @choices from 0 on; PLAIT_ERROR_INPUT names
 * file and line if not. */
gboolean plait_choice_check (const gint32 *ids, gsize n, gint64 choices, const PlaitTargetLine *line, GError **error);

/* Appends to @ids the two numbers that @text is, each one more than it says, or for -1 two zeros; nothing if it is
 * neither. */
void plait_span_encode (const char *text, gsize length, GArray *ids);

/* Whether @ids [n] of @line, which plait_span_encode gave, are of a document of @tokens tokens, in their order;
 * PLAIT_ERROR_INPUT names file and line if not. */
gboolean plait_span_check (const gint32 *ids, gsize n, gint64 tokens, const PlaitTargetLine *line, GError **error);

/* Whether an answer may begin or end with the token @id. */
static inline gboolean
plait_span_takes (gint32 id)
{
  return id != PLAIT_TOKEN_BOS && id != PLAIT_TOKEN_EOS;
}

/* Makes @ids [2] rows of sentence @sentence of @input. */
void plait_span_to_rows (const PlaitInput *input, gint64 sentence, gint32 *ids);

/* The number of the token in row @row of sentence @sentence of @input, from 0; -1 of a start token. */
gint32 plait_span_token (const PlaitInput *input, gint64 sentence, gint64 row);
