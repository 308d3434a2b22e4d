/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "store/ragged-kinds.h"

#include <string.h>

void
plait_store_item_clear (PlaitStoreItem *item)
{
  g_free (item->path);
  g_strfreev (item->names);
}

/* The group in which @path is an item, if it is known already, and what follows it in @path. */
static PlaitRaggedGroup *
known_group (const PlaitStore *store, const char *path, const char **rest)
{
  for (const char *slash = store->ragged ? path : NULL; slash; slash = strchr (slash + 1, '/'))
    if (g_ascii_isdigit (slash[1]))
      {
        g_autofree char *head = g_strndup (path, (gsize)(slash - path));
        PlaitRaggedGroup *group = g_hash_table_lookup (store->ragged, head);

        *rest = slash + 1;
        if (group && group->known)
          return group;
      }
  return NULL;
}

gboolean
plait_store_is_item (const PlaitStore *store, const char *path)
{
  const char *rest;

  return known_group (store, path, &rest) != NULL;
}

/* The ragged group in which @path is an item, read if it is not known. NULL without *error: there is none. */
static PlaitRaggedGroup *
find_group (PlaitStore *store, const char *path, const char **rest, GError **error)
{
  PlaitRaggedGroup *group = known_group (store, path, rest);

  for (const char *slash = strchr (path + 1, '/'); !group && slash; slash = strchr (slash + 1, '/'))
    {
      g_autofree char *head = g_strndup (path, (gsize)(slash - path));

      if (!plait_store_is_stored (store, head))
        return NULL;
      if (H5Aexists_by_name (store->file, head, PLAIT_STORE_RAGGED, store->access) > 0)
        return plait_store_ragged_open (store, head, error) ? known_group (store, path, rest) : NULL;
    }
  return group;
}

static void
add_name (GPtrArray *names, const char *name, gsize length)
{
  g_autofree char *copy = g_strndup (name, length);

  if (!g_ptr_array_find_with_equal_func (names, copy, g_str_equal, NULL))
    g_ptr_array_add (names, g_steal_pointer (&copy));
}

/* "b" of "a/b" below "a", "a" below ""; NULL of what does not stand below @place. */
static const char *
below (const char *name, const char *place)
{
  gsize length = strlen (place);

  if (length == 0)
    return name;
  return strncmp (name, place, length) == 0 && name[length] == '/' ? name + length + 1 : NULL;
}

/* The array that is called as what stands in @place below @kind; NULL: none. */
static PlaitRaggedArray *
array_at (const PlaitRaggedKind *kind, const char *place)
{
  const char *name = below (place, kind->name);

  for (guint i = 0; name && i < kind->arrays->len; i++)
    if (g_str_equal (((PlaitRaggedArray *)kind->arrays->pdata[i])->name, name))
      return kind->arrays->pdata[i];
  return NULL;
}

/* The bytes of @item, which is text, and the NUL at its end. (transfer full) */
static char *
read_text (PlaitStore *store, const PlaitStoreItem *item, GError **error)
{
  hsize_t start = (hsize_t)item->start, count = (hsize_t)item->count;
  g_autofree char *text = plait_memory_has (count) ? g_try_malloc0 (count + 1) : NULL;

  if (!text)
    plait_fail (error, PLAIT_ERROR_FAILED, "%s: no memory for the text of %s", store->path, item->path);
  else if (count > 0 && !plait_store_read_block (item->id, 1, &start, &count, H5T_NATIVE_UINT8, text))
    plait_store_fail (store, item->path, "read it", error);
  else if (count > 0 && text[count - 1] != '\0')
    plait_fail (error, PLAIT_ERROR_CORRUPT, "%s: a string of %s does not end; " PLAIT_STORE_REMEDY, store->path,
                item->path);
  else
    return g_steal_pointer (&text);
  return NULL;
}

static gboolean
count_strings (PlaitStore *store, PlaitStoreItem *item, GError **error)
{
  g_autofree char *text = read_text (store, item, error);

  if (!text)
    return FALSE;
  item->object.type = PLAIT_STORE_STRING;
  item->object.elements = 0;
  for (gint64 i = 0; i < item->count; i++)
    item->object.elements += text[i] == '\0';
  item->object.shape[0] = item->object.elements;
  return TRUE;
}

