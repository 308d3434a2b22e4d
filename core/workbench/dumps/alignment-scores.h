/* SPDX-License-Identifier: MIT */
#pragma once

#include "metrics/metric.h"
#include "dumps/word-alignment.h"

/*
 * Word alignments between sources and references of a test split, computed from the attention of forced decoding
 * (word-alignment.h). Their alignment error rate, precision and recall (metrics/alignment.c) are measured against the
 * file SPLIT.STREAM.alignment.
 */
typedef struct PlaitAlignmentScores PlaitAlignmentScores;

/* Sets *@scores to empty alignments of @corpus; plait_alignment_scores_take() fills them while the corpus is scored.
 * Sets *@scores to NULL if @split has no alignment files; a named evaluation (SPLIT.NAME) never has any. Fails if the
 * model cannot align a source that has such a file, or if a file cannot be read. (transfer full) */
gboolean plait_alignment_scores_new (const PlaitExperimentModel *experiment_model, const PlaitRunInputs *run_inputs,
                                     const char *split, const PlaitCorpus *corpus, PlaitAlignmentScores **scores,
                                     GError **error);
void plait_alignment_scores_free (PlaitAlignmentScores *scores);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitAlignmentScores, plait_alignment_scores_free)

/* A PlaitAttentionTaker whose data is @scores: aligns one sentence of the corpus and stores the alignment in
 * @scores. */
gboolean plait_alignment_scores_take (const PlaitBatch *batch, gint64 sentence, const PlaitHypothesis *best,
                                      const PlaitAttentionRecord *attention, gpointer scores, GError **error);

/* Appends the scores of each source to @results (element-type PlaitResult), with bootstrap intervals as [evaluate]
 * says. */
gboolean plait_alignment_scores_add_results (const PlaitAlignmentScores *scores, GPtrArray *results, GError **error);

/* Writes the alignments of each source below @group, the group of an evaluation (text-scores.h): the model's as
 * hypotheses, those of the alignment file as references. */
gboolean plait_alignment_scores_write (const PlaitAlignmentScores *scores, PlaitStore *store, const char *group,
                                       GError **error);
