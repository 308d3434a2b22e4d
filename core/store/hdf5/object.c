/* SPDX-License-Identifier: MIT */
#include "hdf5/internal.h"

#include <string.h>

/* Maximum members of a group. Files of plait stay far below. */
#define MAX_MEMBERS (1 << 20)

/* TRUE if @path has the form that store.h requires. */
static gboolean
check_path (const PlaitStore *store, const char *path, GError **error)
{
  gboolean good = path[0] == '/' && g_utf8_validate (path, -1, NULL);
  const char *name = good && path[1] != '\0' ? path : "";
  for (guint depth = 0; good && *name == '/'; depth++)
    {
      gsize length = strcspn (++name, "/");
      good = depth < PLAIT_STORE_MAX_DEPTH && length > 0 && !(name[0] == '.' && length == 1)
             && !(length == 2 && strncmp (name, "..", 2) == 0);
      name += length;
    }
  return good
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "%s: '%s' is not a valid path: expected a path like /group/name in UTF-8, of at most %d names, "
                        "without empty names, '.' and '..'",
                        store->path, path, PLAIT_STORE_MAX_DEPTH);
}

/* Returns the first @parts components of @path. (transfer full) */
static char *
path_head (const char *path, guint parts)
{
  const char *end = path;
  for (guint i = 0; i < parts && end; i++)
    end = strchr (end + 1, '/');
  if (parts == 0)
    return g_strdup ("/");
  return end ? g_strndup (path, (gsize)(end - path)) : g_strdup (path);
}

static guint
path_depth (const char *path)
{
  guint depth = 0;
  for (const char *p = path; *p != '\0'; p++)
    depth += *p == '/';
  return path[1] == '\0' ? 0 : depth;
}

/* Returns the number of open groups that @path begins with, at most @depth. Sets *@rest to the rest of @path. */
static guint
shared_groups (const PlaitStore *store, const char *path, guint depth, const char **rest)
{
  guint n = 0;

  for (*rest = path + 1; n < MIN (depth, store->n_groups); n++)
    {
      gsize length = strcspn (*rest, "/");
      const char *open = store->groups[n].name;

      if (length == 0 || strncmp (open, *rest, length) != 0 || open[length] != '\0')
        break;
      *rest += length + ((*rest)[length] == '/');
    }
  return n;
}

gboolean
plait_store_is_stored (PlaitStore *store, const char *path)
{
  return path[1] == '\0' || (!plait_store_is_item (store, path) && H5Lexists (store->file, path, store->access) > 0);
}

void
plait_store_found_clear (PlaitStoreFound *found)
{
  store_id_release (found->id);
  g_free (found->text);
  g_strfreev (found->names);
}

gboolean
plait_store_has (PlaitStore *store, const char *path)
{
  g_auto (PlaitStoreFound) item = PLAIT_STORE_NOT_FOUND;
  if (!check_path (store, path, NULL))
    return FALSE;
  if (!plait_store_is_stored (store, path))
    return plait_store_item_find (store, path, &item, NULL);
  H5L_info_t info;
  if (path_depth (path) > 0 && H5Lget_info (store->file, path, &info, store->access) >= 0
      && info.type == H5L_TYPE_EXTERNAL)
    return TRUE;
  return H5Oexists_by_name (store->file, path, store->access) > 0;
}

/* Fails because there is no object at @path, or because @path is a link whose target does not exist. */
static gboolean
fail_absent (PlaitStore *store, const char *path, GError **error)
{
  guint depth = path_depth (path);
  for (guint i = 1; i <= depth; i++)
    {
      g_autofree char *head = path_head (path, i);
      if (plait_store_is_stored (store, head) || plait_store_has (store, head))
        continue;
      g_autofree char *group = path_head (path, i - 1);
      g_auto (GStrv) members = plait_store_members (store, group, NULL);
      const char *wanted = strrchr (head, '/') + 1;
      g_autofree char *otherwise = g_strdup_printf ("plait show %s lists the contents", store->path);
      g_autofree char *remedy
          = plait_name_remedy (wanted, members ? (const char *const *)members : (const char *[]){ NULL }, otherwise);
      return plait_fail (error, PLAIT_ERROR_INPUT, "%s: there is no %s; %s has no member '%s'; %s", store->path, path,
                         group, wanted, remedy);
    }
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "%s: the target of the link %s does not exist in this file; " PLAIT_STORE_REMEDY, store->path,
                     path);
}

