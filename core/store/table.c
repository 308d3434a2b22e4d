/* SPDX-License-Identifier: MIT */
#include "store/table.h"

#include "store/internal.h"

static gboolean
write_column (PlaitStore *store, const char *path, const PlaitStoreColumn *column, gint64 rows, GError **error)
{
  g_autofree char *place = g_strconcat (path, "/", column->name, NULL);
  gboolean written
      = column->type == PLAIT_STORE_STRING
            ? plait_store_write_strings (store, place, column->values, rows, error)
            : plait_store_write (store, place, column->type, 1, &rows, column->values, PLAIT_STORE_COMPRESSED, error);
  return written && (!column->unit || plait_store_set_string (store, place, "units", column->unit, error));
}

gboolean
plait_store_write_table (PlaitStore *store, const char *path, const PlaitStoreColumn *columns, guint n_columns,
                         gint64 rows, const char *axis, const char *signal, GError **error)
{
  g_autofree const char **names = g_new0 (const char *, n_columns + 1);
  if (!plait_store_make_group (store, path, error))
    return FALSE;
  for (guint i = 0; i < n_columns; i++)
    {
      names[i] = columns[i].name;
      if (!write_column (store, path, &columns[i], rows, error))
        return FALSE;
    }
  if (!plait_store_set_list (store, path, "columns", PLAIT_STORE_STRING, n_columns, names, error))
    return FALSE;
  if (!axis || !signal)
    return TRUE;
  return plait_store_set_string (store, path, "NX_class", "NXdata", error)
         && plait_store_set_string (store, path, "signal", signal, error)
         && plait_store_set_list (store, path, "axes", PLAIT_STORE_STRING, 1, &axis, error)
         && plait_store_attach_axes (store, path, error);
}

char **
plait_store_table_columns (PlaitStore *store, const char *path, gint64 *rows, GError **error)
{
  gint64 n;
  g_auto (GStrv) names = plait_store_get_list (store, path, "columns", PLAIT_STORE_STRING, &n, error);
  if (!names)
    return NULL;
  *rows = 0;
  for (gint64 i = 0; i < n; i++)
    {
      PlaitStoreObject object;
      g_autofree char *place = g_strconcat (path, "/", names[i], NULL);
      if (!plait_store_describe (store, place, &object, error))
        return NULL;
      /* A column of strings of very unequal length is a group, see plait_store_write_strings. */
      gint64 length = object.shape[0];
      if (object.kind == PLAIT_STORE_GROUP)
        {
          g_autofree char *offsets = g_strconcat (place, "/offsets", NULL);
          if (!plait_store_describe (store, offsets, &object, error))
            return NULL;
          length = object.shape[0] - 1;
        }
      if (object.kind != PLAIT_STORE_DATASET || object.rank != 1 || length < 0 || (i > 0 && length != *rows))
        return plait_fail_null (
            error, PLAIT_ERROR_CORRUPT,
            "%s: %s is no table: its column '%s' has another length than those before, or more than one "
            "dimension; " PLAIT_STORE_REMEDY,
            plait_store_path (store), path, names[i]);
      *rows = length;
    }
  return g_steal_pointer (&names);
}
