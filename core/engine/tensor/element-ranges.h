/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/pool.h"
#include "kernels/kernels.h"

/* Elements in a piece of work that touches each element once: at most, and the fewest worth a piece. */
#define PLAIT_MAX_RANGE_ELEMENTS 16384
#define PLAIT_MIN_RANGE_ELEMENTS 2048

/* How many of @elements, all to be touched once, make a piece: so that a few threads find pieces, if there is enough
 * to do. */
static inline gint64
plait_range_elements (gint64 elements)
{
  return CLAMP ((elements / 8 + 63) / 64 * 64, PLAIT_MIN_RANGE_ELEMENTS, PLAIT_MAX_RANGE_ELEMENTS);
}

/* A span of @n elements that stand end to end in each of the tensors: tensor i's begin at @at[i]. @index is the place
 * of the first in the tensors (row * width + column). */
typedef void (*PlaitRangeFunction) (gconstpointer data, PlaitScalar *const *at, gint64 n, gint64 index);

/* Calls @range over all elements of @n_tensors (at most 4) tensors of one shape, in pieces that depend on the shape
 * alone. */
void plait_element_ranges_run (PlaitPool *pool, const PlaitTensor *tensors, guint n_tensors, PlaitRangeFunction range,
                               gconstpointer data);

/* The first place from @first to @end of a number of @numbers, which ascend, that is @least or more. */
gint64 plait_lower_bound (const gint64 *numbers, gint64 first, gint64 end, gint64 least);
