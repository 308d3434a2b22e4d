/* SPDX-License-Identifier: MIT */
#include "files/memory.h"
#include "hdf5/internal.h"

#include <string.h>

/* A list is stored in slots of equal size if the slots take at most FREE_SLOTS bytes, or at most WASTE times the bytes
 * of its text. */
#define FREE_SLOTS ((gsize)4 << 20)
#define WASTE 8
/* Maximum bytes of one element of a string dataset or attribute. */
#define MAX_STRING ((gint64)1 << 26)

gboolean
plait_store_measure_strings (const PlaitStore *store, const char *path, const char *const *values, gint64 n,
                             gsize *longest, gsize *total, GError **error)
{
  *longest = 0;
  *total = 0;
  for (gint64 i = 0; i < n; i++)
    {
      gsize length = strlen (values[i]);
      if (!g_utf8_validate (values[i], (gssize)length, NULL))
        return plait_fail (error, PLAIT_ERROR_INPUT, "%s: %s: string %jd is not UTF-8; expected text in UTF-8",
                           store->path, path, i);
      *longest = MAX (*longest, length);
      *total += length;
    }
  return (gint64)*longest < MAX_STRING
         || plait_fail (error, PLAIT_ERROR_INPUT, "%s: %s: a string has %zu bytes; expected at most %jd bytes",
                        store->path, path, *longest, MAX_STRING - 1);
}

char *
plait_store_pack (const char *const *values, gint64 n, gsize slot)
{
  char *slots = g_try_malloc0_n ((gsize)MAX (n, 1), slot);
  for (gint64 i = 0; slots && i < n; i++)
    strcpy (slots + (gsize)i * slot, values[i]);
  return slots;
}

/* Returns an empty list for @n strings of @bytes bytes in all; NULL if there is not enough memory for the list and the
 * strings. (transfer full) */
static char **
new_list (gint64 n, gsize bytes)
{
  enum
  {
    OVERHEAD = 32, /* bytes of a pointer and of malloc's bookkeeping for each string */
  };
  return plait_memory_is_available ((gsize)n * OVERHEAD + bytes) ? g_try_new0 (char *, (gsize)n + 1) : NULL;
}

char **
plait_store_unpack (const char *slots, gint64 n, gsize slot)
{
  char **values = new_list (n, (gsize)n * slot);
  for (gint64 i = 0; values && i < n; i++)
    values[i] = g_strndup (slots + (gsize)i * slot, slot);
  return values;
}

/* Splits @text of @bytes bytes into its @n strings, which each end with a NUL. (transfer full) */
static char **
split (const char *text, gint64 n, gint64 bytes)
{
  char **values = new_list (n, (gsize)bytes);
  for (gint64 i = 0; values && i < n; i++)
    {
      values[i] = g_strdup (text);
      text += strlen (text) + 1;
    }
  return values;
}

static gboolean
fail_memory (PlaitStore *store, const char *path, GError **error)
{
  return plait_fail (error, PLAIT_ERROR_FAILED, "%s: no memory for the text of %s", store->path, path);
}

/* Fails if stored text has more than @most bytes; it has @bytes. The error gives @maximum, the limit of the caller. */
static gboolean
check_bytes (PlaitStore *store, const char *path, gint64 bytes, gsize most, gsize maximum, GError **error)
{
  return (gsize)bytes <= most
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "%s: the strings of %s take %jd bytes; expected text of at most %zu bytes; " PLAIT_STORE_REMEDY,
                        store->path, path, bytes, maximum);
}

static gboolean
write_slots (PlaitStore *store, const char *path, guint rank, const char *const *values, gint64 n, gsize longest,
             GError **error)
{
  g_autofree char *slots = plait_store_pack (values, n, longest + 1);
  if (!slots)
    return fail_memory (store, path, error);
  g_auto (StoreId) type = plait_store_string_type (longest);
  return plait_store_create_dataset (store, path, type, type, H5S_ALL, rank, &n, slots, PLAIT_STORE_COMPRESSED, error);
}

static gboolean
write_pool (PlaitStore *store, const char *path, const char *const *values, gint64 n, gsize total, GError **error)
{
  g_autofree char *bytes = g_try_malloc (total + 1);
  g_autofree gint64 *offsets = g_try_new (gint64, (gsize)n + 1);
  if (!bytes || !offsets)
    return fail_memory (store, path, error);
  char *end = bytes;
  for (gint64 i = 0; i < n; i++)
    {
      offsets[i] = end - bytes;
      end = g_stpcpy (end, values[i]);
    }
  offsets[n] = end - bytes;

  g_autofree char *bytes_path = g_strconcat (path, "/bytes", NULL);
  g_autofree char *offsets_path = g_strconcat (path, "/offsets", NULL);
  gint64 n_bytes = offsets[n], n_offsets = n + 1;
  const char *name;
  return plait_store_prepare (store, path, &name, error) >= 0
         && plait_store_write (store, bytes_path, PLAIT_STORE_UINT8, 1, &n_bytes, bytes, PLAIT_STORE_COMPRESSED, error)
         && plait_store_write (store, offsets_path, PLAIT_STORE_INT64, 1, &n_offsets, offsets, PLAIT_STORE_COMPRESSED,
                               error);
}

gboolean
plait_store_write_string (PlaitStore *store, const char *path, const char *value, GError **error)
{
  gsize longest, total;
  return plait_store_measure_strings (store, path, &value, 1, &longest, &total, error)
         && write_slots (store, path, 0, &value, 1, longest, error);
}

