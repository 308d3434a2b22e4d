/* SPDX-License-Identifier: MIT */
#include "decoders/model-private.h"

#include "autograd/internal.h"
#include "cross-attention/rows.h"
#include "layers/parameter-set.h"

#include <math.h>
#include <string.h>

/* Returns @root + @scale * the weighted sum of @losses. A loss has weight 0 before the update at which it starts.
 * Stores the losses without weights in @sums. */
static PlaitNode *
add_losses (const PlaitModel *model, PlaitTape *tape, PlaitNode *root, const PlaitLossPass *losses, double scale,
            PlaitModelSums *sums)
{
  if (isfinite (plait_tape_value (tape, root).data[0]))
    plait_loss_pass_expect_finite (losses, tape);
  sums->auxiliary = 0;
  memset (sums->items, 0, sizeof sums->items);
  for (guint i = 0; i < model->losses.n; i++)
    {
      const PlaitLossColumn *column = &model->losses.columns[i];
      double weight = model->update == 0 || model->update >= column->start ? column->weight : 0;
      PlaitNode *loss = plait_loss_pass_sum (losses, tape, i);

      sums->losses[i] = loss ? (double)plait_tape_value (tape, loss).data[0] : 0;
      sums->auxiliary += weight * sums->losses[i];
      if (loss && weight != 0)
        root = plait_add (tape, root, plait_scale (tape, loss, weight * scale));
    }
  return root;
}

/* Returns @root + @scale * the weighted losses of the tags in @batch. Stores the losses without weights in @sums. */
static PlaitNode *
add_tags (const PlaitModel *model, PlaitTape *tape, PlaitNode *root, const PlaitBatch *batch,
          const PlaitEncoderOutputs *encoded, double scale, PlaitModelSums *sums)
{
  for (guint i = 0; i < model->n_tags; i++)
    {
      const PlaitSourceTags *tags = &model->tags[i];
      PlaitNode *loss = tags->stream < batch->inputs[tags->source].n_factors ? plait_source_tags_loss (
                            tags, tape, batch, encoded, scale, &sums->losses[tags->column], &sums->items[tags->column])
                                                                             : NULL;

      if (!loss)
        continue;
      sums->auxiliary += tags->weight * sums->losses[tags->column];
      root = plait_add (tape, root, loss);
    }
  return root;
}

/* Returns an identity matrix, which serves as table of the output layer if the states are logits. */
static PlaitNode *
identity (PlaitTape *tape, gint64 width)
{
  PlaitScalar *ones = plait_arena_new_array0 (plait_tape_arena (tape), PlaitScalar, width * width);

  for (gint64 i = 0; i < width; i++)
    ones[i * width + i] = 1;
  return plait_leaf (tape, plait_tensor (ones, width, width), NULL);
}

/* Returns the rows of @states whose labels are known. A sentence has a row for each of its tokens in @tagged; if
 * @tagged is NULL, it has one row. */
static PlaitNode *
of_known_labels (PlaitTape *tape, PlaitNode *states, PlaitRagged target_rows, const PlaitRagged *tagged)
{
  gint64 *known = plait_arena_new_array (plait_tape_arena (tape), gint64, states->value.rows + 1), n = 0;

  for (gint64 s = 0; s < target_rows.n; s++)
    if (plait_ragged_length (target_rows, s) > 0)
      for (gint64 i = tagged ? tagged->offsets[s] : s; i < (tagged ? tagged->offsets[s + 1] : s + 1); i++)
        known[n++] = i;
  return n == states->value.rows ? states : plait_gather_rows (tape, states, known, n);
}

/* Returns the negative log-likelihood that the targets of @batch would have if all words, or candidates, were equally
 * probable; 0 for numbers. */
static double
loss_of_guessing (const PlaitModel *model, const PlaitBatch *batch, const PlaitEncoderOutputs *encoded)
{
  PlaitRagged said
      = model->specification.predict.kind == PLAIT_PREDICT_CHOICE ? encoded->candidates : encoded->memories[0].rows;
  double loss = 0;

  if (model->output)
    return (double)plait_ragged_rows (batch->target_rows) * log ((double)model->specification.target_vocabulary_size);
  if (model->specification.predict.kind == PLAIT_PREDICT_NUMBER)
    return 0; /* a number has no probability */
  for (gint64 s = 0; s < batch->n_sentences; s++)
    loss += (double)plait_ragged_length (batch->target_rows, s) * log ((double)MAX (1, plait_ragged_length (said, s)));
  return loss;
}

