/* SPDX-License-Identifier: MIT */
#pragma once

#include "bench.h"
#include "layers/attention.h"
#include "layers/norm.h"

/* An array of reference-cases.txt, which a float64 reference computed. The functions below compare layers with such
 * arrays. */
typedef struct
{
  int rows;
  int width;
  const double *numbers;
} ReferenceArray;

/* Returns the array CASE/NAME, which must exist. @the_case is such as "recurrent/lstm", @name such as "inputs/x". */
const ReferenceArray *reference (const char *the_case, const char *name);

/* Returns a leaf with the numbers of the array CASE/inputs/NAME. */
PlaitNode *reference_input (Bench *bench, const char *the_case, const char *name);

/* Sets columns of @parameter (NULL: does nothing), from @column on, to the array CASE/weights/NAME. */
void reference_set (PlaitParameter *parameter, gint64 column, const char *the_case, const char *name);

/* Checks the gradient of @parameter, from column @column on, against the array CASE/gradients/weights/NAME. */
void reference_check_gradient (const PlaitParameter *parameter, gint64 column, const char *the_case, const char *name);

/* Do what reference_set() and reference_check_gradient() do, for a block: rows @from to @from + @n - 1 of the array
 * correspond to the rows from @row on and the columns from @column on of @parameter. */
void reference_set_block (PlaitParameter *parameter, gint64 row, gint64 column, const char *the_case, const char *name,
                          gint64 from, gint64 n);
void reference_check_block (const PlaitParameter *parameter, gint64 row, gint64 column, const char *the_case,
                            const char *name, gint64 from, gint64 n);

/* Set the projections of @attention to the arrays Wq, bq, ... of CASE/weights/NAME/, or check their gradients. */
void reference_set_attention (const PlaitAttention *attention, const char *the_case, const char *name);
void reference_check_attention (const PlaitAttention *attention, const char *the_case, const char *name);

/* Set gain and bias of @norm to the arrays g and b of CASE/weights/NAME/, or check their gradients. */
void reference_set_norm (const PlaitNorm *norm, const char *the_case, const char *name);
void reference_check_norm (const PlaitNorm *norm, const char *the_case, const char *name);

/* Checks @output against the array CASE/outputs/y. Then runs backward with CASE/cotangents/y as the gradient of
 * @output. */
void reference_go_back (Bench *bench, PlaitNode *output, const char *the_case);

/* Checks the gradient of @input against the array CASE/gradients/inputs/NAME. */
void reference_check_input (const PlaitNode *input, const char *the_case, const char *name);

/* Returns the sum of the elements of @x, multiplied by the rows from @first on of the array CASE/cotangents/NAME. */
PlaitNode *reference_weigh (Bench *bench, PlaitNode *x, const char *the_case, const char *name, gint64 first);

/* Checks @numbers against the array CASE/outputs/NAME, which has the same order. */
void reference_check_output (PlaitScalar *numbers, const char *the_case, const char *name);
