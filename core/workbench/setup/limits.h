/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/experiment-model.h"

/* Checks before a run that memory and model suffice, so that it does not fail in the middle. */

/* TRUE if the machine has memory for @parameters and the optimizer's moments; PLAIT_ERROR_MEMORY names size and keys.
 * An allocation alone proves nothing, because pages take memory when they are first written. */
gboolean plait_limits_check_memory (const PlaitParameters *parameters, GError **error);

/* Returns how many rows stream @stream (n_sources: the target) of @model can have; it is known to be less than
 * @too_many. */
gint64 plait_limits_max_rows (const PlaitModel *model, guint stream, gint64 too_many);

/* Checks, before vocabularies are learnt, that the model of @experiment can read its text. If data.too_long=error,
 * fails with the names of all sentences with more words than the model has positions. Skips generated text, text with a
 * given vocabulary, and training text if tuples may be dropped. */
gboolean plait_limits_check_words (const PlaitExperiment *experiment, GError **error);

/* Checks that the model can read @corpus (may be NULL) of split @split, and that its features are as wide as those of
 * @training (may be NULL). Too long tuples are truncated, or dropped if @corpus is @training, by data.too_long, and
 * logged; otherwise the error names all of them. */
gboolean plait_limits_check_corpus (const PlaitExperimentModel *experiment_model, const PlaitCorpus *training,
                                    const char *split, PlaitCorpus *corpus, PlaitLog *log, GError **error);
