/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/experiment-model.h"
#include "training/trainer.h"

/*
 * Checks whether a run may continue an old one. Their training must be equal, except that the new training may end
 * later. Errors name @output, the file to be continued.
 */

/* TRUE if the settings of the run @old and of @experiment give equal training; then sets *@longer to FALSE. With
 * @may_be_longer, for a finished run, also TRUE if only the end of training (train.epochs, updates, patience) differs
 * and the schedule has no end; then sets *@longer to TRUE. */
gboolean plait_resume_check_settings (const PlaitExperiment *experiment, PlaitStore *old, const char *output,
                                      gboolean may_be_longer, gboolean *longer, GError **error);

/* TRUE if @old, whose settings were checked, also has the same data and plugins as @experiment. @training_fingerprint
 * and @run_inputs belong to @experiment. */
gboolean plait_resume_check_made_of (const PlaitExperiment *experiment, const PlaitRunInputs *run_inputs,
                                     const char *training_fingerprint, PlaitStore *old, GError **error);

/* TRUE if @trainer, which is at the end of a finished run, has updates left. A finished run has validated at its
 * end. If @validates is TRUE (there is validation text), warns if a single longer run would not have validated at
 * this update. */
gboolean plait_resume_check_longer (const PlaitTrainer *trainer, const PlaitExperiment *experiment, gboolean validates,
                                    const char *output, PlaitLog *log, GError **error);

/* TRUE if @old, a finished run, differs from @experiment only in an earlier end of training, and if training
 * @experiment from the beginning would pass through the final state of @old. Then continuing @old gives the same bits
 * as training from the beginning. @digests are those of the files of @experiment. FALSE also if @old cannot be read. */
gboolean plait_resume_comes_through (const PlaitExperiment *experiment, PlaitDigests *digests, PlaitStore *old);
