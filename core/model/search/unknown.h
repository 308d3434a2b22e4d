/* SPDX-License-Identifier: MIT */
#pragma once

#include "search/search.h"
#include "vocabulary/vocabulary.h"

/*
 * decode.unknown=replace: after the search, the text of each unknown token of a translation is the source word that the
 * decoder attended to most at that step, or its entry in a dictionary (Luong et al. 2015, Jean et al. 2015).
 *
 * The attention of a source word is the sum over its pieces of the mean over heads in the last layer that attends to
 * its memory, times the weight of the memory if there is attention to contexts. Among several sources, the word with
 * the largest attention wins; among equal ones, the first. Only words compete, not end tokens and other special tokens.
 */

/* A source of text and its memory, whose rows are tokens. */
typedef struct
{
  const char *name;
  guint source; /* index in the batch */
  guint memory;
  const PlaitVocabulary *vocabulary;
} PlaitTextMemory;

/* Creates a replacement by words of @memories [@n] (copied; the vocabularies are borrowed). @dictionary: path of a file
 * with lines of a source word, a tab and its translation; NULL or "": no dictionary. Fails with PLAIT_ERROR_INPUT, and
 * the line, if the file is not like that or has a word twice. (transfer full) */
PlaitUnknownReplacement *plait_unknown_replacement_new (const PlaitTextMemory *memories, guint n,
                                                        const char *dictionary, GError **error);
void plait_unknown_replacement_free (PlaitUnknownReplacement *replacement);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitUnknownReplacement, plait_unknown_replacement_free)

/* Sets the words of the unknown tokens without text of @hypothesis, a translation of sentence @sentence of @batch.
 * @attention is its record. An unknown token keeps its piece as text if the decoder attends to no word there. Fails if
 * the encoders of all sources of the sentence make rows that are not tokens. */
gboolean plait_unknown_replace (const PlaitUnknownReplacement *replacement, const PlaitBatch *batch, gint64 sentence,
                                const PlaitAttentionRecord *attention, PlaitHypothesis *hypothesis, GError **error);
