/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/tensor.h"

/* A parameter of @n elements with its gradient and the state of the optimiser in @kept: for Adam the first and second
 * moments, for Adadelta the mean squares of gradients and of updates, for Lion one moment. */
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
  /* Zeiler 2012, algorithm 1, with a learning rate. With mean squares G of the gradients and D of the updates: G = rho
   * G + (1 - rho) g^2; d = -sqrt (D + epsilon) / sqrt (G + epsilon) g; D = rho D + (1 - rho) d^2; value += rate (d -
   * weight_decay value). */
  PLAIT_UPDATE_ADADELTA,
  /* Chen et al. 2023, algorithm 2, with one moment M: d = sign (beta1 M + (1 - beta1) g); M = beta2 M + (1 - beta2) g;
   * value -= rate (d + weight_decay value). */
  PLAIT_UPDATE_LION,
} PlaitUpdateRule;

typedef struct
{
  PlaitUpdateRule rule;
  double rate;         /* learning rate; 1 gives Adadelta as published */
  double beta1, beta2; /* decay of the moments of Adam and Lion */
  double rho;          /* decay of Adadelta's mean squares */
  double epsilon;
  double weight_decay;   /* decoupled: value -= rate * weight_decay * value */
  double gradient_scale; /* factor of the gradient before the update (gradient clipping) */
  gint64 step;           /* number of this update, from 1: Adam's bias correction is 1 - beta^step */
  gboolean keep;         /* keep the gradient instead of setting it to zero */
} PlaitUpdateSettings;
