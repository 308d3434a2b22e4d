/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/pool.h"
#include "kernels/kernels.h"

/* The largest and the smallest number of elements that a piece of elementwise work should have. Pieces of whole rows,
 * and pieces at an end, may be smaller. */
#define PLAIT_MAX_RANGE_ELEMENTS 16384
#define PLAIT_MIN_RANGE_ELEMENTS 2048

/* Returns the number of elements in a piece: about an eighth of @elements, within the bounds PLAIT_MIN_RANGE_ELEMENTS
 * and PLAIT_MAX_RANGE_ELEMENTS. */
static inline gint64
plait_range_elements (gint64 elements)
{
  return CLAMP ((elements / 8 + 63) / 64 * 64, PLAIT_MIN_RANGE_ELEMENTS, PLAIT_MAX_RANGE_ELEMENTS);
}

/* Processes @n contiguous elements of each tensor: at[i] points to those of tensor i. @index is the index (row * width
 * + column) of the first element. */
typedef void (*PlaitRangeFunction) (gconstpointer data, PlaitScalar *const *at, gint64 n, gint64 index);

/* Calls @range over all elements of at most 4 tensors of one shape, in pieces that depend only on shape and strides. */
void plait_element_ranges_run (PlaitPool *pool, const PlaitTensor *tensors, guint n_tensors, PlaitRangeFunction range,
                               gconstpointer data);

/* Returns the first index in @first .. @end - 1 whose number is at least @least; @end if there is none. @numbers must
 * be in ascending order. */
gint64 plait_lower_bound (const gint64 *numbers, gint64 first, gint64 end, gint64 least);
