/* SPDX-License-Identifier: MIT */
#pragma once

#include "search/unknown.h"
#include "setup/experiment-model.h"

/* Returns for each text source, in the experiment's order, the memory of @experiment_model that has the source's name.
 * Leaves out sources without such a memory. (transfer full) (element-type PlaitTextMemory) */
GArray *plait_text_memories_new (const PlaitExperimentModel *experiment_model, const PlaitRunInputs *run_inputs);

/* Fails if decode.unknown=replace, but the decoder does not attend to tokens of sources. */
gboolean plait_replacement_check (const PlaitExperimentModel *experiment_model, const PlaitRunInputs *run_inputs,
                                  GError **error);

/* If decode.unknown=replace, makes @search replace the unknown words of the translations that it finds. Fails if
 * the decoder does not attend to tokens of sources, or if the dictionary cannot be read. */
gboolean plait_replacement_prepare (PlaitSearch *search, const PlaitExperimentModel *experiment_model,
                                    const PlaitRunInputs *run_inputs, GError **error);
