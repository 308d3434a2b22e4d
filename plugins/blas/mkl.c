/* SPDX-License-Identifier: MIT */
#include <mkl_cblas.h>
#include <mkl_service.h>

#include "multiply.h"

static gpointer
prepare_once (gpointer data)
{
  /* Select a fixed instruction set, because otherwise the order of sums may depend on the alignment of addresses. */
  return GINT_TO_POINTER (mkl_cbwr_set (MKL_CBWR_AUTO));
}

static void
prepare (void)
{
  static GOnce once = G_ONCE_INIT;

  g_once (&once, prepare_once, NULL);
  mkl_set_num_threads_local (1);
}

static char *
describe (void)
{
  MKLVersion version;

  mkl_get_version (&version);
  return g_strdup_printf ("MKL %d.%d.%d core %s", version.MajorVersion, version.MinorVersion, version.UpdateVersion,
                          version.Processor);
}

static const PlaitBlasTable table = { .prepare = prepare, .multiply = multiply, .describe = describe };

PLAIT_MODULE_DEFINE ("blas", table)