static gboolean
find_array (PlaitStore *store, const PlaitRaggedKind *kind, PlaitRaggedArray *array, gint64 place, PlaitStoreItem *item,
            GError **error)
{
  if (!plait_store_ragged_open_array (store, kind, array, error))
    return FALSE;
  item->object = array->flat;
  item->object.rank = array->rank;
  item->start = array->offsets[place];
  item->count = array->offsets[place + 1] - item->start;
  item->object.elements = item->count;
  for (guint d = 0; d < array->rank; d++)
    item->object.shape[d] = array->shapes ? array->shapes[place * array->rank + d] : item->count;
  item->object.stored_bytes
      = array->flat.elements == 0
            ? 0
            : (gint64)((double)array->flat.stored_bytes * (double)item->count / (double)array->flat.elements);
  item->path = g_strdup (array->path);
  item->id = array->id;
  return !array->text || count_strings (store, item, error);
}

/* Finds what stands in @place, "" or KIND or KIND/NAME, of the item called @name of @group. */
static gboolean
find_in_group (PlaitStore *store, const PlaitRaggedGroup *group, const char *name, const char *place,
               PlaitStoreItem *item, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);

  for (guint k = 0; k < group->kinds->len; k++)
    {
      const PlaitRaggedKind *kind = group->kinds->pdata[k];
      gint64 at = GPOINTER_TO_INT (g_hash_table_lookup (kind->places, name)) - 1;
      const char *inner = below (kind->name, place);
      PlaitRaggedArray *array = at >= 0 ? array_at (kind, place) : NULL;

      if (array)
        return find_array (store, kind, array, at, item, error);
      if (at >= 0 && inner)
        add_name (names, inner, strcspn (inner, "/"));
      if (at < 0 || !g_str_equal (kind->name, place))
        continue;
      item->id = kind->id;
      item->object.attributes = kind->attributes;
      for (guint i = 0; i < kind->arrays->len; i++)
        {
          array = kind->arrays->pdata[i];
          add_name (names, array->name, strlen (array->name));
        }
    }
  if (names->len == 0)
    return FALSE;
  item->path = *place != '\0' ? g_strconcat (group->path, "/", place, NULL) : g_strdup (group->path);
  item->object.kind = PLAIT_STORE_GROUP;
  item->object.type = PLAIT_STORE_OTHER;
  item->object.members = names->len;
  g_ptr_array_add (names, NULL);
  item->names = (char **)g_ptr_array_steal (names, NULL);
  return TRUE;
}

gboolean
plait_store_item_find (PlaitStore *store, const char *path, PlaitStoreItem *item, GError **error)
{
  const char *rest;
  PlaitRaggedGroup *group = store->writing ? NULL : find_group (store, path, &rest, error);

  *item = (PlaitStoreItem){ .id = -1 };
  if (!group)
    return FALSE;
  gsize length = strcspn (rest, "/");
  g_autofree char *name = g_strndup (rest, length);
  return find_in_group (store, group, name, rest[length] == '/' ? rest + length + 1 : "", item, error);
}

/* By the numbers that names are made of. */
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
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);

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
  g_ptr_array_add (names, NULL);
  return (char **)g_ptr_array_steal (names, NULL);
}

char **
plait_store_item_strings (PlaitStore *store, const char *path, const PlaitStoreItem *item, gsize maximum,
                          GError **error)
{
  g_autofree char *text = NULL;
  char **strings;

  if ((gsize)item->count > maximum)
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "%s: %s holds %jd bytes of text, more than the %zu expected; " PLAIT_STORE_REMEDY,
                            store->path, path, item->count, maximum);
  text = read_text (store, item, error);
  strings = text ? g_new0 (char *, item->object.elements + 1) : NULL;
  for (gint64 i = 0, at = 0; strings && i < item->object.elements; i++)
    {
      strings[i] = g_strdup (text + at);
      at += (gint64)strlen (text + at) + 1;
    }
  return strings;
}
