/* SPDX-License-Identifier: MIT */
#include "store/internal.h"

#include <string.h>

void
plait_store_quiet (void)
{
  H5Eset_auto2 (H5E_DEFAULT, NULL, NULL);
  /* A file may name a filter that is a module to be loaded: no file makes us load code. */
  H5PLset_loading_state (0);
}

static herr_t
keep_first (unsigned n, const H5E_error2_t *entry, void *data)
{
  char **reason = data;
  if (!*reason && entry->desc && entry->desc[0] != '\0')
    *reason = g_strdup (entry->desc);
  return 0;
}

char *
plait_store_reason (void)
{
  char *reason = NULL;
  H5Ewalk2 (H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &reason);
  if (!reason)
    return g_strdup ("HDF5 gives no reason");
  g_strdelimit (reason, "\n\r", ' ');
  char *text = g_strdup_printf ("HDF5 says \"%.200s\"", reason);
  g_free (reason);
  return text;
}

gboolean
plait_store_fail (const PlaitStore *store, const char *path, const char *action, GError **error)
{
  g_autofree char *reason = plait_store_reason ();
  const char *colon = path ? ": " : "";
  path = path ? path : "";
  if (store->failure != 0)
    return plait_fail (error, PLAIT_ERROR_FAILED, "%s%s%s: cannot %s: %s; what stood there before is unchanged",
                       store->path, colon, path, action, g_strerror (store->failure));
  if (plait_store_blocks_fail (store->blocks, store->path, error))
    return FALSE;
  if (store->writing)
    return plait_fail (error, PLAIT_ERROR_FAILED, "%s%s%s: cannot %s: %s", store->path, colon, path, action, reason);
  return plait_fail (error, PLAIT_ERROR_CORRUPT, "%s%s%s: cannot %s: %s; " PLAIT_STORE_REMEDY, store->path, colon, path,
                     action, reason);
}
