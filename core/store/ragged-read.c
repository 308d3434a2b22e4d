/* SPDX-License-Identifier: MIT */
#include "store/ragged.h"

#include "base/memory.h"
#include "store/internal.h"

#include <string.h>

/* A kind stands at GROUP/KIND or a level deeper. */
#define DEEPEST_KIND 2
#define MOST_ITEMS ((gint64)1 << 20)
#define MOST_NAMES ((gsize)64 << 20) /* bytes */

/* One array of all items. */
typedef struct
{
  char *path, *name;
  PlaitStoreObject flat; /* of no kind: nothing is known yet */
  gboolean text;
  gint64 *offsets; /* [items + 1] */
  guint rank;
  gint64 *shapes; /* [items][rank] */
  hid_t id;       /* kept open: its chunks are unpacked once for all the items in them */
} Array;

typedef struct
{
  char *path;
  const char *name; /* below the group */
  gint64 n;
  char **items;
  GHashTable *places; /* of the items, from 1 */
  GPtrArray *arrays;  /* (element-type Array) */
  hid_t id;           /* kept open, as those of arrays are */
  gint64 attributes;
} Kind;

typedef struct
{
  GPtrArray *kinds; /* (element-type Kind) */
  gboolean known;   /* not while it is read, when nothing may be looked for in it */
} Group;

static void
array_free (gpointer data)
{
  Array *array = data;

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
  Kind *kind = data;

  store_id_release (kind->id);
  g_free (kind->path);
  g_strfreev (kind->items);
  g_hash_table_unref (kind->places);
  g_ptr_array_unref (kind->arrays);
  g_free (kind);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Kind, kind_free)

static void
group_free (gpointer data)
{
  Group *group = data;

  g_ptr_array_unref (group->kinds);
  g_free (group);
}

void
plait_store_ragged_forget (PlaitStore *store)
{
  g_clear_pointer (&store->ragged, g_hash_table_unref);
}

void
plait_store_item_clear (PlaitStoreItem *item)
{
  g_free (item->path);
  g_strfreev (item->names);
}

static gboolean
fail (const PlaitStore *store, const char *path, const char *what, GError **error)
{
  return plait_fail (error, PLAIT_ERROR_CORRUPT, "%s: %s%s does not tell where items of %s lie; " PLAIT_STORE_REMEDY,
                     store->path, path, what, path);
}

/*
 * What a kind has
 */

static gboolean
read_items (PlaitStore *store, Kind *kind, GError **error)
{
  g_autofree char *path = g_strconcat (kind->path, "/" PLAIT_STORE_ITEMS, NULL);

  kind->items = plait_store_read_strings (store, path, MOST_NAMES, &kind->n, error);
  if (!kind->items)
    return FALSE;
  for (gint64 i = 0; i < kind->n; i++)
    if (!g_utf8_validate (kind->items[i], -1, NULL) || !g_ascii_isdigit (kind->items[i][0])
        || strchr (kind->items[i], '/')
        || !g_hash_table_insert (kind->places, kind->items[i], GINT_TO_POINTER ((gint)i + 1)))
      return plait_fail (error, PLAIT_ERROR_CORRUPT,
                         "%s: %s has no name of an item, or the same again, at %" G_GINT64_FORMAT
                         "; " PLAIT_STORE_REMEDY,
                         store->path, path, i);
  return kind->n <= MOST_ITEMS
         || plait_fail (error, PLAIT_ERROR_INPUT, "%s: %s has more than %" G_GINT64_FORMAT " items", store->path, path,
                        MOST_ITEMS);
}

/* Whether something that is stored at @path is a @wanted. */
static gboolean
is_stored (PlaitStore *store, const char *path, PlaitStoreKind wanted)
{
  PlaitStoreObject object;

  return plait_store_is_stored (store, path) && plait_store_describe_stored (store, path, &object, NULL)
         && object.kind == wanted;
}

static gboolean
read_kind (PlaitStore *store, Group *group, const char *path, const char *name, GError **error)
{
  g_autoptr (Kind) kind = g_new0 (Kind, 1);
  g_auto (GStrv) members = plait_store_members_stored (store, path, error);
  PlaitStoreObject object;

  kind->path = g_strdup (path);
  kind->name = kind->path + (name - path);
  kind->places = g_hash_table_new (g_str_hash, g_str_equal);
  kind->arrays = g_ptr_array_new_with_free_func (array_free);
  kind->id = plait_store_object (store, path, error);
  if (kind->id < 0 || !members || !plait_store_describe_stored (store, path, &object, error)
      || !read_items (store, kind, error))
    return FALSE;
  kind->attributes = object.attributes;
  for (guint i = 0; members[i]; i++)
    {
      g_autofree char *offsets = g_strconcat (members[i], PLAIT_STORE_OFFSETS, NULL);

      if (!g_strv_contains ((const char *const *)members, offsets))
        continue;
      Array *array = g_new0 (Array, 1);
      array->path = g_strconcat (path, "/", members[i], NULL);
      array->name = g_strdup (members[i]);
      array->flat.kind = PLAIT_STORE_UNKNOWN;
      array->id = -1;
      g_ptr_array_add (kind->arrays, array);
    }
  g_ptr_array_add (group->kinds, g_steal_pointer (&kind));
  return TRUE;
}

