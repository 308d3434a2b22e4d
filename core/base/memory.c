/* SPDX-License-Identifier: MIT */
#include "base/memory.h"

gpointer
plait_try_allocate (gsize count, gsize size, const char *what, GError **error)
{
  gsize bytes;
  gpointer memory = NULL;

  if (plait_size_multiply (count, size, &bytes))
    memory = g_try_malloc0 (MAX (bytes, 1));
  if (memory == NULL)
    plait_fail (error, PLAIT_ERROR_FAILED,
                "There is no memory for %s: %" G_GSIZE_FORMAT " items of %" G_GSIZE_FORMAT " bytes.", what, count,
                size);
  return memory;
}
