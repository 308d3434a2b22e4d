/* SPDX-License-Identifier: MIT */
#include "comparison/descent.h"

#include "files/memory.h"
#include "comparison/location.h"

#define MAX_NUMBERS ((gint64)1 << 26)
#define MAX_STEPS ((gint64)1 << 24) /* maximum number of target words times number of rows */
#define MAX_LABEL_BYTES ((gsize)16 << 20)
#define MAX_AXIS_LENGTH (1 << 16)
#define MAX_LEVELS 256

/* The arrays of a descent, as the file stores them. */
typedef struct
{
  PlaitStore *store;
  const char *path;
  gint64 layers, heads;
  gint64 *first_child, *children;
  gint64 *entries, *sets, *row;
  double *weight, *product, *taken;
} Arrays;

static void
arrays_clear (Arrays *arrays)
{
  g_free (arrays->first_child);
  g_free (arrays->children);
  g_free (arrays->entries);
  g_free (arrays->sets);
  g_free (arrays->row);
  g_free (arrays->weight);
  g_free (arrays->product);
  g_free (arrays->taken);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Arrays, arrays_clear)

void
plait_descent_free (PlaitDescent *descent)
{
  g_free (descent->title);
  g_free (descent->choice);
  g_strfreev (descent->targets);
  g_strfreev (descent->rows);
  g_free (descent->level);
  g_free (descent->first);
  g_free (descent->last);
  g_free (descent->steps);
  g_free (descent);
}

gboolean
plait_descent_is (PlaitStore *store, const char *path)
{
  g_autofree char *entries = plait_location_join (path, "entry_offsets");
  g_autofree char *extents = plait_location_join (path, "extents");
  g_autofree char *all
      = plait_location_join (path, "sentence"); /* exists only in the group that holds the descents of all sentences */
  PlaitStoreObject object;

  /* Check the type too: sources of a model may be called extents and entry_offsets, and groups of these names are not
   * arrays. */
  return plait_store_has (store, extents) && plait_store_has (store, entries) && !plait_store_has (store, all)
         && plait_store_describe (store, extents, &object, NULL) && object.type == PLAIT_STORE_INT64;
}

static gboolean
fail (const Arrays *arrays, GError **error)
{
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "%s: the descent %s cannot be drawn: its arrays contradict each other; write the dump again",
                     plait_store_path (arrays->store), arrays->path);
}

/* Reads the array @name, which must have @n numbers of @type. (transfer full) */
static gpointer
read_array (const Arrays *arrays, const char *name, PlaitStoreType type, gint64 n, GError **error)
{
  g_autofree char *path = plait_location_join (arrays->path, name);
  gint64 found = 0;
  g_autofree gpointer values = plait_store_read_array (arrays->store, path, type, MAX_NUMBERS, &found, error);

  return values && (found == n || fail (arrays, error)) ? g_steal_pointer (&values) : NULL;
}

/* Reads @n + 1 offsets, which must begin at 0 and not decrease. */
static gboolean
read_offsets (const Arrays *arrays, const char *name, gint64 n, gint64 **offsets, GError **error)
{
  gboolean sound;

  *offsets = read_array (arrays, name, PLAIT_STORE_INT64, n + 1, error);
  if (!*offsets)
    return FALSE;
  sound = (*offsets)[0] == 0 && (*offsets)[n] <= MAX_NUMBERS;
  for (gint64 i = 0; i < n; i++)
    sound = sound && (*offsets)[i] <= (*offsets)[i + 1];
  return sound || fail (arrays, error);
}

static char **
read_labels (const Arrays *arrays, const char *name, gint64 *n, GError **error)
{
  g_autofree char *path = plait_location_join (arrays->path, name);

  return plait_store_read_strings (arrays->store, path, MAX_LABEL_BYTES, n, error);
}

/* TRUE if all levels are from 0 to MAX_LEVELS - 1, all links lead to rows on lower levels, and all @n row numbers are
 * valid. */
