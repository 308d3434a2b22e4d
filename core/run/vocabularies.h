/* SPDX-License-Identifier: MIT */
#pragma once

#include "run/materials.h"

/*
 * The vocabularies of an experiment, one of each name: read from what data.vocabulary.NAME names, a file or a run; or
 * that of the run which training begins with (train.initialise); or learnt from the training text.
 */

/* Finds them all; from @run (or NULL), one of the experiment, they are as it has them. *@materials need not have them
 * yet. @pool (may be NULL) shares the learning. Says of each where it is from. A table from names to vocabularies.
 * (transfer full) */
GHashTable *plait_vocabularies_find (const PlaitMaterials *materials, PlaitStore *run, PlaitPool *pool, PlaitLog *log,
                                     GError **error);

/* Writes those that @experiment uses of @vocabularies below /vocabulary. */
gboolean plait_vocabularies_write (const PlaitExperiment *experiment, GHashTable *vocabularies, PlaitStore *store,
                                   GError **error);
