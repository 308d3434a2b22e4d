/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/display.h"
#include "base/number.h"
#include "cli/columns.h"
#include "cli/show.h"
#include "store/table.h"

#define MOST_TEXT ((gsize)256 << 20) /* bytes of strings that are read */
#define MOST_READ ((gint64)1 << 24)  /* numbers */
#define ENDS 10                      /* rows shown at either end of a long list */
#define MOST_COLUMNS 12

/* Where a long list is cut: rows @*first .. @*last - 1 are left out. */
static void
cut (gint64 rows, const PlaitShowOptions *options, gint64 *first, gint64 *last)
{
  *first = *last = rows;
  if (rows > 2 * ENDS + 1 && !options->everything)
    {
      *first = ENDS;
      *last = rows - ENDS;
    }
}

static void
add_gap (PlaitColumns *columns, gint64 first, gint64 last)
{
  g_autofree char *text = g_strdup_printf ("… %" G_GINT64_FORMAT " more; --all shows them", last - first);

  plait_columns_gap (columns, text);
}

static void
number_cell (PlaitColumns *columns, double value, gboolean integer)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];

  if (isfinite (value))
    g_ascii_formatd (digits, sizeof digits, integer ? "%.0f" : "%.5g", value);
  else
    plait_format_double (digits, value);
  plait_columns_cell (columns, isfinite (value) ? PLAIT_PAGE_PLAIN : PLAIT_PAGE_DIM, digits);
}

/* One column of a table, read whole. */
typedef struct
{
  char **strings; /* of a column of strings */
  gint64 *integers;
  double *numbers;
} Values;

static void
clear_values (gpointer item)
{
  Values *values = item;

  g_strfreev (values->strings);
  g_free (values->integers);
  g_free (values->numbers);
}

static gboolean
is_integer (PlaitStoreType type)
{
  return type == PLAIT_STORE_INT32 || type == PLAIT_STORE_INT64 || type == PLAIT_STORE_UINT8;
}

static gboolean
read_column (PlaitStore *store, const char *path, gint64 rows, Values *values, GError **error)
{
  PlaitStoreObject object;
  gint64 n = 0;

  if (!plait_store_describe (store, path, &object, error))
    return FALSE;
  if (object.kind == PLAIT_STORE_GROUP || object.type == PLAIT_STORE_STRING)
    values->strings = plait_store_read_strings (store, path, MOST_TEXT, &n, error);
  else if (is_integer (object.type))
    values->integers = plait_store_read_array (store, path, PLAIT_STORE_INT64, MOST_READ, &n, error);
  else
    values->numbers = plait_store_read_array (store, path, PLAIT_STORE_DOUBLE, MOST_READ, &n, error);
  if (values->strings == NULL && values->integers == NULL && values->numbers == NULL)
    return FALSE;
  if (n == rows)
    return TRUE;
  return plait_fail (error, PLAIT_ERROR_CORRUPT, "%s: %s has %" G_GINT64_FORMAT " rows, its table %" G_GINT64_FORMAT,
                     plait_store_path (store), path, n, rows);
}

static void
value_cell (PlaitColumns *columns, const Values *values, gint64 row)
{
  if (values->strings != NULL)
    plait_columns_cell (columns, PLAIT_PAGE_PLAIN, values->strings[row]);
  else if (values->integers != NULL)
    {
      g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, values->integers[row]);
      plait_columns_cell (columns, PLAIT_PAGE_PLAIN, text);
    }
  else
    number_cell (columns, values->numbers[row], FALSE);
}

gboolean
plait_show_table (PlaitStore *store, const char *path, const PlaitShowOptions *options, PlaitPage *page, GError **error)
{
  g_autoptr (PlaitColumns) columns = plait_columns_new ();
  g_autoptr (GArray) values = g_array_new (FALSE, TRUE, sizeof (Values));
  gint64 rows, first, last;
  g_auto (GStrv) names = plait_store_table_columns (store, path, &rows, error);

  g_array_set_clear_func (values, clear_values);
  if (names == NULL)
    return FALSE;
  for (guint c = 0; names[c] != NULL; c++)
    {
      g_autofree char *place = plait_place_below (path, names[c]);

      g_array_set_size (values, c + 1);
      Values *column = &g_array_index (values, Values, c);
      if (!read_column (store, place, rows, column, error))
        return FALSE;
      plait_columns_add (columns, names[c], column->strings != NULL ? PLAIT_COLUMN_LEFT : PLAIT_COLUMN_RIGHT);
    }
  cut (rows, options, &first, &last);
  for (gint64 r = 0; r < rows; r++)
    {
      if (r == first)
        {
          add_gap (columns, first, last);
          r = last;
        }
      for (guint c = 0; c < values->len; c++)
        value_cell (columns, &g_array_index (values, Values, c), r);
    }
  plait_columns_print (columns, page);
  if (rows == 0)
    plait_page_text (page, PLAIT_PAGE_DIM, "  no rows\n");
  return TRUE;
}