/* Finds @path, which is not stored, among the items of ragged groups. */
static gboolean
find_item (PlaitStore *store, const char *path, PlaitStoreFound *found, GError **error)
{
  GError *fault = NULL;
  return plait_store_item_find (store, path, found, &fault)
         || (plait_no_error (&fault, error) && fail_absent (store, path, error));
}

static gboolean
describe_dataset (PlaitStore *store, const char *path, hid_t id, PlaitStoreObject *object, GError **error)
{
  g_auto (StoreId) type = H5Dget_type (id);
  g_auto (StoreId) space = H5Dget_space (id);
  int rank = space >= 0 ? H5Sget_simple_extent_ndims (space) : -1;
  hsize_t shape[H5S_MAX_RANK];
  if (type < 0 || rank < 0 || H5Sget_simple_extent_dims (space, shape, NULL) < 0)
    return plait_store_fail (store, path, "read its shape and type", error);
  if (rank > PLAIT_STORE_MAX_RANK)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: %s has %d dimensions, but at most %d are allowed; " PLAIT_STORE_REMEDY, store->path, path,
                       rank, PLAIT_STORE_MAX_RANK);
  object->kind = PLAIT_STORE_DATASET;
  object->type = plait_store_type_of (type);
  object->element_bytes = (gint64)H5Tget_size (type);
  object->rank = (guint)rank;
  object->elements = H5Sget_simple_extent_type (space) == H5S_NULL ? 0 : 1;
  for (int i = 0; i < rank; i++)
    {
      object->shape[i] = (gint64)MIN (shape[i], (hsize_t)G_MAXINT64);
      if (__builtin_mul_overflow (object->elements, object->shape[i], &object->elements))
        return plait_fail (error, PLAIT_ERROR_CORRUPT, "%s: %s claims 2^63 or more elements; " PLAIT_STORE_REMEDY,
                           store->path, path);
    }
  object->stored_bytes = (gint64)H5Dget_storage_size (id);
  return TRUE;
}

/* Fills *@object from the open object @id. */
static gboolean
describe_id (PlaitStore *store, const char *path, hid_t id, PlaitStoreObject *object, GError **error)
{
  *object = (PlaitStoreObject){ .kind = PLAIT_STORE_UNKNOWN, .type = PLAIT_STORE_OTHER };
  H5O_info_t info;
  if (H5Oget_info2 (id, &info, H5O_INFO_BASIC | H5O_INFO_NUM_ATTRS) < 0)
    return plait_store_fail (store, path, "read what it is", error);
  /* A group with several hard links could contain itself, and a walk through it would not end. */
  if (info.rc > 1)
    return plait_fail (error, PLAIT_ERROR_CORRUPT, "%s: %s has %u hard links instead of one; " PLAIT_STORE_REMEDY,
                       store->path, path, info.rc);
  object->attributes = (gint64)info.num_attrs;
  if (info.type == H5O_TYPE_DATASET)
    return describe_dataset (store, path, id, object, error);
  H5G_info_t group;
  if (info.type == H5O_TYPE_GROUP)
    {
      if (H5Gget_info (id, &group) < 0)
        return plait_store_fail (store, path, "read how many members it has", error);
      object->kind = PLAIT_STORE_GROUP;
      object->members = (gint64)group.nlinks;
    }
  return TRUE;
}

/* Finds the object at @path. Describes a stored object in @found only if @describes is TRUE. */
static gboolean
find (PlaitStore *store, const char *path, gboolean describes, PlaitStoreFound *found, GError **error)
{
  *found = PLAIT_STORE_NOT_FOUND;
  if (!check_path (store, path, error))
    return FALSE;
  if (!plait_store_is_item (store, path))
    {
      const char *rest;
      guint n = shared_groups (store, path, G_MAXUINT, &rest);

      found->id = H5Oopen (n == 0 ? store->file : store->groups[n - 1].id, *rest ? rest : ".", store->access);
    }
  if (found->id >= 0)
    return !describes || describe_id (store, path, found->id, &found->object, error);
  return plait_store_lacks_memory () ? plait_store_fail (store, path, "open it", error)
                                     : find_item (store, path, found, error);
}

