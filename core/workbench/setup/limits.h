/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/experiment-model.h"

/*
 * Whether a run fits, asked before it begins: what would else end it in the middle.
 */

/* TRUE if the machine has room for @parameters and the optimizer's moments; PLAIT_ERROR_MEMORY names size and keys.
 * Pages take memory only when they are touched, so that to have been given them says little. */
gboolean plait_limits_check_memory (const PlaitParameters *parameters, GError **error);

/* Returns how many rows stream @stream (n_sources: the target) of @model can have, which cannot have @too_many. */
gint64 plait_limits_max_rows (const PlaitModel *model, guint stream, gint64 too_many);

/* Checks, before vocabularies are learnt, that the model of @experiment can read its text: a sentence of which even the
 * words are more than it can read is named, where data.too_long=error. Text that is generated, or whose vocabulary is
 * given, is not looked at, nor training text of which tuples are dropped. */
gboolean plait_limits_check_words (const PlaitExperiment *experiment, GError **error);

/* Checks that the model of @experiment_model can read all of @corpus (NULL: there is none), of the split @split, and
 * that its features are as wide as those of @training (NULL: any). What is too long is truncated, or if @corpus is
 * @training itself dropped, as data.too_long says, and logged; else every tuple that cannot be read is named. */
gboolean plait_limits_check_corpus (const PlaitExperimentModel *experiment_model, const PlaitCorpus *training,
                                    const char *split, PlaitCorpus *corpus, PlaitLog *log, GError **error);
