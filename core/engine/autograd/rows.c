/* SPDX-License-Identifier: MIT */
#include "autograd/internal.h"
#include "tensor/rows.h"

PlaitNode *
plait_columns (PlaitTape *tape, PlaitNode *x, gint64 first, gint64 width)
{
  plait_tape_expect (tape, first >= 0 && width > 0 && width <= x->value.width - first);
  return plait_tape_view (tape, x, plait_tensor_columns (plait_tape_value (tape, x), first, width));
}

PlaitNode *
plait_rows (PlaitTape *tape, PlaitNode *x, gint64 first, gint64 rows)
{
  plait_tape_expect (tape, first >= 0 && rows >= 0 && rows <= x->value.rows - first);
  return plait_tape_view (tape, x, plait_tensor_rows (plait_tape_value (tape, x), first, rows));
}

/* Returns a view of the columns (if @columns) or rows of @whole that belong to @part, from column or row @first on. */
static PlaitTensor
place_of (PlaitTensor whole, const PlaitNode *part, gint64 first, gboolean columns)
{
  return columns ? plait_tensor_columns (whole, first, part->value.width)
                 : plait_tensor_rows (whole, first, part->value.rows);
}

static gint64
extent_of (const PlaitNode *part, gboolean columns)
{
  return columns ? part->value.width : part->value.rows;
}

/* Backward of plait_concatenate_columns and plait_concatenate_rows. node->payload is a gboolean: TRUE for columns. */
static void
concatenate_backward (PlaitTape *tape, PlaitNode *node)
{
  gboolean columns = *(const gboolean *)node->payload;
  PlaitScalar factor
      = columns ? PLAIT_GRADIENT_TERM (concatenate_columns, 1) : PLAIT_GRADIENT_TERM (concatenate_rows, 1);
  gint64 first = 0;

  for (guint i = 0; i < node->n_inputs; i++)
    {
      PlaitNode *part = node->inputs[i];

      plait_gradient_add (tape, part, factor, place_of (node->gradient, part, first, columns));
      first += extent_of (part, columns);
    }
}

static const PlaitOperator concatenation = {
  .name = "concatenate",
  .backward = concatenate_backward,
  .ignores_value = TRUE,
  .ignores_inputs = TRUE,
};

static PlaitNode *
concatenate (PlaitTape *tape, PlaitNode *const *parts, guint n, gboolean columns)
{
  gint64 extent = 0;
  gint64 first = 0;
  PlaitNode *node;

  plait_tape_expect (tape, n > 0);
  for (guint i = 0; i < n; i++)
    {
      plait_tape_expect (tape, extent_of (parts[i], !columns) == extent_of (parts[0], !columns));
      extent += extent_of (parts[i], columns);
    }
  node = plait_tape_node (tape, &concatenation, columns ? parts[0]->value.rows : extent,
                          columns ? extent : parts[0]->value.width, parts, n, sizeof columns);
  *(gboolean *)node->payload = columns;
  for (guint i = 0; i < n; i++)
    {
      plait_tensor_accumulate (plait_tape_pool (tape), place_of (node->value, parts[i], first, columns), 0, 1,
                               parts[i]->value);
      first += extent_of (parts[i], columns);
    }
  return node;
}

PlaitNode *
plait_concatenate_columns (PlaitTape *tape, PlaitNode *const *parts, guint n)
{
  return concatenate (tape, parts, n, TRUE);
}

PlaitNode *
plait_concatenate_rows (PlaitTape *tape, PlaitNode *const *parts, guint n)
{
  return concatenate (tape, parts, n, FALSE);
}

PlaitNode *
plait_end_to_end (PlaitTape *tape, PlaitNode *x)
{
  return x->value.stride == x->value.width ? x : concatenate (tape, &x, 1, TRUE);
}

void
plait_gradient_scatter (PlaitTape *tape, PlaitNode *input, PlaitTensor gradient, const gint64 *indices)
{
  if (input && input->needs_gradient)
    plait_rows_scatter_add (plait_tape_pool (tape), plait_gradient_to_add (tape, input), gradient, indices);
}

typedef struct
{
  const gint64 *indices;
  gint64 size; /* number of input rows in each output row */
} Gathering;

/* Returns a view with @size rows for each row of @wide: [n, size * w] becomes [n * size, w]. */
static PlaitTensor
apart (PlaitTensor wide, gint64 size)
{
  g_assert (wide.stride == wide.width);
  return plait_tensor (wide.data, wide.rows * size, wide.width / size);
}

static void
gather_rows_backward (PlaitTape *tape, PlaitNode *node)
{
  const Gathering *gathering = node->payload;

  plait_gradient_scatter (tape, node->inputs[0],
                          PLAIT_GRADIENT_TERM_TENSOR (tape, gather_rows, apart (node->gradient, gathering->size)),
                          gathering->indices);
}

static const PlaitOperator gather_rows = {
  .name = "gather_rows",
  .backward = gather_rows_backward,
  .ignores_value = TRUE,
  .ignores_inputs = TRUE,
};

