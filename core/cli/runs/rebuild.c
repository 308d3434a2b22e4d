/* SPDX-License-Identifier: MIT */
#include "runs/rebuild.h"

#include "terminal/table-print.h"
#include "grid/difference.h"
#include "setup/trained.h"

static gboolean
read_state (PlaitRebuild *rebuild, GError **error)
{
  g_autofree char *status = plait_store_get_string (rebuild->store, "/", "status", error);

  if (!status)
    return FALSE;
  if (plait_store_has (rebuild->store, PLAIT_AVERAGE))
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "%s is a mean of checkpoints and has no training of its own; reproduce the runs that " PLAIT_AVERAGE
        "/runs lists",
        rebuild->path);
  rebuild->complete = g_str_equal (status, "complete");
  return plait_store_get_int (rebuild->store, "/checkpoint/last/state", "step", &rebuild->updates, error);
}

/* Reads the experiment that the run stores. Fails if @overrides would change its results. */
static gboolean
read_experiment (PlaitRebuild *rebuild, const PlaitOverride *overrides, GError **error)
{
  g_autoptr (PlaitExperiment) own = plait_trained_experiment (rebuild->store, NULL, rebuild->registry, error);
  g_autofree char *before = NULL, *now = NULL, *difference = NULL;

  rebuild->experiment = own ? plait_trained_experiment (rebuild->store, overrides, rebuild->registry, error) : NULL;
  if (!rebuild->experiment)
    return FALSE;
  before = plait_experiment_fingerprint_text (own);
  now = plait_experiment_fingerprint_text (rebuild->experiment);
  difference = plait_fingerprint_difference (before, now);
  return !difference
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "--set would change the results of %s (%s); set only paths of files, such as data.folder",
                        rebuild->path, difference);
}

/* TRUE if @path exists. Otherwise fails with an error that names @stream of @split. */
static gboolean
check_exists (const PlaitRebuild *rebuild, const char *path, const char *split, const char *stream, GError **error)
{
  return g_file_test (path, G_FILE_TEST_EXISTS)
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "%s: the file does not exist any more, but %s was made from it; give its new path: --set "
                        "data.folder=FOLDER, or for each file --set data.%s.%s=FILE",
                        path, rebuild->path, split, stream);
}

/* TRUE if all text files of the run exist. Otherwise the error names a missing file and the options that say where it
 * is. */
static gboolean
find_files (const PlaitRebuild *rebuild, GError **error)
{
  const PlaitExperiment *experiment = rebuild->experiment;
  g_autofree const char **streams = plait_experiment_all_streams (experiment);
  g_autoptr (GPtrArray) splits = g_ptr_array_new ();

  g_ptr_array_add (splits, (gpointer) "train");
  g_ptr_array_add (splits, (gpointer) "validation");
  for (guint i = 0; experiment->test_splits[i]; i++)
    g_ptr_array_add (splits, (gpointer)experiment->test_splits[i]);
  for (guint s = 0; s < splits->len && !experiment->task; s++)
    for (guint i = 0; streams[i]; i++)
      {
        const char *const *paths = plait_experiment_data_files (experiment, splits->pdata[s], streams[i]);

        for (guint f = 0; paths[f]; f++)
          if (!check_exists (rebuild, paths[f], splits->pdata[s], streams[i], error))
            return FALSE;
      }
  return TRUE;
}

static gboolean
find_difference (PlaitRebuild *rebuild, GError **error)
{
  g_autoptr (PlaitDigests) digests = plait_digests_new (NULL, NULL);
  g_autofree char *training = plait_training_fingerprint (rebuild->experiment, digests, error);
  g_autofree char *now = training ? plait_run_fingerprint (rebuild->experiment, training, digests, error) : NULL;
  g_autofree char *key = now ? plait_store_get_string (rebuild->store, "/", "key", error) : NULL;

  if (!key)
    return FALSE;
  if (g_str_equal (key, now))
    return TRUE;
  rebuild->difference = plait_grid_difference (rebuild->experiment, digests, rebuild->store, error);
  if (!rebuild->difference)
    return FALSE;
  if (*rebuild->difference == '\0')
    g_clear_pointer (&rebuild->difference, g_free);
  return TRUE;
}

