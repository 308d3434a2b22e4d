/* SPDX-License-Identifier: MIT */
#pragma once

#include "search/translate.h"
#include "setup/experiment-model.h"

/* Tags that a model predicts besides its target (decoders/source-tags.h), for a split that has them. Their accuracy is
 * the share of words with the right tag. */
typedef struct PlaitTagScores PlaitTagScores;

/* Returns scores without tags; plait_tag_scores_take() adds the tags of each line of @corpus. NULL if @corpus lacks all
 * tags that the model predicts. Keeps pointers to the arguments. (transfer full) */
PlaitTagScores *plait_tag_scores_new (const PlaitExperimentModel *experiment_model, const PlaitRunInputs *run_inputs,
                                      const PlaitCorpus *corpus);
void plait_tag_scores_free (PlaitTagScores *scores);

/* A PlaitEncodingTaker whose data is @scores: stores the tags of a batch of the corpus. */
void plait_tag_scores_take (const PlaitBatch *batch, const PlaitEncoderOutputs *outputs, gpointer scores);

/* Appends the accuracy of each stream of tags to @results (element-type PlaitResult), with bootstrap intervals as
 * [evaluate] says. */
gboolean plait_tag_scores_add_results (const PlaitTagScores *scores, GPtrArray *results, GError **error);

/* Writes the tags below @group, the group of an evaluation (dumps/text-scores.h). */
gboolean plait_tag_scores_write (const PlaitTagScores *scores, PlaitStore *store, const char *group, GError **error);
