/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/export.h"

typedef enum
{
  PLAIT_ACTIVATION_NONE,
  PLAIT_ACTIVATION_RELU,
  PLAIT_ACTIVATION_GELU,      /* x Phi (x) with the exact normal distribution Phi, by erf (Hendrycks & Gimpel 2016) */
  PLAIT_ACTIVATION_GELU_TANH, /* x / 2 (1 + tanh (sqrt (2 / pi) (x + 0.044715 x^3))) (Hendrycks & Gimpel 2016) */
  PLAIT_ACTIVATION_SWISH,     /* x sigmoid (x) (Ramachandran et al. 2017) */
  PLAIT_ACTIVATION_TANH,
  PLAIT_ACTIVATION_SIGMOID,
  /* The functions exp and log, for plait_exp and plait_log. Layers refuse them. */
  PLAIT_ACTIVATION_EXP,
  PLAIT_ACTIVATION_LOG,
} PlaitActivation;

/* TRUE if a layer can have @activation. */
static inline gboolean
plait_activation_is_known (PlaitActivation activation)
{
  return (guint)activation <= PLAIT_ACTIVATION_SIGMOID;
}