static gboolean
is_sound (const Arrays *arrays, const PlaitDescent *descent, gint64 n)
{
  for (gint64 i = 0; i < descent->n_rows; i++)
    {
      gint64 first = arrays->first_child[i], children = arrays->children[i];

      if (descent->level[i] < 0 || descent->level[i] >= MAX_LEVELS || children < 0 || children > descent->n_rows)
        return FALSE;
      for (gint64 k = first; k < first + children; k++)
        if (k < 0 || k >= descent->n_rows || descent->level[k] >= descent->level[i])
          return FALSE;
    }
  for (gint64 i = 0; i < n; i++)
    if (arrays->row[i] < 0 || arrays->row[i] >= descent->n_rows)
      return FALSE;
  return TRUE;
}

static gboolean
read_arrays (Arrays *arrays, PlaitDescent *descent, GError **error)
{
  gint64 targets, entries, sets, n;
  g_autofree gint64 *extents = read_array (arrays, "extents", PLAIT_STORE_INT64, 3, error);

  if (!extents)
    return FALSE;
  arrays->layers = extents[0];
  arrays->heads = extents[1];
  targets = extents[2];

  descent->targets = read_labels (arrays, "target_labels", &descent->n_targets, error);
  descent->rows = descent->targets ? read_labels (arrays, "row_labels", &descent->n_rows, error) : NULL;
  if (!descent->rows)
    return FALSE;
  if (arrays->layers < 1 || arrays->layers > MAX_AXIS_LENGTH || arrays->heads < 1 || arrays->heads > MAX_AXIS_LENGTH
      || targets < 1 || targets != descent->n_targets || targets > MAX_NUMBERS / arrays->layers / arrays->heads
      || descent->n_rows < 1 || descent->n_rows > MIN (MAX_AXIS_LENGTH, MAX_STEPS / targets))
    return fail (arrays, error);
  entries = arrays->layers * arrays->heads * targets;
  if (!(descent->level = read_array (arrays, "row_level", PLAIT_STORE_INT64, descent->n_rows, error))
      || !(arrays->first_child = read_array (arrays, "row_first_child", PLAIT_STORE_INT64, descent->n_rows, error))
      || !(arrays->children = read_array (arrays, "row_children", PLAIT_STORE_INT64, descent->n_rows, error))
      || !read_offsets (arrays, "entry_offsets", entries, &arrays->entries, error))
    return FALSE;
  sets = arrays->entries[entries];
  if (!read_offsets (arrays, "set_offsets", sets, &arrays->sets, error))
    return FALSE;
  n = arrays->sets[sets];
  return (arrays->row = read_array (arrays, "row", PLAIT_STORE_INT64, n, error))
         && (arrays->weight = read_array (arrays, "weight", PLAIT_STORE_DOUBLE, n, error))
         && (arrays->product = read_array (arrays, "path", PLAIT_STORE_DOUBLE, n, error))
         && (arrays->taken = read_array (arrays, "taken", PLAIT_STORE_DOUBLE, n, error))
         && (is_sound (arrays, descent, n) || fail (arrays, error));
}

/* Numbers the leaves. Finds the numbers of the first and last leaf below each row; for a leaf, its own number. */
static void
span_rows (const Arrays *arrays, PlaitDescent *descent)
{
  g_autofree gint64 *number = g_new0 (gint64, descent->n_rows);

  descent->first = g_new (gint64, descent->n_rows);
  descent->last = g_new (gint64, descent->n_rows);
  for (gint64 i = 0; i < descent->n_rows; i++)
    {
      descent->highest = MAX (descent->highest, descent->level[i]);
      if (arrays->children[i] == 0)
        number[i] = descent->n_leaves++;
    }
  for (gint64 i = 0; i < descent->n_rows; i++)
    {
      gint64 first = i, last = i;

      while (arrays->children[first] > 0)
        first = arrays->first_child[first];
      while (arrays->children[last] > 0)
        last = arrays->first_child[last] + arrays->children[last] - 1;
      descent->first[i] = MIN (number[first], number[last]);
      descent->last[i] = MAX (number[first], number[last]);
    }
}