/* Reads the kinds below @path, which is @depth below the group, of whose path the first @above bytes are. */
static gboolean
read_kinds (PlaitStore *store, Group *group, const char *path, gsize above, guint depth, GError **error)
{
  g_auto (GStrv) members = plait_store_members_stored (store, path, error);

  for (guint i = 0; members && members[i]; i++)
    {
      g_autofree char *place = g_strconcat (path, "/", members[i], NULL);
      g_autofree char *items = g_strconcat (place, "/" PLAIT_STORE_ITEMS, NULL);

      if (!is_stored (store, place, PLAIT_STORE_GROUP))
        continue;
      if (is_stored (store, items, PLAIT_STORE_DATASET) || is_stored (store, items, PLAIT_STORE_GROUP)
              ? !read_kind (store, group, place, place + above + 1, error)
              : depth < DEEPEST_KIND && !read_kinds (store, group, place, above, depth + 1, error))
        return FALSE;
    }
  return members != NULL;
}

/* The ragged group @path; NULL with *error unless it is being read. */
static Group *
open_group (PlaitStore *store, const char *path, GError **error)
{
  Group *group;

  if (!store->ragged)
    store->ragged = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, group_free);
  group = g_hash_table_lookup (store->ragged, path);
  if (group)
    return group->known ? group : NULL;
  group = g_new0 (Group, 1);
  group->kinds = g_ptr_array_new_with_free_func (kind_free);
  g_hash_table_insert (store->ragged, g_strdup (path), group);
  group->known = read_kinds (store, group, path, strlen (path), 1, error);
  if (group->known)
    return group;
  g_hash_table_remove (store->ragged, path);
  return NULL;
}

/*
 * What an array has
 */

/* Offsets from 0 to the end that do not fall. */
static gboolean
read_offsets (PlaitStore *store, Array *array, gint64 n, GError **error)
{
  g_autofree char *path = g_strconcat (array->path, PLAIT_STORE_OFFSETS, NULL);
  gint64 found = 0;
  gboolean good;

  array->offsets = plait_store_read_array (store, path, PLAIT_STORE_INT64, MOST_ITEMS + 1, &found, error);
  if (!array->offsets)
    return FALSE;
  good = found == n + 1 && array->offsets[0] == 0 && array->offsets[n] == array->flat.elements;
  for (gint64 i = 0; good && i < n; i++)
    good = array->offsets[i] <= array->offsets[i + 1];
  return good || fail (store, array->path, PLAIT_STORE_OFFSETS, error);
}

