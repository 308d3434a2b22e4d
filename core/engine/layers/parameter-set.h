/* SPDX-License-Identifier: MIT */
#pragma once

#include "layers/parameter.h"

/*
 * Functions of parameters that the host and the layers call and plugins do not.
 */

/* An empty registry. (transfer full) */
PlaitParameters *plait_parameters_new (void);
void plait_parameters_free (PlaitParameters *parameters);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitParameters, plait_parameters_free)

/* Notes the fault that @condition does not hold, with the name of the function. */
#define plait_parameters_expect(parameters, condition)                                                                 \
  (G_LIKELY (condition) ? (void)0 : plait_parameters_expect_failed ((parameters), G_STRFUNC, #condition))
void plait_parameters_expect_failed (PlaitParameters *parameters, const char *function, const char *condition);

/* What the layer norms that are declared from here on add to the variance; 1e-6 until it is set. */
void plait_parameters_set_norm_epsilon (PlaitParameters *parameters, double epsilon);
double plait_parameters_norm_epsilon (const PlaitParameters *parameters);

/* From now on names of parameters begin with @prefix (borrowed; NULL: as they like); returns what they began with. */
const char *plait_parameters_set_prefix (PlaitParameters *parameters, const char *prefix);

/* The first fault of the declarations so far, as PLAIT_ERROR_PLUGIN; TRUE without one. */
gboolean plait_parameters_check (const PlaitParameters *parameters, GError **error);

/* A copy of @text in such memory. (transfer none) */
const char *plait_parameters_text (PlaitParameters *parameters, const char *text);

/* Gives all parameters storage: values and gradients zero. PLAIT_ERROR_MEMORY, naming the bytes, if there is none. */
gboolean plait_parameters_allocate (PlaitParameters *parameters, GError **error);

/* Sets all values as declared. Each depends on @seed, the parameter's name and its shape only. */
void plait_parameters_initialise (PlaitParameters *parameters, PlaitPool *pool, guint64 seed);

/* Lets weights begin as those of dl4mt do (nyu-dl/dl4mt-tutorial): square ones orthogonal, all others, and embeddings,
 * normal with the standard deviation 0.01. Biases, gains and forget gates stay as they are declared. Before
 * plait_parameters_initialise. */
void plait_parameters_follow_dl4mt (PlaitParameters *parameters);

/* How many parameters there are, and the @i-th in the order of declaration. (transfer none) */
guint plait_parameters_n (const PlaitParameters *parameters);
PlaitParameter *plait_parameters_get (const PlaitParameters *parameters, guint i);

/* The parameter @name, or NULL. (transfer none) */
PlaitParameter *plait_parameters_find (const PlaitParameters *parameters, const char *name);

/* The number of elements of all parameters whose name begins with @prefix (NULL: of all). Also before allocation. */
gint64 plait_parameters_count (const PlaitParameters *parameters, const char *prefix);

/*
 * All values as one row, to be read, in the order of declaration. Each parameter starts at a multiple of 64 bytes; what
 * stands between is zero and has zero gradient.
 */
PlaitTensor plait_parameters_values (const PlaitParameters *parameters);

/* The same for writing; drops the packed panels. Whoever writes values, one parameter's too, calls it first. */
PlaitTensor plait_parameters_write_values (PlaitParameters *parameters);

/* All gradients as one row: element i belongs to element i of the values. */
PlaitTensor plait_parameters_gradients (const PlaitParameters *parameters);

/* Makes all gradients zero. */
void plait_parameters_zero_gradients (PlaitParameters *parameters);

/* Declares that @parameter is multiplied by in search. Layers do so for their own. */
void plait_parameters_use (PlaitParameters *parameters, PlaitParameter *parameter, PlaitParameterUse use);

/* PLAIT_ERROR_INPUT if this processor has no instructions for products of @precision. */
gboolean plait_precision_check (PlaitPrecision precision, GError **error);

/* Packs the values of all weights and tables with @precision, so that a tape in PLAIT_TAPE_EVALUATE multiplies few rows
 * fast. PLAIT_ERROR_MEMORY if there is no room for the copies, PLAIT_ERROR_INPUT as above. */
gboolean plait_parameters_pack (PlaitParameters *parameters, PlaitPool *pool, PlaitPrecision precision, GError **error);

/* The leaf of @parameter, or NULL for NULL. (transfer none) */
PlaitNode *plait_parameter_node_if_any (PlaitTape *tape, const PlaitParameter *parameter);
