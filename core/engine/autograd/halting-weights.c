/* SPDX-License-Identifier: MIT */
#include "autograd/internal.h"
#include "autograd/layer-operators.h"

/*
 * Halting weights p of rows r with numbers a_r. Weight i belongs to row r:
 *
 *     if i is the last weight of a full block:  p_i = 1 - sum of the block's other weights
 *     else, if weight i - 1 belongs to row r:   p_i = a_r - p_(i-1)
 *     else:                                     p_i = a_r
 */

static gboolean
is_carried (const PlaitHaltingWeights *halting_weights, gint64 i)
{
  return i > 0 && halting_weights->row[i] == halting_weights->row[i - 1];
}

static void
halting_weights_backward (PlaitTape *tape, PlaitNode *node)
{
  const PlaitHaltingWeights *halting_weights = node->payload;
  PlaitTensor dnumbers = plait_gradient_to_add (tape, node->inputs[0]);
  PlaitScalar *dhalting_weights = node->gradient.data;

  for (gint64 b = halting_weights->blocks.n - 1; b >= 0; b--)
    {
      gint64 first = halting_weights->blocks.offsets[b], last = halting_weights->blocks.offsets[b + 1] - 1;

      for (gint64 i = last; i >= first; i--)
        {
          if (i == last && halting_weights->full[b])
            {
              for (gint64 other = first; other < last; other++)
                dhalting_weights[other] -= PLAIT_GRADIENT_TERM (halting_weights_remainder, dhalting_weights[last]);
              continue;
            }
          *plait_tensor_row (dnumbers, halting_weights->row[i])
              += PLAIT_GRADIENT_TERM (halting_weights_number, dhalting_weights[i]);
          if (is_carried (halting_weights, i))
            dhalting_weights[i - 1] -= PLAIT_GRADIENT_TERM (halting_weights_carried, dhalting_weights[i]);
        }
    }
}

static const PlaitOperator operation = {
  .name = "halting_weights",
  .backward = halting_weights_backward,
  .ignores_value = TRUE,
  .ignores_inputs = TRUE,
};

PlaitNode *
plait_halting_weights (PlaitTape *tape, PlaitNode *numbers, const PlaitHaltingWeights *halting_weights)
{
  PlaitNode *node = plait_tape_node (tape, &operation, plait_ragged_rows (halting_weights->blocks), 1, &numbers, 1,
                                     sizeof *halting_weights);
  PlaitScalar *values = node->value.data;

  plait_tape_expect (tape, numbers->value.width == 1);
  *(PlaitHaltingWeights *)node->payload = *halting_weights;
  for (gint64 b = 0; b < halting_weights->blocks.n; b++)
    {
      gint64 first = halting_weights->blocks.offsets[b], last = halting_weights->blocks.offsets[b + 1] - 1;
      PlaitScalar sum = 0;

      plait_tape_expect (tape, first <= last);
      for (gint64 i = first; i <= last; i++)
        {
          plait_tape_expect (tape, halting_weights->row[i] >= 0 && halting_weights->row[i] < numbers->value.rows);
          values[i] = *plait_tensor_row (numbers->value, halting_weights->row[i]);
          if (i == last && halting_weights->full[b])
            values[i] = 1 - sum;
          else if (is_carried (halting_weights, i))
            values[i] -= values[i - 1];
          sum += values[i];
        }
    }
  return node;
}
