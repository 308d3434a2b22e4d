/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/stop.h"
#include "run/run.h"

/* "FOLDER/NAME.ini" -> "NAME.h5" in the current folder. (transfer full) */
static char *
default_output (const char *file)
{
  g_autofree char *name = g_path_get_basename (file);

  if (g_str_has_suffix (name, ".ini"))
    name[strlen (name) - strlen (".ini")] = '\0';
  return g_strconcat (name, ".h5", NULL);
}

gboolean
plait_command_run (PlaitInvocation *invocation, GError **error)
{
  g_auto (GStrv) overrides = NULL;
  g_autofree char *output = NULL;
  gboolean resume = FALSE;
  gboolean force = FALSE;
  gboolean dry_run = FALSE;
  g_autofree char *threads_text = NULL;
  gint64 threads = 0;
  const GOptionEntry entries[] = {
    { "set", 's', 0, G_OPTION_ARG_FILENAME_ARRAY, &overrides, "Set a key, such as decoder.combiner=flat", "G.K=V" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output, "The run's file; else the experiment's name with .h5",
      "RUN.h5" },
    { "resume", 'r', 0, G_OPTION_ARG_NONE, &resume, "Go on with the run in the file, if there is one", NULL },
    PLAIT_OUTPUT_FORCE (force),
    { "threads", 't', 0, G_OPTION_ARG_FILENAME, &threads_text, "Threads; else as many as there are processors", "N" },
    { "dry-run", 'n', 0, G_OPTION_ARG_NONE, &dry_run, "Print parameters, memory and the plan, and train nothing",
      NULL },
    { NULL },
  };
  g_autoptr (PlaitRegistry) registry = NULL;
  g_autoptr (PlaitExperiment) experiment = NULL;
  PlaitRunOptions options;
  PlaitRunOutcome outcome;

  if (!plait_invocation_parse (invocation, entries, 1, 1, error)
      || !plait_option_threads (threads_text, &threads, error))
    return FALSE;
  if (force && resume)
    return plait_fail (error, PLAIT_ERROR_INPUT, "--force and --resume are opposites; give one of them");
  registry = plait_registry_new ();
  experiment = plait_experiment_load (invocation->arguments[0], (const char *const *)overrides, registry, error);
  if (!experiment)
    return FALSE;
  if (!output)
    output = default_output (invocation->arguments[0]);
  options = (PlaitRunOptions){
    .output = output,
    .command = invocation->line,
    .threads = (guint)threads,
    .resume = resume,
    .force = force,
    .log = invocation->log,
    .stop = plait_stop_on_signals (),
  };
  if (dry_run)
    return plait_run_plan (experiment, &options, error);
  if (!plait_run (experiment, &options, &outcome, error))
    return FALSE;
  plait_log_info (invocation->log, outcome == PLAIT_RUN_COMPLETE ? "%s is complete" : "%s was complete already",
                  output);
  return TRUE;
}
