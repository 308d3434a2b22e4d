/* SPDX-License-Identifier: MIT */
#include "autograd/internal.h"
#include "autograd/layer-operators.h"

/*
 * With a the numbers and p the shares: p_i = a_row(i); but p_i = a_row(i) - p_(i-1) where share i - 1, the last of the
 * block before, is of the same row; and p_i = 1 - sum of the others where i is the last of a full block.
 */

static gboolean
is_carried (const PlaitShares *shares, gint64 i)
{
  return i > 0 && shares->row[i] == shares->row[i - 1];
}

static void
shares_backward (PlaitTape *tape, PlaitNode *node)
{
  const PlaitShares *shares = node->payload;
  PlaitTensor dnumbers = plait_gradient_to_add (tape, node->inputs[0]);
  PlaitScalar *dshares = node->gradient.data;

  for (gint64 b = shares->blocks.n - 1; b >= 0; b--)
    {
      gint64 first = shares->blocks.offsets[b], last = shares->blocks.offsets[b + 1] - 1;

      for (gint64 i = last; i >= first; i--)
        {
          if (i == last && shares->full[b])
            {
              for (gint64 other = first; other < last; other++)
                dshares[other] -= PLAIT_TERM (shares_rest, dshares[last]);
              continue;
            }
          *plait_tensor_row (dnumbers, shares->row[i]) += PLAIT_TERM (shares_number, dshares[i]);
          if (is_carried (shares, i))
            dshares[i - 1] -= PLAIT_TERM (shares_carried, dshares[i]);
        }
    }
}

static const PlaitOperator operation = {
  .name = "shares",
  .backward = shares_backward,
  .ignores_value = TRUE,
  .ignores_inputs = TRUE,
};

PlaitNode *
plait_shares (PlaitTape *tape, PlaitNode *numbers, const PlaitShares *shares)
{
  PlaitNode *node
      = plait_tape_node (tape, &operation, plait_ragged_rows (shares->blocks), 1, &numbers, 1, sizeof *shares);
  PlaitScalar *values = node->value.data;

  plait_tape_expect (tape, numbers->value.width == 1);
  *(PlaitShares *)node->payload = *shares;
  for (gint64 b = 0; b < shares->blocks.n; b++)
    {
      gint64 first = shares->blocks.offsets[b], last = shares->blocks.offsets[b + 1] - 1;
      PlaitScalar sum = 0;

      plait_tape_expect (tape, first <= last);
      for (gint64 i = first; i <= last; i++)
        {
          plait_tape_expect (tape, shares->row[i] >= 0 && shares->row[i] < numbers->value.rows);
          values[i] = *plait_tensor_row (numbers->value, shares->row[i]);
          if (i == last && shares->full[b])
            values[i] = 1 - sum;
          else if (is_carried (shares, i))
            values[i] -= values[i - 1];
          sum += values[i];
        }
    }
  return node;
}
