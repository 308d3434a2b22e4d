/* SPDX-License-Identifier: MIT */
#include "tables/ragged.h"

#include "hdf5/internal.h"

#include <string.h>

/* A growing dataset. Rows that do not fill a chunk yet are buffered. */
typedef struct
{
  char *path;
  PlaitStoreType type;
  guint width; /* numbers in a row of a dataset of two dimensions; 0: the dataset has one dimension */
  gint64 row_bytes;
  GByteArray *held;
  gint64 written; /* number of rows in the file */
} Column;

typedef struct
{
  char *name;
  PlaitStoreType type;
  guint rank;
  char **axes;       /* [rank] names of dimensions; may be NULL */
  gint64 items, end; /* @items: number of items; @end: number of elements of all items */
  Column values, offsets, shapes;
} Array;

typedef struct
{
  char *path;
  GPtrArray *items;  /* (element-type utf8) names of the items */
  GPtrArray *arrays; /* (element-type Array) */
} Kind;

static void
column_init (Column *column, const char *kind, const char *name, const char *suffix, PlaitStoreType type, guint width)
{
  *column = (Column){ .path = g_strconcat (kind, "/", name, suffix, NULL),
                      .type = type,
                      .width = width,
                      .row_bytes = (gint64)plait_store_type_size (type) * MAX (width, 1),
                      .held = g_byte_array_new () };
}

static void
column_clear (Column *column)
{
  g_free (column->path);
  if (column->held)
    g_byte_array_unref (column->held);
}

/* Writes the buffered rows. @last: no more rows follow. */
static gboolean
column_write (PlaitStore *store, Column *column, gboolean last, GError **error)
{
  gint64 rows = column->held->len / column->row_bytes;
  gint64 shape[2] = { rows, column->width };

  if (last && column->written == 0)
    return plait_store_write (store, column->path, column->type, column->width > 0 ? 2 : 1, shape, column->held->data,
                              PLAIT_STORE_COMPRESSED, error);
  if (rows > 0
      && !plait_store_extend (store, column->path, column->type, column->width, column->written, rows,
                              column->held->data, error))
    return FALSE;
  column->written += rows;
  g_byte_array_set_size (column->held, 0);
  return TRUE;
}

static gboolean
column_append (PlaitStore *store, Column *column, gint64 rows, gconstpointer values, GError **error)
{
  gint64 chunk = plait_store_growing_chunk (column->row_bytes);
  const guint8 *from = values;

  while (rows > 0)
    {
      gint64 room = chunk - column->held->len / column->row_bytes, n = MIN (rows, room);

      g_byte_array_append (column->held, from, (guint)(n * column->row_bytes));
      from += n * column->row_bytes;
      rows -= n;
      if (n == room && !column_write (store, column, FALSE, error))
        return FALSE;
    }
  return TRUE;
}

static void
array_free (gpointer item)
{
  Array *array = item;

  g_free (array->name);
  g_strfreev (array->axes);
  column_clear (&array->values);
  column_clear (&array->offsets);
  column_clear (&array->shapes);
  g_free (array);
}

static void
kind_free (gpointer item)
{
  Kind *kind = item;

  g_free (kind->path);
  g_ptr_array_unref (kind->items);
  g_ptr_array_unref (kind->arrays);
  g_free (kind);
}

/* Returns GROUP/KIND for the path GROUP/ITEM. (transfer full) */
static char *
kind_path (const char *item, const char *kind)
{
  return g_strdup_printf ("%.*s%s", (int)(strrchr (item, '/') + 1 - item), item, kind);
}

/* Adds @item to the items of the kind @name, unless @item is the last one already, and returns the kind. Makes the kind
 * if it is missing. NULL on failure. */
static Kind *
find_kind (PlaitStore *store, const char *item, const char *name, GError **error)
{
  const char *last = strrchr (item, '/');
  g_autofree char *group = g_strndup (item, (gsize)(last - item));
  g_autofree char *path = kind_path (item, name);
  const char *ignored;
  Kind *kind = NULL;

  g_assert (store->writing && last > item && g_ascii_isdigit (last[1]) && !g_ascii_isdigit (name[0]));
  if (!store->appended)
    store->appended = g_ptr_array_new_with_free_func (kind_free);
  for (guint i = 0; i < store->appended->len && !kind; i++)
    if (g_str_equal (((Kind *)store->appended->pdata[i])->path, path))
      kind = store->appended->pdata[i];
  if (!kind)
    {
      if (plait_store_prepare (store, path, &ignored, error) < 0 || !plait_store_make_group (store, path, error)
          || !plait_store_set_string (store, group, PLAIT_STORE_RAGGED, PLAIT_STORE_ITEMS, error))
        return NULL;
      kind = g_new0 (Kind, 1);
      kind->path = g_steal_pointer (&path);
      kind->items = g_ptr_array_new_with_free_func (g_free);
      kind->arrays = g_ptr_array_new_with_free_func (array_free);
      g_ptr_array_add (store->appended, kind);
    }
  if (kind->items->len == 0 || !g_str_equal (kind->items->pdata[kind->items->len - 1], last + 1))
    g_ptr_array_add (kind->items, g_strdup (last + 1));
  return kind;
}

