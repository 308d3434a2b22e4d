/* SPDX-License-Identifier: MIT */
#include "training/parameters.h"
#include "layers/parameter-set.h"

#ifdef PLAIT_SCALAR_DOUBLE
const PlaitRange plait_range_finite = { -G_MAXDOUBLE, G_MAXDOUBLE };
#else
const PlaitRange plait_range_finite = { -G_MAXFLOAT, G_MAXFLOAT };
#endif

/* Returns the part of @array, laid out as the parameters' values, that belongs to @parameter. */
static PlaitTensor
within (const PlaitParameter *parameter, PlaitScalar *array)
{
  return plait_tensor (array + parameter->offset, parameter->value.rows, parameter->value.width);
}

gboolean
plait_parameters_write_array (const PlaitParameters *parameters, const PlaitScalar *array, PlaitStore *store,
                              const char *path, GError **error)
{
  for (guint i = 0; i < plait_parameters_n (parameters); i++)
    {
      const PlaitParameter *parameter = plait_parameters_get (parameters, i);
      g_autofree char *name = g_strdup_printf ("%s/%s", path, parameter->name);

      if (!plait_store_write_tensor (store, name, within (parameter, (PlaitScalar *)array), error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
is_within_range (PlaitTensor tensor, PlaitRange range)
{
  gint64 n = tensor.rows * tensor.width;
  gint64 within = 0;

  for (gint64 i = 0; i < n; i++)
    within += tensor.data[i] >= range.minimum && tensor.data[i] <= range.maximum;
  return within == n;
}

static gboolean
read_tensor (PlaitTensor tensor, PlaitRange range, PlaitStore *store, const char *path, GError **error)
{
  if (!plait_store_read_tensor (store, path, tensor, error))
    return FALSE;
  if (is_within_range (tensor, range))
    return TRUE;
  return plait_fail (
      error, PLAIT_ERROR_CORRUPT,
      "%s: %s has values that are undefined or out of range, expected %g to %g; restore a copy or begin a new run",
      plait_store_path (store), path, (double)range.minimum, (double)range.maximum);
}

gboolean
plait_parameter_read (const PlaitParameter *parameter, gint64 rows, PlaitStore *store, const char *path, GError **error)
{
  return read_tensor (plait_tensor_rows (parameter->value, 0, rows), plait_range_finite, store, path, error);
}

gboolean
plait_parameter_read_array (const PlaitParameter *parameter, PlaitScalar *array, PlaitRange range, PlaitStore *store,
                            const char *path, GError **error)
{
  g_autofree char *name = g_strdup_printf ("%s/%s", path, parameter->name);

  return read_tensor (within (parameter, array), range, store, name, error);
}

gboolean
plait_parameters_read_array (const PlaitParameters *parameters, PlaitScalar *array, PlaitStore *store, const char *path,
                             GError **error)
{
  for (guint i = 0; i < plait_parameters_n (parameters); i++)
    if (!plait_parameter_read_array (plait_parameters_get (parameters, i), array, plait_range_finite, store, path,
                                     error))
      return FALSE;
  return TRUE;
}

gboolean
plait_parameters_write (const PlaitParameters *parameters, PlaitStore *store, const char *path, GError **error)
{
  return plait_parameters_write_array (parameters, plait_parameters_values (parameters).data, store, path, error);
}

gboolean
plait_parameters_read (PlaitParameters *parameters, PlaitStore *store, const char *path, GError **error)
{
  return plait_parameters_read_array (parameters, plait_parameters_write_values (parameters).data, store, path, error);
}
