/* SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/bfloat16.h"
#include "trial.h"

/* What the tests of bfloat16 hold its kernels against. */

static const PlaitPrecision precisions[] = { PLAIT_PRECISION_BFLOAT16_EMULATED, PLAIT_PRECISION_BFLOAT16 };

/* Those that run here with the kernels that are chosen. */
#define EACH_PRECISION(p)                                                                                              \
  for (guint p = 0; p < G_N_ELEMENTS (precisions); p++)                                                                \
    if (plait_precision_runs_here (precisions[p]))

float float_of (guint32 bits);

/* The upper half of @x, by the distances to both neighbours, which are a step of that half apart. */
guint16 slow_round (float x);

/* What the numbers become. */
PlaitTensor rounded (Trial *trial, PlaitTensor tensor);

void check_same (PlaitTensor found, PlaitTensor expected);

/* Within a part of the greatest number of @expected. */
void check_within (PlaitTensor found, PlaitTensor expected, double part_of_greatest);
