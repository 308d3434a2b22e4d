/* SPDX-License-Identifier: MIT */
#pragma once

#include "hdf5/store.h"
#include "layers/parameter.h"

/*
 * The checkpoints that a run keeps because of train.keep: /checkpoint/update-N/parameters, the parameters after update
 * N.
 */

/* Writes kept checkpoints to @store, at most the @limit newest: copies from the file @old (may be NULL) and, unless
 * @step is 0, a new checkpoint with @parameters after update @step. */
gboolean plait_kept_checkpoints_write (const PlaitParameters *parameters, gint64 step, gint64 limit, PlaitStore *old,
                                       PlaitStore *store, GError **error);
