/* SPDX-License-Identifier: MIT */
#pragma once

#include "attention/attention.h"
#include "trial.h"

/* Slow implementation of attention, to which tests compare the kernels. */

/* One query and head with a list of @n keys. A key that the query cannot see is NULL. */
typedef struct
{
  gint64 n;
  const PlaitScalar **keys;
  const PlaitScalar **values;
  double *weights; /* before dropout */
  double *factors;
  double scale;
  gint64 width;
  const double *biases; /* added to the scaled scores: [n], or NULL */
} Slow;

/* Returns the factor by which dropout multiplies the weight of @key. */
double slow_factor (const PlaitAttentionSettings *settings, gint64 row, guint head, gint64 key);

/* Computes the weights of all keys. */
void slow_weigh (Slow *slow, const PlaitScalar *query);

/* Computes the context from weights, factors and values. */
void slow_context (const Slow *slow, PlaitScalar *context);

/* Adds the gradients of one query. dkeys and dvalues are NULL where the keys are. */
void slow_backward (const Slow *slow, const PlaitScalar *query, const PlaitScalar *dcontext, PlaitScalar *dquery,
                    PlaitScalar **dkeys, PlaitScalar **dvalues);
