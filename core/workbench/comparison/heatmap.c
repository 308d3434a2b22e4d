/* SPDX-License-Identifier: MIT */
#include "comparison/heatmap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text/error.h"
#include "files/memory.h"
#include "text/number.h"
#include "comparison/location.h"

#define MAX_LEADING_AXES 2
#define MAX_VALUES ((gint64)1 << 26) /* maximum number of values for one index of the first axis */
#define MAX_AXIS_LENGTH (1 << 16)
#define MAX_LABEL_BYTES ((gsize)16 << 20)

gboolean
plait_heatmap_parse (const char *option, const char *text, gint64 *choice, GError **error)
{
  gint64 number;

  *choice = PLAIT_HEATMAP_DEFAULT;
  if (!text)
    return TRUE;
  if (strcmp (text, "mean") == 0)
    *choice = PLAIT_HEATMAP_MEAN;
  else if (plait_parse_integer (text, &number) && number >= 0)
    *choice = number;
  else
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s cannot be \"%s\"; expected a number from 0, or mean", option,
                       text);
  return TRUE;
}

void
plait_heatmap_free (PlaitHeatmap *heatmap)
{
  g_free (heatmap->title);
  g_free (heatmap->choice);
  g_free (heatmap->row_axis);
  g_free (heatmap->column_axis);
  g_free (heatmap->values);
  g_strfreev (heatmap->rows);
  g_strfreev (heatmap->columns);
  g_free (heatmap->sentence);
  g_free (heatmap);
}

/* Returns the path of the dataset that the group @path names in its attribute signal. (transfer full) */
static char *
signal_path (PlaitStore *store, const char *path, GError **error)
{
  g_autofree char *signal = plait_store_get_string (store, path, "signal", error);

  if (!signal)
    return NULL;
  if (*signal == '\0' || strchr (signal, '/'))
    return plait_fail_null (
        error, PLAIT_ERROR_CORRUPT,
        "%s: the attribute 'signal' of the group %s is \"%s\"; expected the name of a dataset in this group",
        plait_store_path (store), path, signal);
  return plait_location_join (path, signal);
}

gboolean
plait_heatmap_exists (PlaitStore *store, const char *path)
{
  PlaitStoreObject object;

  if (!plait_store_describe (store, path, &object, NULL) || object.kind != PLAIT_STORE_GROUP
      || !plait_store_has_attribute (store, path, "signal") || !plait_store_has_attribute (store, path, "axes"))
    return FALSE;
  g_autofree char *signal = signal_path (store, path, NULL);
  return signal && plait_store_describe (store, signal, &object, NULL) && object.kind == PLAIT_STORE_DATASET
         && object.rank >= 2 && object.rank <= MAX_LEADING_AXES + 2
         && (object.type == PLAIT_STORE_FLOAT || object.type == PLAIT_STORE_DOUBLE);
}

static gboolean
fits (const PlaitStoreObject *object)
{
  return object->elements / MAX (object->shape[0], 1) <= MAX_VALUES
         && object->shape[object->rank - 2] <= MAX_AXIS_LENGTH && object->shape[object->rank - 1] <= MAX_AXIS_LENGTH;
}

gboolean
plait_heatmap_fits (PlaitStore *store, const char *path)
{
  g_autofree char *signal = signal_path (store, path, NULL);
  PlaitStoreObject object;

  return !signal || !plait_store_describe (store, signal, &object, NULL) || object.rank < 2 || fits (&object);
}

gboolean
plait_heatmap_select (PlaitStore *store, const char *path, const char *name, gint64 extent,
                      PlaitHeatmapSelection choice, PlaitIndexRange *steps, GString *text, GError **error)
{
  gboolean head = strcmp (name, "head") == 0;
  gint64 wanted = head ? choice.head : choice.layer;

  if (wanted == PLAIT_HEATMAP_DEFAULT)
    wanted = head ? PLAIT_HEATMAP_MEAN : extent - 1;
  if (wanted >= extent)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: %s has no %s %jd; expected 0 to %jd, or mean",
                       plait_store_path (store), path, name, wanted, extent - 1);
  if (text->len > 0)
    g_string_append (text, ", ");
  if (wanted == PLAIT_HEATMAP_MEAN)
    {
      *steps = (PlaitIndexRange){ 0, extent - 1 };
      g_string_append_printf (text, "mean of %jd %s%s", extent, name, extent == 1 ? "" : "s");
    }
  else
    {
      *steps = (PlaitIndexRange){ wanted, wanted };
      g_string_append_printf (text, "%s %jd", name, wanted);
    }
  return TRUE;
}

