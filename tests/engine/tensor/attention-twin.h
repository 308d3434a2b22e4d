/* SPDX-License-Identifier: MIT */
#pragma once

#include "attention/attention.h"
#include "trial.h"

/* A slow implementation of attention, with which tests compare the kernels. */

/* One head of one query with @n keys. A key that the query cannot see is NULL. */
typedef struct
{
  gint64 n;
  const PlaitScalar **keys;
  const PlaitScalar **values;
  double *weights; /* [n]: attention weights before dropout */
  double *factors;
  double scale;
  gint64 width;
  const double *biases; /* [n]: added to the scaled scores; NULL: nothing is added */
} Slow;

/* Returns the factor by which dropout multiplies the weight of @key. */
double slow_factor (const PlaitAttentionSettings *settings, gint64 row, guint head, gint64 key);

/* Computes the weights of all keys from @query. */
void slow_weigh (Slow *slow, const PlaitScalar *query);

/* Computes the context from weights, dropout factors and values. */
void slow_context (const Slow *slow, PlaitScalar *context);

/* Adds the gradients of one query to dquery, dkeys and dvalues. dkeys and dvalues are NULL for keys that are NULL. */
void slow_backward (const Slow *slow, const PlaitScalar *query, const PlaitScalar *dcontext, PlaitScalar *dquery,
                    PlaitScalar **dkeys, PlaitScalar **dvalues);
