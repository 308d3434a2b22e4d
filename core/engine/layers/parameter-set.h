/* SPDX-License-Identifier: MIT */
#pragma once

#include "layers/parameter.h"

/* Functions of parameters for the host and its layers, not for plugins. */

/* Returns an empty registry. (transfer full) */
PlaitParameters *plait_parameters_new (void);
void plait_parameters_free (PlaitParameters *parameters);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitParameters, plait_parameters_free)

/* Records a fault that names the function and @condition, if @condition is FALSE. */
#define plait_parameters_expect(parameters, condition)                                                                 \
  (G_LIKELY (condition) ? (void)0 : plait_parameters_expect_failed ((parameters), G_STRFUNC, #condition))
void plait_parameters_expect_failed (PlaitParameters *parameters, const char *function, const char *condition);

/* Sets the number that is added to the variance in layer normalisations, 1e-6 by default. The number holds for layers
 * that are declared after this call. */
void plait_parameters_set_norm_epsilon (PlaitParameters *parameters, double epsilon);
double plait_parameters_norm_epsilon (const PlaitParameters *parameters);

/* Sets the prefix of parameter names (borrowed; NULL: any name) and returns the previous prefix. The names of
 * parameters that are declared after this call must begin with @prefix. */
const char *plait_parameters_set_prefix (PlaitParameters *parameters, const char *prefix);

/* Returns FALSE with PLAIT_ERROR_PLUGIN and the first fault that was recorded, if there is one. */
gboolean plait_parameters_check (const PlaitParameters *parameters, GError **error);

/* Returns a copy of @text that lives as long as the registry. (transfer none) */
const char *plait_parameters_text (PlaitParameters *parameters, const char *text);

/* Allocates values and gradients of all parameters, zeroed. Returns FALSE with PLAIT_ERROR_MEMORY, which names the
 * number of bytes, if memory runs out, or with PLAIT_ERROR_PLUGIN as plait_parameters_check does. */
gboolean plait_parameters_allocate (PlaitParameters *parameters, GError **error);

/* Sets all values to their initial values. Random values depend only on @seed and on the parameter's name, shape and
 * PlaitInitial. */
void plait_parameters_initialise (PlaitParameters *parameters, PlaitPool *pool, guint64 seed);

/* Changes the initial values to those of dl4mt (nyu-dl/dl4mt-tutorial): square Glorot weights become orthogonal; other
 * random values become normal with standard deviation 0.01. Constants stay as declared. Call it before
 * plait_parameters_initialise. */
void plait_parameters_follow_dl4mt (PlaitParameters *parameters);

/* Return the number of parameters, and parameter @i in the order of declaration. (transfer none) */
guint plait_parameters_n (const PlaitParameters *parameters);
PlaitParameter *plait_parameters_get (const PlaitParameters *parameters, guint i);

/* Returns the parameter with name @name, or NULL. (transfer none) */
PlaitParameter *plait_parameters_find (const PlaitParameters *parameters, const char *name);

/* Returns the number of elements of all parameters whose names begin with @prefix (NULL: of all). Works before
 * allocation too. */
gint64 plait_parameters_count (const PlaitParameters *parameters, const char *prefix);

/*
 * Returns the values of all parameters as one row, for reading, in the order of declaration. Each parameter begins at a
 * multiple of 64 bytes; the gaps between are zero and have zero gradients.
 */
PlaitTensor plait_parameters_values (const PlaitParameters *parameters);

/* Returns the values of all parameters as one row, for writing, and frees the packed panels. Must be called before any
 * value is written. */
PlaitTensor plait_parameters_write_values (PlaitParameters *parameters);

/* Returns the gradients of all parameters as one row: element i is the gradient of element i of
 * plait_parameters_values. */
PlaitTensor plait_parameters_gradients (const PlaitParameters *parameters);

void plait_parameters_zero_gradients (PlaitParameters *parameters);

/* Sets how search multiplies by @parameter, and so how it is packed. Layers call it for their own parameters. */
void plait_parameters_use (PlaitParameters *parameters, PlaitParameter *parameter, PlaitParameterUse use);

/* Returns FALSE with PLAIT_ERROR_INPUT if products in @precision cannot run in this process
 * (plait_precision_runs_here). */
gboolean plait_precision_check (PlaitPrecision precision, GError **error);

/* Packs the parameters of PLAIT_USE_WEIGHT and PLAIT_USE_TABLE in @precision, and those of PLAIT_USE_STEP in full
 * precision. This makes products of few rows fast on a tape in PLAIT_TAPE_EVALUATE. Returns FALSE with
 * PLAIT_ERROR_MEMORY if memory runs out, or with PLAIT_ERROR_INPUT as plait_precision_check does. */
gboolean plait_parameters_pack (PlaitParameters *parameters, PlaitPool *pool, PlaitPrecision precision, GError **error);

/* Returns the leaf of @parameter on @tape, or NULL if @parameter is NULL. (transfer none) */
PlaitNode *plait_parameter_node_if_any (PlaitTape *tape, const PlaitParameter *parameter);
