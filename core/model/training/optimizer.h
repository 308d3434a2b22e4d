/* SPDX-License-Identifier: MIT */
#pragma once

#include "layers/parameter.h"
#include "hdf5/store.h"
#include "training/settings.h"

/* Adam (Kingma & Ba 2014) or Adadelta (Zeiler 2012) over all parameters of a model, with
 * clipping by the global norm. */
typedef struct PlaitOptimizer PlaitOptimizer;

/* Moments (of Adadelta: mean squares) are zero. @settings must outlive the optimizer. PLAIT_ERROR_MEMORY if they do not
 * fit. (transfer full) */
PlaitOptimizer *plait_optimizer_new (const PlaitTrainSettings *settings, PlaitParameters *parameters, GError **error);
void plait_optimizer_free (PlaitOptimizer *optimizer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitOptimizer, plait_optimizer_free)

/* Makes update @step (1: the first) at @rate from the gradients that @tape keeps, or else from those of the parameters,
 * which are left zero. Returns the norm of the gradients before clipping; if it is not finite, nothing is changed. The
 * tape also gives pool and scratch. */
double plait_optimizer_update (PlaitOptimizer *optimizer, PlaitTape *tape, gint64 step, double rate);

/* Bytes that the moments take. */
gsize plait_optimizer_bytes (const PlaitParameters *parameters);

/* Writes the moments below @path: first/NAME and second/NAME, of Adadelta squared_gradients/NAME and
 * squared_updates/NAME, NAME being a parameter's. */
gboolean plait_optimizer_write (const PlaitOptimizer *optimizer, PlaitStore *store, const char *path, GError **error);
gboolean plait_optimizer_read (PlaitOptimizer *optimizer, PlaitStore *store, const char *path, GError **error);

/* Reads those of @parameter alone. */
gboolean plait_optimizer_read_one (PlaitOptimizer *optimizer, const PlaitParameter *parameter, PlaitStore *store,
                                   const char *path, GError **error);
