/* SPDX-License-Identifier: MIT */
#include "hdf5/internal.h"

#include <string.h>

/* Name of an attribute: an object that has it stores the value of a large attribute (store.h). */
#define LARGE_MARK "attribute_of"

/* Returns the path at which the attribute @name of @path is stored if it is large. (transfer full) */
static char *
large_path (PlaitStore *store, const char *path, const char *name)
{
  PlaitStoreObject object;
  gboolean group = plait_store_describe (store, path, &object, NULL) && object.kind == PLAIT_STORE_GROUP;
  if (path[1] == '\0')
    return g_strconcat ("/", name, NULL);
  return g_strconcat (path, group ? "/" : ".", name, NULL);
}

/* Returns the path at which the large attribute @name is stored, or NULL if there is no such attribute. (transfer
 * full) */
static char *
find_large (PlaitStore *store, const char *path, const char *name)
{
  g_autofree char *large = large_path (store, path, name);
  gboolean found
      = plait_store_has (store, large) && H5Aexists_by_name (store->file, large, LARGE_MARK, store->access) > 0;
  return found ? g_steal_pointer (&large) : NULL;
}

/* Opens the object at @path. If the object has the attribute @name, however large, removes this attribute. Negative
 * with *error set. */
static hid_t
prepare_attribute (PlaitStore *store, const char *path, const char *name, GError **error)
{
  g_assert (store->writing);
  g_auto (StoreId) id = plait_store_object (store, path, error);
  if (id < 0)
    return -1;
  g_autofree char *large = find_large (store, path, name);
  if (name[0] == '\0' || strchr (name, '/') || !g_utf8_validate (name, -1, NULL))
    plait_fail (error, PLAIT_ERROR_INPUT,
                "%s: an attribute of %s has a name that is empty, has a '/' or is not UTF-8; give another name",
                store->path, path);
  else if ((H5Aexists (id, name) > 0 && H5Adelete (id, name) < 0)
           || (large && H5Ldelete (store->file, large, store->access) < 0))
    plait_store_fail (store, path, "replace an attribute", error);
  else
    return store_id_steal (&id);
  return -1;
}

/* Stores a large attribute at large_path. @n < 0: one string, not a list. */
static gboolean
put_large (PlaitStore *store, const char *path, const char *name, PlaitStoreType type, gint64 n, gconstpointer values,
           GError **error)
{
  g_auto (StoreId) id = prepare_attribute (store, path, name, error);
  g_autofree char *large = id >= 0 ? large_path (store, path, name) : NULL;
  return large
         && (type != PLAIT_STORE_STRING
                 ? plait_store_write (store, large, type, 1, &n, values, PLAIT_STORE_PLAIN, error)
             : n < 0 ? plait_store_write_string (store, large, *(const char *const *)values, error)
                     : plait_store_write_strings (store, large, values, n, error))
         && plait_store_set_string (store, large, LARGE_MARK, path, error);
}

static gboolean
put_attribute (PlaitStore *store, const char *path, const char *name, hid_t file_type, hid_t memory_type, gint64 n,
               gconstpointer values, GError **error)
{
  g_auto (StoreId) id = prepare_attribute (store, path, name, error);
  if (id < 0)
    return FALSE;
  hsize_t extent = (hsize_t)MAX (n, 0);
  g_auto (StoreId) space = n < 0 ? H5Screate (H5S_SCALAR) : H5Screate_simple (1, &extent, NULL);
  g_auto (StoreId) attribute = space < 0 ? -1 : H5Acreate2 (id, name, file_type, space, store->attribute, H5P_DEFAULT);
  if (attribute < 0 || (n != 0 && H5Awrite (attribute, memory_type, values) < 0) || store->failure != 0)
    {
      g_autofree char *action = g_strdup_printf ("write its attribute '%s'", name);
      return plait_store_fail (store, path, action, error);
    }
  return TRUE;
}

static gboolean
set_strings (PlaitStore *store, const char *path, const char *name, gint64 n, const char *const *values, GError **error)
{
  gsize longest, total;
  gint64 count = n < 0 ? 1 : n;
  if (!plait_store_measure_strings (store, path, values, count, &longest, &total, error))
    return FALSE;
  if ((gsize)count * (longest + 1) > PLAIT_STORE_MAX_ATTRIBUTE_BYTES)
    return put_large (store, path, name, PLAIT_STORE_STRING, n, values, error);
  g_autofree char *slots = plait_store_pack (values, count, longest + 1);
  g_auto (StoreId) type = plait_store_string_type (longest);
  return put_attribute (store, path, name, type, type, n, slots, error);
}

gboolean
plait_store_set_string (PlaitStore *store, const char *path, const char *name, const char *value, GError **error)
{
  return set_strings (store, path, name, -1, &value, error);
}

gboolean
plait_store_set_int (PlaitStore *store, const char *path, const char *name, gint64 value, GError **error)
{
  return put_attribute (store, path, name, H5T_STD_I64LE, H5T_NATIVE_INT64, -1, &value, error);
}

gboolean
plait_store_set_double (PlaitStore *store, const char *path, const char *name, double value, GError **error)
{
  return put_attribute (store, path, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, -1, &value, error);
}

