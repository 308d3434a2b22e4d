/* SPDX-License-Identifier: MIT */
#include "hdf5/internal.h"

#include <sys/stat.h>

/* Maximum bytes of a chunk, because HDF5 reads each chunk as a whole. */
#define MAX_CHUNK ((gint64)256 << 20)
/* Maximum bytes of values for each byte of the file: Deflate compresses at most 1032-fold. */
#define MAX_RATIO 1100

/* TRUE if the product of @bytes and @n extents is at most @most. */
static gboolean
multiply (gint64 bytes, const hsize_t *extents, int n, gint64 most)
{
  for (int i = 0; i < n; i++)
    if (extents[i] > (hsize_t)G_MAXINT64 || __builtin_mul_overflow (bytes, (gint64)extents[i], &bytes))
      return FALSE;
  return bytes <= most;
}

static gboolean
fail_claim (const char *path, const char *name, const hsize_t *shape, int rank, gint64 size, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (int i = 0; i < rank; i++)
    g_string_append_printf (text, "%s%ju", i > 0 ? ", " : "", (guint64)shape[i]);
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "%s: %s claims the shape [%s], which a file of %jd bytes cannot hold; " PLAIT_STORE_REMEDY, path,
                     name, text->str, size);
}

gboolean
plait_store_check_storage (hid_t data, int fd, const char *path, const char *name, GError **error)
{
  g_auto (StoreId) list = H5Dget_create_plist (data);
  g_auto (StoreId) type = H5Dget_type (data);
  g_auto (StoreId) space = H5Dget_space (data);
  H5D_layout_t layout = list >= 0 ? H5Pget_layout (list) : H5D_LAYOUT_ERROR;
  hsize_t shape[H5S_MAX_RANK], chunk[H5S_MAX_RANK];
  int rank = space >= 0 ? H5Sget_simple_extent_dims (space, shape, NULL) : -1;
  struct stat status;
  if (layout == H5D_LAYOUT_ERROR || type < 0 || rank < 0 || fstat (fd, &status) != 0)
    return plait_fail (error, PLAIT_ERROR_CORRUPT,
                       "%s: cannot read how the values of %s are stored; " PLAIT_STORE_REMEDY, path, name);
  if (layout == H5D_VIRTUAL || H5Pget_external_count (list) > 0)
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "%s: the values of %s are in other files; copy the values into this file, for example with h5repack", path,
        name);

  gint64 element_bytes = (gint64)H5Tget_size (type);
  gint64 size = (gint64)status.st_size;
  if (!multiply (element_bytes, shape, rank, size > G_MAXINT64 / MAX_RATIO ? G_MAXINT64 : size * MAX_RATIO))
    return fail_claim (path, name, shape, rank, size, error);
  int n_chunk = layout == H5D_CHUNKED ? H5Pget_chunk (list, H5S_MAX_RANK, chunk) : 0;
  if (n_chunk < 0 || !multiply (element_bytes, chunk, n_chunk, MAX_CHUNK))
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "%s: %s is stored in chunks above %jd MiB, each of which is read as a whole; write it with smaller chunks",
        path, name, MAX_CHUNK >> 20);
  return TRUE;
}