/* Returns the labels of @axis of the heatmap @path; numbers if it has no labels or a wrong number of them. (transfer
 * full) */
static char **
read_labels (PlaitStore *store, const char *path, const char *axis, gint64 n)
{
  g_autofree char *name = g_strconcat (axis, "_labels", NULL);
  g_autofree char *place = plait_location_join (path, name);
  gint64 found;
  char **labels = plait_store_read_strings (store, place, MAX_LABEL_BYTES, &found, NULL);

  if (labels && found == n)
    return labels;
  g_strfreev (labels);
  labels = g_new0 (char *, n + 1);
  for (gint64 i = 0; i < n; i++)
    labels[i] = g_strdup_printf ("%jd", i);
  return labels;
}

static int
compare_numbers (gconstpointer a, gconstpointer b)
{
  const PlaitIndexedWeight *first = a, *second = b;

  return (first->number > second->number) - (first->number < second->number);
}

/* Compares two weights for sorting: larger weights first, of equal weights smaller indices first. */
static int
compare_weights (gconstpointer a, gconstpointer b)
{
  const PlaitIndexedWeight *first = a, *second = b;

  if (first->weight > second->weight || first->weight < second->weight)
    return first->weight > second->weight ? -1 : 1;
  return compare_numbers (a, b);
}

/* Keeps the @top heaviest of the @n weights in @row and sets the others to 0. Scales the kept weights, so that the sum
 * of @row does not change. Leaves @row unchanged if a weight is not finite. @order [n] is workspace. */
static void
keep_top (double *row, gint64 n, gint64 top, PlaitIndexedWeight *order)
{
  double sum = 0, kept = 0;

  for (gint64 i = 0; i < n; i++)
    {
      if (!isfinite (row[i]))
        return;
      sum += row[i];
      order[i] = (PlaitIndexedWeight){ i, row[i] };
    }
  qsort (order, (gsize)n, sizeof *order, compare_weights);
  for (gint64 i = 0; i < top; i++)
    kept += order[i].weight;
  for (gint64 i = top; i < n; i++)
    row[order[i].number] = 0;
  for (gint64 i = 0; i < top; i++)
    row[order[i].number] *= kept > 0 ? sum / kept : 1;
}

/* Adds those heads of @block that are in the range @second to the heatmap. @block has the values of one layer. Keeps
 * the @top heaviest weights of each row; 0: all. */
static void
add_block (PlaitHeatmap *heatmap, double *block, const PlaitIndexRange *second, gint64 top)
{
  gint64 n = heatmap->n_rows * heatmap->n_columns;
  g_autofree PlaitIndexedWeight *order = g_new (PlaitIndexedWeight, heatmap->n_columns + 1);

  for (gint64 step = second->first; step <= second->last; step++)
    {
      for (gint64 r = 0; top > 0 && r < heatmap->n_rows; r++)
        keep_top (block + step * n + r * heatmap->n_columns, heatmap->n_columns, top, order);
      for (gint64 i = 0; i < n; i++)
        heatmap->values[i] += block[step * n + i];
    }
}

/* Sets the values of @heatmap to the mean over the selected layers and heads of the dataset @signal. */
static gboolean
read_values (PlaitHeatmap *heatmap, PlaitStore *store, const char *signal, const PlaitStoreObject *object,
             const PlaitIndexRange leading[MAX_LEADING_AXES], gint64 top, GError **error)
{
  guint n_leading = object->rank - 2;
  gint64 size = heatmap->n_rows * heatmap->n_columns;
  gint64 block = n_leading == 2 ? object->shape[1] * size : size;
  const PlaitIndexRange *first = &leading[0], *second = &leading[1];
  double steps = (double)((first->last - first->first + 1) * (second->last - second->first + 1));
  g_autofree double *values = plait_try_allocate ((gsize)block, sizeof *values, signal, error);

  if (!values)
    return FALSE;
  heatmap->values = plait_try_allocate ((gsize)size, sizeof *heatmap->values, signal, error);
  if (!heatmap->values)
    return FALSE;
  for (gint64 step = first->first; step <= first->last; step++)
    {
      gboolean read = n_leading == 0
                          ? plait_store_read (store, signal, PLAIT_STORE_DOUBLE, size, values, error)
                          : plait_store_read_rows (store, signal, PLAIT_STORE_DOUBLE, step, 1, block, values, error);
      if (!read)
        return FALSE;
      add_block (heatmap, values, second, top);
    }
  for (gint64 i = 0; i < size; i++)
    heatmap->values[i] /= steps;
  return TRUE;
}

