/* SPDX-License-Identifier: MIT */
#pragma once

#include "bench.h"
#include "layers/attention.h"
#include "layers/norm.h"

/* Cases of a float64 reference, which reference-cases.txt holds, and what it takes to hold layers to them. */
typedef struct
{
  int rows;
  int width;
  const double *numbers;
} ReferenceArray;

/* The array CASE/NAME, such as "recurrent/lstm" and "inputs/x", which must exist. */
const ReferenceArray *reference (const char *the_case, const char *name);

/* A leaf with the numbers of CASE/inputs/NAME. */
PlaitNode *reference_input (Bench *bench, const char *the_case, const char *name);

/* Sets the columns from @column on of @parameter (NULL: none) to CASE/weights/NAME. */
void reference_set (PlaitParameter *parameter, gint64 column, const char *the_case, const char *name);

/* Checks the same columns of its gradient against CASE/gradients/weights/NAME. */
void reference_check_gradient (const PlaitParameter *parameter, gint64 column, const char *the_case, const char *name);

/* The same of rows @from .. @from + @n - 1 of the array, which stand at row @row and column @column of @parameter. */
void reference_set_block (PlaitParameter *parameter, gint64 row, gint64 column, const char *the_case, const char *name,
                          gint64 from, gint64 n);
void reference_check_block (const PlaitParameter *parameter, gint64 row, gint64 column, const char *the_case,
                            const char *name, gint64 from, gint64 n);

/* The projections of @attention against Wq, bq, ... below CASE/weights/NAME/: set, or their gradients checked. */
void reference_set_attention (const PlaitAttention *attention, const char *the_case, const char *name);
void reference_check_attention (const PlaitAttention *attention, const char *the_case, const char *name);

/* Gain and bias of @norm: g and b below CASE/weights/NAME/. */
void reference_set_norm (const PlaitNorm *norm, const char *the_case, const char *name);
void reference_check_norm (const PlaitNorm *norm, const char *the_case, const char *name);

/* Checks @output against CASE/outputs/y, and goes back from it with CASE/cotangents/y. */
void reference_go_back (Bench *bench, PlaitNode *output, const char *the_case);

/* Checks the gradient of @input against CASE/gradients/inputs/NAME. */
void reference_check_input (const PlaitNode *input, const char *the_case, const char *name);

/* The sum of @x times rows @first .. of CASE/cotangents/NAME. */
PlaitNode *reference_weigh (Bench *bench, PlaitNode *x, const char *the_case, const char *name, gint64 first);

/* Checks @numbers, laid out as the array, against CASE/outputs/NAME. */
void reference_check_output (PlaitScalar *numbers, const char *the_case, const char *name);
