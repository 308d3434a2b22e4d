/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/kernels/vector.h"

/* Functions of a row that work on it vector by vector, the last one being perhaps a part. */

static inline __attribute__ ((always_inline)) Vector
take (const PlaitScalar *from, gint64 n)
{
  return n == VECTOR_LENGTH ? vector_load (from) : vector_load_part (from, n, 0);
}

static inline __attribute__ ((always_inline)) void
put (PlaitScalar *to, Vector value, gint64 n)
{
  if (n == VECTOR_LENGTH)
    vector_store (to, value);
  else
    vector_store_part (to, value, n);
}

/* Defines the kernel @name of a row, which calls the function @name for each vector of the width. */
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