gboolean
plait_store_set_list (PlaitStore *store, const char *path, const char *name, PlaitStoreType type, gint64 n,
                      gconstpointer values, GError **error)
{
  if (type == PLAIT_STORE_STRING)
    return set_strings (store, path, name, n, values, error);
  if ((gsize)n * plait_store_type_size (type) > PLAIT_STORE_MAX_ATTRIBUTE_BYTES)
    return put_large (store, path, name, type, n, values, error);
  return put_attribute (store, path, name, plait_store_file_type (type), plait_store_memory_type (type), n, values,
                        error);
}

gboolean
plait_store_has_attribute (PlaitStore *store, const char *path, const char *name)
{
  g_auto (StoreId) id = plait_store_object (store, path, NULL);
  if (id < 0)
    return FALSE;
  if (H5Aexists (id, name) > 0)
    return TRUE;
  g_autofree char *large = find_large (store, path, name);
  return large != NULL;
}

static herr_t
collect_attribute (hid_t object, const char *name, const H5A_info_t *info, void *data)
{
  g_strv_builder_add (data, name);
  return 0;
}

char **
plait_store_attributes_of (const PlaitStore *store, const char *path, hid_t id, GError **error)
{
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  hsize_t at = 0;
  if (H5Aiterate2 (id, H5_INDEX_NAME, H5_ITER_INC, &at, collect_attribute, names) < 0)
    return plait_store_fail_null (store, path, "list its attributes", error);
  return g_strv_builder_end (names);
}

char **
plait_store_attributes (PlaitStore *store, const char *path, GError **error)
{
  g_auto (StoreId) id = plait_store_object (store, path, error);
  return id >= 0 ? plait_store_attributes_of (store, path, id, error) : NULL;
}

/* An open attribute and its type. */
typedef struct
{
  hid_t id;
  hid_t stored;
  PlaitStoreType type;
  gint64 element_bytes;
  gint64 elements;
} Attribute;

static void
attribute_clear (Attribute *attribute)
{
  store_id_release (attribute->stored);
  store_id_release (attribute->id);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Attribute, attribute_clear)

static gboolean
attribute_open (PlaitStore *store, const char *path, hid_t object, const char *name, Attribute *attribute,
                GError **error)
{
  if (H5Aexists (object, name) <= 0)
    {
      g_auto (GStrv) names = plait_store_attributes_of (store, path, object, NULL);
      const char *nearest = names ? plait_nearest_name (name, (const char *const *)names) : NULL;
      g_autofree char *remedy = nearest ? g_strdup_printf ("the most similar name is '%s'", nearest)
                                        : g_strdup_printf ("plait show %s %s lists the attributes", store->path, path);
      return plait_fail (error, PLAIT_ERROR_INPUT, "%s: %s has no attribute '%s'; %s", store->path, path, name, remedy);
    }
  attribute->id = H5Aopen (object, name, H5P_DEFAULT);
  attribute->stored = H5Aget_type (attribute->id);
  g_auto (StoreId) space = H5Aget_space (attribute->id);
  attribute->elements = (gint64)H5Sget_simple_extent_npoints (space);
  if (attribute->id < 0 || attribute->stored < 0 || space < 0 || attribute->elements < 0)
    return plait_store_fail (store, path, "read its attributes", error);
  attribute->type = plait_store_type_of (attribute->stored);
  attribute->element_bytes = (gint64)H5Tget_size (attribute->stored);
  /* Normally, HDF5 limits attributes to 64 kB; other programs can lift the limit. */
  if (attribute->elements > (1 << 24) || attribute->element_bytes > (1 << 24)
      || attribute->elements * attribute->element_bytes > (1 << 24))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: the attribute '%s' of %s is larger than 16 MiB; " PLAIT_STORE_REMEDY, store->path, name,
                       path);
  return TRUE;
}

gpointer
plait_store_get_list (PlaitStore *store, const char *path, const char *name, PlaitStoreType type, gint64 *n,
                      GError **error)
{
  g_auto (StoreId) object = plait_store_object (store, path, error);
  if (object < 0)
    return NULL;
  g_autofree char *large = H5Aexists (object, name) > 0 ? NULL : find_large (store, path, name);
  if (large)
    return type == PLAIT_STORE_STRING ? (gpointer)plait_store_read_strings (store, large, G_MAXINT32, n, error)
                                      : plait_store_read_array (store, large, type, G_MAXINT32, n, error);

  g_auto (Attribute) attribute = { -1, -1 };
  if (!attribute_open (store, path, object, name, &attribute, error))
    return NULL;
  gboolean text = type == PLAIT_STORE_STRING;
  if (text ? attribute.type != PLAIT_STORE_STRING
           : !plait_store_convertible (attribute.type, attribute.element_bytes, type))
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "%s: the attribute '%s' of %s holds %s, which cannot be read as %s; " PLAIT_STORE_REMEDY,
                            store->path, name, path, plait_store_type_name (attribute.type),
                            plait_store_type_name (type));
  gsize element_bytes = text ? (gsize)attribute.element_bytes : plait_store_type_size (type);

  /* Bytes of the values: at most 128 MiB. */
  g_autofree char *values = g_malloc0 ((gsize)attribute.elements * element_bytes + 1);

  hid_t memory_type = text ? attribute.stored : plait_store_memory_type (type);
  if (attribute.elements > 0 && H5Aread (attribute.id, memory_type, values) < 0)
    return plait_store_fail_null (store, path, "read its attributes", error);
  *n = attribute.elements;
  if (!text)
    return g_steal_pointer (&values);
  char **strings = plait_store_unpack (values, attribute.elements, element_bytes);
  if (!strings)
    plait_fail (error, PLAIT_ERROR_FAILED, "%s: no memory for the attribute '%s' of %s", store->path, name, path);
  return strings;
}

