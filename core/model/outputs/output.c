/* SPDX-License-Identifier: MIT */
#include "outputs/output.h"

#include "layers/parameter-set.h"
#include "tensor/output-layer.h"

PlaitModelOutput *
plait_output_new (const PlaitOutputComponents *components, GError **error)
{
  PlaitModelOutput *output = plait_parameters_memory (components->build.parameters, sizeof *output);

  if (!components->component)
    plait_output_declare_table (&components->build, &output->shape);
  else if (!plait_call_build_output (&output->instance, components->component, &components->build, &output->shape,
                                     error))
    return NULL;
  output->shape.table->use = PLAIT_USE_TABLE;
  return output;
}

PlaitWordDistribution
plait_output_apply (const PlaitModelOutput *output, PlaitTape *tape, PlaitNode *states)
{
  PlaitOutputPass pass = { .tape = tape, .states = states, .logit_states = states };

  if (output->instance.component)
    plait_call_output (&output->instance, &output->shape, &pass);
  return (PlaitWordDistribution){ pass.logit_states, output->shape.table, output->shape.bias };
}

PlaitNode *
plait_word_distribution_loss (const PlaitWordDistribution *words, PlaitTape *tape, const gint32 *targets,
                              const PlaitOutputLossOptions *options, PlaitOutputLossSums *sums, double *row_losses)
{
  PlaitNode *bias = plait_parameter_node_if_any (tape, words->bias);
  PlaitOutputLossOptions suited = *options;

  if (plait_tape_mode (tape) == PLAIT_TAPE_EVALUATE)
    suited.packed = words->table->packed;
  return plait_output_loss (tape, words->states, plait_parameter_node (tape, words->table), bias, targets, &suited,
                            sums, row_losses);
}

void
plait_word_distribution_losses (const PlaitWordDistribution *words, PlaitTape *tape, const gint32 *ids,
                                double *row_losses)
{
  PlaitOutputLayerWork work = {
    .states = words->states->value,
    .table = words->table->value,
    .bias = words->bias ? words->bias->value.data : NULL,
    .targets = ids,
    .scale = 1,
    .row_losses = row_losses,
  };

  plait_output_layer_compute (plait_tape_pool (tape), plait_tape_arena (tape), &work);
}

void
plait_word_distribution_rows (const PlaitWordDistribution *words, PlaitTape *tape, gint64 first, gint64 n,
                              PlaitScalar *log_probabilities)
{
  plait_output_layer_log_probabilities (plait_tape_pool (tape), plait_tape_arena (tape),
                                        plait_tensor_rows (words->states->value, first, n), words->table->packed,
                                        words->bias ? words->bias->value.data : NULL, NULL, log_probabilities);
}

void
plait_word_distribution_best (const PlaitWordDistribution *words, PlaitTape *tape, const gint32 *forbidden,
                              guint n_forbidden, guint best, gint32 *ids, PlaitScalar *log_probabilities)
{
  plait_output_layer_top_k (plait_tape_pool (tape), plait_tape_arena (tape), words->states->value, words->table->packed,
                            words->bias ? words->bias->value.data : NULL, forbidden, n_forbidden, NULL, NULL, best, ids,
                            log_probabilities);
}
