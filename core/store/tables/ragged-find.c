/* SPDX-License-Identifier: MIT */
#include "files/memory.h"
#include "tables/ragged-kinds.h"

#include <string.h>

/* Returns the ragged group that contains @path, and sets *@rest to the part of @path after the group, such as
 * ITEM/KIND. If @reads is FALSE, looks only among open groups. NULL without *error if no group is found. */
static PlaitRaggedGroup *
find_group (PlaitStore *store, const char *path, gboolean reads, const char **rest, GError **error)
{
  for (const char *slash = strchr (path + 1, '/'); slash; slash = strchr (slash + 1, '/'))
    if (g_ascii_isdigit (slash[1]))
      {
        g_autofree char *head = g_strndup (path, (gsize)(slash - path));
        PlaitRaggedGroup *group = store->ragged ? g_hash_table_lookup (store->ragged, head) : NULL;

        *rest = slash + 1;
        if (!group && reads && H5Aexists_by_name (store->file, head, PLAIT_STORE_RAGGED, store->access) > 0)
          return plait_store_ragged_open (store, head, error);
        if (group && group->known)
          return group;
      }
  return NULL;
}

gboolean
plait_store_is_item (PlaitStore *store, const char *path)
{
  const char *rest;

  return store->ragged && find_group (store, path, FALSE, &rest, NULL);
}

static void
add_name (GPtrArray *names, const char *name, gsize length)
{
  g_autofree char *copy = g_strndup (name, length);

  if (!g_ptr_array_find_with_equal_func (names, copy, g_str_equal, NULL))
    g_ptr_array_add (names, g_steal_pointer (&copy));
}

/* Returns the part of @name after "@place/": "b" for "a/b" and "a"; @name itself if @place is ""; NULL if @name is not
 * below @place. */
static const char *
below (const char *name, const char *place)
{
  gsize length = strlen (place);

  if (length == 0)
    return name;
  return strncmp (name, place, length) == 0 && name[length] == '/' ? name + length + 1 : NULL;
}

/* Returns the array of @kind at @place, KIND/NAME; NULL if there is no such array. */
static PlaitRaggedArray *
array_at (const PlaitRaggedKind *kind, const char *place)
{
  const char *name = below (place, kind->name);

  for (guint i = 0; name && i < kind->arrays->len; i++)
    if (g_str_equal (((PlaitRaggedArray *)kind->arrays->pdata[i])->name, name))
      return kind->arrays->pdata[i];
  return NULL;
}

/* Reads the strings of the item @found in @array, whose values are text. Sets the number of strings in @found. */
static gboolean
read_text (PlaitStore *store, const PlaitRaggedArray *array, PlaitStoreFound *found, GError **error)
{
  hsize_t start = (hsize_t)found->start, count = (hsize_t)found->count;

  found->text = plait_memory_is_available (count) ? g_try_malloc0 (count + 1) : NULL;
  if (!found->text)
    return plait_fail (error, PLAIT_ERROR_FAILED, "%s: no memory for the text of %s", store->path, array->path);
  if (count > 0 && !plait_store_read_block (found->id, 1, &start, &count, H5T_NATIVE_UINT8, found->text))
    return plait_store_fail (store, array->path, "read it", error);
  if (count > 0 && found->text[count - 1] != '\0')
    return plait_fail (error, PLAIT_ERROR_CORRUPT, "%s: a string of %s lacks its final NUL; " PLAIT_STORE_REMEDY,
                       store->path, array->path);
  found->object.type = PLAIT_STORE_STRING;
  found->object.elements = 0;
  for (gint64 i = 0; i < found->count; i++)
    found->object.elements += found->text[i] == '\0';
  found->object.shape[0] = found->object.elements;
  return TRUE;
}

static gboolean
find_array (PlaitStore *store, const PlaitRaggedKind *kind, PlaitRaggedArray *array, gint64 place,
            PlaitStoreFound *found, GError **error)
{
  if (!plait_store_ragged_open_array (store, kind, array, error))
    return FALSE;
  found->id = array->id;
  H5Iinc_ref (found->id);
  found->object = array->flat;
  found->object.rank = array->rank;
  found->start = array->offsets[place];
  found->count = array->offsets[place + 1] - found->start;
  found->object.elements = found->count;
  for (guint d = 0; d < array->rank; d++)
    found->object.shape[d] = array->shapes ? array->shapes[place * array->rank + d] : found->count;
  found->object.stored_bytes
      = array->flat.elements == 0
            ? 0
            : (gint64)((double)array->flat.stored_bytes * (double)found->count / (double)array->flat.elements);
  return !array->text || read_text (store, array, found, error);
}

