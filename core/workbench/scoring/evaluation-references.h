/* SPDX-License-Identifier: MIT */
#pragma once

#include "metrics/pieces.h"
#include "metrics/references.h"
#include "search/search.h"
#include "setup/run-inputs.h"

/* Functions that read the references of a split for metrics, and prepare texts for comparison with references. */

/* Returns the value of the key evaluate.join that stands for @pieces. (transfer none) */
const char *plait_evaluation_join_name (PlaitTextPieces pieces);

/* Joins the subword pieces of @texts into words, as evaluate.join says, if the model predicts sequences. @texts are
 * references, translations or sources of @split, NULL-terminated; their strings are replaced. If evaluate.join=none but
 * the texts look like pieces, warns on @log (may be NULL). */
void plait_evaluation_join (const PlaitExperiment *experiment, const char *split, char **texts, PlaitLog *log);

/* TRUE if @name in /evaluation is a named evaluation (SPLIT.NAME); names of splits have no dot. */
gboolean plait_evaluation_is_named (const char *name);

/* Returns the split that the evaluation @name, SPLIT or SPLIT.NAME, reads. (transfer full) */
char *plait_evaluation_split (const char *name);

/* Returns the references of @split (SPLIT or SPLIT.NAME), whose target is in @corpus. Joins pieces as
 * plait_evaluation_join() does. Fails if a file of further references has changed or has another number of texts.
 * (transfer full) */
PlaitReferences *plait_evaluation_references (const PlaitRunInputs *run_inputs, const char *split,
                                              const PlaitCorpus *corpus, PlaitLog *log, GError **error);

/* Checks that the metrics in the list @names accept @references, which belong to @split. Warns on @log (may be NULL)
 * if a metric finds no word in a reference. */
gboolean plait_evaluation_check_metrics (const PlaitReferences *references, const char *names, const char *split,
                                         PlaitLog *log, GError **error);

/* Reads the references of @corpus, which belongs to @split, and checks them as plait_evaluation_check_metrics() does.
 * TRUE without a check if @corpus is NULL or the model predicts masked tokens. */
gboolean plait_evaluation_check_references (const PlaitRunInputs *run_inputs, const char *names, const char *split,
                                            const PlaitCorpus *corpus, PlaitLog *log, GError **error);

/* Returns masked tokens as text, so that metrics of text apply: for each line or document of @corpus its masked pieces,
 * separated by spaces. The pieces are those that @found predicts; if @found is NULL, the correct ones. (transfer
 * full) */
char **plait_evaluation_masked_text (const PlaitCorpus *corpus, const PlaitVocabulary *vocabulary,
                                     const PlaitHypotheses *found, GError **error);
