/* SPDX-License-Identifier: MIT */
#pragma once

#include "layers/parameter.h"
#include "hdf5/store.h"

/* Parameters, and numbers that go with them, in files: PATH/NAME is the tensor of parameter NAME, [rows, width]. */

/* Writes @array, laid out as the parameters' values are. */
gboolean plait_parameters_write_array (const PlaitParameters *parameters, const PlaitScalar *array, PlaitStore *store,
                                       const char *path, GError **error);

/* What an element can be; undefined ones are in no range. */
typedef struct
{
  PlaitScalar minimum;
  PlaitScalar maximum;
} PlaitRange;

extern const PlaitRange plait_range_finite;

/* Reads it back. Refuses shapes and names that differ and elements that are not finite, naming the parameter, what was
 * found and what expected. */
gboolean plait_parameters_read_array (const PlaitParameters *parameters, PlaitScalar *array, PlaitStore *store,
                                      const char *path, GError **error);

/* That of @parameter alone, at its place in @array, from below @path; elements are to be within @range. */
gboolean plait_parameter_read_array (const PlaitParameter *parameter, PlaitScalar *array, PlaitRange range,
                                     PlaitStore *store, const char *path, GError **error);

/* The first @rows rows of @parameter from the dataset @path, which has as many, whatever its name;
 * plait_parameters_write_values has been called. */
gboolean plait_parameter_read (const PlaitParameter *parameter, gint64 rows, PlaitStore *store, const char *path,
                               GError **error);

/* All values. */
gboolean plait_parameters_write (const PlaitParameters *parameters, PlaitStore *store, const char *path,
                                 GError **error);
gboolean plait_parameters_read (PlaitParameters *parameters, PlaitStore *store, const char *path, GError **error);