/* Sets the fields of_sentences and sentence of @heatmap. */
static gboolean
read_column_sentences (PlaitHeatmap *heatmap, PlaitStore *store, const char *path, GError **error)
{
  g_autofree char *place = plait_location_join (path, "row_sentence");
  g_autofree char *rows = plait_store_get_string (store, path, "rows", NULL);
  gint64 n = 0;

  heatmap->of_sentences = g_strcmp0 (rows, "sentences") == 0;
  if (!plait_store_has (store, place))
    return TRUE;
  heatmap->sentence = plait_store_read_array (store, place, PLAIT_STORE_INT64, heatmap->n_columns, &n, error);
  if (heatmap->sentence && n != heatmap->n_columns)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: %s has %jd numbers, but the heatmap has %jd columns; write the dump again",
                       plait_store_path (store), place, n, heatmap->n_columns);
  return heatmap->sentence != NULL;
}

PlaitHeatmap *
plait_heatmap_read (PlaitStore *store, const char *path, PlaitHeatmapSelection choice, GError **error)
{
  g_autoptr (PlaitHeatmap) heatmap = g_new0 (PlaitHeatmap, 1);
  g_autoptr (GString) text = g_string_new (NULL);
  PlaitStoreObject object;
  PlaitIndexRange leading[MAX_LEADING_AXES] = { { 0, 0 } };
  gint64 n_axes;
  g_autofree char *signal = signal_path (store, path, error);

  if (!signal || !plait_store_describe (store, signal, &object, error))
    return NULL;
  g_auto (GStrv) axes = plait_store_get_list (store, path, "axes", PLAIT_STORE_STRING, &n_axes, error);
  if (!axes)
    return NULL;
  if (object.kind != PLAIT_STORE_DATASET || object.rank < 2 || object.rank > MAX_LEADING_AXES + 2
      || n_axes != (gint64)object.rank || object.elements == 0)
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "%s: %s cannot be drawn; expected an array of two to four axes, each with a length above 0 "
                            "and a name in the attribute axes",
                            plait_store_path (store), path);
  if (!fits (&object))
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "%s: %s has too many values for a heatmap; expected at most %d rows and columns, and %jd "
                            "values for each index of the first axis",
                            plait_store_path (store), path, MAX_AXIS_LENGTH, MAX_VALUES);
  for (guint i = 0; i + 2 < object.rank; i++)
    if (!plait_heatmap_select (store, path, axes[i], object.shape[i], choice, &leading[i], text, error))
      return NULL;
  heatmap->n_rows = object.shape[object.rank - 2];
  heatmap->n_columns = object.shape[object.rank - 1];
  if (!read_column_sentences (heatmap, store, path, error))
    return NULL;
  if (choice.top == PLAIT_HEATMAP_DEFAULT)
    choice.top = heatmap->of_sentences ? PLAIT_HEATMAP_SENTENCES : 0;
  if (choice.top >= heatmap->n_columns)
    choice.top = 0;
  heatmap->heaviest = choice.top;
  if (choice.top > 0)
    g_string_append_printf (text, "%sthe %jd heaviest of %jd", text->len > 0 ? ", " : "", choice.top,
                            heatmap->n_columns);
  heatmap->row_axis = g_strdup (axes[object.rank - 2]);
  heatmap->column_axis = g_strdup (axes[object.rank - 1]);
  heatmap->choice = g_strdup (text->str);
  heatmap->title = plait_store_get_string (store, path, "title", NULL);
  if (!read_values (heatmap, store, signal, &object, leading, choice.top, error))
    return NULL;
  heatmap->rows = read_labels (store, path, heatmap->row_axis, heatmap->n_rows);
  heatmap->columns = read_labels (store, path, heatmap->column_axis, heatmap->n_columns);
  return plait_store_intact (store, error) ? g_steal_pointer (&heatmap) : NULL;
}

