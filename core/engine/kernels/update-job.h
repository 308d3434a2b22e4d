/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/tensor.h"

/* A parameter of @n elements with its gradient and what the optimiser keeps of each element: Adam the first and the
 * second moment, Adadelta the mean squares of gradients and of updates. */
typedef struct
{
  PlaitScalar *value;
  PlaitScalar *gradient;
  PlaitScalar *kept[2];
  gint64 n;
} PlaitUpdateSlot;

typedef enum
{
  PLAIT_UPDATE_ADAM,
  /* Zeiler 2012, algorithm 1: with G and D the slot's mean squares, G <- rho G + (1 - rho) g^2, the update is
   * d = - sqrt (D + epsilon) / sqrt (G + epsilon) g, D <- rho D + (1 - rho) d^2, and the value gets rate * d. */
  PLAIT_UPDATE_ADADELTA,
} PlaitUpdateRule;

typedef struct
{
  PlaitUpdateRule rule;
  double rate;         /* of Adadelta the paper has none: 1 */
  double beta1, beta2; /* of Adam */
  double rho;          /* of Adadelta */
  double epsilon;
  double weight_decay;   /* decoupled: value -= rate * weight_decay * value */
  double gradient_scale; /* the gradient is multiplied by it first (clipping) */
  gint64 step;           /* of Adam: 1 at the first update; for the bias correction c = 1 - beta^step */
  gboolean keep;         /* leave gradients as they are, for they are not used again */
} PlaitUpdateSettings;
