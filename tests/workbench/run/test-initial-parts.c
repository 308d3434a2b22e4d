/* SPDX-License-Identifier: MIT */
#include "files.h"
#include "harness.h"
#include "initial.h"
#include "setup/trained.h"
#include "runs.h"
#include "foreign/safetensors.h"
#include "layers/parameter-set.h"

/* Tests of training that begins with weights in several files, which an index names. */

/* Writes the first or second half of the parameters of @trained to part-@number.safetensors. Adds @first to the first
 * value. */
static void
write_part (const PlaitTrained *trained, guint number, double first)
{
  const PlaitParameters *parameters = plait_model_parameters (trained->experiment_model->model);
  guint n = plait_parameters_n (parameters), begin = number == 1 ? 0 : n / 2, end = number == 1 ? n / 2 : n;
  g_autofree PlaitNamedTensor *tensors = g_new (PlaitNamedTensor, n);
  const char *path = plait_test_path (plait_test_format ("part-%u.safetensors", number));

  for (guint i = begin; i < end; i++)
    tensors[i - begin]
        = (PlaitNamedTensor){ plait_parameters_get (parameters, i)->name, plait_parameters_get (parameters, i)->value };
  tensors[0].value.data[0] += (PlaitScalar)first;
  CHECK (plait_safetensors_write (path, tensors, end - begin, (const char *[]){ NULL }, NO_ERROR));
  tensors[0].value.data[0] -= (PlaitScalar)first;
}

static void
write_index (const PlaitTrained *trained)
{
  const PlaitParameters *parameters = plait_model_parameters (trained->experiment_model->model);
  g_autoptr (GString) text = g_string_new ("{\"metadata\": {\"total_size\": 1}, \"weight_map\": {");
  guint n = plait_parameters_n (parameters);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "%s\"%s\": \"part-%d.safetensors\"", i > 0 ? ", " : "",
                            plait_parameters_get (parameters, i)->name, i < n / 2 ? 1 : 2);
  plait_test_write ("model.safetensors.index.json", g_string_append (text, "}}")->str);
}

TEST_CASE (initialise, takes_weights_in_parts)
{
  static const char *const overrides[] = { "train.initialise=model.safetensors.index.json", "train.updates=1", NULL };
  static const char *const longer[] = { "train.initialise=model.safetensors.index.json", "train.updates=2", NULL };
  const char *experiment = test_write_experiment ("tiny", NULL);
  const char *base_path = test_base_run (experiment);
  const char *second_path = plait_test_path ("second.h5");
  GError *error = NULL;
  g_autoptr (PlaitTrained) trained = plait_trained_open (base_path, "last", NULL, FALSE, NULL, NO_ERROR);

  REQUIRE (trained != NULL);
  write_part (trained, 1, 0);
  write_part (trained, 2, 0);
  write_index (trained);
  g_autofree char *said = NULL;
  g_autoptr (PlaitStore) second = test_run_still (experiment, "still.h5", overrides, &said, NO_ERROR);
  REQUIRE (second != NULL);
  PlaitParameters *parameters = plait_model_parameters (trained->experiment_model->model);
  for (guint i = 0; i < plait_parameters_n (parameters); i++)
    {
      const char *name = plait_parameters_get (parameters, i)->name;

      CONTEXT ("%s", name);
      TEST_CHECK_OUTCOME (second, name, "taken");
      CHECK (test_is_same (second, trained->store, "last", name));
    }
  CHECK_CONTAINS (said, "/model.safetensors.index.json, ");

  /* The run has the digest of each part, so it cannot be resumed after a part has changed. */
  CHECK (test_run_with (experiment, overrides, second_path, FALSE, NULL, NO_ERROR));
  write_part (trained, 2, 1);
  CHECK (!test_run_with (experiment, longer, second_path, TRUE, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "part-2.safetensors: this file of train.initialise.2 has changed since");
}
