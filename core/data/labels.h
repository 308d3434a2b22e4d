/* SPDX-License-Identifier: MIT */
#pragma once

#include "data/vocabulary.h"

/* Whether @ids [n] of a line of a target of labels, which @text of @length bytes was encoded to, are a label that
 * @vocabulary knows; PLAIT_ERROR_INPUT names @file, @line and the nearest label if not. */
gboolean plait_label_check (const PlaitVocabulary *vocabulary, const gint32 *ids, gsize n, const char *file,
                            gint64 line, const char *text, gsize length, GError **error);
