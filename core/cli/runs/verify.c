/* SPDX-License-Identifier: MIT */
#include "command/command.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "files/file.h"
#include "text/json.h"
#include "command/options.h"
#include "terminal/terminal.h"
#include "runs/rebuild.h"
#include "command/stop.h"
#include "vocabulary/vocabulary.h"
#include "hdf5/store.h"

/* Implements plait verify: checks that files are unchanged since plait wrote them. With --resume, also checks that a
 * run which is interrupted and resumed gives the same bits as an uninterrupted one. */

#define UPDATES 20 /* default of --updates */

static gboolean
verify_store (const char *path, GError **error)
{
  g_autoptr (PlaitStore) store = plait_store_open_rewritten (path, NULL, error);
  g_autofree char *text = NULL;

  if (!store || !plait_store_changes (store))
    return store && plait_store_check (store, error);
  /* Another program has rewritten the file, so its bytes differ even if its contents are equal. */
  text = plait_store_changes_text (plait_store_changes (store), G_MAXUINT);
  return plait_fail (error, PLAIT_ERROR_CORRUPT, "%s: %s", path, text);
}

/* Verifies the file at @path as a vocabulary or as a store, depending on its first bytes. A file of unknown type is
 * opened as a store, because the error then explains the fault. */
static gboolean
verify (const char *path, GError **error)
{
  char beginning[64];
  int file = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  ssize_t length = file >= 0 ? read (file, beginning, sizeof beginning) : 0;

  if (file >= 0)
    close (file);
  if (length > 0 && plait_vocabulary_is_ours (beginning, (gsize)length))
    return plait_vocabulary_verify (path, error);
  return verify_store (path, error);
}

/* Copies an unfinished run to @place, so that training resumes from it. Does nothing for a finished run, so that
 * training starts from the beginning. */
static gboolean
begin (const PlaitRebuild *rebuild, const char *place, GError **error)
{
  g_autoptr (GMappedFile) file = rebuild->complete ? NULL : g_mapped_file_new (rebuild->path, FALSE, error);

  return rebuild->complete
         || (file
             && plait_file_replace (place, g_mapped_file_get_contents (file), g_mapped_file_get_length (file), error));
}

/* Trains the run at @place up to each of the updates @stops [@n] in turn. Each training resumes from the file that the
 * previous one has written. */
static gboolean
train (const PlaitRebuild *rebuild, const char *place, const gint64 *stops, guint n, PlaitLog *log, GError **error)
{
  PlaitRunOptions options = {
    .output = place, .command = "plait verify --resume", .resume = TRUE, .log = log, .stop = plait_stop_on_signals ()
  };
  PlaitRunOutcome outcome;

  if (!begin (rebuild, place, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    {
      options.updates = stops[i];
      if (!plait_run (rebuild->experiment, &options, &outcome, error))
        return FALSE;
    }
  return TRUE;
}

/* Trains the run at @path for at most @updates updates, once with and once without an interruption. A finished run
 * begins at update 0, an unfinished run at its checkpoint. TRUE if all results have equal bits. Prints the
 * comparison; if @json is not NULL, adds the comparison to @json instead. */
static gboolean
verify_resume (const char *path, gint64 updates, PlaitJson *json, PlaitLog *log, GError **error)
{
  g_autoptr (PlaitRebuild) rebuild = plait_rebuild_new (path, NULL, log, error);
  g_autofree char *straight = rebuild ? plait_rebuild_path (rebuild, "straight.h5", error) : NULL;
  g_autofree char *resumed = straight ? plait_rebuild_path (rebuild, "resumed.h5", error) : NULL;
  gint64 first = rebuild && !rebuild->complete ? rebuild->updates : 0;
  gint64 n = rebuild && rebuild->complete ? MIN (updates, rebuild->updates) : updates;
  const gint64 stops[] = { first + n / 2, first + n };
  g_autoptr (PlaitStore) a = NULL, b = NULL;
  g_autoptr (GArray) diffs = NULL;
  guint different;

  if (!resumed)
    return FALSE;
  if (n < 2)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s has made only one update, so it cannot be stopped between two updates; train it longer",
                       path);
  if (!rebuild->complete && rebuild->difference)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s cannot be resumed: %s; restore what has changed", path,
                       rebuild->difference);
  if (!train (rebuild, straight, stops + 1, 1, log, error) || !train (rebuild, resumed, stops, 2, log, error))
    return FALSE;
  a = plait_store_open (straight, error);
  b = a ? plait_store_open (resumed, error) : NULL;
  diffs = b ? plait_run_diff_new (a, b, PLAIT_RUN_DIFF_ALL, 0, error) : NULL;
  if (!diffs)
    return FALSE;
  different = plait_rebuild_report_diffs (diffs, json);
  return different == 0
         || plait_fail (
             error, PLAIT_ERROR_FAILED,
             "%s: when training is stopped after update %jd and resumed, %u values differ from an uninterrupted run",
             path, stops[0], different);
}

