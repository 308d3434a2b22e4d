/* SPDX-License-Identifier: MIT */
#include <cblas.h>
#include <dlfcn.h>

#include "multiply.h"

typedef void (*SetThreads) (int threads);

/* OpenBLAS's internal allocator. OpenBLAS keeps a released buffer for the next caller. */
extern void *blas_memory_alloc (int unused) __attribute__ ((weak));
extern void blas_memory_free (void *buffer) __attribute__ ((weak));

static gpointer
prepare_once (gpointer data)
{
  openblas_set_num_threads (1);
  return dlsym (RTLD_DEFAULT, "omp_set_num_threads");
}

static void
prepare (void)
{
  static GOnce once = G_ONCE_INIT;
  /* OpenBLAS built with OpenMP asks OpenMP for the number of threads. Each calling thread must set this number for
   * itself. */
  SetThreads set_threads = (SetThreads)g_once (&once, prepare_once, NULL);

  if (set_threads)
    set_threads (1);
}

static gpointer
take_buffer (void)
{
  return blas_memory_alloc ? blas_memory_alloc (0) : NULL;
}

static void
give_buffer (gpointer buffer)
{
  if (buffer)
    blas_memory_free (buffer);
}

static char *
describe (void)
{
  /* The configuration looks like "OpenBLAS 0.3.21 DYNAMIC_ARCH ...". */
  g_auto (GStrv) words = g_strsplit (openblas_get_config (), " ", 3);
  gboolean named = words[0] && words[1];

  return g_strdup_printf ("OpenBLAS %s core %s", named ? words[1] : "of no version", openblas_get_corename ());
}

static const PlaitBlasTable table = {
  .prepare = prepare,
  .multiply = multiply,
  .describe = describe,
  .take_buffer = take_buffer,
  .give_buffer = give_buffer,
  .buffer_size = (gsize)256 << 20, /* twice the size of OpenBLAS's buffer on x86-64 */
};

PLAIT_MODULE_DEFINE ("blas", table)
