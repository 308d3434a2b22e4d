/* SPDX-License-Identifier: MIT */
#include "train/parameters.h"

/* The tensor of @parameter in an array laid out as the values are. */
static PlaitTensor
within (const PlaitParameter *parameter, PlaitScalar *array)
{
  return plait_tensor (array + parameter->offset, parameter->value.rows, parameter->value.width);
}

static gboolean
is_within (const PlaitParameter *parameter, gint64 n)
{
  return parameter->offset + parameter->value.rows * parameter->value.width <= n;
}

gboolean
plait_parameters_write_array (const PlaitParameters *parameters, const PlaitScalar *array, gint64 n, PlaitStore *store,
                              const char *path, GError **error)
{
  for (guint i = 0; i < plait_parameters_n (parameters); i++)
    {
      const PlaitParameter *parameter = plait_parameters_get (parameters, i);
      g_autofree char *name = g_strdup_printf ("%s/%s", path, parameter->name);

      if (is_within (parameter, n)
          && !plait_store_write_tensor (store, name, within (parameter, (PlaitScalar *)array), error))
        return FALSE;
    }
  return TRUE;
}

gboolean
plait_parameters_read_array (const PlaitParameters *parameters, PlaitScalar *array, gint64 n, PlaitStore *store,
                             const char *path, GError **error)
{
  for (guint i = 0; i < plait_parameters_n (parameters); i++)
    {
      const PlaitParameter *parameter = plait_parameters_get (parameters, i);
      g_autofree char *name = g_strdup_printf ("%s/%s", path, parameter->name);

      if (is_within (parameter, n) && !plait_store_read_tensor (store, name, within (parameter, array), error))
        return FALSE;
    }
  return TRUE;
}

gboolean
plait_parameters_write (const PlaitParameters *parameters, PlaitStore *store, const char *path, GError **error)
{
  PlaitTensor values = plait_parameters_values (parameters);

  return plait_parameters_write_array (parameters, values.data, values.width, store, path, error);
}

gboolean
plait_parameters_read (PlaitParameters *parameters, PlaitStore *store, const char *path, GError **error)
{
  PlaitTensor values = plait_parameters_write_values (parameters);

  return plait_parameters_read_array (parameters, values.data, values.width, store, path, error);
}
