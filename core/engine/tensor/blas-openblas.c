/* SPDX-License-Identifier: MIT */
#include "tensor/blas-library.h"

#include <dlfcn.h>

#include "files/memory.h"

typedef void (*SetThreads) (int threads);
typedef gpointer (*TakeBuffer) (int unused);
typedef void (*GiveBuffer) (gpointer buffer);

/* No less than OpenBLAS takes for each of those that call it at once; on x86-64 it is half of this. */
#define LARGEST_BUFFER ((gsize)256 << 20)

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

/* OpenBLAS keeps what it was given back for whoever calls it next; what it cannot have it tries for ever to get. */
gboolean
plait_blas_library_reserve (guint threads, GError **error)
{
  TakeBuffer take = (TakeBuffer)dlsym (RTLD_DEFAULT, "blas_memory_alloc");
  GiveBuffer give = (GiveBuffer)dlsym (RTLD_DEFAULT, "blas_memory_free");
  g_autofree gpointer *buffers = g_new (gpointer, threads);
  guint n = 0;

  if (!take || !give)
    return TRUE;
  while (n < threads && plait_memory_fits (LARGEST_BUFFER))
    buffers[n++] = take (0);
  for (guint i = 0; i < n; i++)
    give (buffers[i]);
  return n == threads
         || plait_fail (error, PLAIT_ERROR_MEMORY,
                        "OpenBLAS has no memory for thread %u of %u (it maps up to 256 MiB for each); ask for fewer "
                        "with --threads, or raise the limit of memory (ulimit -v)",
                        n + 1, threads);
}

char *
plait_blas_library_describe (void)
{
  /* "OpenBLAS 0.3.21 DYNAMIC_ARCH ..." */
  g_auto (GStrv) words = g_strsplit (openblas_get_config (), " ", 3);
  gboolean named = words[0] && words[1];

  return g_strdup_printf ("OpenBLAS %s core %s", named ? words[1] : "of no version", openblas_get_corename ());
}
