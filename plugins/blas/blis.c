/* SPDX-License-Identifier: MIT */
#include <blis.h>

#include "multiply.h"

static void
prepare (void)
{
  bli_thread_set_num_threads (1);
}

static char *
describe (void)
{
  return g_strdup_printf ("BLIS %s core %s", bli_info_get_version_str (), bli_arch_string (bli_arch_query_id ()));
}

static const PlaitBlasTable table = { .prepare = prepare, .multiply = multiply, .describe = describe };

PLAIT_MODULE_DEFINE ("blas", table)
