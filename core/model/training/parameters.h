/* SPDX-License-Identifier: MIT */
#pragma once

#include "layers/parameter.h"
#include "hdf5/store.h"

/* Parameters, and arrays of equal layout such as moments, in files: PATH/NAME is the tensor of parameter NAME, [rows,
 * width]. */

/* Writes @array, laid out as the parameters' values. */
gboolean plait_parameters_write_array (const PlaitParameters *parameters, const PlaitScalar *array, PlaitStore *store,
                                       const char *path, GError **error);

/* Range of valid elements. NaN is in no range. */
typedef struct
{
  PlaitScalar minimum;
  PlaitScalar maximum;
} PlaitRange;

extern const PlaitRange plait_range_finite;

/* Reads an array that plait_parameters_write_array wrote. Fails if a name or shape differs or an element is not finite;
 * the message names the parameter and the expected shape or range. */
gboolean plait_parameters_read_array (const PlaitParameters *parameters, PlaitScalar *array, PlaitStore *store,
                                      const char *path, GError **error);

/* Reads the tensor of @parameter below @path into the parameter's place in @array. Fails if an element is not in
 * @range. */
gboolean plait_parameter_read_array (const PlaitParameter *parameter, PlaitScalar *array, PlaitRange range,
                                     PlaitStore *store, const char *path, GError **error);

/* Reads dataset @path, which has @rows rows and any name, into the first @rows rows of @parameter. Call
 * plait_parameters_write_values before. */
gboolean plait_parameter_read (const PlaitParameter *parameter, gint64 rows, PlaitStore *store, const char *path,
                               GError **error);

/* Write and read the values of all parameters. */
gboolean plait_parameters_write (const PlaitParameters *parameters, PlaitStore *store, const char *path,
                                 GError **error);
gboolean plait_parameters_read (PlaitParameters *parameters, PlaitStore *store, const char *path, GError **error);
