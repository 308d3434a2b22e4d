/* SPDX-License-Identifier: MIT */
#include "command/command.h"
#include "command/options.h"
#include "command/output.h"
#include "runs/rebuild.h"
#include "command/stop.h"
#include "tensor/blas.h"

/* Implements plait reproduce: trains a run again from its stored experiment and compares the results bit for bit. */

typedef struct
{
  const PlaitOverride *sets;
  const char *output;
  gint64 updates; /* number of updates to repeat; 0: all */
  gint64 threads;
  gboolean force, json;
} Options;

/* TRUE if the run has made at least @updates updates (0: all) and its log has a row for one of them. */
static gboolean
has_rows (const PlaitRebuild *rebuild, gint64 updates, GError **error)
{
  gint64 first = 0;

  if (updates == 0 || updates == rebuild->updates)
    return TRUE;
  if (updates > rebuild->updates)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "--updates %jd is more than the %jd updates that %s has made; give fewer", updates,
                       rebuild->updates, rebuild->path);
  if (!plait_store_read_rows (rebuild->store, "/training/updates/step", PLAIT_STORE_INT64, 0, 1, 1, &first, error))
    return FALSE;
  return updates >= first
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "--updates %jd: the log of %s begins with update %jd, so nothing could be compared; give that "
                        "number or a larger one",
                        updates, rebuild->path, first);
}

/* Returns the first logged update, except the last one, that is not a multiple of train.log_every; 0 if there is none.
 * Training was probably stopped and resumed there. */
static gint64
earlier_end (const PlaitRebuild *rebuild)
{
  gint64 every = rebuild->experiment->train.log_every, step;

  for (gint64 row = 0;
       plait_store_read_rows (rebuild->store, "/training/updates/step", PLAIT_STORE_INT64, row, 1, 1, &step, NULL);
       row++)
    if (step < rebuild->updates && step % every != 0)
      return step;
  return 0;
}

/* Returns a text with a probable reason why bits differ. (transfer full) */
static char *
guess_reason (const PlaitRebuild *rebuild)
{
  g_autofree char *version = plait_store_get_string (rebuild->store, "/", "version", NULL);
  g_autofree char *blas = plait_store_get_string (rebuild->store, "/environment", "blas", NULL),
                  *here = plait_blas_description (NULL);

  if (rebuild->difference)
    return g_strdup (rebuild->difference);
  if (g_strcmp0 (version, PLAIT_VERSION) != 0)
    return g_strdup_printf ("it was made by plait %s, and this is plait " PLAIT_VERSION, version);
  if (earlier_end (rebuild) > 0)
    return g_strdup_printf ("either its training stopped at update %jd and was resumed, or train.log_every was "
                            "different then; so its log has a row there that uninterrupted training does not have",
                            earlier_end (rebuild));
  return g_strdup_printf ("settings, data, plugins and version are equal, so another processor, compiler or library "
                          "adds in another order: it was made with %s, this is %s",
                          blas ? blas : "a BLAS that it does not name", here ? here : "one that cannot be loaded");
}

static gboolean
conclude (const PlaitRebuild *rebuild, guint different, PlaitLog *log, GError **error)
{
  g_autofree char *reason = guess_reason (rebuild);

  if (different > 0)
    return plait_fail (error, PLAIT_ERROR_FAILED, "%s is not reproduced: %u values differ; %s", rebuild->path,
                       different, reason);
  plait_log_info (log, "%s is reproduced, bit for bit", rebuild->path);
  return TRUE;
}

