/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/experiment-model.h"
#include "training/trainer.h"

/*
 * Checks whether a run may continue an old one: the training must be the same, except that it may end later. Errors
 * name @output, the file that is continued.
 */

/* TRUE if the settings of @old train as @experiment does. Sets *@longer if @experiment ends later; only a finished run
 * may be continued past its end (@may_be_longer). */
gboolean plait_resume_check_settings (const PlaitExperiment *experiment, PlaitStore *old, const char *output,
                                      gboolean may_be_longer, gboolean *longer, GError **error);

/* TRUE if @old, whose settings were checked, also has the same data and plugins. @training_fingerprint and @run_inputs
 * are those of @experiment. */
gboolean plait_resume_check_made_of (const PlaitExperiment *experiment, const PlaitRunInputs *run_inputs,
                                     const char *training_fingerprint, PlaitStore *old, GError **error);

/* TRUE if @trainer, at the end of a finished run, has updates left. Warns if a longer plan would not validate at the
 * old end. */
gboolean plait_resume_check_longer (const PlaitTrainer *trainer, const PlaitExperiment *experiment, gboolean validates,
                                    const char *output, PlaitLog *log, GError **error);

/* TRUE if training @experiment from the beginning would pass through the final state of @old, a finished run with equal
 * settings, data and plugins and fewer updates. Continuing @old then gives the bits of training from the beginning.
 * @digests are those of the files of @experiment. */
gboolean plait_resume_comes_through (const PlaitExperiment *experiment, PlaitDigests *digests, PlaitStore *old);
