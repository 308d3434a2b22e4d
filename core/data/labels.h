/* SPDX-License-Identifier: MIT */
#pragma once

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
