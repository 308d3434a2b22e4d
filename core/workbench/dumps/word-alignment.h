/* SPDX-License-Identifier: MIT */
#pragma once

#include "search/search.h"
#include "setup/run-inputs.h"
#include "setup/replacement.h"
#include "cross-attention/token-attention.h"

/*
 * Word alignments in Pharaoh format, "0-0 2-1": source word and target word, separated by white space in the text,
 * counted from 0, in target order. Each target word is aligned to the source word with most of its attention.
 *
 * The attention of a source word is the sum over its pieces, that of a target word the mean over its pieces. A target
 * word with more attention outside words, such as on the source's end, is not aligned. If two source words are equal,
 * the first wins.
 */
typedef struct
{
  const char *key; /* option or key that chooses the attention, for messages; static */
  PlaitAttentionSelection selection;
  const PlaitVocabulary *target;
  guint n;
  PlaitTextMemory *sources; /* [n]: sources whose memory is made of tokens, in the experiment's order */
} PlaitWordAligner;

/* Returns an aligner for translations by @experiment_model. @selection is "mean", "last" or a layer from 0, optionally
 * with ":" and a head; without a head it is the mean of all heads; @key, static, is the option that gives it.
 * PLAIT_ERROR_INPUT for other text, or if nothing can be aligned: no decoder, no source of tokens, documents. (transfer
 * full) */
PlaitWordAligner *plait_word_aligner_new (const PlaitExperimentModel *experiment_model,
                                          const PlaitRunInputs *run_inputs, const char *key, const char *selection,
                                          GError **error);
void plait_word_aligner_free (PlaitWordAligner *aligner);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitWordAligner, plait_word_aligner_free)

/* Returns the alignment of sentence @sentence of @batch with its translation @found, from @attention to the source with
 * index @source in the aligner. Empty if the source is missing. Fails if no selected attention reads the tokens of the
 * source. (transfer full) */
char *plait_word_aligner_align (const PlaitWordAligner *aligner, guint source, const PlaitBatch *batch, gint64 sentence,
                                const PlaitAttentionRecord *attention, const PlaitHypothesis *found, GError **error);
