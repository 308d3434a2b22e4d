/* SPDX-License-Identifier: MIT */
#include "hdf5/internal.h"

void
plait_store_silence_hdf5 (void)
{
  H5Eset_auto2 (H5E_DEFAULT, NULL, NULL);
  /* A file may name a filter that HDF5 would load as a module: never load code for a file. */
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
  g_autofree char *reason = NULL;
  H5Ewalk2 (H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &reason);
  return reason ? g_strdup_printf ("HDF5 says \"%.200s\"", g_strdelimit (reason, "\n\r", ' '))
                : g_strdup ("HDF5 gives no reason");
}

static herr_t
find_lack (unsigned n, const H5E_error2_t *entry, void *data)
{
  gboolean *lacks = data;

  *lacks |= entry->maj_num == H5E_RESOURCE && (entry->min_num == H5E_NOSPACE || entry->min_num == H5E_CANTALLOC);
  return 0;
}

gboolean
plait_store_lacks_memory (void)
{
  gboolean lacks = FALSE;

  H5Ewalk2 (H5E_DEFAULT, H5E_WALK_UPWARD, find_lack, &lacks);
  return lacks;
}

gboolean
plait_store_fail (const PlaitStore *store, const char *path, const char *action, GError **error)
{
  gboolean lacks_memory = plait_store_lacks_memory ();
  g_autofree char *reason = plait_store_reason ();
  g_autofree char *place = path ? g_strdup_printf ("%s: %s", store->path, path) : g_strdup (store->path);
  if (store->failure != 0)
    return plait_fail (error, PLAIT_ERROR_FAILED, "%s: cannot %s: %s%s", place, action, g_strerror (store->failure),
                       store->writing ? "; the old file is unchanged; free some space, or name another file" : "");
  if (plait_store_blocks_fail (store->blocks, store->path, error))
    return FALSE;
  if (lacks_memory)
    return plait_fail (error, PLAIT_ERROR_FAILED, "%s: cannot %s: there is not enough memory", place, action);
  if (store->writing)
    return plait_fail (error, PLAIT_ERROR_FAILED, "%s: cannot %s: %s", place, action, reason);
  return plait_fail (error, PLAIT_ERROR_CORRUPT, "%s: cannot %s: %s; " PLAIT_STORE_REMEDY, place, action, reason);
}

gpointer
plait_store_fail_null (const PlaitStore *store, const char *path, const char *action, GError **error)
{
  plait_store_fail (store, path, action, error);
  return NULL;
}