/* Finds the object at @place, such as KIND/NAME, in the item @name of @group. "" is the item itself. */
static gboolean
find_in_group (PlaitStore *store, const PlaitRaggedGroup *group, const char *name, const char *place,
               PlaitStoreFound *found, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_null_terminated (8, g_free, TRUE);

  for (guint k = 0; k < group->kinds->len; k++)
    {
      const PlaitRaggedKind *kind = group->kinds->pdata[k];
      gint64 at = GPOINTER_TO_INT (g_hash_table_lookup (kind->indices, name)) - 1;
      const char *inner = below (kind->name, place);
      PlaitRaggedArray *array = at >= 0 ? array_at (kind, place) : NULL;

      if (array)
        return find_array (store, kind, array, at, found, error);
      if (at >= 0 && inner)
        add_name (names, inner, strcspn (inner, "/"));
      if (at < 0 || !g_str_equal (kind->name, place))
        continue;
      found->id = kind->id;
      H5Iinc_ref (found->id);
      found->object.attributes = kind->attributes;
      for (guint i = 0; i < kind->arrays->len; i++)
        {
          array = kind->arrays->pdata[i];
          add_name (names, array->name, strlen (array->name));
        }
    }
  if (names->len == 0)
    return FALSE;
  if (found->id < 0) /* @place is "" or a group of kinds */
    {
      g_autofree char *path = g_strconcat (group->path, *place != '\0' ? "/" : "", place, NULL);

      found->id = H5Oopen (store->file, path, store->access);
    }
  found->object.kind = PLAIT_STORE_GROUP;
  found->object.type = PLAIT_STORE_OTHER;
  found->object.members = names->len;
  found->names = (char **)g_ptr_array_steal (names, NULL);
  return found->id >= 0 || plait_store_fail (store, group->path, "open it", error);
}

gboolean
plait_store_item_find (PlaitStore *store, const char *path, PlaitStoreFound *found, GError **error)
{
  const char *rest;
  PlaitRaggedGroup *group = store->writing ? NULL : find_group (store, path, TRUE, &rest, error);

  *found = PLAIT_STORE_NOT_FOUND;
  if (!group)
    return FALSE;
  gsize length = strcspn (rest, "/");
  g_autofree char *name = g_strndup (rest, length);
  return find_in_group (store, group, name, rest[length] == '/' ? rest + length + 1 : "", found, error);
}

/* Compares names of items, such as "10.2", number by number. */
static gint
compare_names (gconstpointer a, gconstpointer b)
{
  const char *first = *(char *const *)a, *second = *(char *const *)b;

  while (g_ascii_isdigit (*first) && g_ascii_isdigit (*second))
    {
      char *first_end, *second_end;
      guint64 x = g_ascii_strtoull (first, &first_end, 10), y = g_ascii_strtoull (second, &second_end, 10);

      if (x != y)
        return x < y ? -1 : 1;
      first = first_end + (*first_end == '.');
      second = second_end + (*second_end == '.');
    }
  return strcmp (first, second);
}

char **
plait_store_item_names (PlaitStore *store, const char *path, GError **error)
{
  PlaitRaggedGroup *group = plait_store_ragged_open (store, path, error);
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GPtrArray) names = g_ptr_array_new_null_terminated (8, g_free, TRUE);

  if (!group)
    return NULL;
  for (guint k = 0; k < group->kinds->len; k++)
    {
      const PlaitRaggedKind *kind = group->kinds->pdata[k];

      for (gint64 i = 0; i < kind->n; i++)
        if (g_hash_table_add (seen, kind->items[i]))
          g_ptr_array_add (names, g_strdup (kind->items[i]));
    }
  g_ptr_array_sort (names, compare_names);
  return (char **)g_ptr_array_steal (names, NULL);
}
