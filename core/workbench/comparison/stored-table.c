/* SPDX-License-Identifier: MIT */
#include "comparison/stored-table.h"

#include "comparison/location.h"
#include "tables/table.h"

/* The values of one column. One of the arrays is set, the other two are NULL. */
typedef struct
{
  char **strings;
  gint64 *integers;
  double *numbers;
} Values;

static void
values_clear (gpointer item)
{
  Values *values = item;

  g_strfreev (values->strings);
  g_free (values->integers);
  g_free (values->numbers);
}

static gboolean
read_column (PlaitStore *store, const char *path, gint64 rows, Values *values, GError **error)
{
  PlaitStoreObject object;
  gint64 n = 0;

  if (!plait_store_describe (store, path, &object, error))
    return FALSE;
  if (object.kind == PLAIT_STORE_GROUP || object.type == PLAIT_STORE_STRING)
    values->strings = plait_store_read_strings (store, path, PLAIT_STORED_MAX_TEXT_BYTES, &n, error);
  else if (plait_stored_is_integer (object.type))
    values->integers = plait_store_read_array (store, path, PLAIT_STORE_INT64, PLAIT_STORED_MAX_NUMBERS, &n, error);
  else
    values->numbers = plait_store_read_array (store, path, PLAIT_STORE_DOUBLE, PLAIT_STORED_MAX_NUMBERS, &n, error);
  if (!values->strings && !values->integers && !values->numbers)
    return FALSE;
  return n == rows
         || plait_fail (error, PLAIT_ERROR_CORRUPT,
                        "%s: the column %s has %jd rows, but its table has %jd; write the file again",
                        plait_store_path (store), path, n, rows);
}

static void
add_value (PlaitTable *table, const Values *values, gint64 row)
{
  if (values->strings)
    plait_table_text (table, PLAIT_TABLE_PLAIN, values->strings[row]);
  else if (values->integers)
    plait_table_integer (table, PLAIT_TABLE_PLAIN, values->integers[row]);
  else
    plait_table_real (table, values->numbers[row]);
}

gint64
plait_table_skip (PlaitTable *table, gint64 row, gint64 rows, gint64 ends)
{
  g_autofree char *text = NULL;

  if (ends == 0 || row != ends || rows <= 2 * ends + 1)
    return row;
  text = g_strdup_printf ("… %jd more rows; --all shows them", rows - 2 * ends);
  plait_table_gap (table, text);
  return rows - ends;
}

PlaitTable *
plait_stored_table (PlaitStore *store, const char *path, gint64 ends, GError **error)
{
  g_autoptr (PlaitTable) table = plait_table_new ();
  g_autoptr (GArray) values = g_array_new (FALSE, TRUE, sizeof (Values));
  gint64 rows;
  g_auto (GStrv) names = plait_store_table_columns (store, path, &rows, error);

  g_array_set_clear_func (values, values_clear);
  if (!names)
    return NULL;
  for (guint c = 0; names[c]; c++)
    {
      g_autofree char *place = plait_location_join (path, names[c]);
      Values *column;

      g_array_set_size (values, c + 1);
      column = &g_array_index (values, Values, c);
      if (!read_column (store, place, rows, column, error))
        return NULL;
      plait_table_column (table,
                          column->strings    ? PLAIT_TABLE_WORDS
                          : column->integers ? PLAIT_TABLE_COUNTS
                                             : PLAIT_TABLE_NUMBERS,
                          names[c])
          ->format
          = "%.5g";
    }
  for (gint64 r = 0; r < rows; r++)
    {
      r = plait_table_skip (table, r, rows, ends);
      for (guint c = 0; c < values->len; c++)
        add_value (table, &g_array_index (values, Values, c), r);
    }
  return g_steal_pointer (&table);
}
