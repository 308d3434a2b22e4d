/* SPDX-License-Identifier: MIT */
#pragma once

#include "data/corpus.h"
#include "model/model.h"

/*
 * Whether a run fits, asked before it begins: what would else end it in the middle.
 */

/* Whether the machine has room for @parameters and the optimizer's moments; PLAIT_ERROR_MEMORY names size and keys.
 * Pages take memory only when they are touched, so that to have been given them says little. */
gboolean plait_fit_memory (const PlaitParameters *parameters, GError **error);

/* Whether the model can read all of @corpus (NULL: yes), of the split @split: its longest sentences, and features as
 * wide as those of @training (NULL: any). Names every sentence that it cannot read. */
gboolean plait_fit_corpus (const PlaitModel *model, const PlaitCorpus *training, const char *split,
                           const PlaitCorpus *corpus, GError **error);
