/* SPDX-License-Identifier: MIT */
#include "weights/export.h"

#include "foreign/safetensors.h"
#include "layers/parameter-set.h"

gboolean
plait_export_safetensors (const PlaitTrained *trained, const char *path, GError **error)
{
  const PlaitParameters *parameters = plait_model_parameters (trained->experiment_model->model);
  guint n = plait_parameters_n (parameters);
  g_autofree PlaitNamedTensor *tensors = g_new (PlaitNamedTensor, n);
  g_autofree char *experiment = plait_store_get_string (trained->store, "/", "experiment", error);
  const char *const metadata[] = { "format", "plait", "version", PLAIT_VERSION, "experiment", experiment, NULL };

  if (!experiment)
    return FALSE;
  for (guint i = 0; i < n; i++)
    {
      const PlaitParameter *parameter = plait_parameters_get (parameters, i);

      tensors[i] = (PlaitNamedTensor){ parameter->name, parameter->value };
    }
  return plait_safetensors_write (path, tensors, n, metadata, error);
}
