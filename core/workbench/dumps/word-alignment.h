/* SPDX-License-Identifier: MIT */
#pragma once

#include "search/search.h"
#include "setup/run-inputs.h"
#include "setup/replacement.h"
#include "cross-attention/token-attention.h"

/*
 * Word alignments in Pharaoh format, "0-0 2-1": pairs of a source word and a target word, in target order. Words are
 * what white space separates in the text, counted from 0. Each target word is aligned to the source word that gets most
 * of its attention.
 *
 * The attention to a source word is the sum over its pieces; the attention of a target word is the mean over its
 * pieces. A target word is not aligned if a token outside words, such as the end token, gets at least as much attention
 * as the best source word. It is also not aligned if the rows that are not tokens get at least as much in total. If two
 * source words get equal attention, the first wins.
 */
typedef struct
{
  const char *key; /* option or key that selects the attention, for messages; static */
  PlaitAttentionSelection selection;
  const PlaitVocabulary *target;
  guint n;
  PlaitTextMemory *sources; /* [n]: text sources of sentences that have a memory, in the experiment's order */
} PlaitWordAligner;

/* Returns an aligner for translations by @experiment_model. @selection is "mean", "last" or the number of a layer from
 * 0, optionally with ":" and a head; without a head, the mean of all heads is taken. @key is the option that gives
 * @selection, a static text. PLAIT_ERROR_INPUT if @selection has another form, or if nothing can be aligned: the model
 * has no decoder, no text source of sentences with a memory, or a target of documents. (transfer full) */
PlaitWordAligner *plait_word_aligner_new (const PlaitExperimentModel *experiment_model,
                                          const PlaitRunInputs *run_inputs, const char *key, const char *selection,
                                          GError **error);
void plait_word_aligner_free (PlaitWordAligner *aligner);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitWordAligner, plait_word_aligner_free)

/* Returns the alignment of sentence @sentence of @batch with its translation @found, computed from the @attention to
 * source number @source of the aligner. Empty if the source is missing. Fails if the rows of the source's memory are
 * not tokens, or if no selected attention reads the memory. (transfer full) */
char *plait_word_aligner_align (const PlaitWordAligner *aligner, guint source, const PlaitBatch *batch, gint64 sentence,
                                const PlaitAttentionRecord *attention, const PlaitHypothesis *found, GError **error);
