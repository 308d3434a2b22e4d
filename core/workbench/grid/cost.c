/* SPDX-License-Identifier: MIT */
#include "grid/cost.h"

#include <poll.h>
#include <sys/mman.h>

#include "run/process.h"
#include "scoring/evaluation-references.h"

enum
{
  POLL_MILLISECONDS = 100,
  MAX_CELL_SECONDS = 120, /* limit for measuring one cell, including reading its data */
  MAX_TOTAL_SECONDS = 60, /* no further cell is measured after this time */
};

/* Cost of a known cell. A cell is known if its speed was measured now, if its run is finished, or if the cell uses the
 * training of a finished run. */
typedef struct
{
  const PlaitGridCell *cell;
  double training; /* seconds of training */
  double evaluation;
  gsize bytes;
  gboolean now; /* TRUE: the speed of the cell was measured now */
  PlaitTrainingSet set;
} Measured;

/* Returns the attribute "seconds" of the object @place of @run; 0 if it is missing. */
static double
read_seconds (PlaitStore *run, const char *place)
{
  double seconds = 0;

  plait_store_get_double (run, place, "seconds", &seconds, NULL);
  return seconds;
}

/* Reads the cost of @cell from its finished run, or from the run whose training it uses. FALSE if this run cannot be
 * read or does not record its training time. */
static gboolean
read_measured (const PlaitGrid *grid, const PlaitGridCell *cell, Measured *measured)
{
  const char *other = cell->found ? cell->found : cell->trained;
  g_autofree char *name = other ? g_strdup (other) : g_strconcat (cell->name, ".h5", NULL);
  g_autofree char *path = g_build_filename (grid->folder, name, NULL);
  g_autoptr (PlaitStore) run = plait_store_open (path, NULL);
  g_auto (GStrv) splits = run ? plait_store_members (run, "/environment/evaluation", NULL) : NULL;
  gint64 bytes;

  *measured = (Measured){ .cell = cell };
  if (!run)
    return FALSE;
  if (plait_store_get_int (run, "/environment", "peak_memory", &bytes, NULL))
    measured->bytes = (gsize)MAX (0, bytes);
  measured->training = read_seconds (run, "/environment/training");
  measured->set = plait_training_set_read (run);
  for (guint i = 0; splits && splits[i]; i++)
    {
      g_autofree char *place = g_strdup_printf ("/environment/evaluation/%s", splits[i]);

      /* Skip named evaluations SPLIT.NAME: plait test added them, and a grid does not repeat them. */
      if (!plait_evaluation_is_named (splits[i]))
        measured->evaluation += read_seconds (run, place);
    }
  return measured->training > 0;
}

/* Returns the number of axes, without the seed, on which @a and @b have equal values. */
static guint
count_common (const PlaitGrid *grid, const PlaitGridCell *a, const PlaitGridCell *b)
{
  guint common = 0;

  for (guint i = 0; i < grid->cells->n_axes; i++)
    common += !plait_axis_is_seed (&grid->cells->axes[i]) && a->cell->value_indices[i] == b->cell->value_indices[i];
  return common;
}

/* Waits until @process ends, at most MAX_CELL_SECONDS. Returns NULL, or the reason of its failure. (transfer full) */
static char *
await (PlaitRunProcess *process)
{
  gint64 end = g_get_monotonic_time () + MAX_CELL_SECONDS * G_USEC_PER_SEC;
  struct pollfd wait = { plait_run_process_descriptor (process), POLLIN, 0 };
  char *reason = NULL;

  while (plait_run_process_poll (process, &reason) == PLAIT_PROCESS_RUNNING)
    {
      poll (&wait, 1, POLL_MILLISECONDS);
      if (g_get_monotonic_time () > end)
        return g_strdup_printf ("reading its data and making a few updates took more than %d seconds",
                                MAX_CELL_SECONDS);
    }
  return reason;
}

