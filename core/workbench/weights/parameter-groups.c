/* SPDX-License-Identifier: MIT */
#include "weights/parameter-groups.h"
#include "layers/parameter-set.h"

#include <string.h>

static void
part_free (gpointer data)
{
  PlaitParameterGroup *part = data;

  g_free (part->title);
  g_free (part->prefix);
  g_ptr_array_unref (part->parameters);
  g_free (part);
}

/* Appends a group with those parameters of @left whose names begin with @prefix and contain @inside (NULL: anything).
 * Removes them from @left. Takes ownership of @title and @prefix. */
static PlaitParameterGroup *
add_part (GPtrArray *parts, GPtrArray *left, char *title, char *prefix, const char *inside,
          const PlaitComponent *component)
{
  PlaitParameterGroup *part = g_new0 (PlaitParameterGroup, 1);

  *part = (PlaitParameterGroup){ title, component, NULL, prefix, g_ptr_array_new (), 0 };
  g_ptr_array_add (parts, part);
  for (guint i = 0; i < left->len;)
    {
      const PlaitParameter *parameter = left->pdata[i];

      if (!g_str_has_prefix (parameter->name, prefix) || (inside && !strstr (parameter->name, inside)))
        {
          i++;
          continue;
        }
      g_ptr_array_add (part->parameters, g_ptr_array_steal_index (left, i));
      part->count += parameter->value.rows * parameter->value.width;
    }
  return part;
}

GPtrArray *
plait_parameter_groups_new (const PlaitExperiment *experiment, const PlaitParameters *parameters)
{
  GPtrArray *parts = g_ptr_array_new_with_free_func (part_free);
  g_autoptr (GPtrArray) left = g_ptr_array_new ();
  gpointer prediction;

  for (guint i = 0; i < plait_parameters_n (parameters); i++)
    g_ptr_array_add (left, plait_parameters_get (parameters, i));
  add_part (parts, left, g_strdup ("embeddings"), g_strdup ("embedding/"), NULL, NULL);
  for (guint i = 0; i < experiment->n_sources; i++)
    {
      const PlaitExperimentSource *source = &experiment->sources[i];

      add_part (parts, left, g_strdup_printf ("source %s", source->name), g_strdup_printf ("source/%s/", source->name),
                NULL, source->encoder)
          ->source
          = source;
    }
  if (experiment->coverage)
    add_part (parts, left, g_strdup ("coverage"), g_strdup ("decoder/"), "/coverage", experiment->coverage);
  if (experiment->combiner)
    add_part (parts, left, g_strdup ("combiner"), g_strdup ("decoder/"), "/combiner/", experiment->combiner);
  if (!plait_experiment_has_decoder (experiment))
    {
      add_part (parts, left, g_strdup ("prediction"), g_strdup (""), NULL, NULL);
      return parts;
    }
  /* The prefix "decoder/" matches the output too, so add the output before the decoder. */
  add_part (parts, left, g_strdup ("prediction"), g_strdup ("decoder/output/"), NULL, experiment->output);
  add_part (parts, left, g_strdup ("decoder"), g_strdup ("decoder/"), NULL, experiment->decoder_component);
  prediction = g_ptr_array_steal_index (parts, parts->len - 2);
  g_ptr_array_add (parts, prediction);
  return parts;
}
