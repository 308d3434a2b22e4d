/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/operators.h"
#include "text/error.h"

/* A gradient check of an operator. The mutation test changes each gradient term whose name begins with covers, and
 * repeats the check. */
typedef struct
{
  const char *name;
  const char *covers; /* beginning of the names of the checked gradient terms; NULL: the mutation test skips the case */
  /* Returns the output of the operator for @leaves. The root is the sum of its elements with random weights. */
  PlaitNode *(*build) (PlaitTape *tape, PlaitNode *const *leaves);
  PlaitTapeMode mode;
  guint n_leaves;
  struct
  {
    gint64 rows;
    gint64 width;
  } leaves[10]; /* leaves: random elements from a normal distribution, which depend on case and leaf */
} GradientCase;

/* Returns case @i of all cases, or NULL after the last. */
const GradientCase *gradient_case_at (guint i);

/* Cases of recurrent cells, which gradient_case_at() includes. */
extern const GradientCase recurrent_cases[];
extern const guint n_recurrent_cases;

/* Cases of sparse attention, which gradient_case_at() includes. */
extern const GradientCase sparse_cases[];
extern const guint n_sparse_cases;

/* Runs the gradient check of @gradient_case. */
gboolean run_gradient_case (const GradientCase *gradient_case, PlaitPool *pool, GError **error);

/* Like run_gradient_case, but leaf @first is also the input @second of the operator, which must have the same shape. */
gboolean run_gradient_case_with (const GradientCase *gradient_case, guint first, guint second, PlaitPool *pool,
                                 GError **error);