double
plait_heatmap_max (const PlaitHeatmap *heatmap)
{
  double largest = 0;

  for (gint64 i = 0; i < heatmap->n_rows * heatmap->n_columns; i++)
    if (isfinite (heatmap->values[i]))
      largest = MAX (largest, heatmap->values[i]);
  return largest;
}

void
plait_heatmap_extents (PlaitStore *store, const char *path, gint64 *layers, gint64 *heads)
{
  gint64 n = 0;
  g_auto (GStrv) axes = plait_store_get_list (store, path, "axes", PLAIT_STORE_STRING, &n, NULL);
  g_autofree char *signal = signal_path (store, path, NULL);
  PlaitStoreObject object;

  *layers = *heads = 0;
  if (!axes || !signal || !plait_store_describe (store, signal, &object, NULL))
    return;
  for (guint i = 0; i + 2 < object.rank && i < n; i++)
    *(strcmp (axes[i], "head") == 0 ? heads : layers) = object.shape[i];
}

PlaitHeatmap *
plait_heatmap_of_sentence (const PlaitHeatmap *heatmap, gint64 sentence, GError **error)
{
  g_autoptr (PlaitHeatmap) part = g_new0 (PlaitHeatmap, 1);
  g_autofree gint64 *columns = g_new (gint64, heatmap->n_columns + 1);
  gint64 largest = 0;

  for (gint64 c = 0; c < heatmap->n_columns; c++)
    {
      largest = MAX (largest, heatmap->sentence[c]);
      if (heatmap->sentence[c] == sentence)
        columns[part->n_columns++] = c;
    }
  if (part->n_columns == 0)
    return plait_fail_null (error, PLAIT_ERROR_INPUT, "the document has no sentence %jd; expected 0 to %jd", sentence,
                            largest);
  part->title = g_strdup (heatmap->title);
  part->row_axis = g_strdup (heatmap->row_axis);
  part->column_axis = g_strdup (heatmap->column_axis);
  part->n_rows = heatmap->n_rows;
  part->choice = g_strdup_printf ("%s%ssentence %jd", heatmap->choice, *heatmap->choice == '\0' ? "" : ", ", sentence);
  part->rows = g_strdupv (heatmap->rows);
  part->columns = g_new0 (char *, part->n_columns + 1);
  part->sentence = g_new (gint64, part->n_columns);
  part->values = g_new (double, part->n_rows * part->n_columns);
  for (gint64 c = 0; c < part->n_columns; c++)
    {
      part->columns[c] = g_strdup (heatmap->columns[columns[c]]);
      part->sentence[c] = sentence;
      for (gint64 r = 0; r < part->n_rows; r++)
        part->values[r * part->n_columns + c] = heatmap->values[r * heatmap->n_columns + columns[c]];
    }
  return g_steal_pointer (&part);
}

void
plait_indexed_weights_keep_top (GArray *weights, guint max)
{
  g_array_sort (weights, compare_weights);
  g_array_set_size (weights, MIN (weights->len, max));
  g_array_sort (weights, compare_numbers);
}

void
plait_heatmap_transpose (PlaitHeatmap *heatmap)
{
  PlaitHeatmap turned = *heatmap;

  turned.row_axis = heatmap->column_axis;
  turned.column_axis = heatmap->row_axis;
  turned.n_rows = heatmap->n_columns;
  turned.n_columns = heatmap->n_rows;
  turned.rows = heatmap->columns;
  turned.columns = heatmap->rows;
  turned.values = g_new (double, heatmap->n_rows * heatmap->n_columns);
  for (gint64 r = 0; r < turned.n_rows; r++)
    for (gint64 c = 0; c < turned.n_columns; c++)
      turned.values[r * turned.n_columns + c] = heatmap->values[c * heatmap->n_columns + r];
  turned.sentence = NULL; /* the sentences belong to columns, which have become rows */
  g_free (heatmap->values);
  g_free (heatmap->sentence);
  *heatmap = turned;
}
