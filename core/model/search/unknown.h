/* SPDX-License-Identifier: MIT */
#pragma once

#include "search/search.h"
#include "vocabulary/vocabulary.h"

/*
 * decode.unknown=replace: after the search, each unknown token without a text gets a text. The text is the source word
 * to which the decoder attended most at that step, or the entry of that word in a dictionary (Luong et al. 2015, Jean
 * et al. 2015).
 *
 * The attention to a token is the mean over the heads of the last layer that attends to its memory. The attention to a
 * word is the sum over its tokens, times the weight of the memory if there is attention over contexts. Words of all
 * sources compete; of equal ones, the first is taken. Start, end and padding tokens are not words.
 */

/* A source of text and its memory. */
typedef struct
{
  const char *name;
  guint source; /* index of the source among the sources of a batch */
  guint memory;
  const PlaitVocabulary *vocabulary;
} PlaitTextMemory;

/* Creates a replacement by words of @memories [@n] (copied; the vocabularies are borrowed). @dictionary: path of a file
 * whose lines are a source word, a tab and its translation; NULL or "": no dictionary. Fails with PLAIT_ERROR_INPUT if
 * a line has another form or repeats a source word; the message names the line. (transfer full) */
PlaitUnknownReplacement *plait_unknown_replacement_new (const PlaitTextMemory *memories, guint n,
                                                        const char *dictionary, GError **error);
void plait_unknown_replacement_free (PlaitUnknownReplacement *replacement);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitUnknownReplacement, plait_unknown_replacement_free)

/* Sets the text of those unknown tokens of @hypothesis, a translation of sentence @sentence of @batch, that have no
 * text. @attention is the record of @hypothesis. If the decoder attends to no word at an unknown token, the token stays
 * without text. Fails if the sentence has sources, but none with a memory whose rows are tokens. */
gboolean plait_unknown_replace (const PlaitUnknownReplacement *replacement, const PlaitBatch *batch, gint64 sentence,
                                const PlaitAttentionRecord *attention, PlaitHypothesis *hypothesis, GError **error);
