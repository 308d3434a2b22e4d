/* SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/bfloat16.h"
#include "trial.h"

/* A slow implementation of products in bfloat16, with which tests compare the kernels. */

static const PlaitPrecision precisions[] = { PLAIT_PRECISION_BFLOAT16_EMULATED, PLAIT_PRECISION_BFLOAT16 };

/* Loops over those precisions that this processor can compute with the selected kernels. */
#define EACH_PRECISION(p)                                                                                              \
  for (guint p = 0; p < G_N_ELEMENTS (precisions); p++)                                                                \
    if (plait_precision_runs_here (precisions[p]))

float float_of (guint32 bits);

/* Returns @x as bfloat16, the upper half of a float, rounded by comparing the distances to both neighbours. */
guint16 slow_round (float x);

/* Returns a copy of @tensor with all elements rounded to bfloat16. */
PlaitTensor rounded (Trial *trial, PlaitTensor tensor);

void check_same (PlaitTensor found, PlaitTensor expected);

/* Checks that @found has the bits of @expected, the result of the slow twin, and adds them to the digest. */
void check_twin (Trial *trial, PlaitTensor found, PlaitTensor expected);

/* Checks that elements differ by at most @part_of_greatest times the largest element of @expected. */
void check_within (PlaitTensor found, PlaitTensor expected, double part_of_greatest);
