/* SPDX-License-Identifier: MIT */
#include "comparison/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text/error.h"
#include "files/memory.h"
#include "text/number.h"
#include "comparison/place.h"

#define MOST_LEADING 2
#define MOST_VALUES ((gint64)1 << 26) /* of one step of the first axis */
#define LONGEST_AXIS (1 << 16)
#define MOST_LABELS ((gsize)16 << 20) /* bytes */

gboolean
plait_map_parse (const char *option, const char *text, gint64 *choice, GError **error)
{
  gint64 number;

  *choice = PLAIT_MAP_USUAL;
  if (!text)
    return TRUE;
  if (strcmp (text, "mean") == 0)
    *choice = PLAIT_MAP_MEAN;
  else if (plait_parse_integer (text, &number) && number >= 0)
    *choice = number;
  else
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s cannot be \"%s\"; expected a number from 0, or mean", option,
                       text);
  return TRUE;
}

void
plait_map_free (PlaitMap *map)
{
  g_free (map->title);
  g_free (map->choice);
  g_free (map->row_axis);
  g_free (map->column_axis);
  g_free (map->values);
  g_strfreev (map->rows);
  g_strfreev (map->columns);
  g_free (map->sentence);
  g_free (map);
}

/* The dataset that the group @path shows. (transfer full) */
static char *
signal_path (PlaitStore *store, const char *path, GError **error)
{
  g_autofree char *signal = plait_store_get_string (store, path, "signal", error);

  if (!signal)
    return NULL;
  if (*signal == '\0' || strchr (signal, '/'))
    return plait_fail_null (error, PLAIT_ERROR_CORRUPT,
                            "%s: attribute signal of %s is \"%s\"; expected the name of a member",
                            plait_store_path (store), path, signal);
  return plait_place_below (path, signal);
}

gboolean
plait_map_is (PlaitStore *store, const char *path)
{
  PlaitStoreObject object;

  if (!plait_store_describe (store, path, &object, NULL) || object.kind != PLAIT_STORE_GROUP
      || !plait_store_has_attribute (store, path, "signal") || !plait_store_has_attribute (store, path, "axes"))
    return FALSE;
  g_autofree char *signal = signal_path (store, path, NULL);
  return signal && plait_store_describe (store, signal, &object, NULL) && object.kind == PLAIT_STORE_DATASET
         && object.rank >= 2 && object.rank <= MOST_LEADING + 2
         && (object.type == PLAIT_STORE_FLOAT || object.type == PLAIT_STORE_DOUBLE);
}

static gboolean
fits (const PlaitStoreObject *object)
{
  return object->elements / MAX (object->shape[0], 1) <= MOST_VALUES && object->shape[object->rank - 2] <= LONGEST_AXIS
         && object->shape[object->rank - 1] <= LONGEST_AXIS;
}

gboolean
plait_map_fits (PlaitStore *store, const char *path)
{
  g_autofree char *signal = signal_path (store, path, NULL);
  PlaitStoreObject object;

  return !signal || !plait_store_describe (store, signal, &object, NULL) || object.rank < 2 || fits (&object);
}

gboolean
plait_map_choose (PlaitStore *store, const char *path, const char *name, gint64 extent, PlaitMapChoice choice,
                  PlaitMapSteps *steps, GString *text, GError **error)
{
  gboolean head = strcmp (name, "head") == 0;
  gint64 wanted = head ? choice.head : choice.layer;

  if (wanted == PLAIT_MAP_USUAL)
    wanted = head ? PLAIT_MAP_MEAN : extent - 1;
  if (wanted >= extent)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: %s has no %s %jd; expected 0 to %jd, or mean",
                       plait_store_path (store), path, name, wanted, extent - 1);
  if (text->len > 0)
    g_string_append (text, ", ");
  if (wanted == PLAIT_MAP_MEAN)
    {
      *steps = (PlaitMapSteps){ 0, extent - 1 };
      g_string_append_printf (text, "mean of %jd %s%s", extent, name, extent == 1 ? "" : "s");
    }
  else
    {
      *steps = (PlaitMapSteps){ wanted, wanted };
      g_string_append_printf (text, "%s %jd", name, wanted);
    }
  return TRUE;
}

/* Labels of the axis @axis of the heatmap @path, numbers if it has none that fit. (transfer full) */
static char **
read_labels (PlaitStore *store, const char *path, const char *axis, gint64 n)
{
  g_autofree char *name = g_strconcat (axis, "_labels", NULL);
  g_autofree char *place = plait_place_below (path, name);
  gint64 found;
  char **labels = plait_store_read_strings (store, place, MOST_LABELS, &found, NULL);

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
  const PlaitMapWeight *first = a, *second = b;

  return (first->number > second->number) - (first->number < second->number);
}

