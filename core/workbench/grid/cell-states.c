/* SPDX-License-Identifier: MIT */
#include "grid/grid-private.h"

#include <string.h>

#include "grid/difference.h"
#include "run/resume.h"

#define ENDING ".h5"
#define TRAINING_ENDING ".training.h5"
#define GRID_FILE "grid.h5"

/* The folder, looked through once. */
typedef struct
{
  GHashTable *names;   /* of all that is in it */
  GTree *unclaimed;    /* of these, the finished runs of no cell that none has taken yet: name -> key, in order */
  GHashTable *trained; /* training key -> name, of a finished run that no cell will train anew */
} Folder;

static void
folder_clear (Folder *folder)
{
  g_hash_table_unref (folder->trained);
  g_tree_unref (folder->unclaimed);
  g_hash_table_unref (folder->names);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Folder, folder_clear)

/* A run's file as far as it can be read. */
typedef struct
{
  gboolean exists;
  PlaitStore *store; /* NULL: damaged, or no run */
  char *key;
  char *training_fingerprint; /* NULL: an older plait did not note it */
  gboolean complete;
  char *fault;
} Found;

static void
found_clear (Found *found)
{
  g_clear_pointer (&found->store, plait_store_free);
  g_clear_pointer (&found->key, g_free);
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
  /* A finished cell is kept as it is, so all of it must be right. */
  if (found.store && plait_store_check (found.store, &fault))
    status = plait_store_get_string (found.store, "/", "status", &fault);
  if (status)
    found.key = plait_store_get_string (found.store, "/", "key", &fault);
  if (found.key)
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

/* A run that nothing tells from the one of @cell is that one: another plait made its keys in another way, or has
 * settings that stand at their defaults and are not in it. */
static void
recognise (Found *found, const PlaitGridCell *cell, PlaitDigests *digests)
{
  g_autofree char *difference = NULL;

  if (!found->key || g_str_equal (found->key, cell->key))
    return;
  difference = plait_grid_difference (cell->cell->experiment, digests, found->store, NULL);
  if (g_strcmp0 (difference, "") != 0)
    return;
  g_free (found->key);
  g_free (found->training_fingerprint);
  found->key = g_strdup (cell->key);
  found->training_fingerprint = g_strdup (cell->training_fingerprint);
}

/* Why the run that was found does not count. (transfer full) */
static char *
explain (const Found *found, const PlaitGridCell *cell, PlaitDigests *digests)
{
  g_autoptr (GError) fault = NULL;
  char *difference;

  if (found->fault)
    return g_strdup (found->fault);
  if (g_str_equal (found->key, cell->key))
    return g_strdup (found->complete ? "--fresh was asked for" : "it is not finished");
  difference = plait_grid_difference (cell->cell->experiment, digests, found->store, &fault);
  return difference ? difference : g_strdup (fault->message);
}

static char *
describe_progress (const Found *found)
{
  gint64 step;

  if (!plait_store_get_int (found->store, "/checkpoint/last/state", "step", &step, NULL))
    return NULL;
  return g_strdup_printf ("after update %jd", step);
}

/* Takes the first finished run of this key that is elsewhere in the folder, where an axis was added or named otherwise:
 * its name, or NULL. (transfer full) */
static char *
claim_run (const Folder *folder, const PlaitGridCell *cell)
{
  GTreeNode *node = g_tree_node_first (folder->unclaimed);
  char *name;

  while (node && !g_str_equal (g_tree_node_value (node), cell->key))
    node = g_tree_node_next (node);
  name = node ? g_strdup (g_tree_node_key (node)) : NULL;
  if (name)
    g_tree_remove (folder->unclaimed, name);
  return name;
}

/* TRUE if the run that was found was trained as the cell would be. */
static gboolean
is_trained (const Found *found, const PlaitGridCell *cell)
{
  return found->key && g_strcmp0 (found->training_fingerprint, cell->training_fingerprint) == 0;
}

static void
find_state (const PlaitGrid *grid, PlaitGridCell *cell, const Folder *folder, PlaitDigests *digests)
{
  g_autofree char *place = g_strconcat (cell->name, ENDING, NULL);
  g_autofree char *training = g_strconcat (cell->name, TRAINING_ENDING, NULL);
  g_auto (Found) finished = look_at (grid, folder, place);
  g_auto (Found) partial = { 0 };
  gboolean fresh = grid->fresh;

  cell->state = PLAIT_CELL_FINISHED;
  recognise (&finished, cell, digests);
  if (!fresh && finished.complete && is_trained (&finished, cell))
    g_hash_table_insert (folder->trained, g_strdup (cell->training_fingerprint), g_strdup (place));
  if (!fresh && finished.complete && g_str_equal (finished.key, cell->key))
    return;
  cell->found = fresh || finished.exists ? NULL : claim_run (folder, cell);
  if (cell->found)
    return;
  if (!fresh && finished.complete && is_trained (&finished, cell))
    {
      cell->state = PLAIT_CELL_TRAINED;
      cell->trained = g_steal_pointer (&place);
      cell->note = explain (&finished, cell, digests);
      return;
    }
  partial = look_at (grid, folder, training);
  recognise (&partial, cell, digests);
  if (!fresh && is_trained (&partial, cell) && (!partial.complete || g_str_equal (partial.key, cell->key)))
    {
      if (partial.complete)
        cell->found = g_steal_pointer (&training);
      else
        {
          cell->state = PLAIT_CELL_PARTIAL;
          cell->note = describe_progress (&partial);
        }
      return;
    }
  if (!fresh && finished.complete && plait_resume_comes_through (cell->cell->experiment, digests, finished.store))
    {
      cell->state = PLAIT_CELL_PARTIAL;
      cell->trained = g_steal_pointer (&place);
      cell->note = describe_progress (&finished);
      return;
    }
  cell->state = finished.exists || partial.exists ? PLAIT_CELL_STALE : PLAIT_CELL_NEW;
  if (cell->state == PLAIT_CELL_STALE)
    cell->note = explain (finished.exists ? &finished : &partial, cell, digests);
}

/* TRUE if @cell goes on from a finished run whose training ended earlier. */
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

/* Where a run in the folder was trained as @cell would be, that is evaluated. */
static gboolean
share_run (PlaitGridCell *cell, const Folder *folder)
{
  const char *name = g_hash_table_lookup (folder->trained, cell->training_fingerprint);

  if (!name || !is_to_be_trained (cell))
    return FALSE;
  g_free (cell->note);
  g_free (cell->trained);
  cell->state = PLAIT_CELL_TRAINED;
  cell->trained = g_strdup (name);
  cell->note = g_strdup_printf ("%s was trained the same", name);
  return TRUE;
}

/* Cells that would be trained as a run in the folder was, or as a cell before them will be. */
static void
share_training (PlaitGrid *grid, const Folder *folder)
{
  g_autoptr (GHashTable) first = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < grid->n; i++)
    {
      PlaitGridCell *cell = &grid->items[i];
      const PlaitGridCell *before = g_hash_table_lookup (first, cell->training_fingerprint);

      if (share_run (cell, folder) || !is_to_be_trained (cell))
        continue;
      if (before)
        {
          if (goes_further (cell))
            cell->state = PLAIT_CELL_STALE;
          g_clear_pointer (&cell->trained, g_free);
          g_free (cell->note);
          cell->note = g_strdup_printf ("trained the same as %s: evaluated when that is trained", before->cell->label);
        }
      else
        g_hash_table_insert (first, cell->training_fingerprint, cell);
    }
}

/* The names of all files that belong to a cell. */
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

/* The folder with the names of what is in it. */
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

/* Looks at the runs that are no cell's. */
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
        g_tree_insert (folder->unclaimed, name, g_strdup (found.key));
    }
}

/* Notes in @folder the finished runs of other cells that were trained as one of these would be. */
static void
find_trained (const PlaitGrid *grid, const Folder *folder)
{
  g_autoptr (GHashTable) keys = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < grid->n; i++)
    g_hash_table_add (keys, grid->items[i].training_fingerprint);
  for (guint i = grid->n; i < grid->n_known && !grid->fresh; i++)
    {
      PlaitGridCell *cell = &grid->items[i];
      g_autofree char *name = g_strconcat (cell->name, ENDING, NULL);

      if (!g_hash_table_contains (keys, cell->training_fingerprint))
        continue;
      g_auto (Found) found = look_at (grid, folder, name);
      if (found.complete && is_trained (&found, cell))
        g_hash_table_insert (folder->trained, g_strdup (cell->training_fingerprint), g_steal_pointer (&name));
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
