/* SPDX-License-Identifier: MIT */
#pragma once

#include "scoring/evaluation.h"

/*
 * Scores from outside (evaluate.scores.NAME): numbers that a command or a file gives, one for each line or document of
 * a test split. The command is run by sh in data.folder with the name of the split in PLAIT_SPLIT. It reads a line for
 * each sentence, with tabs between translation, first reference and the sources of text in the experiment's order, in
 * which white space is single spaces, and prints a number for each.
 */

/* Computes all scores of @evaluation and adds them to its results and, with length bins, to its lengths. A score that
 * fails is logged, and its error is kept in evaluation->fault. Fails only if interrupted by @evaluator's flag. */
gboolean plait_outside_scores_add (PlaitEvaluation *evaluation, const PlaitEvaluator *evaluator, GError **error);

/* Writes the scores of each sentence to @path/NAME. */
gboolean plait_outside_scores_write (const PlaitEvaluation *evaluation, PlaitStore *store, const char *path,
                                     GError **error);

/* Reads the scores below @path of the metric with text @metric. Sets *@scorer (transfer full) to the metric. Returns
 * NULL without an error if @metric is not a score from outside. (transfer full) */
PlaitStatistics *plait_outside_scores_read (PlaitStore *store, const char *path, const char *metric,
                                            PlaitMetric **scorer, GError **error);
