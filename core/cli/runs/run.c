/* SPDX-License-Identifier: MIT */
#include "files/path.h"
#include "command/command.h"
#include "command/exit-codes.h"
#include "command/options.h"
#include "command/output.h"
#include "command/print-scores.h"
#include "command/ranks.h"
#include "command/stop.h"
#include "run/run.h"
#include "run/training-log.h"

/* Whether the logs may be written: not over what is there, nor over the run. */
static gboolean
check_logs (const PlaitRunOptions *options, GError **error)
{
  g_autofree char *events
      = options->events ? g_build_filename (options->events, PLAIT_TRAINING_LOG_EVENTS, NULL) : NULL;
  gboolean replace = options->force || options->resume;

  return plait_output_differs ("--log", options->lines, options->output, error)
         && plait_output_differs ("--tensorboard", events, options->output, error)
         && plait_output_differs ("--log", options->lines, events, error)
         && plait_file_check_new (options->lines, replace, "", "--log", error)
         && plait_file_check_new (events, replace, "", "--tensorboard", error);
}

gboolean
plait_command_run (PlaitInvocation *invocation, GError **error)
{
  PlaitRunOptions options = { .command = invocation->line };
  const char *const *overrides = NULL;
  char *threads_text = NULL;
  gboolean dry_run = FALSE, json = FALSE;
  const GOptionEntry entries[] = {
    { "set", 's', 0, G_OPTION_ARG_FILENAME_ARRAY, &overrides, "Set a key, such as decoder.combiner=flat", "G.K=V" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output, "The run's file; else the experiment's name with .h5",
      "RUN.h5" },
    { "resume", 'r', 0, G_OPTION_ARG_NONE, &options.resume, "Go on with the run in the file, if there is one", NULL },
    PLAIT_OUTPUT_FORCE (options.force),
    { "threads", 't', 0, G_OPTION_ARG_FILENAME, &threads_text, "Threads; else as many as there are processors", "N" },
    { "dry-run", 'n', 0, G_OPTION_ARG_NONE, &dry_run, "Print parameters, memory and the plan, and train nothing",
      NULL },
    { "log", 0, 0, G_OPTION_ARG_FILENAME, &options.lines,
      "Write training for other programs here, a JSON object a line", "FILE" },
    { "tensorboard", 0, 0, G_OPTION_ARG_FILENAME, &options.events, "Write training for TensorBoard into this folder",
      "FOLDER" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Print the scores, or the plan, as JSON", NULL },
    { NULL },
  };
  g_autoptr (PlaitRegistry) registry = NULL;
  g_autoptr (PlaitExperiment) experiment = NULL;
  g_autoptr (PlaitRanks) ranks = NULL;
  g_autoptr (GError) fault = NULL;
  g_autofree char *stem = NULL, *usual = NULL;
  gboolean parsed, ready;
  PlaitRunOutcome outcome;
  guint flags = PLAIT_RESOLVE_CHECK_FILES | PLAIT_RESOLVE_LOAD_MODULES;

  parsed = plait_invocation_parse (invocation, entries, 1, 1, &fault)
           && plait_option_threads (threads_text, &options.threads, &fault)
           && (!options.force || !options.resume
               || plait_fail (&fault, PLAIT_ERROR_INPUT, "--force and --resume are opposites; give one of them"));
  if (!parsed && !fault) /* --help */
    return FALSE;
  registry = plait_registry_new ();
  /* Files that do not go together are told before a vocabulary is learnt from them. */
  if (!options.resume)
    flags |= PLAIT_RESOLVE_COUNT_LINES;
  if (parsed)
    experiment = plait_experiment_load (invocation->arguments[0], overrides, flags, registry, &fault);
  /* Now that modules were tried in children: where networks share memory with MPI, processes must not fork. */
  if (!plait_ranks_join (&ranks, invocation, error) || (dry_run && !plait_ranks_refuse ("--dry-run", error)))
    return FALSE;
  if (fault)
    g_propagate_error (error, g_steal_pointer (&fault));
  if (!plait_ranks_agree (ranks, experiment != NULL, error))
    return FALSE;
  stem = plait_path_stem (invocation->arguments[0], ".ini");
  usual = g_strconcat (stem, ".h5", NULL);
  if (!options.output)
    options.output = usual;
  options.log = invocation->log;
  options.ranks = ranks;
  options.stop = plait_stop_on_signals ();
  ready = dry_run || !plait_ranks_is_first (ranks) || check_logs (&options, error);
  if (!plait_ranks_agree (ranks, ready, error))
    return FALSE;
  if (dry_run)
    return plait_run_plan (experiment, &options, json, error);
  if (!plait_run (experiment, &options, &outcome, error))
    {
      plait_ranks_fail (ranks, *error, plait_exit_code (*error));
      return FALSE;
    }
  if (!plait_ranks_is_first (ranks))
    return TRUE;
  plait_log_info (invocation->log,
                  outcome == PLAIT_RUN_COMPLETE    ? "%s is complete"
                  : outcome == PLAIT_RUN_EVALUATED ? "%s was trained already, and is evaluated again"
                                                   : "%s was complete already",
                  options.output);
  return plait_run_print_scores (options.output, json, error);
}
