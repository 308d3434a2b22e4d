/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/experiment-model.h"

/* Checks that memory suffices and that the model can read the text, so that a run fails before it begins and not in the
 * middle. */

/* TRUE if the machine has memory for @parameters and for the optimizer's moments. Otherwise the error
 * (PLAIT_ERROR_MEMORY) names the size and the keys to change. An allocation proves nothing, because pages take memory
 * only when they are written. */
gboolean plait_limits_check_memory (const PlaitParameters *parameters, GError **error);

/* Returns the maximum number of rows that stream @stream (n_sources: the target) of @model can have. @too_many is any
 * number that is larger than this maximum. */
gint64 plait_limits_max_rows (const PlaitModel *model, guint stream, gint64 too_many);

/* Checks, before vocabularies are learnt, that the model of @experiment can read its text. Fails if sentences have more
 * words than the model has positions; the error names up to 100 of these sentences. Checks only if data.too_long=error
 * and train.initialise is not set (vocabularies may come from its run). Skips documents, generated text, text whose
 * vocabulary is given, and training text if tuples may be dropped. */
gboolean plait_limits_check_words (const PlaitExperiment *experiment, GError **error);

/* Checks that the model can read @corpus (may be NULL) of split @split, and that its features are as wide as those of
 * @training (may be NULL). If data.too_long=truncate, truncates sentences where this is possible. If data.too_long is
 * truncate or skip, drops unreadable tuples from the training corpus. Logs truncated sentences and dropped tuples.
 * Fails if unreadable tuples remain (the error names up to 100 of them), or if no tuple would remain. */
gboolean plait_limits_check_corpus (const PlaitExperimentModel *experiment_model, const PlaitCorpus *training,
                                    const char *split, PlaitCorpus *corpus, PlaitLog *log, GError **error);
