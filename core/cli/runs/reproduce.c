/* SPDX-License-Identifier: MIT */
#include "command/command.h"
#include "command/options.h"
#include "command/output.h"
#include "runs/rebuild.h"
#include "command/stop.h"
#include "tensor/blas.h"

/* plait reproduce: a run made again from what it says of itself, and compared bit for bit. */

typedef struct
{
  const char *const *sets;
  const char *output;
  gint64 updates; /* 0: not given */
  gint64 threads;
  gboolean force, json;
} Options;

/* The last update whose row both have: of a part, the rows that it has made. */
static gboolean
has_rows (const PlaitRebuild *rebuild, gint64 updates, GError **error)
{
  gint64 first = 0;

  if (updates == 0 || updates == rebuild->updates)
    return TRUE;
  if (updates > rebuild->updates)
    return plait_fail (error, PLAIT_ERROR_INPUT, "--updates %jd is more than the %jd that %s has made; give fewer",
                       updates, rebuild->updates, rebuild->path);
  if (!plait_store_read_rows (rebuild->store, "/training/updates/step", PLAIT_STORE_INT64, 0, 1, 1, &first, error))
    return FALSE;
  return updates >= first
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "--updates %jd: the log of %s begins with update %jd; give as many at least, so that there is "
                        "something to compare with",
                        updates, rebuild->path, first);
}

/* Returns the update with which training ended once before it went on, as a row of the log ends there; 0: none. */
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

/* Why the bits may be others, as far as is known. (transfer full) */
static char *
guess_reason (const PlaitRebuild *rebuild)
{
  g_autofree char *version = plait_store_get_string (rebuild->store, "/", "version", NULL);
  g_autofree char *blas = plait_store_get_string (rebuild->store, "/environment", "blas", NULL),
                  *here = plait_blas_description (NULL);

  if (rebuild->difference)
    return g_strdup (rebuild->difference);
  if (g_strcmp0 (version, PLAIT_VERSION) != 0)
    return g_strdup_printf ("it was made by version %s of plait, this is " PLAIT_VERSION, version);
  if (earlier_end (rebuild) > 0)
    return g_strdup_printf ("its training had ended with update %jd once and went on, or train.log_every was another "
                            "one then, so that its log has a row there that one training in a piece does not have",
                            earlier_end (rebuild));
  return g_strdup_printf ("settings, data, plugins and version are the same, so another processor, compiler or library "
                          "adds up in another order: it was made with %s, this is %s",
                          blas ? blas : "a BLAS that it does not name", here ? here : "one that cannot be loaded");
}

static gboolean
conclude (const PlaitRebuild *rebuild, guint different, PlaitLog *log, GError **error)
{
  g_autofree char *reason = guess_reason (rebuild);

  if (different > 0)
    return plait_fail (error, PLAIT_ERROR_FAILED, "%s is not reproduced, %u things differ: %s", rebuild->path,
                       different, reason);
  plait_log_info (log, "%s is reproduced, bit for bit", rebuild->path);
  return TRUE;
}

/* Prints the likenesses, and returns how many things differ. */
static guint
print (const GArray *diffs, const char *difference, gboolean as_json)
{
  g_autoptr (PlaitJson) json = as_json ? plait_json_new_object () : NULL;
  guint different;

  if (!json)
    return plait_rebuild_report_diffs (diffs, NULL);
  plait_json_text (json, "otherwise", difference);
  different = plait_rebuild_report_diffs (diffs, json);
  plait_json_print (json);
  return different;
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

  if (rebuild->difference)
    plait_log_warning (options->log, "there is now something else than %s was made of: %s", rebuild->path,
                       rebuild->difference);
  if (!plait_run (rebuild->experiment, options, &outcome, error))
    return FALSE;
  again = plait_store_open (options->output, error);
  diffs = again ? plait_run_diff_new (rebuild->store, again, extent, options->updates, error) : NULL;
  return diffs && conclude (rebuild, print (diffs, rebuild->difference, as_json), options->log, error);
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
  { "updates", 'n', PLAIT_OPTION_INTEGER, offsetof (Options, updates),
    "Make the first N updates alone, and compare the log", "N", 1, (double)G_MAXINT64 },
  { "set", 's', PLAIT_OPTION_TEXTS, offsetof (Options, sets), "Say where files are now, such as data.folder=text",
    "G.K=V" },
  { "output", 'o', PLAIT_OPTION_TEXT, offsetof (Options, output), "Keep what is made; else it is thrown away",
    "AGAIN.h5" },
  PLAIT_OPTION_FORCE (Options),
  PLAIT_OPTION_THREADS (Options),
  PLAIT_OPTION_JSON (Options),
  { NULL },
};

const PlaitCommand plait_command_reproduce = {
  .name = "reproduce",
  .synopsis = "RUN.h5 [--updates N] [--set G.K=V]... [--output AGAIN.h5] [--force] [--threads N] [--json]",
  .summary = "Make a run again from its own record, and compare it bit for bit",
  .details
  = "Settings, seed and places of files are those that the run keeps; --set says where files are now, and can change "
    "nothing else. It prints what was compared (the training log, parameters, hypotheses, scores, attention) and how "
    "many things differ, and ends with code 1 if some do, with the reason as far as is known: data, plugins or a "
    "version of plait that have changed, or another processor or library. With --updates it makes the first updates "
    "alone, and compares the log up to them.\n"
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
