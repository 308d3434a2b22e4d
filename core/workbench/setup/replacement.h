/* SPDX-License-Identifier: MIT */
#pragma once

#include "search/unknown.h"
#include "setup/experiment-model.h"

/* Returns the memories of @experiment_model that were made of text, one of each source, in the experiment's order:
 * those whose name is the name of their source. (transfer full) (element-type PlaitTextMemory) */
GArray *plait_text_memories_new (const PlaitExperimentModel *experiment_model, const PlaitRunInputs *run_inputs);

/* If decode.unknown=replace, makes @search replace unknown words of translations by @experiment_model. Fails if the
 * decoder attends to the tokens of no source, or if the dictionary cannot be read. */
gboolean plait_replacement_prepare (PlaitSearch *search, const PlaitExperimentModel *experiment_model,
                                    const PlaitRunInputs *run_inputs, GError **error);
