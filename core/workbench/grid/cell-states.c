/* SPDX-License-Identifier: MIT */
#include "grid/grid-private.h"

#include <string.h>

#include "grid/difference.h"
#include "scoring/evaluations.h"
#include "run/resume.h"

#define ENDING ".h5"
#define TRAINING_ENDING ".training.h5"
#define GRID_FILE "grid.h5"

/* Contents of the grid's folder, read once. */
typedef struct
{
  GHashTable *names;   /* names of all entries of the folder */
  GTree *unclaimed;    /* finished runs that belong to no cell: name -> fingerprint, sorted by name; a run that a cell
                          claims is removed */
  GHashTable *trained; /* training fingerprint -> name of a finished run, which will not be trained again */
} Folder;

static void
folder_clear (Folder *folder)
{
  g_hash_table_unref (folder->trained);
  g_tree_unref (folder->unclaimed);
  g_hash_table_unref (folder->names);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Folder, folder_clear)

/* All that could be read of the file of a run. */
typedef struct
{
  gboolean exists;
  PlaitStore *store; /* NULL if the file is damaged or not a run */
  char *fingerprint;
  char *training_fingerprint; /* NULL for a run of an older plait */
  gboolean complete;
  char *fault; /* NULL: no fault. Else how the file is unreadable or differs from the cell, or that an external score
                  failed */
} Found;

