/* SPDX-License-Identifier: MIT */
#include "setup/run-output.h"

#include "files/input-guard.h"
#include "files/file-stamp.h"
#include "files/file.h"
#include "files/lock.h"

struct PlaitRunOutput
{
  char *path;
  PlaitLog *log;
  PlaitLock *lock;
  PlaitFileStamp own; /* stamp of the file as this process found or wrote it */
};

PlaitRunOutput *
plait_run_output_new (const char *path, gboolean over_old, PlaitLog *log, GError **error)
{
  g_autoptr (PlaitRunOutput) run_output = g_new0 (PlaitRunOutput, 1);
  g_autofree char *busy = g_strdup_printf ("%s: another plait run is writing this file", path);
  g_autoptr (PlaitFile) trial = NULL;

  /* Allow this process to replace an HDF5 file, which it also reads if it resumes a run. Do not allow it to replace
   * another existing file, which may be an input of the run. */
  if (!g_file_test (path, G_FILE_TEST_EXISTS) || plait_store_recognize (path))
    plait_input_guard_allow (path);
  trial = plait_file_begin (path, error);

  run_output->path = g_strdup (path);
  run_output->log = log;
  if (trial)
    run_output->lock = plait_lock_take (path, busy, "wait for it, or choose another file with --output", log, error);
  if (!run_output->lock || !plait_file_check_new (path, over_old, "add --resume to continue it, ", "--output", error))
    return NULL;
  run_output->own = plait_file_stamp (path);
  return g_steal_pointer (&run_output);
}

void
plait_run_output_free (PlaitRunOutput *run_output)
{
  if (!run_output)
    return;
  plait_lock_release (run_output->lock);
  g_free (run_output->path);
  g_free (run_output);
}

gboolean
plait_run_output_has_file (const PlaitRunOutput *run_output)
{
  return run_output->own.number != 0;
}

/* Fails if another program has written the file. A removed file is no failure. */
static gboolean
check (const PlaitRunOutput *run_output, GError **error)
{
  PlaitFileStamp now = plait_file_stamp (run_output->path);

  return now.number == 0 || plait_file_stamp_matches (&now, &run_output->own)
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "%s: another program has written this file since the run began; the run ends and leaves the "
                        "file unchanged; start the run again with another --output",
                        run_output->path);
}

/* Check after opening, so that the opened file is the one that was checked. */

PlaitStore *
plait_run_output_open (const PlaitRunOutput *run_output, GError **error)
{
  g_autoptr (PlaitStore) store = plait_store_open (run_output->path, error);

  return store && check (run_output, error) ? g_steal_pointer (&store) : NULL;
}

PlaitStore *
plait_run_output_create (const PlaitRunOutput *run_output, GError **error)
{
  g_autoptr (PlaitStore) store = plait_store_create (run_output->path, error);

  if (store && plait_run_output_has_file (run_output) && plait_file_stamp (run_output->path).number == 0)
    plait_log_warning (run_output->log, "%s: this file was removed while it was in use; plait writes all of it again",
                       run_output->path);
  return store && check (run_output, error) ? g_steal_pointer (&store) : NULL;
}

gboolean
plait_run_output_commit (PlaitRunOutput *run_output, PlaitStore *store, GError **error)
{
  if (!plait_store_commit (store, error))
    return FALSE;
  run_output->own = plait_file_stamp (run_output->path);
  plait_input_guard_allow (run_output->path);
  return TRUE;
}