PlaitNode *
plait_gather_windows (PlaitTape *tape, PlaitNode *x, const gint64 *indices, gint64 n, gint64 size)
{
  PlaitNode *node;

  plait_tape_expect (tape, x && n >= 0 && size > 0 && size <= G_MAXINT32);
  plait_tape_expect (tape, indices || n == 0);
  node = plait_tape_node (tape, &gather_rows, n, size * x->value.width, &x, 1, sizeof (Gathering));
  for (gint64 i = 0; i < n * size; i++)
    plait_tape_expect (tape, indices[i] >= -1 && indices[i] < x->value.rows);
  *(Gathering *)node->payload = (Gathering){ indices, size };
  plait_rows_gather (plait_tape_pool (tape), apart (node->value, size), 0, x->value, indices);
  return node;
}

PlaitNode *
plait_gather_rows (PlaitTape *tape, PlaitNode *x, const gint64 *indices, gint64 n)
{
  return plait_gather_windows (tape, x, indices, n, 1);
}

enum
{
  SELECT_TAKEN,
  SELECT_OTHER,
  SELECT_INPUTS
};

static void
select_rows_backward (PlaitTape *tape, PlaitNode *node)
{
  const guint8 *take = *(const guint8 **)node->payload;
  PlaitPool *pool = plait_tape_pool (tape);
  PlaitScalar beta;
  PlaitTensor target;

  target = plait_gradient_if_needed (tape, node->inputs[SELECT_TAKEN], &beta);
  if (target.data)
    plait_rows_select_backward (pool, target, beta, take, TRUE,
                                PLAIT_GRADIENT_TERM_TENSOR (tape, select_rows_taken, node->gradient));
  target = plait_gradient_if_needed (tape, node->inputs[SELECT_OTHER], &beta);
  if (target.data)
    plait_rows_select_backward (pool, target, beta, take, FALSE,
                                PLAIT_GRADIENT_TERM_TENSOR (tape, select_rows_other, node->gradient));
}

static const PlaitOperator select_rows = {
  .name = "select_rows",
  .backward = select_rows_backward,
  .ignores_value = TRUE,
  .ignores_inputs = TRUE,
};

PlaitNode *
plait_select_rows (PlaitTape *tape, const guint8 *take, PlaitNode *x, PlaitNode *y)
{
  PlaitNode *inputs[SELECT_INPUTS] = { x, y };
  PlaitNode *node;

  plait_tape_expect (tape, x && (take || x->value.rows == 0));
  plait_tape_expect (tape, !y || (x->value.rows == y->value.rows && x->value.width == y->value.width));
  node = plait_tape_node (tape, &select_rows, x->value.rows, x->value.width, inputs, SELECT_INPUTS, sizeof take);
  *(const guint8 **)node->payload = take;
  plait_rows_select (plait_tape_pool (tape), node->value, take, x->value, !y ? NULL : &y->value);
  return node;
}

static void
multiply_broadcast_backward (PlaitTape *tape, PlaitNode *node)
{
  PlaitPool *pool = plait_tape_pool (tape);
  PlaitNode *x = node->inputs[0], *factors = node->inputs[1];
  PlaitScalar beta;
  PlaitTensor target = plait_gradient_if_needed (tape, x, &beta);

  if (target.data)
    plait_broadcast_multiply (pool, target, beta,
                              PLAIT_GRADIENT_TERM_TENSOR (tape, multiply_broadcast_value, node->gradient),
                              factors->value);
  target = plait_gradient_if_needed (tape, factors, &beta);
  if (target.data)
    plait_broadcast_dot (pool, target, beta,
                         PLAIT_GRADIENT_TERM_TENSOR (tape, multiply_broadcast_factor, node->gradient), x->value);
}

static const PlaitOperator multiply_broadcast
    = { .name = "multiply_broadcast", .backward = multiply_broadcast_backward, .ignores_value = TRUE };

PlaitNode *
plait_multiply_broadcast (PlaitTape *tape, PlaitNode *x, PlaitNode *factors)
{
  PlaitNode *node;

  plait_tape_expect (tape, x && factors);
  plait_tape_expect (tape, (factors->value.rows == x->value.rows && factors->value.width == 1)
                               || (factors->value.rows == 1 && factors->value.width == x->value.width));
  node
      = plait_tape_node (tape, &multiply_broadcast, x->value.rows, x->value.width, (PlaitNode *[]){ x, factors }, 2, 0);
  plait_broadcast_multiply (plait_tape_pool (tape), node->value, 0, x->value, factors->value);
  return node;
}

static void
softmax_backward (PlaitTape *tape, PlaitNode *node)
{
  PlaitScalar beta;
  PlaitTensor target = plait_gradient_target (tape, node->inputs[0], &beta);

  plait_rows_softmax_backward (plait_tape_pool (tape), target, beta, node->gradient, node->value);
}

static const PlaitOperator softmax = { .name = "softmax", .backward = softmax_backward, .ignores_inputs = TRUE };

PlaitNode *
plait_softmax (PlaitTape *tape, PlaitNode *x)
{
  PlaitNode *node;

  plait_tape_expect (tape, x);
  node = plait_tape_node (tape, &softmax, x->value.rows, x->value.width, &x, 1, 0);
  plait_rows_softmax (plait_tape_pool (tape), node->value, x->value);
  return node;
}
