/* SPDX-License-Identifier: MIT */
#include "tensor/elementwise.h"

#include "tensor/element-ranges.h"

typedef struct
{
  const PlaitKernels *kernels;
  PlaitScalar beta;
  PlaitScalar alpha;
  PlaitActivation activation;
  PlaitMask mask;
} Call;

static void
run (PlaitPool *pool, const PlaitTensor *tensors, guint n, PlaitRangeFunction range, Call call)
{
  call.kernels = plait_kernels ();
  plait_element_ranges_run (pool, tensors, n, range, &call);
}

/* Defines the function @name_range of type PlaitRangeFunction. Its body is @expression, which may read @call, @at, @n
 * and @index. */
#define RANGE(name, expression)                                                                                        \
  static void name##_range (gconstpointer data, PlaitScalar *const *at, gint64 n, gint64 index)                        \
  {                                                                                                                    \
    const Call *call = data;                                                                                           \
                                                                                                                       \
    expression;                                                                                                        \
  }

RANGE (accumulate, call->kernels->accumulate (at[0], call->beta, call->alpha, at[1], n))

void
plait_tensor_accumulate (PlaitPool *pool, PlaitTensor y, PlaitScalar beta, PlaitScalar alpha, PlaitTensor x)
{
  run (pool, (PlaitTensor[]){ y, x }, 2, accumulate_range, (Call){ .beta = beta, .alpha = alpha });
}

static void
sum_range (gconstpointer data, PlaitScalar *const *at, gint64 n, gint64 index)
{
  const Call *call = data;

  for (gint64 i = 0; i < n; i++)
    at[0][i] = at[1][i] + at[2][i];
  if (call->alpha != 0)
    call->kernels->accumulate (at[0], 1, 1, at[3], n);
}

void
plait_tensor_add_n (PlaitPool *pool, PlaitTensor y, const PlaitTensor *terms, guint n)
{
  g_assert (n >= 1);
  if (n == 1)
    plait_tensor_accumulate (pool, y, 0, 1, terms[0]);
  else
    run (pool, (PlaitTensor[]){ y, terms[0], terms[1], terms[MIN (n - 1, 2)] }, n > 2 ? 4 : 3, sum_range,
         (Call){ .alpha = n > 2 });
  for (guint i = 3; i < n; i++)
    plait_tensor_accumulate (pool, y, 1, 1, terms[i]);
}

RANGE (multiply, call->kernels->multiply_elements (at[0], call->beta, at[1], at[2], n))

void
plait_tensor_multiply (PlaitPool *pool, PlaitTensor z, PlaitScalar beta, PlaitTensor x, PlaitTensor y)
{
  run (pool, (PlaitTensor[]){ z, x, y }, 3, multiply_range, (Call){ .beta = beta });
}

RANGE (maximum, call->kernels->maximum (at[0], call->alpha, at[1], at[2], n))

void
plait_tensor_maximum (PlaitPool *pool, PlaitTensor z, PlaitScalar sign, PlaitTensor x, PlaitTensor y)
{
  run (pool, (PlaitTensor[]){ z, x, y }, 3, maximum_range, (Call){ .alpha = sign });
}

RANGE (maximum_backward, call->kernels->maximum_backward (at[0], call->beta, call->alpha, at[1], at[2], at[3], n))

void
plait_tensor_maximum_backward (PlaitPool *pool, PlaitTensor dx, PlaitScalar beta, PlaitScalar sign, PlaitTensor dz,
                               PlaitTensor x, PlaitTensor y)
{
  run (pool, (PlaitTensor[]){ dx, dz, x, y }, 4, maximum_backward_range, (Call){ .beta = beta, .alpha = sign });
}

static void
fill_range (gconstpointer data, PlaitScalar *const *at, gint64 n, gint64 index)
{
  const Call *call = data;

  if (call->beta != 0)
    for (gint64 i = 0; i < n; i++)
      at[0][i] += call->alpha;
  else
    for (gint64 i = 0; i < n; i++)
      at[0][i] = call->alpha;
}

void
plait_tensor_fill (PlaitPool *pool, PlaitTensor y, PlaitScalar beta, PlaitScalar value)
{
  run (pool, &y, 1, fill_range, (Call){ .beta = beta, .alpha = value });
}

RANGE (dropout,
       call->kernels->dropout (at[0], call->beta != 0 ? at[0] : NULL, 1, at[1], n, &call->mask, (guint32)index))

void
plait_tensor_dropout (PlaitPool *pool, PlaitTensor y, PlaitScalar beta, PlaitTensor x, PlaitRandomKey key, double rate)
{
  if (rate == 0)
    plait_tensor_accumulate (pool, y, beta, 1, x);
  else
    run (pool, (PlaitTensor[]){ y, x }, 2, dropout_range, (Call){ .beta = beta, .mask = plait_mask (key, rate) });
}

RANGE (residual, call->kernels->dropout (at[0], at[1], 1, at[2], n, &call->mask, (guint32)index))

void
plait_residual_forward (PlaitPool *pool, PlaitTensor z, PlaitTensor x, PlaitTensor y, PlaitRandomKey key, double rate)
{
  if (rate == 0)
    plait_tensor_add_n (pool, z, (PlaitTensor[]){ x, y }, 2);
  else
    run (pool, (PlaitTensor[]){ z, x, y }, 3, residual_range, (Call){ .mask = plait_mask (key, rate) });
}

RANGE (activate, call->kernels->activate (call->activation, at[0], at[1], n))

void
plait_activation_forward (PlaitPool *pool, PlaitActivation activation, PlaitTensor y, PlaitTensor x)
{
  run (pool, (PlaitTensor[]){ y, x }, 2, activate_range, (Call){ .activation = activation });
}

RANGE (activate_backward, call->kernels->activate_backward (call->activation, at[0], call->beta, at[1], at[2], n))

void
plait_activation_backward (PlaitPool *pool, PlaitActivation activation, PlaitTensor dx, PlaitScalar beta,
                           PlaitTensor dy, PlaitTensor saved)
{
  run (pool, (PlaitTensor[]){ dx, dy, saved }, 3, activate_backward_range,
       (Call){ .beta = beta, .activation = activation });
}

/* A sum over all elements: each piece of rows has a partial sum, and the partial sums are added in order. */
typedef struct
{
  const PlaitKernels *kernels;
  PlaitTensor x;
  gint64 rows;
  double *totals;
} Total;

static void
total_piece (gpointer data, gint64 piece, guint thread)
{
  const Total *total = data;
  double sum = 0;

  for (gint64 row = piece * total->rows; row < MIN ((piece + 1) * total->rows, total->x.rows); row++)
    sum += total->kernels->total (plait_tensor_row (total->x, row), total->x.width);
  total->totals[piece] = sum;
}

double
plait_tensor_reduce_sum (PlaitPool *pool, PlaitArena *arena, PlaitTensor x)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_ROWS);
  Total total = { .kernels = plait_kernels (), .x = x };
  gint64 pieces;
  double sum = 0;

  if (x.rows == 0 || x.width == 0)
    return 0;
  total.rows = MAX (1, PLAIT_MAX_RANGE_ELEMENTS / x.width);
  pieces = (x.rows + total.rows - 1) / total.rows;
  total.totals = plait_arena_new_array (arena, double, pieces);
  plait_pool_run (pool, pieces, total_piece, &total);
  for (gint64 i = 0; i < pieces; i++)
    sum += total.totals[i];
  plait_arena_release (arena, total.totals, sizeof (double) * (gsize)pieces);
  return sum;
}
