/* SPDX-License-Identifier: MIT */
#pragma once

#include "metrics/metric.h"
#include "dumps/word-alignment.h"

/*
 * Word alignments of the references of a test split, made of the attention of forced decoding (word-alignment.h), and
 * their alignment error rate, precision and recall (metrics/alignment.c) against the file SPLIT.STREAM.alignment.
 */
typedef struct PlaitAlignmentScores PlaitAlignmentScores;

/* Sets *@scores to empty alignments of @corpus, to be filled while it is scored; to NULL if @split has no alignments.
 * Fails if the model cannot align a source that has some, or if a file cannot be read. (transfer full) */
gboolean plait_alignment_scores_new (const PlaitExperimentModel *experiment_model, const PlaitRunInputs *run_inputs,
                                     const char *split, const PlaitCorpus *corpus, PlaitAlignmentScores **scores,
                                     GError **error);
void plait_alignment_scores_free (PlaitAlignmentScores *scores);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitAlignmentScores, plait_alignment_scores_free)

/* Adds one sentence. A PlaitAttentionTaker with the scores as data, for batches of their corpus. */
gboolean plait_alignment_scores_take (const PlaitBatch *batch, gint64 sentence, const PlaitHypothesis *best,
                                      const PlaitAttentionRecord *attention, gpointer scores, GError **error);

/* Appends the scores of each source to @results (element-type PlaitResult), with intervals by [evaluate]. */
gboolean plait_alignment_scores_add_results (const PlaitAlignmentScores *scores, GPtrArray *results, GError **error);

/* Writes the alignments of each source, and those of its file, as lines of text to @path/SOURCE/hypotheses and
 * @path/SOURCE/references. */
gboolean plait_alignment_scores_write (const PlaitAlignmentScores *scores, PlaitStore *store, const char *path,
                                       GError **error);

/* Reads the alignments below @path of the score with metric text @metric and title @title. Sets *@scorer (transfer
 * full) to the metric. Returns NULL without an error if @metric is not a score of alignments. (transfer full) */
PlaitStatistics *plait_alignment_scores_read (PlaitStore *store, const char *path, const char *metric,
                                              const char *title, PlaitMetric **scorer, GError **error);