static Array *
find_array (Kind *kind, const char *name, PlaitStoreType type, guint rank)
{
  static const gint64 zero = 0;
  Array *array;

  for (guint i = 0; i < kind->arrays->len; i++)
    {
      array = kind->arrays->pdata[i];
      if (g_str_equal (array->name, name))
        {
          g_assert (array->type == type && array->rank == rank);
          return array;
        }
    }
  array = g_new0 (Array, 1);
  array->name = g_strdup (name);
  array->type = type;
  array->rank = rank;
  column_init (&array->values, kind->path, name, "", type == PLAIT_STORE_STRING ? PLAIT_STORE_UINT8 : type, 0);
  column_init (&array->offsets, kind->path, name, PLAIT_STORE_OFFSETS, PLAIT_STORE_INT64, 0);
  if (rank > 1)
    column_init (&array->shapes, kind->path, name, PLAIT_STORE_SHAPE, PLAIT_STORE_INT64, rank);
  g_byte_array_append (array->offsets.held, (const guint8 *)&zero, sizeof zero);
  g_ptr_array_add (kind->arrays, array);
  return array;
}

/* Completes an item of @elements elements in @array: appends the end offset and the shape of the item. */
static gboolean
end_item (PlaitStore *store, Array *array, gint64 elements, const gint64 *shape, GError **error)
{
  array->items++;
  array->end += elements;
  return column_append (store, &array->offsets, 1, &array->end, error)
         && (array->rank == 1 || column_append (store, &array->shapes, 1, shape, error));
}

/* Adds empty items until @array has @n items. */
static gboolean
skip_to (PlaitStore *store, Array *array, gint64 n, GError **error)
{
  static const gint64 empty[PLAIT_STORE_MAX_RANK] = { 0 };

  while (array->items < n)
    if (!end_item (store, array, 0, empty, error))
      return FALSE;
  return TRUE;
}

static gboolean
append_strings (PlaitStore *store, Array *array, gint64 n, const char *const *strings, GError **error)
{
  gint64 bytes = 0;
  gsize longest, total;

  if (!plait_store_measure_strings (store, array->values.path, strings, n, &longest, &total, error))
    return FALSE;
  for (gint64 i = 0; i < n; i++)
    {
      gint64 length = (gint64)strlen (strings[i]) + 1; /* bytes of the string with its NUL */

      if (!column_append (store, &array->values, length, strings[i], error))
        return FALSE;
      bytes += length;
    }
  return end_item (store, array, bytes, NULL, error);
}

/* Sets the attributes of a complete array. */
static gboolean
describe_array (PlaitStore *store, const Array *array, GError **error)
{
  const char *path = array->values.path, *name = array->name;
  gboolean text = array->type == PLAIT_STORE_STRING;
  g_autofree char *cut
      = g_strdup_printf ("%s[%s" PLAIT_STORE_OFFSETS "[i]:%s" PLAIT_STORE_OFFSETS "[i + 1]]", name, name, name);
  g_autofree char *shaped = text              ? g_strdup_printf ("bytes(%s).decode().split(\"\\0\")[:-1]", cut)
                            : array->rank > 1 ? g_strdup_printf ("%s.reshape(%s" PLAIT_STORE_SHAPE "[i])", cut, name)
                                              : g_strdup (cut);

  return plait_store_set_string (store, path, PLAIT_STORE_ITEMS "_i", shaped, error)
         && (!text || plait_store_set_string (store, path, PLAIT_STORE_TEXT, "UTF-8, a NUL after each string", error))
         && (!array->axes
             || plait_store_set_list (store, path, "axes", PLAIT_STORE_STRING, array->rank, array->axes, error));
}