/* An entry is one target word in one layer and head. Adds the weights of @entry to @steps [rows] of its word. @of_level
 * [levels]: workspace. @seen [rows]: the entry that weighed the row last. */
static void
add_entry (const Arrays *arrays, const PlaitDescent *descent, gint64 entry, double *of_level, gint64 *seen,
           PlaitDescentStep *steps)
{
  gint64 begin = arrays->sets[arrays->entries[entry]], end = arrays->sets[arrays->entries[entry + 1]];

  for (gint64 level = 0; level <= descent->highest; level++)
    of_level[level] = 0;
  for (gint64 i = begin; i < end; i++)
    of_level[descent->level[arrays->row[i]]] += arrays->product[i];
  for (gint64 i = begin; i < end; i++)
    {
      PlaitDescentStep *step = &steps[arrays->row[i]];
      double sum = of_level[descent->level[arrays->row[i]]];
      gboolean again = seen[arrays->row[i]] == entry; /* TRUE: weighed before, as a child of another row */

      seen[arrays->row[i]] = entry;
      step->weight += arrays->weight[i];
      step->path += arrays->product[i];
      step->share += sum > 0 ? arrays->product[i] / sum : 0;
      step->weighed += !again;
      step->taken += !again && arrays->taken[i] > 0;
    }
}

static gboolean
add_steps (const Arrays *arrays, PlaitDescent *descent, PlaitHeatmapSelection choice, GError **error)
{
  g_autofree double *of_level = g_new (double, descent->highest + 1);
  g_autofree gint64 *seen = g_new (gint64, descent->n_rows);
  g_autoptr (GString) text = g_string_new (NULL);
  PlaitIndexRange layers, heads;
  gsize n = (gsize)(descent->n_targets * descent->n_rows);

  if (!plait_heatmap_select (arrays->store, arrays->path, "layer", arrays->layers, choice, &layers, text, error)
      || !plait_heatmap_select (arrays->store, arrays->path, "head", arrays->heads, choice, &heads, text, error))
    return FALSE;
  descent->choice = g_strdup (text->str);
  descent->ways = (guint)((layers.last - layers.first + 1) * (heads.last - heads.first + 1));
  descent->steps = plait_try_allocate (n, sizeof *descent->steps, arrays->path, error);
  if (!descent->steps)
    return FALSE;
  for (gint64 i = 0; i < descent->n_rows; i++)
    seen[i] = -1;
  for (gint64 l = layers.first; l <= layers.last; l++)
    for (gint64 h = heads.first; h <= heads.last; h++)
      for (gint64 t = 0; t < descent->n_targets; t++)
        add_entry (arrays, descent, (l * arrays->heads + h) * descent->n_targets + t, of_level, seen,
                   descent->steps + t * descent->n_rows);
  for (gsize i = 0; i < n; i++)
    {
      descent->steps[i].weight /= descent->ways;
      descent->steps[i].path /= descent->ways;
      descent->steps[i].share /= descent->ways;
    }
  return TRUE;
}

PlaitDescent *
plait_descent_read (PlaitStore *store, const char *path, PlaitHeatmapSelection choice, GError **error)
{
  g_autoptr (PlaitDescent) descent = g_new0 (PlaitDescent, 1);
  g_auto (Arrays) arrays = { .store = store, .path = path };

  if (!read_arrays (&arrays, descent, error))
    return NULL;
  span_rows (&arrays, descent);
  if (!add_steps (&arrays, descent, choice, error))
    return NULL;
  descent->title = plait_store_get_string (store, path, "title", NULL);
  return plait_store_intact (store, error) ? g_steal_pointer (&descent) : NULL;
}