hid_t
plait_store_object (PlaitStore *store, const char *path, GError **error)
{
  g_auto (PlaitStoreFound) found = PLAIT_STORE_NOT_FOUND;
  return find (store, path, FALSE, &found, error) ? store_id_steal (&found.id) : -1;
}

static gboolean
check_kind (const PlaitStore *store, const char *path, const PlaitStoreObject *object, GError **error)
{
  return object->kind == PLAIT_STORE_DATASET
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "%s: %s is not a dataset, but a dataset is expected there; " PLAIT_STORE_REMEDY, store->path,
                        path);
}

gboolean
plait_store_check_values (const PlaitStore *store, const char *path, hid_t id, GError **error)
{
  /* Do not check a new file: it is plait's own, and not complete yet. */
  return store->writing || plait_store_check_storage (id, store->fd, store->path, path, error);
}

hid_t
plait_store_dataset (PlaitStore *store, const char *path, PlaitStoreObject *object, GError **error)
{
  g_auto (StoreId) id = plait_store_object (store, path, error);
  if (id < 0 || !describe_id (store, path, id, object, error) || !check_kind (store, path, object, error)
      || !plait_store_check_values (store, path, id, error))
    return -1;
  return store_id_steal (&id);
}

gboolean
plait_store_find (PlaitStore *store, const char *path, PlaitStoreFound *found, GError **error)
{
  return find (store, path, TRUE, found, error);
}

gboolean
plait_store_find_values (PlaitStore *store, const char *path, PlaitStoreFound *found, GError **error)
{
  /* If @found is an item in the dataset of all items, its values were checked when that dataset was opened. */
  return plait_store_find (store, path, found, error) && check_kind (store, path, &found->object, error)
         && (found->start >= 0 || plait_store_check_values (store, path, found->id, error));
}

gboolean
plait_store_find_stored (PlaitStore *store, const char *path, const PlaitStoreLink *link, PlaitStoreFound *found,
                         GError **error)
{
  *found = PLAIT_STORE_NOT_FOUND;
  if (!check_path (store, path, error))
    return FALSE;
  H5L_info_t info;
  if (path_depth (path) > 0)
    {
      if (link)
        info = link->info;
      else if (plait_store_is_item (store, path) || H5Lget_info (store->file, path, &info, store->access) < 0)
        return find_item (store, path, found, error);
      if (info.type != H5L_TYPE_HARD)
        {
          found->object = (PlaitStoreObject){ .kind = info.type == H5L_TYPE_SOFT       ? PLAIT_STORE_SOFT_LINK
                                                      : info.type == H5L_TYPE_EXTERNAL ? PLAIT_STORE_EXTERNAL_LINK
                                                                                       : PLAIT_STORE_UNKNOWN,
                                              .type = PLAIT_STORE_OTHER };
          return TRUE;
        }
    }
  found->id = link ? H5Oopen_by_addr (store->file, info.u.address) : H5Oopen (store->file, path, store->access);
  if (found->id >= 0)
    return describe_id (store, path, found->id, &found->object, error);
  return plait_store_lacks_memory () ? plait_store_fail (store, path, "open it", error)
                                     : fail_absent (store, path, error);
}

gboolean
plait_store_describe_stored (PlaitStore *store, const char *path, PlaitStoreObject *object, GError **error)
{
  g_auto (PlaitStoreFound) found = PLAIT_STORE_NOT_FOUND;
  if (!plait_store_find_stored (store, path, NULL, &found, error))
    return FALSE;
  *object = found.object;
  return TRUE;
}

/* TRUE if @store is read, not written, and @path is a ragged group. */
static gboolean
is_ragged (PlaitStore *store, const char *path, const PlaitStoreObject *object)
{
  return !store->writing && object->kind == PLAIT_STORE_GROUP && object->attributes > 0
         && H5Aexists_by_name (store->file, path, PLAIT_STORE_RAGGED, store->access) > 0;
}