gboolean
plait_store_append (PlaitStore *store, const char *item, const char *kind_name, const char *name, PlaitStoreType type,
                    guint rank, const gint64 *shape, gconstpointer values, const char *const *axes, GError **error)
{
  Kind *kind = find_kind (store, item, kind_name, error);
  Array *array = kind ? find_array (kind, name, type, rank) : NULL;
  gint64 elements = 1;

  g_assert (rank >= 1 && rank <= PLAIT_STORE_MAX_RANK && (type != PLAIT_STORE_STRING || rank == 1));
  if (!array || !skip_to (store, array, kind->items->len - 1, error))
    return FALSE;
  if (axes && !array->axes)
    array->axes = g_strdupv ((char **)axes);
  if (type == PLAIT_STORE_STRING)
    return append_strings (store, array, shape[0], values, error);
  for (guint i = 0; i < rank; i++)
    g_assert (shape[i] >= 0 && !__builtin_mul_overflow (elements, shape[i], &elements));
  return column_append (store, &array->values, elements, values, error)
         && end_item (store, array, elements, shape, error);
}

gboolean
plait_store_append_attribute (PlaitStore *store, const char *item, const char *kind, const char *name,
                              const char *value, GError **error)
{
  g_autofree char *path = kind_path (item, kind);

  return find_kind (store, item, kind, error)
         && (plait_store_has_attribute (store, path, name) || plait_store_set_string (store, path, name, value, error));
}

static gboolean
append_labels (PlaitStore *store, const char *item, const char *kind, const PlaitStoreHeatmap *heatmap, GError **error)
{
  for (guint i = 0; heatmap->labels && i < heatmap->rank; i++)
    {
      g_autofree char *name = g_strconcat (heatmap->axes[i], "_labels", NULL);

      if (heatmap->labels[i]
          && !plait_store_append (store, item, kind, name, PLAIT_STORE_STRING, 1, &heatmap->shape[i],
                                  heatmap->labels[i], NULL, error))
        return FALSE;
    }
  return TRUE;
}

/* Writes the item as a separate heatmap, too, if the file has no default plot: viewers cannot cut an item out of an
 * array. */
static gboolean
write_first (PlaitStore *store, const char *item, const PlaitStoreHeatmap *heatmap, GError **error)
{
  PlaitStoreHeatmap first = *heatmap;
  g_autofree char *path = kind_path (item, "<first>");
  g_autofree char *title
      = heatmap->title ? g_strdup_printf ("%s, " PLAIT_STORE_ITEMS " %s", heatmap->title, strrchr (item, '/') + 1)
                       : NULL;

  first.title = title;
  return plait_store_has_attribute (store, "/", "default") || plait_store_write_heatmap (store, path, &first, error);
}

gboolean
plait_store_append_heatmap (PlaitStore *store, const char *item, const char *kind, const PlaitStoreHeatmap *heatmap,
                            GError **error)
{
  g_autofree char *path = kind_path (item, kind);

  if (!plait_store_append_attribute (store, item, kind, "signal", heatmap->signal, error)
      || (heatmap->title && !plait_store_append_attribute (store, item, kind, "title", heatmap->title, error)))
    return FALSE;
  return (plait_store_has_attribute (store, path, "axes")
          || plait_store_set_list (store, path, "axes", PLAIT_STORE_STRING, heatmap->rank, heatmap->axes, error))
         && plait_store_append (store, item, kind, heatmap->signal, PLAIT_STORE_SCALAR, heatmap->rank, heatmap->shape,
                                heatmap->values, heatmap->axes, error)
         && append_labels (store, item, kind, heatmap, error) && write_first (store, item, heatmap, error);
}

static gboolean
finish_kind (PlaitStore *store, Kind *kind, GError **error)
{
  g_autofree char *items = g_strconcat (kind->path, "/" PLAIT_STORE_ITEMS, NULL);

  for (guint i = 0; i < kind->arrays->len; i++)
    {
      Array *array = kind->arrays->pdata[i];

      if (!skip_to (store, array, kind->items->len, error) || !column_write (store, &array->values, TRUE, error)
          || !column_write (store, &array->offsets, TRUE, error)
          || (array->rank > 1 && !column_write (store, &array->shapes, TRUE, error))
          || !describe_array (store, array, error))
        return FALSE;
    }
  return plait_store_write_strings (store, items, (const char *const *)kind->items->pdata, kind->items->len, error);
}

gboolean
plait_store_ragged_finish (PlaitStore *store, GError **error)
{
  gboolean good = TRUE;

  for (guint i = 0; store->appended && good && i < store->appended->len; i++)
    good = finish_kind (store, store->appended->pdata[i], error);
  g_clear_pointer (&store->appended, g_ptr_array_unref);
  return good;
}
