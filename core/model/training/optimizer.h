/* SPDX-License-Identifier: MIT */
#pragma once

#include "layers/parameter.h"
#include "hdf5/store.h"
#include "training/settings.h"

/* Adam (Kingma & Ba 2014), Adadelta (Zeiler 2012) or Lion (Chen et al. 2023) over all parameters of a model, with
 * clipping by the global norm. */
typedef struct PlaitOptimizer PlaitOptimizer;

/* Creates an optimizer whose moments (Adadelta: mean squares) are zero. @settings must outlive the optimizer. Fails
 * with PLAIT_ERROR_MEMORY if the moments do not fit. (transfer full) */
PlaitOptimizer *plait_optimizer_new (const PlaitTrainSettings *settings, PlaitParameters *parameters, GError **error);
void plait_optimizer_free (PlaitOptimizer *optimizer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitOptimizer, plait_optimizer_free)

/* Makes update @step (first: 1) at learning rate @rate, on the pool of @tape. Returns the norm of the gradients before
 * clipping. If the norm is not finite, changes nothing. If @tape keeps gradients, reads them from @tape, and only those
 * that @tape lacks from the parameters. Else reads the gradients of all parameters, and sets them to zero. */
double plait_optimizer_update (PlaitOptimizer *optimizer, PlaitTape *tape, gint64 step, double rate);

/* Returns the size of the moments in bytes. @settings NULL: for the optimizer that has the most moments. */
gsize plait_optimizer_bytes (const PlaitTrainSettings *settings, const PlaitParameters *parameters);

/* Writes the moments below @path. Adam: first/NAME and second/NAME; Lion: first/NAME; Adadelta: squared_gradients/NAME
 * and squared_updates/NAME. NAME is the name of a parameter. */
gboolean plait_optimizer_write (const PlaitOptimizer *optimizer, PlaitStore *store, const char *path, GError **error);
gboolean plait_optimizer_read (PlaitOptimizer *optimizer, PlaitStore *store, const char *path, GError **error);

/* Reads the moments of @parameter alone. */
gboolean plait_optimizer_read_one (PlaitOptimizer *optimizer, const PlaitParameter *parameter, PlaitStore *store,
                                   const char *path, GError **error);
