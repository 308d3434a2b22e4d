/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/experiment-model.h"
#include "training/trainer.h"

/*
 * Whether a run may go on with what is there of an old one: of the same training, whose end alone may come later.
 * Errors name @output, the file that it is to go on in.
 */

/* TRUE if @old was begun with the settings that train as @experiment says. @longer: whether they train it further, past
 * its end, which only a finished run may be (@may_be_longer). */
gboolean plait_resume_check_settings (const PlaitExperiment *experiment, PlaitStore *old, const char *output,
                                      gboolean may_be_longer, gboolean *longer, GError **error);

/* TRUE if @old, of such settings, is one of the same data and plugins too. @training_fingerprint is that of
 * @experiment, whose materials @run_inputs are. */
gboolean plait_resume_check_made_of (const PlaitExperiment *experiment, const PlaitRunInputs *run_inputs,
                                     const char *training_fingerprint, PlaitStore *old, GError **error);

/* TRUE if @trainer, where a finished run was left, has something to do: it is trained further, never less. Warns if
 * the validation at its end is none of a longer plan. */
gboolean plait_resume_check_longer (const PlaitTrainer *trainer, const PlaitExperiment *experiment, gboolean validates,
                                    const char *output, PlaitLog *log, GError **error);

/* TRUE if @old, a finished run, is what the training of @experiment comes through: it is of the same settings, data and
 * plugins, but was asked to end earlier, and what stands at its end is what a longer training has there, so that going
 * on comes to the same bits as training anew. @digests are those of @experiment's files. */
gboolean plait_resume_comes_through (const PlaitExperiment *experiment, PlaitDigests *digests, PlaitStore *old);
