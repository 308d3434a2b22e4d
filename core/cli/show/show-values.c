/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "text/number.h"
#include "show/show.h"
#include "comparison/stored-table.h"
#include "terminal/table-print.h"

#define ENDS 10 /* rows shown at each end of a long list */
#define MAX_COLUMNS 12

static gint64
ends_of (const PlaitShow *show)
{
  return show->everything ? 0 : ENDS;
}

gboolean
plait_show_table (const PlaitShow *show, const char *path, GError **error)
{
  g_autoptr (PlaitTable) table = plait_stored_table (show->store, path, ends_of (show), error);

  if (!table)
    return FALSE;
  plait_table_print (table, show->terminal);
  if (table->cells->len == 0)
    plait_terminal_text (show->terminal, PLAIT_TERMINAL_DIM, "  no rows\n");
  return TRUE;
}

gboolean
plait_show_strings (const PlaitShow *show, const char *path, GError **error)
{
  g_autoptr (PlaitTable) table = plait_table_new ();
  gint64 n;
  g_auto (GStrv) strings = plait_store_read_strings (show->store, path, PLAIT_STORED_MAX_TEXT_BYTES, &n, error);

  if (!strings)
    return FALSE;
  plait_table_column (table, PLAIT_TABLE_COUNTS, "");
  plait_table_column (table, PLAIT_TABLE_WORDS, "");
  for (gint64 i = 0; i < n; i++)
    {
      i = plait_table_skip (table, i, n, ends_of (show));
      plait_table_integer (table, PLAIT_TABLE_DIM, i);
      plait_table_text (table, PLAIT_TABLE_PLAIN, strings[i]);
    }
  plait_table_print (table, show->terminal);
  return TRUE;
}

/* Prints "smallest -1.2, mean 0.01, largest 3.4". */
static void
print_range (const double *values, gint64 n, PlaitTerminal *terminal)
{
  double smallest = INFINITY, largest = -INFINITY, sum = 0;
  gint64 finite = 0;
  char digits[3][G_ASCII_DTOSTR_BUF_SIZE];

  for (gint64 i = 0; i < n; i++)
    if (isfinite (values[i]))
      {
        smallest = MIN (smallest, values[i]);
        largest = MAX (largest, values[i]);
        sum += values[i];
        finite++;
      }
  if (finite > 0)
    plait_terminal_text (terminal, PLAIT_TERMINAL_DIM, "  smallest %s, mean %s, largest %s\n",
                         g_ascii_formatd (digits[0], sizeof digits[0], "%.5g", smallest),
                         g_ascii_formatd (digits[1], sizeof digits[1], "%.5g", sum / (double)finite),
                         g_ascii_formatd (digits[2], sizeof digits[2], "%.5g", largest));
  if (finite < n)
    plait_terminal_text (terminal, PLAIT_TERMINAL_ERROR, "  %jd of %jd values are not finite\n", n - finite, n);
}

static void
print_array (const double *values, const PlaitStoreObject *object, const PlaitShow *show)
{
  g_autoptr (PlaitTable) table = plait_table_new ();
  gboolean integer = plait_stored_is_integer (object->type);
  gint64 width = object->rank >= 2 ? object->shape[object->rank - 1] : 1;
  gint64 shown = show->everything ? width : MIN (width, MAX_COLUMNS);
  gint64 rows = width > 0 ? object->elements / width : 0;

  plait_table_column (table, PLAIT_TABLE_COUNTS, "");
  for (gint64 c = 0; c < shown; c++)
    {
      g_autofree char *title = object->rank >= 2 ? g_strdup_printf ("%jd", c) : g_strdup ("");

      plait_table_column (table, PLAIT_TABLE_NUMBERS, title)->format = integer ? "%.0f" : "%.5g";
    }
  if (shown < width)
    plait_table_column (table, PLAIT_TABLE_WORDS, "…");
  for (gint64 r = 0; r < rows; r++)
    {
      r = plait_table_skip (table, r, rows, ends_of (show));
      g_autoptr (GString) index = g_string_new (NULL);
      gint64 rest = r;
      for (guint i = object->rank >= 2 ? object->rank - 1 : object->rank; i-- > 0;)
        {
          g_autofree char *digits = g_strdup_printf ("%jd%s", rest % object->shape[i], index->len > 0 ? ", " : "");
          g_string_prepend (index, digits);
          rest /= object->shape[i];
        }
      plait_table_text (table, PLAIT_TABLE_DIM, index->str);
      for (gint64 c = 0; c < shown; c++)
        plait_table_real (table, values[r * width + c]);
      if (shown < width)
        plait_table_text (table, PLAIT_TABLE_DIM, "…");
    }
  plait_table_print (table, show->terminal);
}

gboolean
plait_show_numbers (const PlaitShow *show, const char *path, const PlaitStoreObject *object, GError **error)
{
  g_autofree double *values = NULL;
  gint64 n;

  if (object->type == PLAIT_STORE_OTHER)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: %s is of a type that plait does not write; look at it with h5dump",
                       plait_store_path (show->store), path);
  if (object->elements > PLAIT_STORED_MAX_NUMBERS)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: %s has %jd elements, but plait show shows at most %jd; read it with h5py",
                       plait_store_path (show->store), path, object->elements, PLAIT_STORED_MAX_NUMBERS);
  values = plait_store_read_array (show->store, path, PLAIT_STORE_DOUBLE, PLAIT_STORED_MAX_NUMBERS, &n, error);
  if (!values)
    return FALSE;
  if (object->rank == 0 && n == 1)
    {
      char digits[PLAIT_NUMBER_LENGTH];

      plait_terminal_text (show->terminal, PLAIT_TERMINAL_PLAIN, "%s\n", plait_format_double (digits, values[0]));
      return TRUE;
    }
  print_array (values, object, show);
  print_range (values, n, show->terminal);
  return TRUE;
}