/* Shapes that have as many elements as there are. */
static gboolean
read_shapes (PlaitStore *store, Array *array, gint64 n, GError **error)
{
  g_autofree char *path = g_strconcat (array->path, PLAIT_STORE_SHAPE, NULL);
  PlaitStoreObject object;

  array->rank = 1;
  if (!is_stored (store, path, PLAIT_STORE_DATASET))
    return TRUE;
  if (!plait_store_describe_stored (store, path, &object, error))
    return FALSE;
  if (object.rank != 2 || object.shape[0] != n || object.shape[1] < 1 || object.shape[1] > PLAIT_STORE_MAXIMUM_RANK)
    return fail (store, array->path, PLAIT_STORE_SHAPE, error);
  array->rank = (guint)object.shape[1];
  array->shapes
      = plait_store_read_array (store, path, PLAIT_STORE_INT64, MOST_ITEMS * PLAIT_STORE_MAXIMUM_RANK, NULL, error);
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

static gboolean
open_array (PlaitStore *store, const Kind *kind, Array *array, GError **error)
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

/*
 * Finding
 */

/* What follows @group in @path if that is an item of it; else NULL. */
static const char *
item_in (const char *group, const char *path)
{
  gsize length = strlen (group);

  return strncmp (path, group, length) == 0 && path[length] == '/' && g_ascii_isdigit (path[length + 1])
             ? path + length + 1
             : NULL;
}

/* The group in which @path is an item, if it is known already. */
static Group *
known_group (const PlaitStore *store, const char *path, const char **group_path, const char **rest)
{
  GHashTableIter iterator;
  gpointer key, value;

  if (!store->ragged)
    return NULL;
  g_hash_table_iter_init (&iterator, store->ragged);
  while (g_hash_table_iter_next (&iterator, &key, &value))
    if (((Group *)value)->known && (*rest = item_in (key, path)))
      {
        *group_path = key;
        return value;
      }
  return NULL;
}

gboolean
plait_store_is_item (const PlaitStore *store, const char *path)
{
  const char *group_path, *rest;

  return known_group (store, path, &group_path, &rest) != NULL;
}

/* The ragged group in which @path is an item, read if it is not known. NULL without *error: there is none. */
static Group *
find_group (PlaitStore *store, const char *path, const char **group_path, const char **rest, GError **error)
{
  Group *group = known_group (store, path, group_path, rest);

  for (const char *slash = strchr (path + 1, '/'); !group && slash; slash = strchr (slash + 1, '/'))
    {
      g_autofree char *head = g_strndup (path, (gsize)(slash - path));

      if (!plait_store_is_stored (store, head))
        return NULL;
      if (H5Aexists_by_name (store->file, head, PLAIT_STORE_RAGGED, store->access) > 0)
        return open_group (store, head, error) ? known_group (store, path, group_path, rest) : NULL;
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
static Array *
array_at (const Kind *kind, const char *place)
{
  const char *name = below (place, kind->name);

  for (guint i = 0; name && i < kind->arrays->len; i++)
    if (g_str_equal (((Array *)kind->arrays->pdata[i])->name, name))
      return kind->arrays->pdata[i];
  return NULL;
}

/* The bytes of @item, which is text, and the NUL at its end. (transfer full) */
static char *
read_text (PlaitStore *store, const PlaitStoreItem *item, GError **error)
{
  hsize_t start = (hsize_t)item->start, count = (hsize_t)item->count;
  g_autofree char *text = plait_memory_has (count) ? g_try_malloc0 (count + 1) : NULL;
  g_auto (StoreId) stored = H5Dget_space (item->id);
  g_auto (StoreId) memory = H5Screate_simple (1, &count, NULL);

  if (!text)
    plait_fail (error, PLAIT_ERROR_FAILED, "%s: no memory for the text of %s", store->path, item->path);
  else if (count > 0
           && (stored < 0 || memory < 0 || H5Sselect_hyperslab (stored, H5S_SELECT_SET, &start, NULL, &count, NULL) < 0
               || H5Dread (item->id, H5T_NATIVE_UINT8, memory, stored, H5P_DEFAULT, text) < 0))
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
find_array (PlaitStore *store, const Kind *kind, Array *array, gint64 place, PlaitStoreItem *item, GError **error)
{
  if (!open_array (store, kind, array, error))
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
find_in_group (PlaitStore *store, const char *path, const Group *group, const char *name, const char *place,
               PlaitStoreItem *item, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);

  for (guint k = 0; k < group->kinds->len; k++)
    {
      const Kind *kind = group->kinds->pdata[k];
      gint64 at = GPOINTER_TO_INT (g_hash_table_lookup (kind->places, name)) - 1;
      const char *inner = below (kind->name, place);
      Array *array = at >= 0 ? array_at (kind, place) : NULL;

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
  item->path = *place != '\0' ? g_strconcat (path, "/", place, NULL) : g_strdup (path);
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
  const char *group_path, *rest;
  Group *group = store->writing ? NULL : find_group (store, path, &group_path, &rest, error);

  *item = (PlaitStoreItem){ .id = -1 };
  if (!group)
    return FALSE;
  gsize length = strcspn (rest, "/");
  g_autofree char *name = g_strndup (rest, length);
  return find_in_group (store, group_path, group, name, rest[length] == '/' ? rest + length + 1 : "", item, error);
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
  Group *group = open_group (store, path, error);
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);

  if (!group)
    return NULL;
  for (guint k = 0; k < group->kinds->len; k++)
    {
      const Kind *kind = group->kinds->pdata[k];

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
    {
      plait_fail (error, PLAIT_ERROR_INPUT,
                  "%s: %s holds %" G_GINT64_FORMAT " bytes of text, more than the %" G_GSIZE_FORMAT
                  " expected; " PLAIT_STORE_REMEDY,
                  store->path, path, item->count, maximum);
      return NULL;
    }
  text = read_text (store, item, error);
  strings = text ? g_new0 (char *, item->object.elements + 1) : NULL;
  for (gint64 i = 0, at = 0; strings && i < item->object.elements; i++)
    {
      strings[i] = g_strdup (text + at);
      at += (gint64)strlen (text + at) + 1;
    }
  return strings;
}
