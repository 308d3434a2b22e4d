/* SPDX-License-Identifier: MIT */
#include "tables/ragged-kinds.h"

#include <string.h>

/* Maximum number of components in the name of a kind of data: KIND or KIND/PART. */
#define MAX_KIND_DEPTH 2
#define MAX_ITEMS ((gint64)1 << 20)
#define MAX_NAMES_BYTES ((gsize)64 << 20)

static void
array_free (gpointer data)
{
  PlaitRaggedArray *array = data;

  store_id_release (array->id);
  g_free (array->path);
  g_free (array->name);
  g_free (array->offsets);
  g_free (array->shapes);
  g_free (array);
}

static void
kind_free (gpointer data)
{
  PlaitRaggedKind *kind = data;

  store_id_release (kind->id);
  g_free (kind->path);
  g_strfreev (kind->items);
  g_hash_table_unref (kind->indices);
  g_ptr_array_unref (kind->arrays);
  g_free (kind);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitRaggedKind, kind_free)

static void
group_free (gpointer data)
{
  PlaitRaggedGroup *group = data;

  g_ptr_array_unref (group->kinds);
  g_free (group->path);
  g_free (group);
}

static gboolean
fail (const PlaitStore *store, const char *path, const char *what, GError **error)
{
  return plait_fail (
      error, PLAIT_ERROR_CORRUPT,
      "%s: %s%s has a wrong type, shape or value, so the items of %s cannot be found; " PLAIT_STORE_REMEDY, store->path,
      path, what, path);
}

static gboolean
read_items (PlaitStore *store, PlaitRaggedKind *kind, GError **error)
{
  g_autofree char *path = g_strconcat (kind->path, "/" PLAIT_STORE_ITEMS, NULL);

  kind->items = plait_store_read_strings (store, path, MAX_NAMES_BYTES, &kind->n, error);
  if (!kind->items)
    return FALSE;
  for (gint64 i = 0; i < kind->n; i++)
    if (!g_utf8_validate (kind->items[i], -1, NULL) || !g_ascii_isdigit (kind->items[i][0])
        || strchr (kind->items[i], '/')
        || !g_hash_table_insert (kind->indices, kind->items[i], GINT_TO_POINTER ((gint)i + 1)))
      return plait_fail (error, PLAIT_ERROR_CORRUPT,
                         "%s: in %s, the name of item %jd is invalid or occurs twice; " PLAIT_STORE_REMEDY, store->path,
                         path, i);
  return kind->n <= MAX_ITEMS
         || plait_fail (error, PLAIT_ERROR_INPUT, "%s: %s has too many items; expected at most %jd", store->path, path,
                        MAX_ITEMS);
}

/* TRUE if an object of kind @wanted is stored at @path. */
static gboolean
is_stored (PlaitStore *store, const char *path, PlaitStoreKind wanted)
{
  PlaitStoreObject object;

  return plait_store_is_stored (store, path) && plait_store_describe_stored (store, path, &object, NULL)
         && object.kind == wanted;
}

static gboolean
read_kind (PlaitStore *store, PlaitRaggedGroup *group, const char *path, const char *name, GError **error)
{
  g_autoptr (PlaitRaggedKind) kind = g_new0 (PlaitRaggedKind, 1);
  g_auto (PlaitStoreFound) found = PLAIT_STORE_NOT_FOUND;
  g_auto (GStrv) members
      = plait_store_find (store, path, &found, error) ? plait_store_members_of (store, path, &found, error) : NULL;

  kind->path = g_strdup (path);
  kind->name = kind->path + (name - path);
  kind->indices = g_hash_table_new (g_str_hash, g_str_equal);
  kind->arrays = g_ptr_array_new_with_free_func (array_free);
  kind->id = store_id_steal (&found.id);
  kind->attributes = found.object.attributes;
  if (!members || !read_items (store, kind, error))
    return FALSE;
  for (guint i = 0; members[i]; i++)
    {
      g_autofree char *offsets = g_strconcat (members[i], PLAIT_STORE_OFFSETS, NULL);

      if (!g_strv_contains ((const char *const *)members, offsets))
        continue;
      PlaitRaggedArray *array = g_new0 (PlaitRaggedArray, 1);
      array->path = g_strconcat (path, "/", members[i], NULL);
      array->name = g_strdup (members[i]);
      array->flat.kind = PLAIT_STORE_UNKNOWN;
      array->id = -1;
      g_ptr_array_add (kind->arrays, array);
    }
  g_ptr_array_add (group->kinds, g_steal_pointer (&kind));
  return TRUE;
}

/* Reads the kinds below @path, which is the ragged group (@depth 1) or a group in it (@depth 2). @above: length of the
 * ragged group's path in bytes. */
