/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/operators.h"
#include "text/error.h"

/* A gradient check of an operator. The mutation test repeats it with each changed gradient term whose name begins with
 * @covers. */
typedef struct
{
  const char *name;
  const char *covers; /* NULL: the mutation test skips this case */
  /* Returns the operator's output for the leaves. The root is the sum of its elements with random weights. */
  PlaitNode *(*build) (PlaitTape *tape, PlaitNode *const *leaves);
  PlaitTapeMode mode;
  guint n_leaves;
  struct
  {
    gint64 rows;
    gint64 width;
  } leaves[10]; /* random numbers from a normal distribution, by case and leaf */
} GradientCase;

/* Returns case @i of all cases, or NULL after the last. */
const GradientCase *gradient_case_at (guint i);

/* The cases of recurrent cells; gradient_case_at includes them. */
extern const GradientCase recurrent_cases[];
extern const guint n_recurrent_cases;

/* The cases of sparse attention; gradient_case_at includes them. */
extern const GradientCase sparse_cases[];
extern const guint n_sparse_cases;

/* Runs the gradient check of @gradient_case. */
gboolean run_gradient_case (const GradientCase *gradient_case, PlaitPool *pool, GError **error);
