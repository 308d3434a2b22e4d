/* SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/vector.h"

static inline __attribute__ ((always_inline)) Vector
take (const PlaitScalar *from, gint64 n)
{
  return n == VECTOR_LENGTH ? vector_load (from) : vector_load_partial (from, n, 0);
}

static inline __attribute__ ((always_inline)) void
put (PlaitScalar *to, Vector value, gint64 n)
{
  if (n == VECTOR_LENGTH)
    vector_store (to, value);
  else
    vector_store_partial (to, value, n);
}

/* Returns the dot product of two short rows. The scalars after the last whole vector are summed separately. */
static inline PlaitScalar
product_of (const PlaitScalar *x, const PlaitScalar *y, gint64 n)
{
  Vector sums = { 0 };
  PlaitScalar sum = 0;
  gint64 i = 0;

  for (; i + VECTOR_LENGTH <= n; i += VECTOR_LENGTH)
    sums += vector_load (x + i) * vector_load (y + i);
  for (; i < n; i++)
    sum += x[i] * y[i];
  return vector_sum (sums) + sum;
}

/* Defines the kernel @name for one row. The kernel calls the inline function @name for each vector of the row. */
#define EACH_VECTOR(name)                                                                                              \
  void KERNEL (name) (const PlaitCellRow *row, gint64 width)                                                           \
  {                                                                                                                    \
    gint64 i = 0;                                                                                                      \
                                                                                                                       \
    for (; i + VECTOR_LENGTH <= width; i += VECTOR_LENGTH)                                                             \
      name (row, width, i, VECTOR_LENGTH);                                                                             \
    if (i < width)                                                                                                     \
      name (row, width, i, width - i);                                                                                 \
  }
