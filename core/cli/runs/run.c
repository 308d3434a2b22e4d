/* SPDX-License-Identifier: MIT */
#include "files/lock.h"
#include "files/path.h"
#include "command/command.h"
#include "command/exit-codes.h"
#include "command/options.h"
#include "command/output.h"
#include "runs/print.h"
#include "command/ranks.h"
#include "command/stop.h"
#include "run/run.h"

typedef struct
{
  const PlaitOverride *sets;
  const char *output, *lines;
  gint64 threads;
  gboolean resume, force, dry_run, json;
} Options;

/* TRUE if the file of --log may be written: it is not the run's file, and it is new unless --force or --resume is
 * given. */
static gboolean
check_log (const PlaitRunOptions *options, GError **error)
{
  return plait_output_differs ("--log", options->lines, options->output, error)
         && plait_file_check_new (options->lines, options->force || options->resume, "", "--log", error);
}

static gboolean
run_command (PlaitInvocation *invocation, GError **error)
{
  const Options *wanted = invocation->options;
  g_autofree char *stem = plait_path_stem (invocation->arguments[0], ".ini");
  g_autofree char *usual = g_strconcat (stem, ".h5", NULL);
  PlaitRunOptions options = {
    .command = invocation->line,
    .output = wanted->output ? wanted->output : usual,
    .lines = wanted->lines,
    .threads = (guint)wanted->threads,
    .resume = wanted->resume,
    .force = wanted->force,
    .log = invocation->log,
  };
  g_autoptr (PlaitRegistry) registry = NULL;
  g_autoptr (PlaitExperiment) experiment = NULL;
  g_autoptr (PlaitRanks) ranks = NULL;
  g_autoptr (GError) fault = NULL;
  gboolean ready;
  PlaitRunOutcome outcome;
  guint flags = PLAIT_RESOLVE_CHECK_FILES | PLAIT_RESOLVE_LOAD_MODULES;

  registry = plait_registry_new ();
  /* Report files with unequal numbers of lines before a vocabulary is learnt from them. */
  if (!options.resume)
    flags |= PLAIT_RESOLVE_COUNT_LINES;
  if (options.force && options.resume)
    plait_fail (&fault, PLAIT_ERROR_INPUT, "--force and --resume are opposites; give one of them");
  else
    experiment = plait_experiment_load (invocation->arguments[0], wanted->sets, flags, registry, &fault);
  /* Join the other processes only after child processes have tried the modules: a process must not fork while a network
   * driver shares its memory with MPI. */
  if (!plait_ranks_join (&ranks, invocation, error) || (wanted->dry_run && !plait_ranks_refuse ("--dry-run", error)))
    return FALSE;
  if (fault)
    g_propagate_error (error, g_steal_pointer (&fault));
  if (!plait_ranks_agree (ranks, experiment != NULL, error))
    return FALSE;
  options.ranks = ranks;
  options.stop = plait_stop_on_signals ();
  ready = wanted->dry_run || !plait_ranks_is_first (ranks) || check_log (&options, error);
  if (!plait_ranks_agree (ranks, ready, error))
    return FALSE;
  if (wanted->dry_run)
    return plait_run_plan (experiment, &options, wanted->json, error);
  if (!plait_run (experiment, &options, &outcome, error))
    {
      plait_ranks_fail (ranks, *error, plait_exit_code (*error));
      return FALSE;
    }
  if (!plait_ranks_is_first (ranks))
    return TRUE;
  plait_log_info (invocation->log,
                  outcome == PLAIT_RUN_COMPLETE    ? "%s is complete"
                  : outcome == PLAIT_RUN_EVALUATED ? "%s was already trained, and was evaluated again"
                                                   : "%s was already complete",
                  options.output);
  return plait_run_print_scores (options.output, wanted->json, error);
}

static const PlaitOption options[] = {
  PLAIT_OPTION ("set", 's', SETS, sets, "Set a key, such as decoder.combiner=flat", "G.K=V"),
  PLAIT_OPTION_UNSET (Options, sets),
  PLAIT_OPTION ("output", 'o', TEXT, output, "The run's file; default: ./NAME.h5 for NAME.ini", "RUN.h5"),
  PLAIT_FLAG ("resume", 'r', resume, "Resume the run if its file exists"),
  PLAIT_OPTION_FORCE (Options),
  PLAIT_OPTION_THREADS (Options),
  PLAIT_FLAG ("dry-run", 'n', dry_run, "Print parameters, memory and the plan; train nothing"),
  PLAIT_OPTION ("log", 0, TEXT, lines, "Write the training log for other programs to this file, one JSON object a line",
                "FILE"),
  PLAIT_FLAG ("json", 0, json, "Print the scores or the plan as JSON"),
  { NULL },
};

const PlaitCommand plait_command_run = {
  .name = "run",
  .synopsis = "FILE [--set G.K=V]... [--unset G.K]... [--output RUN.h5] [--resume] [--force] [--threads N] [--dry-run] "
              "[--json] [--log FILE]",
  .summary = "Train and evaluate an experiment into one HDF5 file, and print its scores",
  .details = "During a run, RUN.h5" PLAIT_LOCK_SUFFIX
             " in the same folder names the process that writes RUN.h5, and stops a second process from writing it. "
             "--log writes the training log while training runs, with the names of the columns of /training/updates "
             "and /training/validation.\n"
             "\n"
             "Started by mpirun, several processes train one model: each computes some of the train.shards of a batch. "
             "The result has the bits of one process with the same number of shards. The first process writes; all "
             "must have the same plait and data.\n"
             "\n"
             "Examples:\n"
             "  plait run experiments/quickstart.ini\n"
             "  mpirun -n 4 plait run experiments/quickstart.ini --set train.shards=4 --threads 2\n"
             "  plait run experiments/quickstart.ini --set decoder.combiner=flat --output flat.h5",
  .options = options,
  .size = sizeof (Options),
  .min = 1,
  .max = 1,
  .several = TRUE,
  .run = run_command,
};
