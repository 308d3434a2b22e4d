/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/tensor.h"

/* Function table of a BLAS module (kind blas). */
typedef struct
{
  /* Sets the library to one thread for calls from this thread. If the library can, also makes results independent of
   * memory alignment. Called in each thread before its first product. */
  void (*prepare) (void);

  /* Does what plait_blas_multiply (blas.h) describes, by one call of cblas. */
  void (*multiply) (PlaitTensor c, gboolean add, PlaitScalar factor, PlaitTensor a, gboolean transpose_a, PlaitTensor b,
                    gboolean transpose_b);

  /* Returns the library's name, version and processor type, such as "OpenBLAS 0.3.21 core Haswell". (transfer full) */
  char *(*describe) (void);

  /* take_buffer makes the library allocate the buffer of one more thread, at most buffer_size bytes; give_buffer
   * releases the buffer. Both are NULL if the library needs no buffers. */
  gpointer (*take_buffer) (void);
  void (*give_buffer) (gpointer buffer);
  gsize buffer_size;
} PlaitBlasTable;
