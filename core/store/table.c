/* SPDX-License-Identifier: MIT */
#include "store/table.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "store/internal.h"

/* Text of a column; rows have a limit of their own. */
#define MOST_TEXT ((gsize)1 << 30)

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

/* The values are kept in @memory. */
static PlaitStoreColumn
filled_column (const PlaitTable *table, guint c, GPtrArray *memory)
{
  const PlaitTableColumn *column = plait_table_get_column (table, c);
  guint n = plait_table_rows (table);
  PlaitTableKind kind = column->kind;
  gpointer values = g_new0 (gint64, n + 1); /* or as many pointers or doubles */

  g_ptr_array_add (memory, values);
  for (guint r = 0; r < n; r++)
    {
      const PlaitTableCell *cell = plait_table_cell (table, r, c);
      gboolean none = cell->kind == PLAIT_TABLE_CELL_NONE;

      if (kind == PLAIT_TABLE_COUNTS)
        ((gint64 *)values)[r] = none ? -1 : cell->integer;
      else if (kind == PLAIT_TABLE_NUMBERS)
        ((double *)values)[r] = none ? NAN : cell->real;
      else
        ((const char **)values)[r] = cell->text;
    }
  return (PlaitStoreColumn){ column->title,
                             kind == PLAIT_TABLE_COUNTS    ? PLAIT_STORE_INT64
                             : kind == PLAIT_TABLE_NUMBERS ? PLAIT_STORE_DOUBLE
                                                           : PLAIT_STORE_STRING,
                             values, NULL };
}

gboolean
plait_store_write_filled (PlaitStore *store, const char *path, const PlaitTable *table, GError **error)
{
  g_autoptr (GPtrArray) memory = g_ptr_array_new_with_free_func (g_free);
  guint n = table->columns->len;
  g_autofree PlaitStoreColumn *columns = g_new (PlaitStoreColumn, n);

  for (guint c = 0; c < n; c++)
    columns[c] = filled_column (table, c, memory);
  return plait_store_write_table (store, path, columns, n, plait_table_rows (table), NULL, NULL, error);
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
        return plait_fail_null (error, PLAIT_ERROR_CORRUPT,
                                "%s: %s is no table: its column '%s' has another length than those before, or more "
                                "than one dimension; " PLAIT_STORE_REMEDY,
                                plait_store_path (store), path, names[i]);
      *rows = length;
    }
  return g_steal_pointer (&names);
}

/*
 * Rows in memory, columns in the file
 */

static gsize
value_size (const PlaitStoreField *field)
{
  return field->type == PLAIT_STORE_STRING ? sizeof (char *) : plait_store_type_size (field->type);
}

gboolean
plait_store_write_rows (PlaitStore *store, const char *path, const GArray *rows, const PlaitStoreField *fields,
                        guint n_fields, const char *axis, const char *signal, GError **error)
{
  g_autoptr (GPtrArray) memory = g_ptr_array_new_with_free_func (g_free);
  g_autofree PlaitStoreColumn *columns = g_new (PlaitStoreColumn, n_fields);
  gsize row_size = g_array_get_element_size ((GArray *)rows);

  for (guint c = 0; c < n_fields; c++)
    {
      gsize size = value_size (&fields[c]);
      char *values = g_malloc (rows->len * size + 1);

      for (guint r = 0; r < rows->len; r++)
        memcpy (values + r * size, rows->data + r * row_size + fields[c].offset, size);
      g_ptr_array_add (memory, values);
      columns[c] = (PlaitStoreColumn){ fields[c].name, fields[c].type, values, fields[c].unit };
    }
  return plait_store_write_table (store, path, columns, n_fields, rows->len, axis, signal, error);
}

static gboolean
read_field (PlaitStore *store, const char *path, const PlaitStoreField *field, GArray *rows, GError **error)
{
  g_autofree char *place = g_strconcat (path, "/", field->name, NULL);
  gsize size = value_size (field), row_size = g_array_get_element_size (rows);
  gboolean text = field->type == PLAIT_STORE_STRING;
  gint64 n = 0;
  g_auto (GStrv) texts = text ? plait_store_read_strings (store, place, MOST_TEXT, &n, error) : NULL;
  g_autofree char *numbers = text ? NULL : plait_store_read_array (store, place, field->type, rows->len, &n, error);
  const char *values = text ? (const char *)texts : numbers;

  if (!values)
    return FALSE;
  if (n != rows->len)
    return plait_fail (error, PLAIT_ERROR_CORRUPT, "%s: %s has %jd rows, its table %u; " PLAIT_STORE_REMEDY,
                       store->path, place, n, rows->len);
  for (guint r = 0; r < rows->len; r++)
    memcpy (rows->data + r * row_size + field->offset, values + r * size, size);
  if (text)
    texts[0] = NULL; /* the rows have the strings now, so the list alone is freed */
  return TRUE;
}

gboolean
plait_store_read_table (PlaitStore *store, const char *path, const PlaitStoreField *fields, guint n_fields, gint64 most,
                        GArray *rows, GError **error)
{
  gint64 n;
  gsize row_size = g_array_get_element_size (rows);
  g_auto (GStrv) names = plait_store_table_columns (store, path, &n, error);

  if (!names)
    return FALSE;
  most = MIN (most, G_MAXINT32);
  if (n > most)
    return plait_fail (error, PLAIT_ERROR_CORRUPT,
                       "%s:%s: %jd rows are too many, expected at most %jd; " PLAIT_STORE_REMEDY, store->path, path, n,
                       most);
  if (!plait_memory_has ((gsize)n * row_size))
    return plait_fail (error, PLAIT_ERROR_FAILED, "%s: no memory for the %jd rows of %s", store->path, n, path);
  g_array_set_size (rows, 0);
  g_array_set_size (rows, (guint)n);
  if (n > 0)
    memset (rows->data, 0, (gsize)n * row_size);
  for (guint c = 0; c < n_fields; c++)
    if (!read_field (store, path, &fields[c], rows, error))
      return FALSE;
  return TRUE;
}
