/* SPDX-License-Identifier: MIT */
#include "autograd/internal.h"
#include "tensor/output-layer.h"
#include "autograd/layer-operators.h"

enum
{
  OUTPUT_LOSS_STATES,
  OUTPUT_LOSS_TABLE,
  OUTPUT_LOSS_BIAS,
  OUTPUT_LOSS_INPUTS,
  /* Inputs that a loss with copied words has in addition. */
  OUTPUT_LOSS_GATE = OUTPUT_LOSS_INPUTS,
  OUTPUT_LOSS_WEIGHTS
};

/* Gradients that the forward pass computed, for an output gradient of 1. Gradients without data were not computed. */
typedef struct
{
  PlaitTensor dstates;
  PlaitTensor dgate;
  PlaitScalar *dcopied;
  PlaitCopiedWords copied;
  const PlaitCopyableWords *words;
  const PlaitQueryKeyPairs *pairs;
} Saved;

/* Adds the gradients of the attention weights with which words are copied. */
static void
copies_backward (PlaitTape *tape, PlaitNode *node, const Saved *saved)
{
  for (guint m = 0; m < saved->words->n; m++)
    {
      PlaitScalar beta;
      PlaitTensor target = plait_gradient_if_needed (tape, node->inputs[OUTPUT_LOSS_WEIGHTS + m], &beta);

      if (target.data)
        plait_copied_words_backward (plait_tape_pool (tape), saved->words, &saved->copied, &saved->pairs[m], m,
                                     saved->dcopied, target.data, beta != 0);
    }
}

static void
output_loss_backward (PlaitTape *tape, PlaitNode *node)
{
  Saved *saved = node->payload;

  plait_tape_expect (tape, node->gradient.data[0] == 1);
  if (saved->dcopied)
    copies_backward (tape, node, saved);
  if (saved->dgate.data)
    plait_gradient_add (tape, node->inputs[OUTPUT_LOSS_GATE], 1, saved->dgate);
  if (!saved->dstates.data)
    return;
  plait_gradient_pass (tape, &saved->dstates, 1, node->inputs[OUTPUT_LOSS_STATES]);
  plait_tape_release (tape, saved->dstates);
}

static const PlaitOperator output_loss = {
  .name = "output_loss",
  .backward = output_loss_backward,
  .ignores_value = TRUE,
  .ignores_inputs = TRUE,
};

/* Computes the distributions over copied words and stores them in *@copied. Returns the arguments of the output layer:
 * these distributions and the gate. */
static PlaitOutputMixture
mix (PlaitTape *tape, const PlaitOutputCopies *copies, PlaitCopiedWords *copied)
{
  PlaitArena *arena = plait_tape_arena (tape);
  const PlaitScalar **weights = plait_arena_new_array (arena, const PlaitScalar *, copies->words->n + 1);
  gint64 rows = copies->gate->value.rows;

  plait_tape_expect (tape, copies->words->n > 0 && copies->gate->value.width == 1);
  for (guint m = 0; m < copies->words->n; m++)
    {
      const PlaitQueryKeyPairs *pairs = &copies->pairs[m];

      plait_tape_expect (tape, plait_ragged_rows (pairs->queries) == rows);
      plait_tape_expect (tape, copies->weights[m]->value.rows == plait_query_key_pairs_count (pairs)
                                   && copies->weights[m]->value.width == 1);
      weights[m] = plait_tape_value (tape, copies->weights[m]).data;
    }
  *copied = plait_copied_words_forward (plait_tape_pool (tape), arena, copies->words, copies->pairs, weights);
  return (PlaitOutputMixture){
    copied->offsets, copied->ids, copied->copied, plait_tape_value (tape, copies->gate).data, NULL, NULL
  };
}

PlaitOutputMixture
plait_output_copies_mixture (PlaitTape *tape, const PlaitOutputCopies *copies)
{
  PlaitCopiedWords copied;

  return mix (tape, copies, &copied);
}

