/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/experiment-model.h"

/* Tags that a model predicts besides its target (decoders/source-tags.h). */
typedef struct PlaitTagLines PlaitTagLines;

/* Returns an empty list of lines for each stream of tags. Keeps pointers to the arguments. (transfer full) */
PlaitTagLines *plait_tag_lines_new (const PlaitExperimentModel *experiment_model, const PlaitRunInputs *run_inputs);
void plait_tag_lines_free (PlaitTagLines *lines);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTagLines, plait_tag_lines_free)

/* Appends a line for each sentence of @batch: the tags predicted for the first piece of each word, joined by spaces. If
 * @outputs is NULL, appends empty lines. */
void plait_tag_lines_append (PlaitTagLines *lines, const PlaitBatch *batch, const PlaitEncoderOutputs *outputs);

/* Writes the lines of each stream to /tags/SOURCE.TAGS. */
gboolean plait_tag_lines_write (const PlaitTagLines *lines, PlaitStore *store, GError **error);
