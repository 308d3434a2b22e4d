/* SPDX-License-Identifier: MIT */
#include "tables/heatmap.h"

#include "text/display.h"
#include "hdf5/internal.h"

#include <hdf5_hl.h>
#include <string.h>

/* Maximum width, in characters, of the caption of an axis and of a label in the caption. Viewers print the caption in
 * one line and cut it at the border. */
#define MAX_CAPTION 60
#define MAX_LABEL 24

/* Returns a caption such as "row: 0 a, 1 man, 2 …". (transfer full) */
static char *
caption (const char *axis, const char *const *labels, gint64 n)
{
  g_autoptr (GString) text = g_string_new (axis);
  for (gint64 i = 0; i < n; i++)
    {
      g_autofree char *clean = plait_display_sanitise (labels[i], FALSE);
      g_autofree char *label = plait_display_truncate (clean, MAX_LABEL);
      gsize length = text->len;
      g_string_append_printf (text, "%s %jd %s", i == 0 ? ":" : ",", i, label);
      if (plait_display_width (text->str) <= MAX_CAPTION - (i + 1 < n ? strlen (", ?") : 0))
        continue;
      g_string_truncate (text, length);
      g_string_append (text, ", …");
      break;
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static gboolean
write_axis (PlaitStore *store, const char *path, const char *axis, const char *const *labels, gint64 n, GError **error)
{
  g_autofree char *dataset_path = g_strconcat (path, "/", axis, NULL);
  g_autofree gint32 *positions = g_try_new (gint32, (gsize)n + 1);
  if (!positions || n > G_MAXINT32)
    return plait_fail (error, PLAIT_ERROR_FAILED, "%s: no memory for the %jd positions of %s", plait_store_path (store),
                       n, dataset_path);
  for (gint64 i = 0; i < n; i++)
    positions[i] = (gint32)i;
  if (!plait_store_write (store, dataset_path, PLAIT_STORE_INT32, 1, &n, positions, PLAIT_STORE_COMPRESSED, error))
    return FALSE;
  if (!labels)
    return TRUE;
  g_autofree char *labels_path = g_strconcat (dataset_path, "_labels", NULL);
  g_autofree char *text = caption (axis, labels, n);
  return plait_store_write_strings (store, labels_path, labels, n, error)
         && plait_store_set_string (store, dataset_path, "long_name", text, error);
}

/* Makes the dataset @path the scale @name of dimension @dimension of @signal. */
static gboolean
attach (PlaitStore *store, const char *path, const char *name, hid_t signal, guint dimension, GError **error)
{
  PlaitStoreObject object;
  g_auto (StoreId) scale = plait_store_dataset (store, path, &object, error);
  if (scale < 0)
    return FALSE;
  if ((H5DSis_scale (scale) <= 0 && H5DSset_scale (scale, name) < 0) || H5DSattach_scale (signal, scale, dimension) < 0)
    return plait_store_fail (store, path, "make it an axis", error);
  return TRUE;
}

gboolean
plait_store_attach_axes (PlaitStore *store, const char *path, GError **error)
{
  gint64 n;
  g_autofree char *signal = plait_store_get_string (store, path, "signal", error);
  g_auto (GStrv) axes = signal ? plait_store_get_list (store, path, "axes", PLAIT_STORE_STRING, &n, error) : NULL;
  if (!axes)
    return FALSE;

  PlaitStoreObject object;
  g_autofree char *array_path = g_strconcat (path, "/", signal, NULL);
  g_auto (StoreId) array = plait_store_dataset (store, array_path, &object, error);
  if (array < 0)
    return FALSE;
  for (guint i = 0; i < MIN ((guint)n, object.rank); i++)
    {
      g_autofree char *positions = g_strconcat (path, "/", axes[i], NULL);
      g_autofree char *labels = g_strconcat (positions, "_labels", NULL);
      g_autofree char *labels_name = g_strconcat (axes[i], "_labels", NULL);
      if (H5DSset_label (array, i, axes[i]) < 0)
        return plait_store_fail (store, array_path, "name its dimensions", error);
      /* Attach labels before positions, because some viewers read only the first scale of a dimension. Labels that are
       * stored as a group (plait_store_write_strings) cannot be a scale. */
      PlaitStoreObject list;
      if (plait_store_describe (store, labels, &list, NULL) && list.kind == PLAIT_STORE_DATASET
          && !attach (store, labels, labels_name, array, i, error))
        return FALSE;
      if (plait_store_has (store, positions) && !attach (store, positions, axes[i], array, i, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
plait_store_make_axis (PlaitStore *store, const char *path, const char *name, GError **error)
{
  PlaitStoreObject object;
  g_auto (StoreId) scale = -1;

  if (!plait_store_describe (store, path, &object, error))
    return FALSE;
  /* A list stored as a group (plait_store_write_strings) cannot be a scale. */
  if (object.kind != PLAIT_STORE_DATASET)
    return TRUE;
  scale = plait_store_dataset (store, path, &object, error);
  return scale >= 0
         && (H5DSis_scale (scale) > 0 || H5DSset_scale (scale, name) >= 0
             || plait_store_fail (store, path, "make it an axis", error));
}

/* Returns the path of column @name in the table @path, or NULL if the column is missing or stored as a group. (transfer
 * full) */
static char *
find_column (PlaitStore *store, const char *path, const char *name)
{
  g_autofree char *dataset_path = g_strconcat (path, "/", name, NULL);
  PlaitStoreObject object;

  return plait_store_describe (store, dataset_path, &object, NULL) && object.kind == PLAIT_STORE_DATASET
             ? g_steal_pointer (&dataset_path)
             : NULL;
}

gboolean
plait_store_attach_columns (PlaitStore *store, const char *path, GError **error)
{
  gint64 n, n_axes;
  g_auto (GStrv) columns = plait_store_get_list (store, path, "columns", PLAIT_STORE_STRING, &n, error);
  g_auto (GStrv) axes = plait_store_has_attribute (store, path, "axes")
                            ? plait_store_get_list (store, path, "axes", PLAIT_STORE_STRING, &n_axes, NULL)
                            : NULL;
  const char *axis = axes ? axes[0] : NULL;
  g_autofree char *scale = axis ? find_column (store, path, axis) : NULL;

  if (!columns)
    return FALSE;
  /* Skip names with a slash, such as "source NAME/leaves": those columns are in a group below the table. */
  for (guint i = 0; columns[i] && !scale; i++)
    scale = strchr (columns[i], '/') ? NULL : find_column (store, path, axis = columns[i]);
  if (!scale || !plait_store_make_axis (store, scale, axis, error))
    return !scale;
  for (guint i = 0; columns[i]; i++)
    {
      g_autofree char *dataset_path = find_column (store, path, columns[i]);
      PlaitStoreObject object;
      g_auto (StoreId) column = dataset_path && !g_str_equal (dataset_path, scale)
                                    ? plait_store_dataset (store, dataset_path, &object, error)
                                    : -1;

      if (dataset_path && !g_str_equal (dataset_path, scale)
          && (column < 0 || !attach (store, scale, axis, column, 0, error)))
        return FALSE;
    }
  return TRUE;
}

/* Sets the attribute @name of the group @path. Keeps an existing attribute unless @replace. */
static gboolean
mark (PlaitStore *store, const char *path, const char *name, const char *value, gboolean replace, GError **error)
{
  if (!replace && plait_store_has_attribute (store, path, name))
    return TRUE;
  return plait_store_set_string (store, path, name, value, error);
}

/* Sets the attribute "default" of the root and of each group above @path, so that viewers open @path. Keeps existing
 * defaults unless @replace. Sets the NeXus class, which silx needs, in those of the groups that lack it. */
static gboolean
lead_to (PlaitStore *store, const char *path, gboolean replace, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (path + 1, "/", -1);
  g_autoptr (GString) group = g_string_new ("/");
  for (guint i = 0; parts[i] != NULL; i++)
    {
      const char *class = i == 0 ? "NXroot" : i == 1 ? "NXentry" : "NXcollection";
      if (!mark (store, group->str, "default", parts[i], replace, error)
          || !mark (store, group->str, "NX_class", class, FALSE, error))
        return FALSE;
      g_string_append_printf (group, "%s%s", i > 0 ? "/" : "", parts[i]);
    }
  return TRUE;
}

gboolean
plait_store_set_default (PlaitStore *store, const char *path, GError **error)
{
  PlaitStoreObject object;
  return plait_store_describe (store, path, &object, error) && lead_to (store, path, TRUE, error);
}

gboolean
plait_store_write_heatmap (PlaitStore *store, const char *path, const PlaitStoreHeatmap *heatmap, GError **error)
{
  g_assert (heatmap->rank >= 1 && heatmap->rank <= PLAIT_STORE_MAX_RANK);
  g_autofree char *signal_path = g_strconcat (path, "/", heatmap->signal, NULL);
  if (!plait_store_write (store, signal_path, PLAIT_STORE_SCALAR, heatmap->rank, heatmap->shape, heatmap->values,
                          PLAIT_STORE_COMPRESSED, error))
    return FALSE;
  for (guint i = 0; i < heatmap->rank; i++)
    if (!write_axis (store, path, heatmap->axes[i], heatmap->labels ? heatmap->labels[i] : NULL, heatmap->shape[i],
                     error))
      return FALSE;
  if (heatmap->title)
    {
      g_autofree char *title_path = g_strconcat (path, "/title", NULL);
      if (!plait_store_write_string (store, title_path, heatmap->title, error))
        return FALSE;
    }
  return plait_store_set_string (store, path, "NX_class", "NXdata", error)
         && plait_store_set_string (store, path, "signal", heatmap->signal, error)
         && plait_store_set_list (store, path, "axes", PLAIT_STORE_STRING, heatmap->rank, heatmap->axes, error)
         && plait_store_set_string (store, signal_path, "interpretation", "image", error)
         && plait_store_attach_axes (store, path, error) && lead_to (store, path, FALSE, error);
}
