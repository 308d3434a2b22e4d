/* SPDX-License-Identifier: MIT */
#pragma once

#include "attention/attention.h"
#include "trial.h"

/* What the tests of attention hold its kernels against. */

/* One query and head over a list of keys; keys that it does not see are NULL. */
typedef struct
{
  gint64 n;
  const PlaitScalar **keys;
  const PlaitScalar **values;
  double *weights; /* before dropout */
  double *factors;
  double scale;
  gint64 width;
} Slow;

/* The factor that dropout gives to a weight. */
double slow_factor (const PlaitAttentionSettings *settings, gint64 row, guint head, gint64 key);

/* Fills the weights. */
void slow_weigh (Slow *slow, const PlaitScalar *query);

/* From weights and factors. */
void slow_context (const Slow *slow, PlaitScalar *context);

/* Adds to the gradients; dkeys and dvalues are NULL where keys are. */
void slow_backward (const Slow *slow, const PlaitScalar *query, const PlaitScalar *dcontext, PlaitScalar *dquery,
                    PlaitScalar **dkeys, PlaitScalar **dvalues);
