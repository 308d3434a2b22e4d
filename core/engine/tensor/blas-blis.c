/* SPDX-License-Identifier: MIT */
#include "tensor/blas-library.h"

void
plait_blas_library_prepare (void)
{
  bli_thread_set_num_threads (1);
}

gboolean
plait_blas_library_reserve (guint threads, GError **error)
{
  return TRUE;
}

char *
plait_blas_library_describe (void)
{
  return g_strdup_printf ("BLIS %s core %s", bli_info_get_version_str (), bli_arch_string (bli_arch_query_id ()));
}