/* Measures the speed of @cell. Returns NULL, or the reason why it cannot be measured. (transfer full) */
static char *
measure_speed (const PlaitGridCell *cell, guint threads, Measured *measured)
{
  PlaitRunSpeed *speed = mmap (NULL, sizeof *speed, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  const PlaitRunOptions options = { .threads = threads, .speed = speed };
  g_autoptr (GError) fault = NULL;
  g_autoptr (PlaitRunProcess) process = NULL;
  char *reason;

  if (speed == MAP_FAILED)
    return g_strdup ("no memory can be shared with its process");
  process = plait_run_process_new (cell->cell->experiment, &options, NULL, FALSE, &fault);
  reason = process ? await (process) : g_strdup (fault->message);
  *measured = (Measured){ cell, speed->training, speed->evaluation, speed->bytes, TRUE, speed->set };
  g_clear_pointer (&process, plait_run_process_free);
  munmap (speed, sizeof *speed);
  return reason;
}

/* TRUE if @cell need not be measured, because another cell that differs from @cell only in the seed has a known cost or
 * could not be measured. */
static gboolean
is_known (const PlaitGrid *grid, const PlaitGridCost *cost, const GArray *known, const PlaitGridCell *cell)
{
  for (guint i = 0; i < known->len; i++)
    if (plait_cells_are_seeds (grid->cells, cell->cell, g_array_index (known, Measured, i).cell->cell))
      return TRUE;
  for (guint i = 0; i < grid->n; i++)
    if (cost->cells[i].fault && plait_cells_are_seeds (grid->cells, cell->cell, grid->items[i].cell))
      return TRUE;
  return FALSE;
}

static void
measure_all (const PlaitGrid *grid, const PlaitGridOptions *options, GArray *known, PlaitGridCost *cost)
{
  gint64 end = g_get_monotonic_time () + MAX_TOTAL_SECONDS * G_USEC_PER_SEC;

  for (guint i = 0; i < grid->n && g_get_monotonic_time () < end; i++)
    {
      const PlaitGridCell *cell = &grid->items[i];
      Measured one;

      if (!plait_grid_cell_is_due (cell) || cell->state == PLAIT_CELL_TRAINED || is_known (grid, cost, known, cell))
        continue;
      plait_log_progress (options->log, "measuring the speed of %s", cell->cell->label);
      cost->cells[i].fault = measure_speed (cell, cost->threads, &one);
      if (cost->cells[i].fault)
        continue;
      g_array_append_val (known, one);
      cost->n_measured++;
    }
  plait_log_progress_end (options->log);
}

/* Returns the seconds of training that the interrupted run of @cell, or the finished run that @cell continues, has
 * done. */
static double
seconds_behind (const PlaitGrid *grid, const PlaitGridCell *cell)
{
  g_autofree char *path = plait_grid_file (grid, cell, cell->trained ? ".h5" : ".training.h5");
  g_autoptr (PlaitStore) run = cell->state == PLAIT_CELL_PARTIAL ? plait_store_open (path, NULL) : NULL;

  return run ? read_seconds (run, "/environment/training") : 0;
}

/* Sets @estimate, for @cell, from the known cells that agree with @cell on the most axes: mean time, largest memory. */
static void
estimate (const PlaitGrid *grid, const PlaitGridCell *cell, const GArray *known, gboolean trains,
          PlaitGridEstimate *estimate)
{
  guint max = 0, n = 0;
  double sum = 0, behind = trains ? seconds_behind (grid, cell) : 0;

  for (guint i = 0; i < known->len; i++)
    {
      const Measured *one = &g_array_index (known, Measured, i);
      guint common = count_common (grid, cell, one->cell);

      if (common > max || n == 0)
        {
          max = common;
          n = 0;
          sum = 0;
          estimate->like = one->cell;
          estimate->measured = one->now;
          estimate->bytes = 0;
        }
      if (common < max)
        continue;
      sum += one->evaluation + (trains ? MAX (0, one->training - behind) : 0);
      estimate->bytes = MAX (estimate->bytes, one->bytes);
      n++;
    }
  estimate->seconds = n > 0 ? sum / n : 0;
}

PlaitGridCost *
plait_grid_cost_new (const PlaitGrid *grid, const PlaitGridOptions *options)
{
  g_autoptr (GArray) known = g_array_new (FALSE, FALSE, sizeof (Measured));
  g_autoptr (GHashTable) trained = g_hash_table_new (g_str_hash, g_str_equal);
  PlaitGridCost *cost = g_new0 (PlaitGridCost, 1);

  cost->cells = g_new0 (PlaitGridEstimate, grid->n);
  cost->n = grid->n;
  for (guint i = 0; i < grid->n; i++)
    {
      Measured one;

      /* A finished run that a cell continues is left out: it was shorter than the cell will be. */
      if ((grid->items[i].state == PLAIT_CELL_FINISHED || grid->items[i].state == PLAIT_CELL_TRAINED)
          && read_measured (grid, &grid->items[i], &one))
        g_array_append_val (known, one);
    }
  cost->n_ran = known->len;
  if (options)
    {
      cost->threads = plait_grid_threads (options, plait_grid_count_due (grid));
      measure_all (grid, options, known, cost);
    }
  for (guint i = 0; i < known->len; i++)
    {
      const Measured *one = &g_array_index (known, Measured, i);

      cost->cells[one->cell - grid->items].set = one->set;
    }
  for (guint i = 0; i < grid->n; i++)
    {
      const PlaitGridCell *cell = &grid->items[i];

      if (!plait_grid_cell_is_due (cell))
        continue;
      estimate (grid, cell, known,
                cell->state != PLAIT_CELL_TRAINED && g_hash_table_add (trained, cell->cell->training_fingerprint),
                &cost->cells[i]);
      cost->seconds += cost->cells[i].seconds;
      cost->bytes = MAX (cost->bytes, cost->cells[i].bytes);
    }
  return cost;
}

void
plait_grid_cost_free (PlaitGridCost *cost)
{
  if (!cost)
    return;
  for (guint i = 0; i < cost->n; i++)
    g_free (cost->cells[i].fault);
  g_free (cost->cells);
  g_free (cost);
}
