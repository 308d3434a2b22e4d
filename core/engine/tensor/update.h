/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/arena.h"
#include "process/pool.h"
#include "kernels/update-job.h"

/* Optimisers: each call processes all parameters in one run of the pool. */

/* Updates the value and optimiser state of every parameter. Then sets the gradients to zero, unless settings->keep. */
void plait_update (PlaitPool *pool, const PlaitUpdateSlot *slots, guint n_slots, const PlaitUpdateSettings *settings);

/* Returns the sum of the squares of all gradients, in an order fixed by the sizes. NaN or infinite if a gradient is. */
double plait_gradient_squared_norm (PlaitPool *pool, PlaitArena *arena, const PlaitUpdateSlot *slots, guint n_slots);
