/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/arena.h"
#include "base/pool.h"
#include "tensor/tensor.h"

/* Kernels of optimisers, over all parameters in one run of the pool. */

/* A parameter of @n elements with its gradient and Adam's moments. */
typedef struct
{
  PlaitScalar *value;
  PlaitScalar *gradient;
  PlaitScalar *first_moment;
  PlaitScalar *second_moment;
  gint64 n;
} PlaitAdamSlot;

typedef struct
{
  double rate;
  double beta1;
  double beta2;
  double epsilon;
  double weight_decay;   /* decoupled: value -= rate * weight_decay * value */
  double gradient_scale; /* the gradient is multiplied by it first (clipping) */
  gint64 step;           /* 1 at the first update; for the bias correction c = 1 - beta^step */
  gboolean keep;         /* leave gradients as they are, for they are not used again */
} PlaitAdamSettings;

/* One pass: m, v and value of every slot; gradients are left zero, ready for the next step, unless they are kept. */
void plait_adam_update (PlaitPool *pool, const PlaitAdamSlot *slots, guint n_slots, const PlaitAdamSettings *settings);

/* The sum of the squares of all gradients of @slots, in an order fixed by the sizes. NaN or infinite if one of them is.
 */
double plait_gradient_squared_norm (PlaitPool *pool, PlaitArena *arena, const PlaitAdamSlot *slots, guint n_slots);