/* The heaviest first; of equal ones the first. */
static int
compare_weights (gconstpointer a, gconstpointer b)
{
  const PlaitMapWeight *first = a, *second = b;

  if (first->weight > second->weight || first->weight < second->weight)
    return first->weight > second->weight ? -1 : 1;
  return compare_numbers (a, b);
}

/* Keeps the @top heaviest of the @n weights @row, scaled to the sum of all; @order is room for [n]. A row with what is
 * no number stays as it is. */
static void
keep_heaviest (double *row, gint64 n, gint64 top, PlaitMapWeight *order)
{
  double sum = 0, kept = 0;

  for (gint64 i = 0; i < n; i++)
    {
      if (!isfinite (row[i]))
        return;
      sum += row[i];
      order[i] = (PlaitMapWeight){ i, row[i] };
    }
  qsort (order, (gsize)n, sizeof *order, compare_weights);
  for (gint64 i = 0; i < top; i++)
    kept += order[i].weight;
  for (gint64 i = top; i < n; i++)
    row[order[i].number] = 0;
  for (gint64 i = 0; i < top; i++)
    row[order[i].number] *= kept > 0 ? sum / kept : 1;
}

/* Adds the chosen steps of the second leading axis out of @block, which is one step of the first; of each row the @top
 * heaviest, or 0: all. */
static void
add_block (PlaitMap *map, double *block, const PlaitMapSteps *second, gint64 top)
{
  gint64 n = map->n_rows * map->n_columns;
  g_autofree PlaitMapWeight *order = g_new (PlaitMapWeight, map->n_columns + 1);

  for (gint64 step = second->first; step <= second->last; step++)
    {
      for (gint64 r = 0; top > 0 && r < map->n_rows; r++)
        keep_heaviest (block + step * n + r * map->n_columns, map->n_columns, top, order);
      for (gint64 i = 0; i < n; i++)
        map->values[i] += block[step * n + i];
    }
}

/* Sums the chosen pictures of the dataset @signal into the map, and divides by their number. */
static gboolean
read_values (PlaitMap *map, PlaitStore *store, const char *signal, const PlaitStoreObject *object,
             const PlaitMapSteps leading[MOST_LEADING], gint64 top, GError **error)
{
  guint n_leading = object->rank - 2;
  gint64 size = map->n_rows * map->n_columns;
  gint64 block = n_leading == 2 ? object->shape[1] * size : size;
  const PlaitMapSteps *first = &leading[0], *second = &leading[1];
  double steps = (double)((first->last - first->first + 1) * (second->last - second->first + 1));
  g_autofree double *values = plait_try_allocate ((gsize)block, sizeof *values, signal, error);

  if (!values)
    return FALSE;
  map->values = plait_try_allocate ((gsize)size, sizeof *map->values, signal, error);
  if (!map->values)
    return FALSE;
  for (gint64 step = first->first; step <= first->last; step++)
    {
      gboolean read = n_leading == 0
                          ? plait_store_read (store, signal, PLAIT_STORE_DOUBLE, size, values, error)
                          : plait_store_read_rows (store, signal, PLAIT_STORE_DOUBLE, step, 1, block, values, error);
      if (!read)
        return FALSE;
      add_block (map, values, second, top);
    }
  for (gint64 i = 0; i < size; i++)
    map->values[i] /= steps;
  return TRUE;
}

/* Which sentences of a document the columns are of, or stand for (dumps/attention.h). */
static gboolean
read_places (PlaitMap *map, PlaitStore *store, const char *path, GError **error)
{
  g_autofree char *place = plait_place_below (path, "row_sentence");
  g_autofree char *rows = plait_store_get_string (store, path, "rows", NULL);
  gint64 n = 0;

  map->of_sentences = g_strcmp0 (rows, "sentences") == 0;
  if (!plait_store_has (store, place))
    return TRUE;
  map->sentence = plait_store_read_array (store, place, PLAIT_STORE_INT64, map->n_columns, &n, error);
  if (map->sentence && n != map->n_columns)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: %s has %jd numbers, but the heatmap %jd rows: write it again",
                       plait_store_path (store), place, n, map->n_columns);
  return map->sentence != NULL;
}