gboolean
plait_store_describe (PlaitStore *store, const char *path, PlaitStoreObject *object, GError **error)
{
  if (!plait_store_describe_stored (store, path, object, error))
    return FALSE;
  if (!is_ragged (store, path, object))
    return TRUE;
  g_auto (GStrv) names = plait_store_item_names (store, path, NULL); /* errors are reported when an item is read */
  if (names)
    object->members = g_strv_length (names);
  return TRUE;
}

static herr_t
collect_link (hid_t group, const char *name, const H5L_info_t *info, void *data)
{
  GArray *links = data;
  PlaitStoreLink link = { g_strdup (name), *info };
  g_array_append_val (links, link);
  return links->len >= MAX_MEMBERS;
}

static void
clear_link (gpointer link)
{
  g_free (((PlaitStoreLink *)link)->name);
}

GArray *
plait_store_links_of (const PlaitStore *store, const char *path, const PlaitStoreFound *found, GError **error)
{
  g_autoptr (GArray) links = g_array_new (FALSE, FALSE, sizeof (PlaitStoreLink));
  hsize_t at = 0;
  g_array_set_clear_func (links, clear_link);
  if (found->object.kind != PLAIT_STORE_GROUP || found->object.members > MAX_MEMBERS)
    return plait_fail_null (
        error, PLAIT_ERROR_INPUT,
        "%s: %s is not a group of at most %d members, but such a group is expected there; " PLAIT_STORE_REMEDY,
        store->path, path, MAX_MEMBERS);
  if (H5Literate (found->id, H5_INDEX_CRT_ORDER, H5_ITER_INC, &at, collect_link, links) >= 0)
    return g_steal_pointer (&links);
  /* A group that another program made can lack the creation order: use the order of names. */
  g_array_set_size (links, 0);
  at = 0;
  return H5Literate (found->id, H5_INDEX_NAME, H5_ITER_INC, &at, collect_link, links) >= 0
             ? g_steal_pointer (&links)
             : plait_store_fail_null (store, path, "list its members", error);
}

char **
plait_store_members_of (const PlaitStore *store, const char *path, PlaitStoreFound *found, GError **error)
{
  if (found->names)
    return g_steal_pointer (&found->names);
  g_autoptr (GArray) links = plait_store_links_of (store, path, found, error);
  char **names = links ? g_new0 (char *, links->len + 1) : NULL;
  for (guint i = 0; links && i < links->len; i++)
    names[i] = g_steal_pointer (&g_array_index (links, PlaitStoreLink, i).name);
  return names;
}

char **
plait_store_members_stored (PlaitStore *store, const char *path, GError **error)
{
  g_auto (PlaitStoreFound) found = PLAIT_STORE_NOT_FOUND;
  return plait_store_find (store, path, &found, error) ? plait_store_members_of (store, path, &found, error) : NULL;
}

char **
plait_store_members (PlaitStore *store, const char *path, GError **error)
{
  PlaitStoreObject object;
  if (!plait_store_describe_stored (store, path, &object, error))
    return NULL;
  return is_ragged (store, path, &object) ? plait_store_item_names (store, path, error)
                                          : plait_store_members_stored (store, path, error);
}

/* Closes the open groups from number @first on. */
static void
close_groups (PlaitStore *store, guint first)
{
  while (store->n_groups > first)
    {
      PlaitStoreGroup *group = &store->groups[--store->n_groups];

      store_id_release (group->id);
      g_free (group->name);
    }
}

void
plait_store_close_groups (PlaitStore *store)
{
  close_groups (store, 0);
}

/* Opens the group @name in @parent, and makes it if it is missing. Negative with *error set. The first @depth names of
 * @path end with @name. */
static hid_t
take_group (PlaitStore *store, hid_t parent, const char *name, const char *path, guint depth, GError **error)
{
  gboolean there = H5Lexists (parent, name, store->access) > 0;
  g_auto (StoreId) group = there ? H5Oopen (parent, name, store->access)
                                 : H5Gcreate2 (parent, name, store->link, store->group, H5P_DEFAULT);

  if (group >= 0 && H5Iget_type (group) == H5I_GROUP)
    return store_id_steal (&group);
  g_autofree char *head = path_head (path, depth);
  if (there)
    plait_fail (error, PLAIT_ERROR_INPUT, "%s: %s is not a group, so %s cannot be below it", store->path, head, path);
  else
    plait_store_fail (store, head, "make this group", error);
  return -1;
}

