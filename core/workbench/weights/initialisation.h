/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/experiment-model.h"
#include "training/trainer.h"

/*
 * Training that begins with the parameters of another run, or with weights out of a safetensors file ([train]
 * initialise): what is of the same name and shape is taken, by train.initialise_map what it is made of, as far as the
 * globs of initialise_take and initialise_leave let it; the rest keeps its random values. Of more learned positions
 * than are there, the first are taken, and repeated behind themselves where initialise_positions says so. What belongs
 * to the words of a vocabulary (embeddings, the output projection) is taken from a run only if the vocabulary is the
 * same; of weights only the number of words can be held against it.
 */
typedef struct PlaitInitialisation PlaitInitialisation;

/* Takes what @experiment asks for into the parameters of @experiment_model. A file that is neither, a run that lacks
 * the checkpoint, values that are no numbers, a tensor that the map asks for and that is not there or does not fit, and
 * a file that nothing is taken of are errors. (transfer full) */
PlaitInitialisation *plait_initialisation_new (const PlaitExperiment *experiment, const PlaitRunInputs *run_inputs,
                                               const PlaitExperimentModel *experiment_model, GError **error);
void plait_initialisation_free (PlaitInitialisation *initialisation);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitInitialisation, plait_initialisation_free)

/* Where train.initialise_state asks for it, gives @trainer the moments of the parameters that were taken whole, and the
 * run's place in the schedule; says so. Another optimizer is an error. */
gboolean plait_initialisation_take_state (const PlaitInitialisation *initialisation, PlaitTrainer *trainer,
                                          PlaitLog *log, GError **error);

/* Says what was taken, what is fresh and what did not fit, in a few lines: names that share a beginning and a fate as
 * one. */
void plait_initialisation_log (const PlaitInitialisation *initialisation, PlaitLog *log);

/* Returns how many parameters are taken, some of their rows or all, of *@all that there are. */
guint plait_initialisation_taken (const PlaitInitialisation *initialisation, guint *all);

/* Writes it as /initialisation: attributes run, checkpoint, take and leave, and the table parameters with
 * name, outcome (taken, grown: the first rows taken, fresh: not there, left: by the globs, other shape, other
 * vocabulary), the shape here and the one there. Of weights run is their file, and checkpoint is empty. */
gboolean plait_initialisation_write (const PlaitInitialisation *initialisation, PlaitStore *store, GError **error);