typedef struct
{
  gint64 updates; /* number of updates to check; 0: use UPDATES */
  gboolean resume, json;
} Options;

static gboolean
run_command (PlaitInvocation *invocation, GError **error)
{
  const Options *options = invocation->options;
  gint64 updates = options->updates > 0 ? options->updates : UPDATES;
  gboolean resume = options->resume, as_json = options->json;
  g_autoptr (PlaitTerminal) terminal = plait_terminal_new ();
  g_autoptr (PlaitJson) json = plait_json_new_object ();
  g_autoptr (GPtrArray) bad = g_ptr_array_new_null_terminated (8, NULL, TRUE);
  g_autofree char *list = NULL;

  if (options->updates > 0 && !resume)
    return plait_fail (error, PLAIT_ERROR_INPUT, "--updates needs --resume; add --resume, or leave --updates out");
  plait_json_begin_array (json, "files");
  for (char **path = invocation->arguments; *path; path++)
    {
      g_autoptr (GError) fault = NULL;

      plait_json_begin_object (json, NULL);
      plait_json_text (json, "path", *path);
      if (!verify (*path, &fault)
          || (resume && !verify_resume (*path, updates, as_json ? json : NULL, invocation->log, &fault)))
        g_ptr_array_add (bad, *path);
      plait_json_members (json, "whole=%d problem=%s", !fault, fault ? fault->message : NULL);
      plait_json_end_object (json);
      if (as_json)
        continue;
      if (fault)
        plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "%s\n", fault->message);
      else
        plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "%s: whole%s\n", *path,
                             resume ? ", and gives the same bits when resumed" : "");
      fflush (stdout);
    }
  plait_json_end_array (json);
  if (as_json)
    plait_json_print (json);
  if (bad->len == 0)
    return TRUE;
  list = g_strjoinv (", ", (char **)bad->pdata);
  return plait_fail (error, PLAIT_ERROR_FAILED, "%u of %u files failed the check%s: %s", bad->len,
                     g_strv_length (invocation->arguments), resume ? " of contents or resuming" : "", list);
}

static const PlaitOption options[] = {
  PLAIT_FLAG ("resume", 0, resume, "Also check that stopping and resuming a run gives the same bits"),
  PLAIT_OPTION ("updates", 0, INTEGER, updates, "Number of updates for --resume; default: 20", "N", 2, 1000000),
  PLAIT_OPTION_JSON (Options),
  { NULL },
};

const PlaitCommand plait_command_verify = {
  .name = "verify",
  .synopsis = "FILE... [--resume] [--updates N] [--json]",
  .summary = "Check that files are unchanged since plait wrote them",
  .details
  = "Other commands check what they read of a run, a dump or a grid; plait verify reads everything. Vocabularies that "
    "plait made are checked too. The command prints a line for each file. The exit code is 1 if a file is damaged, or "
    "if another program (h5py, h5repack) has rewritten it; then the changed, removed and added objects are listed.\n"
    "\n"
    "With --resume some updates of a run are made twice in temporary files: without interruption, and with a stop in "
    "the middle after which training resumes from the checkpoint. All results must have the same bits. For an "
    "unfinished run these are the updates after its checkpoint, for a finished run the first ones.\n"
    "\n"
    "Examples:\n"
    "  plait verify run.h5\n"
    "  plait verify grid/*.h5",
  .options = options,
  .size = sizeof (Options),
  .min = 1,
  .max = -1,
  .run = run_command,
};
