/* SPDX-License-Identifier: MIT */
#pragma once

#include <math.h>

#include "autograd/operators.h"
#include "harness.h"

/* A pool, an arena and a tape for a test of operators or layers. The functions below make tensors of given numbers. */
typedef struct
{
  PlaitPool *pool;
  PlaitArena *arena;
  PlaitTape *tape;
} Bench;

/* Tolerance for the results of a few operations on numbers around 1. */
#ifdef PLAIT_SCALAR_DOUBLE
#define NEAR 1e-10
#else
#define NEAR 3e-5
#endif

static inline void
bench_clear (Bench *bench)
{
  plait_tape_free (bench->tape);
  plait_arena_free (bench->arena);
  plait_pool_free (bench->pool);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Bench, bench_clear)

/* Begins another step on the tape. The random key of dropout is the same in all steps. */
static inline void
bench_begin (Bench *bench, PlaitTapeMode mode)
{
  plait_tape_begin (bench->tape, mode, plait_random_key (5, "dropout", NULL, 1));
}

/* Returns a bench whose first step has begun, in the mode PLAIT_TAPE_CHECK. */
static inline Bench
bench_new (guint threads)
{
  Bench bench = { plait_pool_new (threads, NULL), plait_arena_new (0), NULL };

  bench.tape = plait_tape_new (bench.pool, bench.arena);
  bench_begin (&bench, PLAIT_TAPE_CHECK);
  return bench;
}

/* Returns a tensor with the elements @numbers (NULL: zeros), which lives until the next step. */
static inline PlaitTensor
bench_tensor (Bench *bench, gint64 rows, gint64 width, const double *numbers)
{
  PlaitTensor tensor
      = plait_tensor (plait_arena_new_array (bench->arena, PlaitScalar, MAX (rows * width, 1)), rows, width);

  for (gint64 i = 0; i < rows * width; i++)
    tensor.data[i] = !numbers ? 0 : (PlaitScalar)numbers[i];
  return tensor;
}

/* Returns a leaf with the elements @numbers. The backward pass adds its gradient to node->gradient. */
static inline PlaitNode *
bench_leaf (Bench *bench, gint64 rows, gint64 width, const double *numbers)
{
  PlaitTensor gradient = bench_tensor (bench, rows, width, NULL);

  return plait_leaf (bench->tape, bench_tensor (bench, rows, width, numbers), &gradient);
}

/* Returns a leaf with random elements from a normal distribution. @number selects them. */
static inline PlaitNode *
bench_random (Bench *bench, gint64 rows, gint64 width, guint64 number)
{
  PlaitNode *leaf = bench_leaf (bench, rows, width, NULL);
  PlaitRandomKey key = plait_random_key (5, "leaf", NULL, number);

  for (gint64 i = 0; i < rows * width; i++)
    leaf->value.data[i] = (PlaitScalar)plait_random_normal (key, (guint64)i);
  return leaf;
}

/* Returns the sum of the elements of @node times @weights. If it is the root, the gradient of @node is @weights. */
static inline PlaitNode *
bench_weigh (Bench *bench, PlaitNode *node, const double *weights)
{
  PlaitTensor tensor = bench_tensor (bench, node->value.rows, node->value.width, weights);

  return plait_reduce_sum (bench->tape, plait_multiply (bench->tape, node, plait_leaf (bench->tape, tensor, NULL)));
}

/* Checks that the elements of @tensor equal @expected within @tolerance. */
static inline void
check_tensor (const char *what, PlaitTensor tensor, const double *expected, double tolerance)
{
  for (gint64 row = 0; row < tensor.rows; row++)
    for (gint64 i = 0; i < tensor.width; i++)
      {
        CONTEXT ("%s[%d, %d]", what, (int)row, (int)i);

        CHECK_NEAR (plait_tensor_row (tensor, row)[i], expected[row * tensor.width + i],
                    tolerance * fmax (1, fabs (expected[row * tensor.width + i])));
      }
}
