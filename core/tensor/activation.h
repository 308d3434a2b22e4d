/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/export.h"

typedef enum
{
  PLAIT_ACTIVATION_NONE,
  PLAIT_ACTIVATION_RELU,
  PLAIT_ACTIVATION_GELU, /* exact, by erf */
  PLAIT_ACTIVATION_TANH,
  PLAIT_ACTIVATION_SIGMOID,
} PlaitActivation;