PlaitMap *
plait_map_read (PlaitStore *store, const char *path, PlaitMapChoice choice, GError **error)
{
  g_autoptr (PlaitMap) map = g_new0 (PlaitMap, 1);
  g_autoptr (GString) told = g_string_new (NULL);
  PlaitStoreObject object;
  PlaitMapSteps leading[MOST_LEADING] = { { 0, 0 } };
  gint64 n_axes;
  g_autofree char *signal = signal_path (store, path, error);

  if (!signal || !plait_store_describe (store, signal, &object, error))
    return NULL;
  g_auto (GStrv) axes = plait_store_get_list (store, path, "axes", PLAIT_STORE_STRING, &n_axes, error);
  if (!axes)
    return NULL;
  if (object.kind != PLAIT_STORE_DATASET || object.rank < 2 || object.rank > MOST_LEADING + 2
      || n_axes != (gint64)object.rank || object.elements == 0)
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "%s: %s cannot be drawn; expected an array of two to four axes, none of them empty",
                            plait_store_path (store), path);
  if (!fits (&object))
    return plait_fail_null (error, PLAIT_ERROR_INPUT, "%s: %s has too many values to be drawn",
                            plait_store_path (store), path);
  for (guint i = 0; i + 2 < object.rank; i++)
    if (!plait_map_choose (store, path, axes[i], object.shape[i], choice, &leading[i], told, error))
      return NULL;
  map->n_rows = object.shape[object.rank - 2];
  map->n_columns = object.shape[object.rank - 1];
  if (!read_places (map, store, path, error))
    return NULL;
  if (choice.top == PLAIT_MAP_USUAL)
    choice.top = map->of_sentences ? PLAIT_MAP_SENTENCES : 0;
  if (choice.top >= map->n_columns)
    choice.top = 0;
  map->heaviest = choice.top;
  if (choice.top > 0)
    g_string_append_printf (told, "%sthe %jd heaviest of %jd", told->len > 0 ? ", " : "", choice.top, map->n_columns);
  map->row_axis = g_strdup (axes[object.rank - 2]);
  map->column_axis = g_strdup (axes[object.rank - 1]);
  map->choice = g_strdup (told->str);
  map->title = plait_store_get_string (store, path, "title", NULL);
  if (!read_values (map, store, signal, &object, leading, choice.top, error))
    return NULL;
  map->rows = read_labels (store, path, map->row_axis, map->n_rows);
  map->columns = read_labels (store, path, map->column_axis, map->n_columns);
  return plait_store_intact (store, error) ? g_steal_pointer (&map) : NULL;
}

double
plait_map_largest (const PlaitMap *map)
{
  double largest = 0;

  for (gint64 i = 0; i < map->n_rows * map->n_columns; i++)
    if (isfinite (map->values[i]))
      largest = MAX (largest, map->values[i]);
  return largest;
}

void
plait_map_steps (PlaitStore *store, const char *path, gint64 *layers, gint64 *heads)
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

PlaitMap *
plait_map_of_sentence (const PlaitMap *map, gint64 sentence, GError **error)
{
  g_autoptr (PlaitMap) part = g_new0 (PlaitMap, 1);
  g_autofree gint64 *columns = g_new (gint64, map->n_columns + 1);
  gint64 largest = 0;

  for (gint64 c = 0; c < map->n_columns; c++)
    {
      largest = MAX (largest, map->sentence[c]);
      if (map->sentence[c] == sentence)
        columns[part->n_columns++] = c;
    }
  if (part->n_columns == 0)
    return plait_fail_null (error, PLAIT_ERROR_INPUT, "the document has no sentence %jd; expected 0 to %jd", sentence,
                            largest);
  part->title = g_strdup (map->title);
  part->row_axis = g_strdup (map->row_axis);
  part->column_axis = g_strdup (map->column_axis);
  part->n_rows = map->n_rows;
  part->choice = g_strdup_printf ("%s%ssentence %jd", map->choice, *map->choice == '\0' ? "" : ", ", sentence);
  part->rows = g_strdupv (map->rows);
  part->columns = g_new0 (char *, part->n_columns + 1);
  part->sentence = g_new (gint64, part->n_columns);
  part->values = g_new (double, part->n_rows * part->n_columns);
  for (gint64 c = 0; c < part->n_columns; c++)
    {
      part->columns[c] = g_strdup (map->columns[columns[c]]);
      part->sentence[c] = sentence;
      for (gint64 r = 0; r < part->n_rows; r++)
        part->values[r * part->n_columns + c] = map->values[r * map->n_columns + columns[c]];
    }
  return g_steal_pointer (&part);
}

void
plait_map_keep_heaviest (GArray *weights, guint most)
{
  g_array_sort (weights, compare_weights);
  g_array_set_size (weights, MIN (weights->len, most));
  g_array_sort (weights, compare_numbers);
}

void
plait_map_turn (PlaitMap *map)
{
  PlaitMap turned = *map;

  turned.row_axis = map->column_axis;
  turned.column_axis = map->row_axis;
  turned.n_rows = map->n_columns;
  turned.n_columns = map->n_rows;
  turned.rows = map->columns;
  turned.columns = map->rows;
  turned.values = g_new (double, map->n_rows * map->n_columns);
  for (gint64 r = 0; r < turned.n_rows; r++)
    for (gint64 c = 0; c < turned.n_columns; c++)
      turned.values[r * turned.n_columns + c] = map->values[c * map->n_columns + r];
  turned.sentence = NULL; /* it was of the columns */
  g_free (map->values);
  g_free (map->sentence);
  *map = turned;
}