static void
found_clear (Found *found)
{
  g_clear_pointer (&found->store, plait_store_free);
  g_clear_pointer (&found->fingerprint, g_free);
  g_clear_pointer (&found->training_fingerprint, g_free);
  g_clear_pointer (&found->fault, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Found, found_clear)

static Found
look_at (const PlaitGrid *grid, const Folder *folder, const char *name)
{
  Found found = { .exists = g_hash_table_contains (folder->names, name) };
  g_autofree char *path = found.exists ? g_build_filename (grid->folder, name, NULL) : NULL;
  g_autofree char *status = NULL;
  g_autoptr (GError) fault = NULL;

  if (!found.exists)
    return found;
  found.store = plait_store_open (path, &fault);
  /* A finished cell is kept as it is, so check the whole file. */
  if (found.store && plait_store_check (found.store, &fault))
    status = plait_store_get_string (found.store, "/", "status", &fault);
  if (status)
    found.fingerprint = plait_store_get_string (found.store, "/", "key", &fault);
  if (found.fingerprint)
    {
      found.complete = g_str_equal (status, "complete");
      found.training_fingerprint = plait_store_get_string (found.store, "/", "training_key", NULL);
    }
  else
    {
      g_clear_pointer (&found.store, plait_store_free);
      found.fault = g_strdup (fault->message);
    }
  return found;
}

/* Compares the run @found with @cell if their fingerprints differ. Stores as the fault what differs, or that an
 * external score failed. If only the fingerprints differ, another version of plait made the run; then @found gets the
 * fingerprints of @cell. */
static void
compare_run (Found *found, const PlaitGridCell *cell, PlaitDigests *digests)
{
  g_autoptr (GError) fault = NULL;
  g_autofree char *difference = NULL;

  if (!found->fingerprint || g_str_equal (found->fingerprint, cell->cell->fingerprint))
    return;
  if (plait_evaluations_is_incomplete (found->fingerprint))
    {
      found->fault = g_strdup ("an external score failed");
      return;
    }
  difference = plait_grid_difference (cell->cell->experiment, digests, found->store, &fault);
  if (g_strcmp0 (difference, "") != 0)
    {
      found->fault = g_strdup (difference ? difference : fault->message);
      return;
    }
  g_free (found->fingerprint);
  g_free (found->training_fingerprint);
  found->fingerprint = g_strdup (cell->cell->fingerprint);
  found->training_fingerprint = g_strdup (cell->cell->training_fingerprint);
}

static char *
explain (const Found *found)
{
  return g_strdup (found->fault ? found->fault : found->complete ? "--fresh runs it again" : "it is not finished");
}

static char *
describe_progress (const Found *found)
{
  gint64 step;

  if (!plait_store_get_int (found->store, "/checkpoint/last/state", "step", &step, NULL))
    return NULL;
  return g_strdup_printf ("after update %jd", step);
}

/* Finds a finished run that has the cell's fingerprint but another name, as after an axis was added or renamed. Returns
 * the name of the run, or NULL. Other cells cannot claim this run any more. (transfer full) */
static char *
claim_run (const Folder *folder, const PlaitGridCell *cell)
{
  GTreeNode *node = g_tree_node_first (folder->unclaimed);
  char *name;

  while (node && !g_str_equal (g_tree_node_value (node), cell->cell->fingerprint))
    node = g_tree_node_next (node);
  name = node ? g_strdup (g_tree_node_key (node)) : NULL;
  if (name)
    g_tree_remove (folder->unclaimed, name);
  return name;
}

/* TRUE if @found had the same training as @cell. */
static gboolean
is_trained (const Found *found, const PlaitGridCell *cell)
{
  return found->fingerprint && g_strcmp0 (found->training_fingerprint, cell->cell->training_fingerprint) == 0;
}

static void
find_state (const PlaitGrid *grid, PlaitGridCell *cell, const Folder *folder, PlaitDigests *digests)
{
  g_autofree char *final_name = g_strconcat (cell->name, ENDING, NULL);
  g_autofree char *training = g_strconcat (cell->name, TRAINING_ENDING, NULL);
  g_auto (Found) finished = look_at (grid, folder, final_name);
  g_auto (Found) partial = { 0 };
  gboolean fresh = grid->fresh;

  cell->state = PLAIT_CELL_FINISHED;
  compare_run (&finished, cell, digests);
  if (!fresh && finished.complete && is_trained (&finished, cell))
    g_hash_table_insert (folder->trained, g_strdup (cell->cell->training_fingerprint), g_strdup (final_name));
  if (!fresh && finished.complete && g_str_equal (finished.fingerprint, cell->cell->fingerprint))
    return;
  cell->found = fresh || finished.exists ? NULL : claim_run (folder, cell);
  if (cell->found)
    return;
  if (!fresh && finished.complete && is_trained (&finished, cell))
    {
      cell->state = PLAIT_CELL_TRAINED;
      cell->trained = g_steal_pointer (&final_name);
      cell->note = explain (&finished);
      return;
    }
  partial = look_at (grid, folder, training);
  compare_run (&partial, cell, digests);
  if ((!fresh || cell->begun) && is_trained (&partial, cell)
      && (!partial.complete || g_str_equal (partial.fingerprint, cell->cell->fingerprint)
          || plait_evaluations_is_incomplete (partial.fingerprint)))
    {
      if (partial.complete && !plait_evaluations_is_incomplete (partial.fingerprint))
        cell->found = g_steal_pointer (&training);
      else
        {
          cell->state = PLAIT_CELL_PARTIAL;
          cell->note = partial.complete ? g_strdup (partial.fault) : describe_progress (&partial);
        }
      return;
    }
  if (!fresh && finished.complete && plait_resume_comes_through (cell->cell->experiment, digests, finished.store))
    {
      cell->state = PLAIT_CELL_PARTIAL;
      cell->trained = g_steal_pointer (&final_name);
      cell->note = describe_progress (&finished);
      return;
    }
  cell->state = finished.exists || partial.exists ? PLAIT_CELL_STALE : PLAIT_CELL_NEW;
  if (cell->state == PLAIT_CELL_STALE)
    cell->note = explain (finished.exists ? &finished : &partial);
}

/* TRUE if @cell continues a finished run whose training ended earlier than that of @cell. */
static gboolean
goes_further (const PlaitGridCell *cell)
{
  return cell->state == PLAIT_CELL_PARTIAL && cell->trained;
}

static gboolean
is_to_be_trained (const PlaitGridCell *cell)
{
  return cell->state == PLAIT_CELL_NEW || cell->state == PLAIT_CELL_STALE || goes_further (cell);
}

/* If @cell is to be trained, but a run in the folder had the same training, marks @cell to be only evaluated and
 * returns TRUE. */
static gboolean
share_run (PlaitGridCell *cell, const Folder *folder)
{
  const char *name = g_hash_table_lookup (folder->trained, cell->cell->training_fingerprint);

  if (!name || !is_to_be_trained (cell))
    return FALSE;
  g_free (cell->note);
  g_free (cell->trained);
  cell->state = PLAIT_CELL_TRAINED;
  cell->trained = g_strdup (name);
  cell->note = g_strdup_printf ("%s has the same training", name);
  return TRUE;
}

/* Lets cells share training, either with a run in the folder or with an earlier cell that will be trained. */
static void
share_training (PlaitGrid *grid, const Folder *folder)
{
  g_autoptr (GHashTable) first = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < grid->n; i++)
    {
      PlaitGridCell *cell = &grid->items[i];
      const PlaitGridCell *before = g_hash_table_lookup (first, cell->cell->training_fingerprint);

      if (share_run (cell, folder) || !is_to_be_trained (cell))
        continue;
      if (before)
        {
          if (goes_further (cell))
            cell->state = PLAIT_CELL_STALE;
          g_clear_pointer (&cell->trained, g_free);
          g_free (cell->note);
          cell->note
              = g_strdup_printf ("same training as %s: evaluated after that cell is trained", before->cell->label);
        }
      else
        g_hash_table_insert (first, cell->cell->training_fingerprint, cell);
    }
}