static void
free_values (PlaitStoreType type, gpointer values)
{
  if (type == PLAIT_STORE_STRING)
    g_strfreev (values);
  else
    g_free (values);
}

/* Returns an array with the one value of the attribute @name. Fails if the attribute has no value or several values.
 * (transfer full) */
static gpointer
get_single (PlaitStore *store, const char *path, const char *name, PlaitStoreType type, GError **error)
{
  gint64 n;
  gpointer values = plait_store_get_list (store, path, name, type, &n, error);
  if (!values || n == 1)
    return values;
  plait_fail (error, PLAIT_ERROR_INPUT,
              "%s: the attribute '%s' of %s has %jd values instead of one; " PLAIT_STORE_REMEDY, store->path, name,
              path, n);
  free_values (type, values);
  return NULL;
}

char *
plait_store_get_string (PlaitStore *store, const char *path, const char *name, GError **error)
{
  g_auto (GStrv) values = get_single (store, path, name, PLAIT_STORE_STRING, error);
  return values ? g_steal_pointer (&values[0]) : NULL;
}

gboolean
plait_store_get_int (PlaitStore *store, const char *path, const char *name, gint64 *value, GError **error)
{
  g_autofree gint64 *values = get_single (store, path, name, PLAIT_STORE_INT64, error);
  if (values)
    *value = values[0];
  return values != NULL;
}

gboolean
plait_store_get_double (PlaitStore *store, const char *path, const char *name, double *value, GError **error)
{
  g_autofree double *values = get_single (store, path, name, PLAIT_STORE_DOUBLE, error);
  if (values)
    *value = values[0];
  return values != NULL;
}

static void
append_values (GString *text, PlaitStoreType type, gconstpointer values, gint64 n, gsize maximum)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  for (gint64 i = 0; i < n && text->len <= maximum * 4; i++)
    {
      if (i > 0)
        g_string_append (text, ", ");
      if (type == PLAIT_STORE_STRING)
        g_string_append (text, ((char *const *)values)[i]);
      else if (type == PLAIT_STORE_INT64)
        g_string_append_printf (text, "%jd", ((const gint64 *)values)[i]);
      else
        g_string_append (text, g_ascii_formatd (number, sizeof number, "%.9g", ((const double *)values)[i]));
    }
}

/* Sets *@type to the type of the values of the attribute @name, large or not. */
static gboolean
find_type (PlaitStore *store, const char *path, const char *name, PlaitStoreType *type, GError **error)
{
  g_auto (Attribute) attribute = { -1, -1 };
  g_auto (StoreId) object = plait_store_object (store, path, error);
  if (object < 0)
    return FALSE;
  g_autofree char *large = H5Aexists (object, name) > 0 ? NULL : find_large (store, path, name);
  PlaitStoreObject values;
  if (large ? !plait_store_describe (store, large, &values, error)
            : !attribute_open (store, path, object, name, &attribute, error))
    return FALSE;
  /* A large list of strings can be a group (plait_store_write_strings). */
  *type = !large ? attribute.type : values.kind == PLAIT_STORE_GROUP ? PLAIT_STORE_STRING : values.type;
  return TRUE;
}

char *
plait_store_attribute_text (PlaitStore *store, const char *path, const char *name, gsize maximum, GError **error)
{
  PlaitStoreType type;
  if (!find_type (store, path, name, &type, error))
    return NULL;
  if (type == PLAIT_STORE_OTHER)
    return g_strdup ("(a type that cannot be shown)");
  if (type == PLAIT_STORE_INT32 || type == PLAIT_STORE_UINT8)
    type = PLAIT_STORE_INT64;
  else if (type == PLAIT_STORE_FLOAT)
    type = PLAIT_STORE_DOUBLE;

  gint64 n;
  gpointer values = plait_store_get_list (store, path, name, type, &n, error);
  if (!values)
    return NULL;
  g_autoptr (GString) text = g_string_new (NULL);
  append_values (text, type, values, n, maximum);
  free_values (type, values);

  g_autofree char *valid = g_utf8_make_valid (text->str, (gssize)text->len);
  if ((gsize)g_utf8_strlen (valid, -1) <= maximum)
    return g_steal_pointer (&valid);
  g_autofree char *cut = g_utf8_substring (valid, 0, (glong)maximum - 1);
  return g_strconcat (cut, "\u2026", NULL);
}