/* Opens the group of the first @depth names of @path, and makes the groups that are missing. Returns the group, which
 * belongs to @store, and sets *@rest to the other names. Negative with *error set. */
static hid_t
open_groups (PlaitStore *store, const char *path, guint depth, const char **rest, GError **error)
{
  guint n = shared_groups (store, path, depth, rest);

  if (n < depth)
    close_groups (store, n);
  for (; n < depth; n++)
    {
      gsize length = strcspn (*rest, "/");
      g_autofree char *name = g_strndup (*rest, length);
      hid_t id = take_group (store, n == 0 ? store->file : store->groups[n - 1].id, name, path, n + 1, error);

      if (id < 0)
        return -1;
      store->groups[store->n_groups++] = (PlaitStoreGroup){ g_steal_pointer (&name), id };
      *rest += length + ((*rest)[length] == '/');
    }
  return depth == 0 ? store->file : store->groups[depth - 1].id;
}

gboolean
plait_store_make_group (PlaitStore *store, const char *path, GError **error)
{
  const char *rest;

  g_assert (store->writing);
  return check_path (store, path, error) && open_groups (store, path, path_depth (path), &rest, error) >= 0;
}

hid_t
plait_store_prepare (PlaitStore *store, const char *path, const char **name, GError **error)
{
  g_assert (store->writing);
  if (!check_path (store, path, error))
    return -1;
  guint depth = path_depth (path);
  if (depth == 0)
    {
      plait_fail (error, PLAIT_ERROR_INPUT, "%s: / is the root group, nothing else can be written there", store->path);
      return -1;
    }
  hid_t parent = open_groups (store, path, depth - 1, name, error);
  if (parent >= 0 && H5Lexists (parent, *name, store->access) > 0)
    {
      plait_fail (error, PLAIT_ERROR_INPUT, "%s: %s exists already and cannot be written again", store->path, path);
      return -1;
    }
  return parent;
}

gboolean
plait_store_link (PlaitStore *store, const char *path, const char *target, GError **error)
{
  const char *name;
  hid_t parent = check_path (store, target, error) ? plait_store_prepare (store, path, &name, error) : -1;
  if (parent < 0)
    return FALSE;
  return H5Lcreate_soft (target, parent, name, store->link, H5P_DEFAULT) >= 0
         || plait_store_fail (store, path, "make this link", error);
}

gboolean
plait_store_link_external (PlaitStore *store, const char *path, const char *file, const char *object, GError **error)
{
  if (g_path_is_absolute (file) || file[0] == '\0' || !g_utf8_validate (file, -1, NULL))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: %s cannot link to '%s': expected a path relative to the folder of this file, so that both "
                       "can be moved together",
                       store->path, path, file);
  const char *name;
  hid_t parent = check_path (store, object, error) ? plait_store_prepare (store, path, &name, error) : -1;
  if (parent < 0)
    return FALSE;
  return H5Lcreate_external (file, object, parent, name, store->link, H5P_DEFAULT) >= 0
         || plait_store_fail (store, path, "make this link", error);
}

gboolean
plait_store_link_target (PlaitStore *store, const char *path, char **file, char **object, GError **error)
{
  H5L_info_t info;
  if (!check_path (store, path, error))
    return FALSE;
  if (path_depth (path) == 0 || H5Lget_info (store->file, path, &info, store->access) < 0)
    return fail_absent (store, path, error);
  if ((info.type != H5L_TYPE_SOFT && info.type != H5L_TYPE_EXTERNAL) || info.u.val_size == 0
      || info.u.val_size > G_MAXUINT16)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: %s is not a link", store->path, path);

  g_autofree char *value = g_malloc0 (info.u.val_size + 1);
  const char *target_file = NULL, *target = value;
  if (H5Lget_val (store->file, path, value, info.u.val_size, store->access) < 0
      || (info.type == H5L_TYPE_EXTERNAL
          && H5Lunpack_elink_val (value, info.u.val_size, NULL, &target_file, &target) < 0))
    return plait_store_fail (store, path, "read where this link leads", error);
  *file = g_strdup (target_file);
  *object = g_strdup (target);
  return TRUE;
}
