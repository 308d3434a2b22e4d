/* SPDX-License-Identifier: MIT */
#include "tensor/blas-library.h"

#include <dlfcn.h>

typedef void (*SetThreads) (int threads);

static gpointer
prepare_once (gpointer data)
{
  openblas_set_num_threads (1);
  return dlsym (RTLD_DEFAULT, "omp_set_num_threads");
}

void
plait_blas_library_prepare (void)
{
  static GOnce once = G_ONCE_INIT;
  /* A build on OpenMP, which is told only when it is loaded, asks OpenMP, which keeps the number for each thread. */
  SetThreads set_threads = (SetThreads)g_once (&once, prepare_once, NULL);

  if (set_threads)
    set_threads (1);
}

char *
plait_blas_library_describe (void)
{
  /* "OpenBLAS 0.3.21 DYNAMIC_ARCH ..." */
  g_auto (GStrv) words = g_strsplit (openblas_get_config (), " ", 3);
  gboolean named = words[0] && words[1];

  return g_strdup_printf ("OpenBLAS %s core %s", named ? words[1] : "of no version", openblas_get_corename ());
}
