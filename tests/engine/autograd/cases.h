/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/operators.h"
#include "text/error.h"

/* One gradient check of an operator. The mutation test runs it again under each term whose name begins with @covers. */
typedef struct
{
  const char *name;
  const char *covers; /* NULL: there only for what the operator's other case leaves out */
  /* Builds the operator's output from the leaves; the root is a random weighing of its elements. */
  PlaitNode *(*build) (PlaitTape *tape, PlaitNode *const *leaves);
  PlaitTapeMode mode;
  guint n_leaves;
  struct
  {
    gint64 rows;
    gint64 width;
  } leaves[10]; /* drawn from a normal distribution, by case and leaf */
} GradientCase;

/* Case @i of all, or NULL after the last. */
const GradientCase *gradient_case_at (guint i);

/* Those of recurrent cells, which are among them. */
extern const GradientCase recurrent_cases[];
extern const guint n_recurrent_cases;

/* Those of rows that are chosen. */
extern const GradientCase sparse_cases[];
extern const guint n_sparse_cases;

/* The gradient check of @gradient_case. */
gboolean run_gradient_case (const GradientCase *gradient_case, PlaitPool *pool, GError **error);