/* Returns the weight of each target row of @batch; NULL if all are 1. */
static const double *
row_weights (PlaitTape *tape, const PlaitBatch *batch)
{
  PlaitRagged rows = batch->target_rows;
  double *weights = NULL;
  gboolean equal = TRUE;

  for (gint64 s = 0; s < rows.n && batch->weights; s++)
    equal &= batch->weights[s] == 1;
  if (equal)
    return NULL;
  weights = plait_arena_new_array (plait_tape_arena (tape), double, plait_ragged_rows (rows) + 1);
  for (gint64 s = 0; s < rows.n; s++)
    for (gint64 row = rows.offsets[s]; row < rows.offsets[s + 1]; row++)
      weights[row] = batch->weights[s];
  return weights;
}

/* Returns the training criterion for numbers: options->scale * the weighted sum of the squared errors of @numbers
 * [sentences, 1]. */
static PlaitNode *
squared_errors (PlaitTape *tape, PlaitNode *numbers, const gint32 *targets, const PlaitOutputLossOptions *options,
                PlaitOutputLossSums *sums, double *row_losses)
{
  gint64 n = numbers->value.rows;
  PlaitScalar *expected = plait_arena_new_array (plait_tape_arena (tape), PlaitScalar, n + 1);
  PlaitScalar *weights = plait_arena_new_array (plait_tape_arena (tape), PlaitScalar, n + 1);
  PlaitTensor values = plait_tape_value (tape, numbers);
  PlaitNode *errors;

  *sums = (PlaitOutputLossSums){ 0 };
  for (gint64 row = 0; row < n; row++)
    {
      double difference = (double)values.data[row] - (double)plait_number_of_id (targets[row]);

      expected[row] = -(PlaitScalar)plait_number_of_id (targets[row]);
      weights[row] = (PlaitScalar)(options->weights ? options->weights[row] : 1);
      sums->loss += difference * difference;
      if (row_losses)
        row_losses[row] = difference * difference;
    }
  sums->negative_log_likelihood = sums->loss;
  errors = plait_add (tape, numbers, plait_leaf (tape, plait_tensor (expected, n, 1), NULL));
  errors = plait_multiply_broadcast (tape, plait_multiply (tape, errors, errors),
                                     plait_leaf (tape, plait_tensor (weights, n, 1), NULL));
  return plait_scale (tape, plait_reduce_sum (tape, errors), options->scale);
}

PlaitNode *
plait_model_loss (const PlaitModel *model, PlaitTape *tape, const PlaitBatch *batch,
                  const PlaitOutputLossOptions *options, PlaitModelSums *sums, double *row_losses,
                  PlaitAttentionRecord *record)
{
  PlaitEncoderOutputs encoded = plait_model_encode (model, tape, batch, plait_loss_pass_new (tape));
  PlaitOutputLossOptions suited = *options;
  PlaitNode *states, *root;
  GError *fault = NULL;

  plait_guided_alignment_begin (&model->guided, tape, batch, &encoded);
  states = plait_model_states (model, tape, &encoded, batch, record);
  plait_guided_alignment_end (&model->guided, tape, batch, &encoded);
  suited.weights = row_weights (tape, batch);
  if (model->specification.predict.kind == PLAIT_PREDICT_CLASS
      || model->specification.predict.kind == PLAIT_PREDICT_NUMBER)
    states = of_known_labels (tape, states, batch->target_rows, NULL);
  if (model->specification.predict.kind == PLAIT_PREDICT_TAGS)
    states = of_known_labels (tape, states, batch->target_rows, &encoded.tagged);
  if (model->specification.predict.kind == PLAIT_PREDICT_NUMBER)
    root = squared_errors (tape, states, batch->target_outputs, &suited, &sums->words, row_losses);
  else if (model->output)
    {
      PlaitWordDistribution words = plait_model_words (model, tape, &encoded, states, batch->target_rows, record);

      root = plait_word_distribution_loss (&words, tape, batch->target_outputs, &suited, &sums->words, row_losses);
    }
  else
    {
      suited.smoothing = 0; /* no smoothing, because padding must not get probability */
      root = plait_output_loss (tape, states, identity (tape, states->value.width), NULL, batch->target_outputs,
                                &suited, &sums->words, row_losses);
    }
  sums->guessing = loss_of_guessing (model, batch, &encoded);
  /* Fails if a plugin declared a parameter while running. */
  if (!plait_parameters_check (model->parameters, &fault))
    plait_arena_fail (plait_tape_arena (tape), fault);
  root = add_losses (model, tape, root, encoded.losses, options->scale, sums);
  return add_tags (model, tape, root, batch, &encoded, options->scale, sums);
}
