/* SPDX-License-Identifier: MIT */
#pragma once

#include "metrics/pieces.h"
#include "metrics/references.h"
#include "search/search.h"
#include "setup/run-inputs.h"

/* The references of a split, as its metrics read them, and other texts that are compared with them. */

/* Returns the value of the key evaluate.join for @pieces. (transfer none) */
const char *plait_evaluation_join_name (PlaitTextPieces pieces);

/* Joins the pieces of @texts (NULL-terminated, references or translations of @split) by evaluate.join. If the key is
 * not set and the texts look like pieces, warns on @log (may be NULL). */
void plait_evaluation_join (const PlaitExperiment *experiment, const char *split, char **texts, PlaitLog *log);

/* Returns the references of @split, whose target is in @corpus, with their pieces joined like plait_evaluation_join.
 * (transfer full) */
PlaitReferences *plait_evaluation_references (const PlaitRunInputs *run_inputs, const char *split,
                                              const PlaitCorpus *corpus, PlaitLog *log, GError **error);

/* Checks that the metrics @names (may be NULL) accept @references, which belong to @split, and warns on @log (may be
 * NULL) of those in which a metric finds no word. */
gboolean plait_evaluation_check_metrics (const PlaitReferences *references, const char *names, const char *split,
                                         PlaitLog *log, GError **error);

/* Reads the references of @corpus, which belongs to @split, and checks them; a corpus without target text passes. */
gboolean plait_evaluation_check_references (const PlaitRunInputs *run_inputs, const char *names, const char *split,
                                            const PlaitCorpus *corpus, PlaitLog *log, GError **error);

/* Returns masked tokens as text, so that metrics of text apply: for each line or document of @corpus its masked pieces,
 * separated by spaces. The pieces are those predicted in @found or, if @found is NULL, the right ones. (transfer
 * full) */
char **plait_evaluation_masked_text (const PlaitCorpus *corpus, const PlaitVocabulary *vocabulary,
                                     const PlaitHypotheses *found, GError **error);
