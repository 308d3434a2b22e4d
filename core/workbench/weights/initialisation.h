/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/experiment-model.h"
#include "training/trainer.h"

/*
 * Initialises parameters from another run or from published weights ([train] initialise). Takes parameters that have
 * equal names and shapes. With train.initialise_map, makes parameters of the tensors that the map names. The globs
 * initialise_take and initialise_leave select among the parameters. All others keep their random values.
 *
 * If the model has more learned positions than the origin, only the model's first positions are taken;
 * initialise_positions may ask to repeat them. Parameters whose rows or columns are words, labels or tags (embeddings,
 * output layers) are taken from a run only if the vocabularies are equal. For published weights, only the number of
 * words can be checked.
 */
typedef struct PlaitInitialisation PlaitInitialisation;

/* Takes parameters into @experiment_model as [train] of @experiment says. Fails if the file is neither a run nor
 * weights, if the run is damaged or lacks the checkpoint, if values are not finite, if a tensor that the map requires
 * is missing or does not fit, if the published model needs a tensor that this model does not use
 * (plait_published_check_unused), or if no parameter is taken. (transfer full) */
PlaitInitialisation *plait_initialisation_new (const PlaitExperiment *experiment, const PlaitRunInputs *run_inputs,
                                               const PlaitExperimentModel *experiment_model, GError **error);
void plait_initialisation_free (PlaitInitialisation *initialisation);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitInitialisation, plait_initialisation_free)

/* If train.initialise_state=optimizer, gives @trainer the optimizer state of the run: the moments of the parameters
 * that were taken whole, and the position in the learning-rate schedule. Logs the number of moments. Fails if the
 * optimizers differ, or if the run's last checkpoint has no optimizer state. */
gboolean plait_initialisation_take_state (const PlaitInitialisation *initialisation, PlaitTrainer *trainer,
                                          PlaitLog *log, GError **error);

/* Logs in a few lines which parameters were taken, keep random values, or did not fit, and which tensors were not used.
 * Joins names that have a common prefix and the same outcome. Warns about settings that differ from those of the origin
 * and about globs that match no parameter. */
void plait_initialisation_log (const PlaitInitialisation *initialisation, PlaitLog *log);

/* Returns the number of parameter tensors taken, whole or in part. Sets *@all to the number of all parameter
 * tensors. */
guint plait_initialisation_taken (const PlaitInitialisation *initialisation, guint *all);

/* Writes /initialisation: the attributes run, checkpoint, take and leave, and the table parameters with columns name,
 * outcome, rows, width, rows_there and width_there (of the run or weights; 0: not known). Outcomes are: taken; grown
 * (only the first rows were taken); fresh (missing in the run or weights); left (because of the globs); other shape;
 * other vocabulary. For published weights, run is their file and checkpoint is empty. */
gboolean plait_initialisation_write (const PlaitInitialisation *initialisation, PlaitStore *store, GError **error);
