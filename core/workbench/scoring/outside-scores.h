/* SPDX-License-Identifier: MIT */
#pragma once

#include "scoring/evaluation.h"

/*
 * External scores (evaluate.scores.NAME): numbers that a command or a file gives, one for each line or document of a
 * test split.
 *
 * The command is run by sh in data.folder, with the name of the split (without the name of a named evaluation) in the
 * variable PLAIT_SPLIT. It reads one input line for each line or document, and prints one number for each input line.
 * An input line has the translation, the first reference and the text sources in the experiment's order, separated by
 * tabs. In these fields, tabs, line ends and other ASCII white space become spaces.
 */

/* Computes all external scores of @evaluation. Adds them to its results and, if there are length bins, to its lengths.
 * A score that fails is logged; the error of the first one is kept in evaluation->fault. Fails only if evaluator->stop
 * interrupts a command, or a result cannot be computed. */
gboolean plait_outside_scores_add (PlaitEvaluation *evaluation, const PlaitEvaluator *evaluator, GError **error);

/* Writes each external score, NAME, to the dataset @path/NAME: a number for each line or document. */
gboolean plait_outside_scores_write (const PlaitEvaluation *evaluation, PlaitStore *store, const char *path,
                                     GError **error);

/* Returns the scores below @path that belong to the metric with text @metric. Sets *@scorer (transfer full) to the
 * metric. Returns NULL without an error if @metric is not an external score. (transfer full) */
PlaitStatistics *plait_outside_scores_read (PlaitStore *store, const char *path, const char *metric,
                                            PlaitMetric **scorer, GError **error);
