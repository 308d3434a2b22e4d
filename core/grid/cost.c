/* SPDX-License-Identifier: MIT */
#include "grid/cost.h"

/* What a cell took whose run is finished, be it under other settings of what looks. */
typedef struct
{
  const PlaitGridCell *cell;
  double training; /* seconds */
  double evaluation;
} Measured;

static double
read_seconds (PlaitStore *run, const char *place)
{
  double seconds = 0;

  return plait_store_has_attribute (run, place, "seconds")
                 && plait_store_get_double (run, place, "seconds", &seconds, NULL)
             ? seconds
             : 0;
}

/* FALSE where the run does not tell. */
static gboolean
measure (const PlaitGrid *grid, const PlaitGridCell *cell, Measured *measured)
{
  const char *other = cell->found ? cell->found : cell->trained;
  g_autofree char *name = other ? g_strdup (other) : g_strconcat (cell->name, ".h5", NULL);
  g_autofree char *path = g_build_filename (grid->folder, name, NULL);
  g_autoptr (PlaitStore) run = plait_store_open (path, NULL);
  g_auto (GStrv) splits = NULL;

  *measured = (Measured){ .cell = cell };
  if (!run || !plait_store_has (run, "/environment/training"))
    return FALSE;
  measured->training = read_seconds (run, "/environment/training");
  if (plait_store_has (run, "/environment/evaluation"))
    splits = plait_store_members (run, "/environment/evaluation", NULL);
  for (guint i = 0; splits && splits[i]; i++)
    {
      g_autofree char *place = g_strdup_printf ("/environment/evaluation/%s", splits[i]);

      measured->evaluation += read_seconds (run, place);
    }
  return measured->training > 0;
}

static guint
count_common (const PlaitGrid *grid, const PlaitGridCell *a, const PlaitGridCell *b)
{
  guint common = 0;

  for (guint i = 0; i < grid->cells->n_axes; i++)
    common += a->cell->places[i] == b->cell->places[i];
  return common;
}

static double
estimate (const PlaitGrid *grid, const PlaitGridCell *cell, const GArray *ran, gboolean trains)
{
  guint most = 0, n = 0;
  double sum = 0;

  for (guint i = 0; i < ran->len; i++)
    {
      const Measured *one = &g_array_index (ran, Measured, i);
      guint common = count_common (grid, cell, one->cell);

      if (common > most)
        {
          most = common;
          n = 0;
          sum = 0;
        }
      if (common < most)
        continue;
      sum += one->evaluation + (trains ? one->training : 0);
      n++;
    }
  return n > 0 ? sum / n : 0;
}

PlaitGridCost
plait_grid_cost (const PlaitGrid *grid)
{
  g_autoptr (GArray) ran = g_array_new (FALSE, FALSE, sizeof (Measured));
  g_autoptr (GHashTable) trained = g_hash_table_new (g_str_hash, g_str_equal);
  PlaitGridCost cost = { 0 };

  for (guint i = 0; i < grid->n; i++)
    {
      Measured one;

      if ((grid->items[i].state == PLAIT_CELL_FINISHED || grid->items[i].trained)
          && measure (grid, &grid->items[i], &one))
        g_array_append_val (ran, one);
    }
  cost.n_ran = ran->len;
  for (guint i = 0; i < grid->n; i++)
    {
      const PlaitGridCell *cell = &grid->items[i];

      if (plait_grid_cell_is_due (cell))
        cost.seconds += estimate (grid, cell, ran,
                                  cell->state != PLAIT_CELL_TRAINED && g_hash_table_add (trained, cell->training_key));
    }
  return cost;
}
