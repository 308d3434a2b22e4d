/* SPDX-License-Identifier: MIT */
#include "autograd/internal.h"
#include "tensor/output-layer.h"
#include "autograd/layer-operators.h"

enum
{
  OUTPUT_LOSS_STATES,
  OUTPUT_LOSS_TABLE,
  OUTPUT_LOSS_BIAS,
  OUTPUT_LOSS_INPUTS
};

/* node->payload is the gradient of the states, which forward computed for an output gradient of 1; no data if not
 * needed. */
static void
output_loss_backward (PlaitTape *tape, PlaitNode *node)
{
  PlaitTensor *dstates = node->payload;

  plait_tape_expect (tape, node->gradient.data[0] == 1);
  if (!dstates->data)
    return;
  plait_gradient_pass (tape, dstates, 1, node->inputs[OUTPUT_LOSS_STATES]);
  plait_tape_release (tape, *dstates);
}

static const PlaitOperator output_loss = {
  .name = "output_loss",
  .backward = output_loss_backward,
  .ignores_value = TRUE,
  .ignores_inputs = TRUE,
};

PlaitNode *
plait_output_loss (PlaitTape *tape, PlaitNode *states, PlaitNode *table, PlaitNode *bias, const gint32 *targets,
                   const PlaitOutputLossOptions *options, PlaitOutputLossSums *sums, double *row_losses)
{
  PlaitNode *inputs[OUTPUT_LOSS_INPUTS] = { states, table, bias };
  PlaitOutputLayerWork work = {
    .states = plait_tape_value (tape, states),
    .table = table->value,
    .packed = options->packed,
    .precision = plait_tape_precision (tape),
    .bias = !bias ? NULL : bias->value.data,
    .targets = targets,
    .smoothing = options->smoothing,
    .others = options->others,
    .scale = options->scale,
    .row_losses = row_losses,
  };
  PlaitOutputLayerSums found;
  PlaitNode *node;
  PlaitTensor *dstates;

  plait_tape_expect (tape, states->value.width == table->value.width);
  plait_tape_expect (tape, !bias || (bias->value.rows == 1 && bias->value.width == table->value.rows));
  for (gint64 i = 0; i < states->value.rows; i++)
    plait_tape_expect (tape, targets[i] >= 0 && targets[i] < table->value.rows);
  node = plait_tape_node (tape, &output_loss, 1, 1, inputs, OUTPUT_LOSS_INPUTS, sizeof *dstates);
  dstates = node->payload;
  plait_tape_note_product (tape, states, table, work.states.rows * plait_tape_n_elements (table));
  /* The logits exist only now, chunk by chunk, so the gradients are computed in the forward pass. */
  if (node->needs_gradient)
    {
      if (states->needs_gradient)
        *dstates = plait_tape_tensor (tape, states->value.rows, states->value.width);
      work.dstates = *dstates;
      if (table->needs_gradient)
        work.dtable = plait_gradient_target (tape, table, &work.dtable_beta);
      if (bias && bias->needs_gradient)
        work.dbias = plait_gradient_target (tape, bias, &work.dbias_beta);
    }
  found = plait_output_layer_compute (plait_tape_pool (tape), plait_tape_arena (tape), &work);
  node->value.data[0] = (PlaitScalar)(options->scale * found.loss);
  if (sums)
    *sums = (PlaitOutputLossSums){ found.loss, found.negative_log_likelihood, found.correct };
  return node;
}