PlaitRebuild *
plait_rebuild_new (const char *path, const PlaitOverride *overrides, PlaitLog *log, GError **error)
{
  g_autoptr (PlaitRebuild) rebuild = g_new0 (PlaitRebuild, 1);

  rebuild->path = path;
  rebuild->registry = plait_registry_new ();
  rebuild->store = plait_trained_open_store (path, log, error);
  if (!rebuild->store || !plait_store_check (rebuild->store, error) || !read_state (rebuild, error)
      || !read_experiment (rebuild, overrides, error) || !find_files (rebuild, error)
      || !find_difference (rebuild, error))
    return NULL;
  return g_steal_pointer (&rebuild);
}

void
plait_rebuild_free (PlaitRebuild *rebuild)
{
  if (!rebuild)
    return;
  plait_experiment_free (rebuild->experiment);
  plait_registry_free (rebuild->registry);
  plait_store_free (rebuild->store);
  g_clear_pointer (&rebuild->folder, plait_folder_abandon);
  g_free (rebuild->difference);
  g_free (rebuild);
}

char *
plait_rebuild_path (PlaitRebuild *rebuild, const char *name, GError **error)
{
  if (!rebuild->folder)
    rebuild->folder = plait_folder_begin_temporary (error);
  return rebuild->folder ? g_build_filename (plait_folder_temporary (rebuild->folder), name, NULL) : NULL;
}

static void
print_text (const GArray *diffs)
{
  g_autoptr (PlaitTerminal) terminal = plait_terminal_new ();
  g_autoptr (PlaitTable) table = plait_table_new ();

  plait_table_column (table, PLAIT_TABLE_WORDS, "Compared");
  plait_table_column (table, PLAIT_TABLE_COUNTS, "Things");
  plait_table_column (table, PLAIT_TABLE_COUNTS, "Different");
  plait_table_column (table, PLAIT_TABLE_NUMBERS, "By at most");
  plait_table_column (table, PLAIT_TABLE_PATHS, "First");
  for (guint i = 0; i < diffs->len; i++)
    {
      const PlaitRunDiff *diff = &g_array_index (diffs, PlaitRunDiff, i);
      g_autofree char *largest = diff->largest > 0 ? g_strdup_printf ("%.3g", diff->largest) : g_strdup ("");

      if (diff->compared == 0)
        continue;
      plait_table_text (table, PLAIT_TABLE_NAME, diff->name);
      plait_table_integer (table, PLAIT_TABLE_PLAIN, diff->compared);
      plait_table_integer (table, PLAIT_TABLE_PLAIN, diff->different);
      plait_table_text (table, PLAIT_TABLE_PLAIN, largest);
      plait_table_text (table, PLAIT_TABLE_PLAIN, diff->first ? diff->first : "");
    }
  plait_table_print (table, terminal);
}

static void
add_json (const GArray *diffs, PlaitJson *json)
{
  plait_json_begin_array (json, "compared");
  for (guint i = 0; i < diffs->len; i++)
    {
      const PlaitRunDiff *diff = &g_array_index (diffs, PlaitRunDiff, i);

      plait_json_object (json, NULL, "name=%s things=%u different=%u largest_difference=%g first=%s", diff->name,
                         diff->compared, diff->different, diff->largest, diff->first);
    }
  plait_json_end_array (json);
}

guint
plait_rebuild_report_diffs (const GArray *diffs, PlaitJson *json)
{
  guint different = 0;

  for (guint i = 0; i < diffs->len; i++)
    different += g_array_index (diffs, PlaitRunDiff, i).different;
  if (json)
    add_json (diffs, json);
  else
    print_text (diffs);
  return different;
}
