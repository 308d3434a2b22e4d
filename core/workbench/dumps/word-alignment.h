/* SPDX-License-Identifier: MIT */
#pragma once

#include "search/search.h"
#include "setup/run-inputs.h"
#include "setup/experiment-model.h"
#include "dumps/token-attention.h"

/*
 * Which word of a source each word of a translation attends to most, as Pharaoh and its descendants write it: "0-0
 * 2-1", source word and target word as white space parts them, from 0, in the order of the target.
 *
 * A source word has the attention that its pieces have together, a target word the mean of its pieces'. One that pays
 * more to what is no word, such as the source's end, is aligned to nothing; of two the former wins.
 */
typedef struct
{
  const char *name;
  guint source; /* of the batch */
  guint memory;
  const PlaitVocabulary *vocabulary;
} PlaitAlignedSource;

typedef struct
{
  PlaitAttentionSelection selection;
  const PlaitVocabulary *target;
  guint n;
  PlaitAlignedSource *sources; /* [n]: those whose memory is one of tokens, in the order of the experiment */
} PlaitWordAligner;

/* An aligner of translations by @experiment_model; @selection is "mean", "last", or the number of a layer from 0, and
 * behind that perhaps ":" and the number of a head, whose mean is taken otherwise. PLAIT_ERROR_INPUT if it is none of
 * them, or there is nothing to align: no decoder, no source of tokens, documents. (transfer full) */
PlaitWordAligner *plait_word_aligner_new (const PlaitExperimentModel *experiment_model,
                                          const PlaitRunInputs *run_inputs, const char *selection, GError **error);
void plait_word_aligner_free (PlaitWordAligner *aligner);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitWordAligner, plait_word_aligner_free)

/* The alignment of sentence @sentence of @batch to its translation @found, which paid @attention, with source
 * @sources[@source]; empty if that is missing there. Fails if nothing of the aligner's part attends to the tokens of
 * the source. (transfer full) */
char *plait_word_aligner_align (const PlaitWordAligner *aligner, guint source, const PlaitBatch *batch, gint64 sentence,
                                const PlaitAttentionRecord *attention, const PlaitHypothesis *found, GError **error);