gboolean
plait_show_strings (PlaitStore *store, const char *path, const PlaitShowOptions *options, PlaitPage *page,
                    GError **error)
{
  g_autoptr (PlaitColumns) columns = plait_columns_new ();
  PlaitStoreObject object;
  gint64 n, first, last;

  if (!plait_store_describe (store, path, &object, error))
    return FALSE;
  if (object.kind == PLAIT_STORE_DATASET && object.rank == 0)
    {
      g_autofree char *text = plait_store_read_string (store, path, error);

      if (text == NULL)
        return FALSE;
      plait_page_text (page, PLAIT_PAGE_PLAIN, "%s%s", text, g_str_has_suffix (text, "\n") ? "" : "\n");
      return TRUE;
    }
  g_auto (GStrv) strings = plait_store_read_strings (store, path, MOST_TEXT, &n, error);
  if (strings == NULL)
    return FALSE;
  plait_columns_add (columns, "", PLAIT_COLUMN_RIGHT);
  plait_columns_add (columns, "", PLAIT_COLUMN_LEFT);
  cut (n, options, &first, &last);
  for (gint64 i = 0; i < n; i++)
    {
      if (i == first)
        {
          add_gap (columns, first, last);
          i = last;
        }
      g_autofree char *number = g_strdup_printf ("%" G_GINT64_FORMAT, i);
      plait_columns_cell (columns, PLAIT_PAGE_DIM, number);
      plait_columns_cell (columns, PLAIT_PAGE_PLAIN, strings[i]);
    }
  plait_columns_print (columns, page);
  return TRUE;
}

/* "smallest -1.2, mean 0.01, largest 3.4" */
static void
print_range (const double *values, gint64 n, PlaitPage *page)
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
    plait_page_text (page, PLAIT_PAGE_DIM, "  smallest %s, mean %s, largest %s\n",
                     g_ascii_formatd (digits[0], sizeof digits[0], "%.5g", smallest),
                     g_ascii_formatd (digits[1], sizeof digits[1], "%.5g", sum / (double)finite),
                     g_ascii_formatd (digits[2], sizeof digits[2], "%.5g", largest));
  if (finite < n)
    plait_page_text (page, PLAIT_PAGE_BAD, "  %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " values are not finite\n",
                     n - finite, n);
}

/* Numbers as rows of the last axis; the axes before it become one, told as an index. */
static void
print_array (const double *values, const PlaitStoreObject *object, const PlaitShowOptions *options, PlaitPage *page)
{
  g_autoptr (PlaitColumns) columns = plait_columns_new ();
  gboolean integer = is_integer (object->type);
  gint64 width = object->rank >= 2 ? object->shape[object->rank - 1] : 1;
  gint64 shown = options->everything ? width : MIN (width, MOST_COLUMNS);
  gint64 rows = width > 0 ? object->elements / width : 0, first, last;

  plait_columns_add (columns, "", PLAIT_COLUMN_RIGHT);
  for (gint64 c = 0; c < shown; c++)
    {
      g_autofree char *title = object->rank >= 2 ? g_strdup_printf ("%" G_GINT64_FORMAT, c) : g_strdup ("");
      plait_columns_add (columns, title, PLAIT_COLUMN_RIGHT);
    }
  if (shown < width)
    plait_columns_add (columns, "…", PLAIT_COLUMN_LEFT);
  cut (rows, options, &first, &last);
  for (gint64 r = 0; r < rows; r++)
    {
      if (r == first)
        {
          add_gap (columns, first, last);
          r = last;
        }
      g_autoptr (GString) index = g_string_new (NULL);
      gint64 rest = r;
      for (guint i = MAX (object->rank, 1) - (object->rank >= 2 ? 1 : 0); i-- > 0 && object->rank > 0;)
        {
          g_autofree char *digits
              = g_strdup_printf ("%" G_GINT64_FORMAT "%s", rest % object->shape[i], index->len > 0 ? ", " : "");
          g_string_prepend (index, digits);
          rest /= object->shape[i];
        }
      plait_columns_cell (columns, PLAIT_PAGE_DIM, index->str);
      for (gint64 c = 0; c < shown; c++)
        number_cell (columns, values[r * width + c], integer);
      if (shown < width)
        plait_columns_cell (columns, PLAIT_PAGE_DIM, "…");
    }
  plait_columns_print (columns, page);
}

gboolean
plait_show_numbers (PlaitStore *store, const char *path, const PlaitStoreObject *object,
                    const PlaitShowOptions *options, PlaitPage *page, GError **error)
{
  g_autofree double *values = NULL;
  gint64 n;

  if (object->type == PLAIT_STORE_OTHER)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: %s is of a type that plait does not write; look at it with h5dump",
                       plait_store_path (store), path);
  if (object->elements > MOST_READ)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: %s has %" G_GINT64_FORMAT " elements, more than the %" G_GINT64_FORMAT
                       " that are shown; read it with h5py",
                       plait_store_path (store), path, object->elements, MOST_READ);
  values = plait_store_read_array (store, path, PLAIT_STORE_DOUBLE, MOST_READ, &n, error);
  if (values == NULL)
    return FALSE;
  if (object->rank == 0 && n == 1)
    {
      char digits[PLAIT_NUMBER_LENGTH];

      plait_page_text (page, PLAIT_PAGE_PLAIN, "%s\n", plait_format_double (digits, values[0]));
      return TRUE;
    }
  print_array (values, object, options, page);
  print_range (values, n, page);
  return TRUE;
}
