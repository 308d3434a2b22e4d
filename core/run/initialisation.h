/* SPDX-License-Identifier: MIT */
#pragma once

#include "run/system.h"

/*
 * Training that begins with the parameters of another run ([train] initialise), as the second of two phases does: what
 * is of the same name and shape is taken, as far as the globs of initialise_take and initialise_leave let it, the rest
 * keeps its random values. Of more learned positions than that run has, the first are taken. What belongs to the words
 * of a vocabulary (embeddings, the output projection) is taken only if the vocabulary is the same.
 */
typedef struct PlaitInitialisation PlaitInitialisation;

/* Takes what @experiment asks for into the parameters of @system. A file that is no run or lacks the checkpoint, values
 * that are no numbers, and a run that nothing is taken of are errors. (transfer full) */
PlaitInitialisation *plait_initialisation_new (const PlaitExperiment *experiment, const PlaitMaterials *materials,
                                               const PlaitSystem *system, GError **error);
void plait_initialisation_free (PlaitInitialisation *initialisation);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitInitialisation, plait_initialisation_free)

/* Says what was taken, what is fresh and what did not fit, in a few lines: names that share a beginning and a fate as
 * one. */
void plait_initialisation_tell (const PlaitInitialisation *initialisation, PlaitLog *log);

/* Writes it as /initialisation: attributes run, checkpoint, take and leave, and the table parameters with
 * name, outcome (taken, grown: the first rows taken, fresh: not in that run, left: by the globs, other shape, other
 * vocabulary), the shape here and the one there. */
gboolean plait_initialisation_write (const PlaitInitialisation *initialisation, PlaitStore *store, GError **error);
