/* SPDX-License-Identifier: MIT */
#include "autograd/tape-private.h"

/* The storage of gradients, and the backward pass through the nodes. */

PlaitTensor
plait_gradient_target (PlaitTape *tape, PlaitNode *input, PlaitScalar *beta)
{
  PlaitNode *whole = input->whole ? input->whole : input;
  gint64 place;

  plait_tape_expect (tape, input->needs_gradient);
  *beta = whole->gradient.data != NULL;
  if (!whole->gradient.data)
    whole->gradient = plait_tape_tensor (tape, whole->value.rows, whole->value.width);
  if (whole == input)
    return whole->gradient;

  /* Zero the whole gradient, because perhaps no other view adds to the rest of it. */
  if (*beta == 0)
    plait_tensor_fill (tape->pool, whole->gradient, 0, 0);
  *beta = 1;
  place = input->value.data - whole->value.data;
  return (PlaitTensor){ plait_tensor_row (whole->gradient, place / whole->value.stride) + place % whole->value.stride,
                        input->value.rows, input->value.width, whole->gradient.stride };
}

PlaitTensor
plait_gradient_if_needed (PlaitTape *tape, PlaitNode *input, PlaitScalar *beta)
{
  *beta = 0;
  if (!input || !input->needs_gradient)
    return (PlaitTensor){ NULL, 0, 0, 0 };
  return plait_gradient_target (tape, input, beta);
}

PlaitTensor
plait_gradient_to_add (PlaitTape *tape, PlaitNode *input)
{
  PlaitScalar beta;
  PlaitTensor target = plait_gradient_target (tape, input, &beta);

  if (beta == 0)
    plait_tensor_fill (tape->pool, target, 0, 0);
  return target;
}

PlaitTensor
plait_gradient_to_add_if_needed (PlaitTape *tape, PlaitNode *input)
{
  return input && input->needs_gradient ? plait_gradient_to_add (tape, input) : (PlaitTensor){ NULL, 0, 0, 0 };
}

void
plait_gradient_add (PlaitTape *tape, PlaitNode *input, PlaitScalar factor, PlaitTensor from)
{
  PlaitScalar beta;
  PlaitTensor target = plait_gradient_if_needed (tape, input, &beta);

  if (target.data)
    plait_tensor_accumulate (tape->pool, target, beta, factor, from);
}

PlaitTensor
plait_gradient_inherit (PlaitTape *tape, PlaitTensor *gradient, PlaitNode *input, PlaitScalar *beta)
{
  plait_tape_expect (tape, input->needs_gradient && input->value.rows == gradient->rows
                               && input->value.width == gradient->width);
  if (input->whole || input->gradient.data)
    return plait_gradient_target (tape, input, beta);

  input->gradient = *gradient;
  gradient->data = NULL;
  *beta = 0;
  return input->gradient;
}

void
plait_gradient_pass (PlaitTape *tape, PlaitTensor *gradient, PlaitScalar factor, PlaitNode *input)
{
  PlaitTensor from = *gradient;
  PlaitScalar beta;
  PlaitTensor target = plait_gradient_inherit (tape, gradient, input, &beta);

  if (target.data != from.data || factor != 1)
    plait_tensor_accumulate (tape->pool, target, beta, factor, from);
}

#ifdef PLAIT_SCALAR_DOUBLE
PlaitTensor
plait_gradient_term_tensor (PlaitTape *tape, double factor, PlaitTensor dy)
{
  PlaitTensor scaled;

  if (factor == 1)
    return dy;
  scaled = plait_tape_tensor (tape, dy.rows, dy.width);
  plait_tensor_accumulate (tape->pool, scaled, 0, factor, dy);
  return scaled;
}
#endif

void
plait_tape_release_node (PlaitTape *tape, PlaitNode *node)
{
  if (!node->operation)
    return;
  plait_tape_release (tape, node->gradient);
  plait_tape_release (tape, node->value);
  if (node->payload_size > 0)
    plait_arena_release (tape->arena, node->payload, node->payload_size);
  plait_tape_release_saved (tape, node);
  node->payload_size = 0;
  node->value.data = NULL;
  node->gradient.data = NULL;
  node->payload = NULL;
}

/* Runs the backward of @node in the name of the plugin that made the node. First restores the values of all inputs,
 * unless the operator ignores inputs. */
static void
go_back (PlaitTape *tape, PlaitNode *node)
{
  plait_tape_set_caller (tape, (PlaitCodeOwner){ node->maker, "backward" });
  if (!node->operation->ignores_inputs)
    for (guint i = 0; i < node->n_inputs; i++)
      if (node->inputs[i])
        plait_tape_value (tape, node->inputs[i]);
  node->operation->backward (tape, node);
}

/* Adds the collected gradients of reused weights and calls the tape's report. Must be called when backward has run for
 * all recorded nodes from place @left on. */
static void
come_to (PlaitTape *tape, gint left)
{
  /* The nodes of a recomputed piece are numbered separately, so the report cannot use their places. */
  if (tape->in_recomputed)
    return;
  plait_weight_reuse_flush (tape, left);
  if (tape->report)
    tape->report (tape->report_data, left);
}

void
plait_tape_run_backward (PlaitTape *tape, const PlaitNode *root)
{
  for (PlaitNode *node = tape->last; node; node = node->previous)
    {
      if (node->gradient.data)
        go_back (tape, node);
      if (node != root)
        plait_tape_release_node (tape, node);
      come_to (tape, node->previous ? node->previous->place + 1 : 1);
    }
}

void
plait_tape_backward (PlaitTape *tape, PlaitNode *root)
{
  PlaitScalar beta;

  plait_tape_refuse_plugins (tape, G_STRFUNC);
  g_assert (root->value.rows == 1 && root->value.width == 1);
  g_assert (tape->mode != PLAIT_TAPE_EVALUATE && !tape->went_back);
  tape->went_back = TRUE;
  /* The root needs a gradient only if it depends on a leaf that needs a gradient. */
  if (!root->needs_gradient)
    return;

  plait_gradient_target (tape, root, &beta).data[0] = 1;
  come_to (tape, tape->n_recorded + 1);
  /* The value of the root stays readable after backward. */
  plait_tape_run_backward (tape, root);
  plait_tape_set_caller (tape, (PlaitCodeOwner){ NULL, NULL });
  tape->last = NULL;
}
