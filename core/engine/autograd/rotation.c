/* SPDX-License-Identifier: MIT */
#include "autograd/internal.h"
#include "tensor/rotation.h"

#include <math.h>

#define MAX_POSITION ((gint64)1 << 24)

static void
rotate_backward (PlaitTape *tape, PlaitNode *node)
{
  const PlaitRotation *rotation = node->payload;
  PlaitTensor dy = PLAIT_GRADIENT_TERM_TENSOR (tape, rotate, node->gradient);
  PlaitScalar beta;
  PlaitTensor dx = plait_gradient_inherit (tape, &node->gradient, node->inputs[0], &beta);

  plait_rotate_rows (plait_tape_pool (tape), dx, beta, dy, rotation, TRUE);
}

static const PlaitOperator rotate = {
  .name = "rotate",
  .backward = rotate_backward,
  .ignores_value = TRUE,
  .ignores_inputs = TRUE,
};

PlaitNode *
plait_rotate (PlaitTape *tape, PlaitNode *x, const gint64 *positions, guint heads, double base)
{
  PlaitRotation rotation = { .positions = positions, .first = MAX_POSITION, .heads = heads };
  gint64 last = -1, n;
  PlaitNode *node;

  plait_tape_expect (tape, x && (positions || x->value.rows == 0) && heads > 0 && base > 0 && isfinite (base));
  plait_tape_expect (tape, x->value.width % (2 * (gint64)heads) == 0);
  for (gint64 row = 0; row < x->value.rows; row++)
    {
      plait_tape_expect (tape, positions[row] >= 0 && positions[row] <= MAX_POSITION);
      rotation.first = MIN (rotation.first, positions[row]);
      last = MAX (last, positions[row]);
    }
  node = plait_tape_node (tape, &rotate, x->value.rows, x->value.width, &x, 1, sizeof rotation);
  n = MAX (last + 1 - rotation.first, 0);
  rotation.angles = plait_tape_save (tape, node, n, x->value.width / heads);
  plait_rotation_fill (&rotation, base);
  *(PlaitRotation *)node->payload = rotation;
  plait_rotate_rows (plait_tape_pool (tape), node->value, 0, x->value, &rotation, FALSE);
  if (!node->needs_gradient)
    plait_tape_release_saved (tape, node);
  return node;
}
