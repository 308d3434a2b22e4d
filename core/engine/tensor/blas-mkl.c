/* SPDX-License-Identifier: MIT */
#include "tensor/blas-library.h"

#include <mkl_service.h>

static gpointer
prepare_once (gpointer data)
{
  /* Else a product of other addresses may add up in another order. */
  return GINT_TO_POINTER (mkl_cbwr_set (MKL_CBWR_AUTO));
}

void
plait_blas_library_prepare (void)
{
  static GOnce once = G_ONCE_INIT;

  g_once (&once, prepare_once, NULL);
  mkl_set_num_threads_local (1);
}

gboolean
plait_blas_library_reserve (guint threads, GError **error)
{
  return TRUE;
}

char *
plait_blas_library_describe (void)
{
  MKLVersion version;

  mkl_get_version (&version);
  return g_strdup_printf ("MKL %d.%d.%d core %s", version.MajorVersion, version.MinorVersion, version.UpdateVersion,
                          version.Processor);
}
