/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "cli/map.h"

/* Other pictures out of the same numbers. */

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
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "the document has no sentence %" G_GINT64_FORMAT "; expected 0 to %" G_GINT64_FORMAT,
                            sentence, largest);
  part->title = g_strdup (map->title);
  part->row_axis = g_strdup (map->row_axis);
  part->column_axis = g_strdup (map->column_axis);
  part->n_rows = map->n_rows;
  part->choice
      = g_strdup_printf ("%s%ssentence %" G_GINT64_FORMAT, map->choice, *map->choice == '\0' ? "" : ", ", sentence);
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

static int
compare_numbers (gconstpointer a, gconstpointer b)
{
  const PlaitMapWeight *first = a, *second = b;

  return (first->number > second->number) - (first->number < second->number);
}

static int
compare_weights (gconstpointer a, gconstpointer b)
{
  const PlaitMapWeight *first = a, *second = b;

  if (first->weight > second->weight || first->weight < second->weight)
    return first->weight > second->weight ? -1 : 1;
  return compare_numbers (a, b);
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
