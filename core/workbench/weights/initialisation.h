/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/experiment-model.h"
#include "training/trainer.h"

/*
 * Initialises parameters from another run or from published weights ([train] initialise). Parameters of equal name and
 * shape are taken; with train.initialise_map they are made of the tensors that the map names. The globs initialise_take
 * and initialise_leave select among them. All others keep their random values. If the model has more learned positions,
 * the first are taken, and repeated if initialise_positions says so. Parameters of a vocabulary (embeddings, output
 * layer) are taken from a run only if the vocabularies are equal; for published weights only the number of words can be
 * checked.
 */
typedef struct PlaitInitialisation PlaitInitialisation;

/* Takes parameters into @experiment_model as [train] of @experiment says. Fails if the file is neither a run nor
 * weights, if the run lacks the checkpoint, if values are not finite, if a tensor that the map requires is missing or
 * does not fit, or if no parameter is taken. (transfer full) */
PlaitInitialisation *plait_initialisation_new (const PlaitExperiment *experiment, const PlaitRunInputs *run_inputs,
                                               const PlaitExperimentModel *experiment_model, GError **error);
void plait_initialisation_free (PlaitInitialisation *initialisation);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitInitialisation, plait_initialisation_free)

/* If train.initialise_state=optimizer, gives @trainer the moments of the parameters that were taken whole and the run's
 * place in the learning-rate schedule, and logs that. Fails if the optimizers differ. */
gboolean plait_initialisation_take_state (const PlaitInitialisation *initialisation, PlaitTrainer *trainer,
                                          PlaitLog *log, GError **error);

/* Logs in a few lines which parameters were taken, are fresh or did not fit; names with a common prefix and outcome are
 * joined. */
void plait_initialisation_log (const PlaitInitialisation *initialisation, PlaitLog *log);

/* Returns the number of parameters taken, whole or in part; *@all receives the number of all parameters. */
guint plait_initialisation_taken (const PlaitInitialisation *initialisation, guint *all);

/* Writes /initialisation: the attributes run, checkpoint, take and leave, and the table parameters with columns name,
 * outcome, shape here and shape there. Outcomes: taken; grown (first rows taken); fresh (missing there); left (by the
 * globs); other shape; other vocabulary. For published weights, run is their file and checkpoint is empty. */
gboolean plait_initialisation_write (const PlaitInitialisation *initialisation, PlaitStore *store, GError **error);
