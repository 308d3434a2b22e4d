/* SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/attention-job.h"

/* Arguments of the linear recurrence h_t = a_t * h_(t - 1) + b_t (recurrent/scan.h), forward and backward. */
typedef struct
{
  PlaitTensor a;       /* [rows, w] */
  PlaitTensor b;       /* [rows, w] */
  PlaitTensor initial; /* state before the first row of each sentence: [sentences, w]; no data: zeros */
  PlaitTensor states;  /* h, output of the forward pass: [rows, w] */
  PlaitRagged rows;

  /* Backward only. All rows of each target are written. For one row, the order is da, db; dinitial of a sentence comes
   * last. Several targets may be one tensor; then only the first of them may have beta 0. */
  PlaitTensor dstates;
  PlaitGradientTarget da;
  PlaitGradientTarget db;
  PlaitGradientTarget dinitial;
} PlaitScanJob;