static GHashTable *
names_of_cells (const PlaitGrid *grid)
{
  GHashTable *names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < grid->n; i++)
    {
      g_hash_table_add (names, g_strconcat (grid->items[i].name, ENDING, NULL));
      g_hash_table_add (names, g_strconcat (grid->items[i].name, TRAINING_ENDING, NULL));
    }
  return names;
}

static gint
compare_names (gconstpointer a, gconstpointer b, gpointer nothing)
{
  return strcmp (a, b);
}

static Folder
list_folder (const PlaitGrid *grid)
{
  Folder folder = {
    .names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
    .unclaimed = g_tree_new_full (compare_names, NULL, NULL, g_free),
    .trained = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free),
  };
  g_autoptr (GDir) directory = g_dir_open (grid->folder, 0, NULL);
  const char *entry;

  while (directory && (entry = g_dir_read_name (directory)))
    g_hash_table_add (folder.names, g_strdup (entry));
  return folder;
}

static void
find_unclaimed (const PlaitGrid *grid, const Folder *folder)
{
  g_autoptr (GHashTable) of_cells = names_of_cells (grid);
  GHashTableIter names;
  gpointer name;

  g_hash_table_iter_init (&names, folder->names);
  while (g_hash_table_iter_next (&names, &name, NULL))
    {
      if (!g_str_has_suffix (name, ENDING) || g_str_equal (name, GRID_FILE) || g_hash_table_contains (of_cells, name))
        continue;
      g_auto (Found) found = look_at (grid, folder, name);
      if (found.complete)
        g_tree_insert (folder->unclaimed, name, g_strdup (found.fingerprint));
    }
}

/* For a part of a grid, adds to folder->trained the finished runs of cells outside the part, if a cell of the part
 * needs the same training. */
static void
find_trained (const PlaitGrid *grid, const Folder *folder)
{
  g_autoptr (GHashTable) keys = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < grid->n; i++)
    g_hash_table_add (keys, grid->items[i].cell->training_fingerprint);
  for (guint i = grid->n; i < grid->n_known && !grid->fresh; i++)
    {
      PlaitGridCell *cell = &grid->items[i];
      g_autofree char *name = g_strconcat (cell->name, ENDING, NULL);

      if (!g_hash_table_contains (keys, cell->cell->training_fingerprint))
        continue;
      g_auto (Found) found = look_at (grid, folder, name);
      if (found.complete && is_trained (&found, cell))
        g_hash_table_insert (folder->trained, g_strdup (cell->cell->training_fingerprint), g_steal_pointer (&name));
    }
}

void
plait_grid_update_states (PlaitGrid *grid)
{
  g_auto (Folder) folder = list_folder (grid);
  g_autoptr (GStrvBuilder) unclaimed = g_strv_builder_new ();

  if (!grid->part)
    find_unclaimed (grid, &folder);
  find_trained (grid, &folder);
  for (guint i = 0; i < grid->n; i++)
    find_state (grid, &grid->items[i], &folder, grid->cells->digests);
  share_training (grid, &folder);
  for (GTreeNode *node = g_tree_node_first (folder.unclaimed); node; node = g_tree_node_next (node))
    g_strv_builder_add (unclaimed, g_tree_node_key (node));
  grid->unclaimed = g_strv_builder_end (unclaimed);
}

void
plait_grid_update_state (PlaitGrid *grid, PlaitGridCell *cell)
{
  g_auto (Folder) folder = list_folder (grid);
  g_autoptr (PlaitDigests) digests = plait_digests_new (NULL, NULL);

  g_clear_pointer (&cell->note, g_free);
  g_clear_pointer (&cell->found, g_free);
  g_clear_pointer (&cell->trained, g_free);
  find_trained (grid, &folder);
  find_state (grid, cell, &folder, digests);
  share_run (cell, &folder);
}