gboolean
plait_store_write_strings (PlaitStore *store, const char *path, const char *const *values, gint64 n, GError **error)
{
  gsize longest, total;
  if (!plait_store_measure_strings (store, path, values, n, &longest, &total, error))
    return FALSE;
  gsize slots = (gsize)n * (longest + 1); /* cannot overflow: n is bounded by memory, longest by MAX_STRING */
  if (slots > FREE_SLOTS && slots / WASTE > total)
    return write_pool (store, path, values, n, total, error);
  return write_slots (store, path, 1, values, n, longest, error);
}

/* Returns the slots of the string dataset @found as they are stored. Refuses slots of more than MAX (FREE_SLOTS,
 * WASTE * @maximum) bytes; @maximum: the most bytes of text that the caller accepts. (transfer full) */
static char *
read_slots (PlaitStore *store, const char *path, const PlaitStoreFound *found, gsize maximum, GError **error)
{
  const PlaitStoreObject *object = &found->object;
  gint64 bytes;
  if (object->type != PLAIT_STORE_STRING || found->text || object->rank > 1 || object->element_bytes > MAX_STRING
      || __builtin_mul_overflow (object->elements, object->element_bytes, &bytes))
    return plait_fail_null (
        error, PLAIT_ERROR_INPUT,
        "%s: %s is neither a fixed-length string nor a list of fixed-length strings; " PLAIT_STORE_REMEDY, store->path,
        path);
  if (!check_bytes (store, path, bytes, MAX (FREE_SLOTS, maximum * (gsize)WASTE), maximum, error)
      || !plait_store_check_values (store, path, found->id, error))
    return NULL;
  g_autofree char *slots = plait_memory_is_available ((gsize)bytes) ? g_try_malloc0 ((gsize)bytes + 1) : NULL;
  if (!slots)
    {
      fail_memory (store, path, error);
      return NULL;
    }
  g_auto (StoreId) type = H5Dget_type (found->id);
  if (bytes > 0 && H5Dread (found->id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, slots) < 0)
    return plait_store_fail_null (store, path, "read it", error);
  return g_steal_pointer (&slots);
}

char *
plait_store_read_string (PlaitStore *store, const char *path, GError **error)
{
  g_auto (PlaitStoreFound) found = PLAIT_STORE_NOT_FOUND;
  g_autofree char *slots = plait_store_find (store, path, &found, error)
                               ? read_slots (store, path, &found, (gsize)MAX_STRING, error)
                               : NULL;
  if (!slots)
    return NULL;
  if (found.object.elements != 1)
    return plait_fail_null (error, PLAIT_ERROR_INPUT, "%s: %s holds %jd strings instead of one; " PLAIT_STORE_REMEDY,
                            store->path, path, found.object.elements);
  return g_strndup (slots, (gsize)found.object.element_bytes);
}

gboolean
plait_store_are_offsets (const gint64 *offsets, gint64 n, gint64 end)
{
  gboolean good = n >= 1 && offsets[0] == 0 && offsets[n - 1] == end;
  for (gint64 i = 1; good && i < n; i++)
    good = offsets[i] >= offsets[i - 1];
  return good;
}

static char **
read_pool (PlaitStore *store, const char *path, gsize maximum, gint64 *n, GError **error)
{
  g_autofree char *bytes_path = g_strconcat (path, "/bytes", NULL);
  g_autofree char *offsets_path = g_strconcat (path, "/offsets", NULL);
  gint64 n_bytes, n_offsets;
  gint64 limit = (gint64)MIN (maximum, (gsize)G_MAXINT64);
  g_autofree char *bytes = plait_store_read_array (store, bytes_path, PLAIT_STORE_UINT8, limit, &n_bytes, error);
  if (!bytes)
    return NULL;
  g_autofree gint64 *offsets
      = plait_store_read_array (store, offsets_path, PLAIT_STORE_INT64, G_MAXINT32, &n_offsets, error);
  if (!offsets)
    return NULL;
  if (!plait_store_are_offsets (offsets, n_offsets, n_bytes))
    return plait_fail_null (error, PLAIT_ERROR_CORRUPT,
                            "%s: the offsets of the strings in %s must begin at 0, never decrease and end at the "
                            "number of bytes of the strings; " PLAIT_STORE_REMEDY,
                            store->path, path);
  char **values = new_list (n_offsets - 1, (gsize)n_bytes);
  if (!values)
    {
      fail_memory (store, path, error);
      return NULL;
    }
  for (gint64 i = 0; i + 1 < n_offsets; i++)
    values[i] = g_strndup (bytes + offsets[i], (gsize)(offsets[i + 1] - offsets[i]));
  *n = n_offsets - 1;
  return values;
}

char **
plait_store_read_strings (PlaitStore *store, const char *path, gsize maximum, gint64 *n, GError **error)
{
  g_auto (PlaitStoreFound) found = PLAIT_STORE_NOT_FOUND;
  g_autofree char *slots = NULL;
  gint64 ignored;
  n = n ? n : &ignored;
  if (!plait_store_find (store, path, &found, error))
    return NULL;
  if (found.object.kind == PLAIT_STORE_GROUP)
    return read_pool (store, path, maximum, n, error);
  if (found.text ? !check_bytes (store, path, found.count, maximum, maximum, error)
                 : !(slots = read_slots (store, path, &found, maximum, error)))
    return NULL;
  *n = found.object.elements;
  char **values = found.text ? split (found.text, *n, found.count)
                             : plait_store_unpack (slots, *n, (gsize)found.object.element_bytes);
  if (!values)
    fail_memory (store, path, error);
  return values;
}