static gboolean
read_kinds (PlaitStore *store, PlaitRaggedGroup *group, const char *path, gsize above, guint depth, GError **error)
{
  g_auto (GStrv) members = plait_store_members_stored (store, path, error);

  for (guint i = 0; members && members[i]; i++)
    {
      g_autofree char *member_path = g_strconcat (path, "/", members[i], NULL);
      g_autofree char *items = g_strconcat (member_path, "/" PLAIT_STORE_ITEMS, NULL);

      if (!is_stored (store, member_path, PLAIT_STORE_GROUP))
        continue;
      if (is_stored (store, items, PLAIT_STORE_DATASET) || is_stored (store, items, PLAIT_STORE_GROUP)
              ? !read_kind (store, group, member_path, member_path + above + 1, error)
              : depth < MAX_KIND_DEPTH && !read_kinds (store, group, member_path, above, depth + 1, error))
        return FALSE;
    }
  return members != NULL;
}

PlaitRaggedGroup *
plait_store_ragged_open (PlaitStore *store, const char *path, GError **error)
{
  if (!store->ragged)
    store->ragged = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, group_free);
  PlaitRaggedGroup *group = g_hash_table_lookup (store->ragged, path);
  if (group)
    return group->known ? group : NULL;
  group = g_new0 (PlaitRaggedGroup, 1);
  group->path = g_strdup (path);
  group->kinds = g_ptr_array_new_with_free_func (kind_free);
  g_hash_table_insert (store->ragged, group->path, group);
  group->known = read_kinds (store, group, path, strlen (path), 1, error);
  if (group->known)
    return group;
  g_hash_table_remove (store->ragged, path);
  return NULL;
}

/* Reads the offsets, which must begin at 0, end at the number of elements and never decrease. */
static gboolean
read_offsets (PlaitStore *store, PlaitRaggedArray *array, gint64 n, GError **error)
{
  g_autofree char *path = g_strconcat (array->path, PLAIT_STORE_OFFSETS, NULL);
  gint64 found = 0;

  array->offsets = plait_store_read_array (store, path, PLAIT_STORE_INT64, MAX_ITEMS + 1, &found, error);
  if (!array->offsets)
    return FALSE;
  return (found == n + 1 && plait_store_are_offsets (array->offsets, found, array->flat.elements))
         || fail (store, array->path, PLAIT_STORE_OFFSETS, error);
}

/* Reads the shapes, if there are any; each must match the number of elements of its item. */
static gboolean
read_shapes (PlaitStore *store, PlaitRaggedArray *array, gint64 n, GError **error)
{
  g_autofree char *path = g_strconcat (array->path, PLAIT_STORE_SHAPE, NULL);
  PlaitStoreObject object;

  array->rank = 1;
  if (!is_stored (store, path, PLAIT_STORE_DATASET))
    return TRUE;
  if (!plait_store_describe_stored (store, path, &object, error))
    return FALSE;
  if (object.rank != 2 || object.shape[0] != n || object.shape[1] < 1 || object.shape[1] > PLAIT_STORE_MAX_RANK)
    return fail (store, array->path, PLAIT_STORE_SHAPE, error);
  array->rank = (guint)object.shape[1];
  array->shapes
      = plait_store_read_array (store, path, PLAIT_STORE_INT64, MAX_ITEMS * PLAIT_STORE_MAX_RANK, NULL, error);
  if (!array->shapes)
    return FALSE;
  for (gint64 i = 0; i < n; i++)
    {
      gint64 count = array->offsets[i + 1] - array->offsets[i], elements = 1;

      for (guint d = 0; d < array->rank; d++)
        {
          gint64 extent = array->shapes[i * array->rank + d];

          if (extent < 0 || __builtin_mul_overflow (elements, extent, &elements))
            return fail (store, array->path, PLAIT_STORE_SHAPE, error);
        }
      if (elements != count)
        return fail (store, array->path, PLAIT_STORE_SHAPE, error);
    }
  return TRUE;
}

gboolean
plait_store_ragged_open_array (PlaitStore *store, const PlaitRaggedKind *kind, PlaitRaggedArray *array, GError **error)
{
  if (array->flat.kind == PLAIT_STORE_DATASET)
    return TRUE;
  if (array->id < 0)
    array->id = plait_store_dataset (store, array->path, &array->flat, error);
  array->flat.kind = PLAIT_STORE_UNKNOWN;
  if (array->id < 0)
    return FALSE;
  array->text = H5Aexists (array->id, PLAIT_STORE_TEXT) > 0;
  if (array->flat.rank != 1 || array->flat.type == PLAIT_STORE_STRING || array->flat.type == PLAIT_STORE_OTHER
      || (array->text && array->flat.type != PLAIT_STORE_UINT8))
    return fail (store, array->path, "", error);
  g_clear_pointer (&array->offsets, g_free);
  g_clear_pointer (&array->shapes, g_free);
  if (!read_offsets (store, array, kind->n, error) || !read_shapes (store, array, kind->n, error))
    return FALSE;
  array->flat.kind = PLAIT_STORE_DATASET;
  return TRUE;
}