static gboolean
reproduce (PlaitRebuild *rebuild, const PlaitRunOptions *options, gboolean as_json, GError **error)
{
  PlaitRunDiffScope extent = options->updates == 0                  ? PLAIT_RUN_DIFF_ALL
                             : options->updates == rebuild->updates ? PLAIT_RUN_DIFF_TRAINING
                                                                    : PLAIT_RUN_DIFF_LOG;
  PlaitRunOutcome outcome;
  g_autoptr (PlaitStore) again = NULL;
  g_autoptr (GArray) diffs = NULL;
  g_autoptr (PlaitJson) json = as_json ? plait_json_new_object () : NULL;
  guint different;

  if (rebuild->difference)
    plait_log_warning (options->log, "%s: files or plugins have possibly changed since this run was made: %s",
                       rebuild->path, rebuild->difference);
  if (!plait_run (rebuild->experiment, options, &outcome, error))
    return FALSE;
  again = plait_store_open (options->output, error);
  diffs = again ? plait_run_diff_new (rebuild->store, again, extent, options->updates, error) : NULL;
  if (!diffs)
    return FALSE;
  if (json)
    plait_json_text (json, "otherwise", rebuild->difference);
  different = plait_rebuild_report_diffs (diffs, json);
  if (json)
    plait_json_print (json);
  return conclude (rebuild, different, options->log, error);
}

static gboolean
run_command (PlaitInvocation *invocation, GError **error)
{
  const Options *wanted = invocation->options;
  PlaitRunOptions options = {
    .command = invocation->line,
    .force = wanted->force,
    .threads = (guint)wanted->threads,
    .log = invocation->log,
  };
  gint64 updates = wanted->updates;
  g_autoptr (PlaitRebuild) rebuild = NULL;
  g_autofree char *place = NULL;

  if (!plait_output_differs ("--output", wanted->output, invocation->arguments[0], error)
      || !plait_file_check_new (wanted->output, wanted->force, "", "--output", error))
    return FALSE;
  rebuild = plait_rebuild_new (invocation->arguments[0], wanted->sets, invocation->log, error);
  if (!rebuild || !has_rows (rebuild, updates, error))
    return FALSE;
  place = wanted->output ? g_strdup (wanted->output) : plait_rebuild_path (rebuild, "again.h5", error);
  if (!place)
    return FALSE;
  if (updates == 0 && !rebuild->complete)
    updates = rebuild->updates;
  options.output = place;
  options.updates = updates == rebuild->updates && rebuild->complete ? 0 : updates;
  options.stop = plait_stop_on_signals ();
  return reproduce (rebuild, &options, wanted->json, error);
}

static const PlaitOption options[] = {
  PLAIT_OPTION ("updates", 'n', INTEGER, updates, "Make only the first N updates, and compare the log", "N", 1,
                (double)G_MAXINT64),
  PLAIT_OPTION ("set", 's', SETS, sets, "Give the new path of files, such as data.folder=text", "G.K=V"),
  PLAIT_OPTION ("output", 'o', TEXT, output, "Keep the new run in this file; default: it is deleted", "AGAIN.h5"),
  PLAIT_OPTION_FORCE (Options),
  PLAIT_OPTION_THREADS (Options),
  PLAIT_OPTION_JSON (Options),
  { NULL },
};

const PlaitCommand plait_command_reproduce = {
  .name = "reproduce",
  .synopsis = "RUN.h5 [--updates N] [--set G.K=V]... [--output AGAIN.h5] [--force] [--threads N] [--json]",
  .summary = "Train a run again from its stored experiment, and compare it bit for bit",
  .details
  = "Settings, seed and paths of files are those stored in the run; --set gives new paths of files and can change "
    "nothing else. The command prints what was compared (the training log, parameters, hypotheses, scores, attention) "
    "and how many values differ. If some differ, the exit code is 1 and the message gives a probable reason: changed "
    "data, plugins or version of plait, or another processor or library. With --updates N it makes only the first N "
    "updates and compares the log of these.\n"
    "\n"
    "Examples:\n"
    "  plait reproduce run.h5\n"
    "  plait reproduce run.h5 --updates 200 --set data.folder=/data/text",
  .options = options,
  .size = sizeof (Options),
  .min = 1,
  .max = 1,
  .run = run_command,
};
