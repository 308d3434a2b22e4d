/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/arena.h"
#include "process/pool.h"
#include "kernels/update-job.h"

/* Kernels of optimisers, over all parameters in one run of the pool. */

/* One pass: value and what is kept of every slot; gradients are left zero, ready for the next step, unless they are
 * kept. */
void plait_update (PlaitPool *pool, const PlaitUpdateSlot *slots, guint n_slots, const PlaitUpdateSettings *settings);

/* The sum of the squares of all gradients of @slots, in an order fixed by the sizes. NaN or
 * infinite if one of them is. */
double plait_gradient_squared_norm (PlaitPool *pool, PlaitArena *arena, const PlaitUpdateSlot *slots, guint n_slots);
