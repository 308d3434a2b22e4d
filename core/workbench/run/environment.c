/* SPDX-License-Identifier: MIT */
#include "run/environment.h"

#include <sys/resource.h>

#include "revision.h"
#include "tensor/blas.h"

#define PLACE "/environment"

gboolean
plait_environment_write (PlaitStore *store, const char *command, guint threads, GError **error)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree char *written = g_date_time_format_iso8601 (now);
  g_autofree char *host = g_utf8_make_valid (g_get_host_name (), -1);
  g_autofree char *blas = plait_blas_description (error);
  struct rusage usage;

  if (!blas)
    return FALSE;
  getrusage (RUSAGE_SELF, &usage);
  return plait_store_make_group (store, PLACE, error)
         && plait_store_set_string (store, PLACE, "command", command ? command : "", error)
         && plait_store_set_string (store, PLACE, "written", written, error)
         && plait_store_set_string (store, PLACE, "host", host, error)
         && plait_store_set_string (store, PLACE, "revision", PLAIT_REVISION, error)
         && plait_store_set_int (store, PLACE, "threads", threads, error)
         && plait_store_set_string (store, PLACE, "blas", blas, error)
         && plait_store_set_int (store, PLACE, "peak_memory", (gint64)usage.ru_maxrss * 1024, error);
}
