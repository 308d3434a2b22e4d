/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/tensor.h"

/* The table of modules of the kind blas: what each library of matrix products has a name of its own for. */
typedef struct
{
  /* Sets the calling thread to one thread and, where the library can, to results that do not follow from where the
   * matrices lie. Called in each thread before its first product. */
  void (*prepare) (void);

  /* Computes plait_blas_multiply by one call of cblas. */
  void (*multiply) (PlaitTensor c, gboolean add, PlaitScalar factor, PlaitTensor a, gboolean transpose_a, PlaitTensor b,
                    gboolean transpose_b);

  /* Returns name, version and the kind of processor that the library computes for: "OpenBLAS 0.3.21 core Haswell".
   * (transfer full) */
  char *(*describe) (void);

  /* Takes and gives back the buffer of one calling thread, at most buffer_size bytes. NULL if the library can do
   * without a buffer. */
  gpointer (*take_buffer) (void);
  void (*give_buffer) (gpointer buffer);
  gsize buffer_size;
} PlaitBlasTable;
