/* SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/scan-job.h"
#include "process/pool.h"

/* The linear recurrence h_t = a_t * h_(t - 1) + b_t along each sentence, element by element. A piece of work is a
 * sentence with some columns, so the bits do not depend on the number of threads. */
void plait_scan_forward (PlaitPool *pool, const PlaitScanJob *job);
void plait_scan_backward (PlaitPool *pool, const PlaitScanJob *job);
