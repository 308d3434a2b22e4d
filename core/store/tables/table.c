/* SPDX-License-Identifier: MIT */
#include "tables/table.h"

#include <math.h>
#include <string.h>

#include "files/memory.h"
#include "hdf5/internal.h"

/* Maximum bytes of text in a column. */
#define MAX_TEXT ((gsize)1 << 30)

static gsize
value_size (const PlaitStoreField *field)
{
  return field->type == PLAIT_STORE_STRING ? sizeof (char *) : plait_store_type_size (field->type);
}

static gboolean
write_field (PlaitStore *store, const char *path, const PlaitStoreField *field, const GArray *rows, GError **error)
{
  g_autofree char *column_path = g_strconcat (path, "/", field->name, NULL);
  gsize size = value_size (field), row_size = g_array_get_element_size ((GArray *)rows);
  g_autofree char *values = g_malloc (rows->len * size + 1);
  gint64 n = rows->len;

  for (guint r = 0; r < rows->len; r++)
    memcpy (values + r * size, rows->data + r * row_size + field->offset, size);
  gboolean written
      = field->type == PLAIT_STORE_STRING
            ? plait_store_write_strings (store, column_path, (gpointer)values, n, error)
            : plait_store_write (store, column_path, field->type, 1, &n, values, PLAIT_STORE_COMPRESSED, error);
  return written && (!field->unit || plait_store_set_string (store, column_path, "units", field->unit, error));
}

gboolean
plait_store_write_rows (PlaitStore *store, const char *path, const GArray *rows, const PlaitStoreField *fields,
                        guint n_fields, const char *axis, const char *signal, GError **error)
{
  g_autofree const char **names = g_new0 (const char *, n_fields + 1);

  if (!plait_store_make_group (store, path, error))
    return FALSE;
  for (guint i = 0; i < n_fields; i++)
    {
      names[i] = fields[i].name;
      if (!write_field (store, path, &fields[i], rows, error))
        return FALSE;
    }
  if (!plait_store_set_list (store, path, "columns", PLAIT_STORE_STRING, n_fields, names, error))
    return FALSE;
  if (!axis || !signal)
    return plait_store_attach_columns (store, path, error);
  return plait_store_set_string (store, path, "NX_class", "NXdata", error)
         && plait_store_set_string (store, path, "signal", signal, error)
         && plait_store_set_list (store, path, "axes", PLAIT_STORE_STRING, 1, &axis, error)
         && plait_store_attach_axes (store, path, error) && plait_store_attach_columns (store, path, error);
}

/* Replaces a number that does not exist: by -1 in a column of counts, by NaN in a column of numbers. */
static PlaitTableCell
filled_cell (PlaitTableCell cell, PlaitTableKind kind)
{
  gboolean none = cell.kind == PLAIT_TABLE_CELL_NONE;

  if (none && kind == PLAIT_TABLE_COUNTS)
    cell.integer = -1;
  else if (none && kind == PLAIT_TABLE_NUMBERS)
    cell.real = NAN;
  return cell;
}

gboolean
plait_store_write_table (PlaitStore *store, const char *path, const PlaitTable *table, GError **error)
{
  guint n = table->columns->len, n_rows = plait_table_rows (table);
  g_autofree PlaitStoreField *fields = g_new (PlaitStoreField, n);
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, n * (guint)sizeof (PlaitTableCell));

  /* A row of the table is a struct of n cells. A cell's text, integer and real number share one address. */
  g_array_set_size (rows, n_rows);
  PlaitTableCell *cells = (gpointer)rows->data;
  for (guint c = 0; c < n; c++)
    {
      const PlaitTableColumn *column = plait_table_get_column (table, c);
      PlaitStoreType type = column->kind == PLAIT_TABLE_COUNTS    ? PLAIT_STORE_INT64
                            : column->kind == PLAIT_TABLE_NUMBERS ? PLAIT_STORE_DOUBLE
                                                                  : PLAIT_STORE_STRING;

      fields[c] = (PlaitStoreField){ column->title, type, c * sizeof *cells + G_STRUCT_OFFSET (PlaitTableCell, integer),
                                     NULL };
      for (guint r = 0; r < n_rows; r++)
        cells[r * n + c] = filled_cell (*plait_table_cell (table, r, c), column->kind);
    }
  return plait_store_write_rows (store, path, rows, fields, n, NULL, NULL, error);
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
      g_autofree char *column_path = g_strconcat (path, "/", names[i], NULL);
      if (!plait_store_describe (store, column_path, &object, error))
        return NULL;
      /* A column of strings with very different lengths is stored as a group (plait_store_write_strings). */
      gint64 length = object.shape[0];
      if (object.kind == PLAIT_STORE_GROUP)
        {
          g_autofree char *offsets = g_strconcat (column_path, "/offsets", NULL);
          if (!plait_store_describe (store, offsets, &object, error))
            return NULL;
          length = object.shape[0] - 1;
        }
      if (object.kind != PLAIT_STORE_DATASET || object.rank != 1 || length < 0 || (i > 0 && length != *rows))
        return plait_fail_null (error, PLAIT_ERROR_CORRUPT,
                                "%s: %s is not a table: its column '%s' does not have one dimension and the length of "
                                "the other columns; " PLAIT_STORE_REMEDY,
                                plait_store_path (store), path, names[i]);
      *rows = length;
    }
  return g_steal_pointer (&names);
}

static gboolean
read_field (PlaitStore *store, const char *path, const PlaitStoreField *field, GArray *rows, GError **error)
{
  g_autofree char *column_path = g_strconcat (path, "/", field->name, NULL);
  gsize size = value_size (field), row_size = g_array_get_element_size (rows);
  gboolean text = field->type == PLAIT_STORE_STRING;
  gint64 n = 0;
  g_auto (GStrv) texts = text ? plait_store_read_strings (store, column_path, MAX_TEXT, &n, error) : NULL;
  g_autofree char *numbers
      = text ? NULL : plait_store_read_array (store, column_path, field->type, rows->len, &n, error);
  const char *values = text ? (const char *)texts : numbers;

  if (!values)
    return FALSE;
  if (n != rows->len)
    return plait_fail (error, PLAIT_ERROR_CORRUPT, "%s: %s has %jd rows, but its table has %u; " PLAIT_STORE_REMEDY,
                       store->path, column_path, n, rows->len);
  for (guint r = 0; r < rows->len; r++)
    memcpy (rows->data + r * row_size + field->offset, values + r * size, size);
  if (text)
    texts[0] = NULL; /* the strings belong to the rows now: free only the list */
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
    return plait_fail (error, PLAIT_ERROR_CORRUPT, "%s:%s: has %jd rows; expected at most %jd; " PLAIT_STORE_REMEDY,
                       store->path, path, n, most);
  if (!plait_memory_is_available ((gsize)n * row_size))
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
