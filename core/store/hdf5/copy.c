/* SPDX-License-Identifier: MIT */
#include "hdf5/internal.h"
#include "hdf5/walk.h"

/* A new checkpoint copies the unchanged parts of the old file, because files are never changed in place. HDF5's deep
 * copy breaks references between objects, such as axes, so objects are copied one by one and axes are attached
 * again. */

typedef struct
{
  PlaitStore *to;
  GPtrArray *plots;  /* paths of copied NXdata groups, whose axes are attached later */
  GPtrArray *tables; /* paths of copied tables, whose axes are attached later */
} Copy;

gboolean
plait_store_belongs_to_axes (const char *name)
{
  static const char *const names[] = { "CLASS", "NAME", "REFERENCE_LIST", "DIMENSION_LIST", "DIMENSION_LABELS", NULL };
  return g_strv_contains (names, name);
}

static gboolean
copy_attribute (PlaitStore *to, hid_t from_object, hid_t to_object, const char *path, const char *name, GError **error)
{
  g_auto (StoreId) source = H5Aopen (from_object, name, H5P_DEFAULT);
  g_auto (StoreId) type = H5Aget_type (source);
  g_auto (StoreId) space = H5Aget_space (source);
  hssize_t n = H5Sget_simple_extent_npoints (space);
  gsize size = n >= 0 ? (gsize)n * H5Tget_size (type) : 0;
  g_autofree gpointer values = g_try_malloc0 (size + 1);
  if (H5Aexists (to_object, name) > 0)
    return TRUE; /* the root of the new file already has the attribute "format" */
  g_auto (StoreId) copy = !values ? -1 : H5Acreate2 (to_object, name, type, space, to->attribute, H5P_DEFAULT);
  if (source < 0 || type < 0 || space < 0 || copy < 0
      || (size > 0 && (H5Aread (source, type, values) < 0 || H5Awrite (copy, type, values) < 0)))
    return plait_store_fail (to, path, "copy its attributes", error);
  return TRUE;
}

static gboolean
copy_attributes (PlaitStore *to, PlaitStore *from, const PlaitStoreVisit *visit, GError **error)
{
  const char *path = visit->path;

  if (visit->object.attributes == 0)
    return TRUE;
  g_auto (GStrv) names = plait_store_attributes_of (from, path, visit->id, error);
  g_auto (StoreId) copy = names ? plait_store_object (to, path, error) : -1;
  if (copy < 0)
    return FALSE;
  for (char **name = names; *name != NULL; name++)
    if (!plait_store_belongs_to_axes (*name) && !copy_attribute (to, visit->id, copy, path, *name, error))
      return FALSE;
  return TRUE;
}

static gboolean
copy_dataset (PlaitStore *to, PlaitStore *from, const PlaitStoreVisit *visit, GError **error)
{
  g_auto (StoreId) list = H5Pcreate (H5P_OBJECT_COPY);
  const char *path = visit->path, *name;
  hid_t parent
      = plait_store_check_values (from, path, visit->id, error) ? plait_store_prepare (to, path, &name, error) : -1;
  if (parent < 0)
    return FALSE;
  /* Read zeros from damaged blocks, because H5Ocopy of HDF5 1.10 crashes if a read fails. */
  plait_store_blocks_tolerate_damage (from->blocks, TRUE);
  gboolean copied = H5Pset_copy_object (list, H5O_COPY_WITHOUT_ATTR_FLAG) >= 0
                    && H5Ocopy (visit->id, ".", parent, name, list, to->link) >= 0 && to->failure == 0;
  plait_store_blocks_tolerate_damage (from->blocks, FALSE);
  return plait_store_intact (from, error) && (copied || plait_store_fail (to, path, "copy it", error));
}

/* TRUE if the group is a plot whose axes must be attached. The attribute "axes" alone is not enough: a KIND of a ragged
 * group (ragged.h) can also have it. */
static gboolean
is_plot (PlaitStore *from, const PlaitStoreVisit *visit)
{
  g_autofree char *class = visit->object.attributes > 0 && plait_store_has_attribute (from, visit->path, "axes")
                               ? plait_store_get_string (from, visit->path, "NX_class", NULL)
                               : NULL;

  return g_strcmp0 (class, "NXdata") == 0;
}

/* TRUE if the group is a table whose columns must be attached. A group that another program has added can have an
 * attribute "columns" of another type. */
static gboolean
is_table (PlaitStore *from, const PlaitStoreVisit *visit)
{
  gint64 n;
  g_auto (GStrv) columns = visit->object.attributes > 0 && plait_store_has_attribute (from, visit->path, "columns")
                               ? plait_store_get_list (from, visit->path, "columns", PLAIT_STORE_STRING, &n, NULL)
                               : NULL;

  return columns != NULL;
}

static PlaitStoreWalkAction
copy_object (PlaitStore *from, const PlaitStoreVisit *visit, gpointer data, GError **error)
{
  Copy *copy = data;
  gboolean good = TRUE;

  /* The new file gets its own table of contents. */
  if (g_str_equal (visit->path, PLAIT_STORE_CONTENTS))
    return PLAIT_STORE_WALK_SKIP;
  switch (visit->object.kind)
    {
    case PLAIT_STORE_GROUP:
      good = plait_store_make_group (copy->to, visit->path, error) && copy_attributes (copy->to, from, visit, error);
      if (good && is_plot (from, visit))
        g_ptr_array_add (copy->plots, g_strdup (visit->path));
      if (good && is_table (from, visit))
        g_ptr_array_add (copy->tables, g_strdup (visit->path));
      break;
    case PLAIT_STORE_DATASET:
      good = copy_dataset (copy->to, from, visit, error) && copy_attributes (copy->to, from, visit, error);
      break;
    case PLAIT_STORE_SOFT_LINK:
      good = plait_store_link (copy->to, visit->path, visit->link_object, error);
      break;
    case PLAIT_STORE_EXTERNAL_LINK:
      good = plait_store_link_external (copy->to, visit->path, visit->link_file, visit->link_object, error);
      break;
    case PLAIT_STORE_UNKNOWN:
      break;
    }
  return good ? PLAIT_STORE_WALK_CONTINUE : PLAIT_STORE_WALK_FAIL;
}

gboolean
plait_store_copy (PlaitStore *store, PlaitStore *from, const char *path, GError **error)
{
  g_assert (store->writing);
  g_autoptr (GPtrArray) plots = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) tables = g_ptr_array_new_with_free_func (g_free);
  Copy copy = { store, plots, tables };
  if (!plait_store_walk (from, path, PLAIT_STORE_MAX_DEPTH, copy_object, &copy, error))
    return FALSE;
  for (guint i = 0; i < plots->len; i++)
    if (!plait_store_attach_axes (store, plots->pdata[i], error))
      return FALSE;
  for (guint i = 0; i < tables->len; i++)
    if (!plait_store_attach_columns (store, tables->pdata[i], error))
      return FALSE;
  return TRUE;
}
