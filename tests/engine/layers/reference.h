/* SPDX-License-Identifier: MIT */
#pragma once

#include "bench.h"
#include "layers/attention.h"
#include "layers/norm.h"

/* Cases computed by a float64 reference, in reference-cases.txt, and checks of layers against them. */
typedef struct
{
  int rows;
  int width;
  const double *numbers;
} ReferenceArray;

/* Returns the array CASE/NAME, such as "recurrent/lstm" and "inputs/x", which must exist. */
const ReferenceArray *reference (const char *the_case, const char *name);

/* Returns a leaf with the numbers of CASE/inputs/NAME. */
PlaitNode *reference_input (Bench *bench, const char *the_case, const char *name);

/* Sets the columns from @column on of @parameter (NULL: none) to CASE/weights/NAME. */
void reference_set (PlaitParameter *parameter, gint64 column, const char *the_case, const char *name);

/* Checks the gradient of @parameter, columns from @column on, against CASE/gradients/weights/NAME. */
void reference_check_gradient (const PlaitParameter *parameter, gint64 column, const char *the_case, const char *name);

/* Like reference_set and reference_check_gradient, for rows @from .. @from + @n - 1 of the array, which correspond to
 * the rows from @row and columns from @column on of @parameter. */
void reference_set_block (PlaitParameter *parameter, gint64 row, gint64 column, const char *the_case, const char *name,
                          gint64 from, gint64 n);
void reference_check_block (const PlaitParameter *parameter, gint64 row, gint64 column, const char *the_case,
                            const char *name, gint64 from, gint64 n);

/* Set the projections of @attention to Wq, bq, ... under CASE/weights/NAME/, or check their gradients. */
void reference_set_attention (const PlaitAttention *attention, const char *the_case, const char *name);
void reference_check_attention (const PlaitAttention *attention, const char *the_case, const char *name);

/* Set gain and bias of @norm to g and b under CASE/weights/NAME/, or check their gradients. */
void reference_set_norm (const PlaitNorm *norm, const char *the_case, const char *name);
void reference_check_norm (const PlaitNorm *norm, const char *the_case, const char *name);

/* Checks @output against CASE/outputs/y, and runs backward from it with the gradient CASE/cotangents/y. */
void reference_go_back (Bench *bench, PlaitNode *output, const char *the_case);

/* Checks the gradient of @input against CASE/gradients/inputs/NAME. */
void reference_check_input (const PlaitNode *input, const char *the_case, const char *name);

/* Returns the sum of the elements of @x times rows @first .. of CASE/cotangents/NAME. */
PlaitNode *reference_weigh (Bench *bench, PlaitNode *x, const char *the_case, const char *name, gint64 first);

/* Checks @numbers, in the order of the array, against CASE/outputs/NAME. */
void reference_check_output (PlaitScalar *numbers, const char *the_case, const char *name);
