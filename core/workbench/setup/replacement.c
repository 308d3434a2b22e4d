/* SPDX-License-Identifier: MIT */
#include "setup/replacement.h"

GArray *
plait_text_memories_new (const PlaitExperimentModel *experiment_model, const PlaitRunInputs *run_inputs)
{
  const PlaitExperiment *experiment = experiment_model->experiment;
  GArray *found = g_array_new (FALSE, FALSE, sizeof (PlaitTextMemory));
  guint n_memories;
  const PlaitMemorySpecification *memories = plait_model_memories (experiment_model->model, &n_memories);

  for (guint s = 0; s < experiment->n_sources; s++)
    for (guint m = 0; m < n_memories; m++)
      if (plait_input_kind_is_text (experiment->sources[s].kind)
          && g_str_equal (experiment->sources[s].name, memories[m].name))
        {
          PlaitTextMemory memory = {
            .name = experiment->sources[s].name,
            .source = s,
            .memory = m,
            .vocabulary = plait_run_inputs_vocabulary (run_inputs, experiment->sources[s].stream),
          };

          g_array_append_val (found, memory);
        }
  return found;
}

gboolean
plait_replacement_check (const PlaitExperimentModel *experiment_model, const PlaitRunInputs *run_inputs, GError **error)
{
  g_autoptr (GArray) memories = plait_text_memories_new (experiment_model, run_inputs);

  return experiment_model->experiment->decode.unknown != PLAIT_DECODE_UNKNOWN_REPLACE || memories->len > 0
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "decode.unknown=replace takes words of a source, but the decoder does not attend to tokens of "
                        "sources; set decode.unknown=keep or forbid");
}

gboolean
plait_replacement_prepare (PlaitSearch *search, const PlaitExperimentModel *experiment_model,
                           const PlaitRunInputs *run_inputs, GError **error)
{
  const PlaitDecodeSettings *decode = &experiment_model->experiment->decode;
  g_autoptr (GArray) memories = NULL;
  PlaitUnknownReplacement *replacement;

  if (decode->unknown != PLAIT_DECODE_UNKNOWN_REPLACE)
    return TRUE;
  if (!plait_replacement_check (experiment_model, run_inputs, error))
    return FALSE;
  memories = plait_text_memories_new (experiment_model, run_inputs);
  replacement = plait_unknown_replacement_new ((const PlaitTextMemory *)(gpointer)memories->data, memories->len,
                                               decode->dictionary, error);
  if (!replacement)
    return FALSE;
  plait_search_set_replacement (search, replacement);
  return TRUE;
}