/* Fails the step unless the target of each row is a word of the table, or is copied in its row. */
static void
expect_targets (PlaitTape *tape, const gint32 *targets, gint64 rows, gint64 words, const PlaitOutputMixture *mixture)
{
  for (gint64 row = 0; row < rows; row++)
    if (targets[row] < 0 || targets[row] >= words)
      {
        gint64 word = mixture ? plait_output_mixture_find (mixture, row, targets[row]) : 0;

        plait_tape_expect (tape, mixture && word < mixture->offsets[row + 1] && mixture->ids[word] == targets[row]);
      }
}

/* Allocates the gradients of the gate and of the probabilities of copied words. */
static void
want_copies (PlaitTape *tape, Saved *saved, PlaitOutputMixture *mixture, gint64 rows)
{
  saved->dgate = plait_tape_tensor (tape, rows, 1);
  saved->dcopied = plait_arena_new_array (plait_tape_arena (tape), PlaitScalar, mixture->offsets[rows] + 1);
  mixture->dgate = saved->dgate.data;
  mixture->dcopied = saved->dcopied;
}

PlaitNode *
plait_output_loss (PlaitTape *tape, PlaitNode *states, PlaitNode *table, PlaitNode *bias, const gint32 *targets,
                   const PlaitOutputLossOptions *options, PlaitOutputLossSums *sums, double *row_losses)
{
  const PlaitOutputCopies *copies = options->copies;
  guint n = OUTPUT_LOSS_INPUTS + (copies ? 1 + copies->words->n : 0);
  PlaitNode **inputs = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, n);
  PlaitOutputMixture mixture;
  PlaitCopiedWords copied;
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
    .weights = options->weights,
    .row_losses = row_losses,
  };
  PlaitOutputLayerSums found;
  PlaitNode *node;
  Saved *saved;

  inputs[OUTPUT_LOSS_STATES] = states;
  inputs[OUTPUT_LOSS_TABLE] = table;
  inputs[OUTPUT_LOSS_BIAS] = bias;
  plait_tape_expect (tape, states->value.width == table->value.width);
  plait_tape_expect (tape, !bias || (bias->value.rows == 1 && bias->value.width == table->value.rows));
  if (copies)
    {
      plait_tape_expect (tape, copies->gate->value.rows == states->value.rows);
      mixture = mix (tape, copies, &copied);
      work.mixture = &mixture;
      inputs[OUTPUT_LOSS_GATE] = copies->gate;
      for (guint m = 0; m < copies->words->n; m++)
        inputs[OUTPUT_LOSS_WEIGHTS + m] = copies->weights[m];
    }
  expect_targets (tape, targets, states->value.rows, table->value.rows, work.mixture);
  node = plait_tape_node (tape, &output_loss, 1, 1, inputs, n, sizeof *saved);
  saved = node->payload;
  plait_tape_note_product (tape, states, table, work.states.rows * plait_tape_n_elements (table));
  /* The logits are not stored, so the forward pass computes the gradients. */
  if (node->needs_gradient)
    {
      if (copies)
        {
          *saved = (Saved){ .copied = copied, .words = copies->words, .pairs = copies->pairs };
          want_copies (tape, saved, &mixture, states->value.rows);
        }
      if (states->needs_gradient)
        saved->dstates = plait_tape_tensor (tape, states->value.rows, states->value.width);
      work.dstates = saved->dstates;
      if (table->needs_gradient)
        work.dtable = plait_gradient_target (tape, table, &work.dtable_beta);
      if (bias && bias->needs_gradient)
        work.dbias = plait_gradient_target (tape, bias, &work.dbias_beta);
    }
  found = plait_output_layer_compute (plait_tape_pool (tape), plait_tape_arena (tape), &work);
  node->value.data[0] = (PlaitScalar)(options->scale * found.weighted);
  if (sums)
    *sums = (PlaitOutputLossSums){ found.loss, found.negative_log_likelihood, found.correct };
  return node;
}
