/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "command/command.h"
#include "command/options.h"
#include "command/output.h"
#include "run/average.h"

/* Implements plait average: writes a run whose parameters are the means of several checkpoints. */

typedef struct
{
  const char *output;
  gboolean force, changed;
} Options;

static void
checkpoint_clear (gpointer item)
{
  PlaitAverageCheckpoint *checkpoint = item;

  g_free (checkpoint->run);
  g_free (checkpoint->checkpoint);
}

/* Splits @text, RUN.h5:CHECKPOINT, at the last colon. Does not split @text if it is the name of a file. */
static gboolean
read_checkpoint (const char *text, PlaitAverageCheckpoint *checkpoint, GError **error)
{
  const char *colon = g_file_test (text, G_FILE_TEST_EXISTS) ? NULL : strrchr (text, ':');

  *checkpoint = (PlaitAverageCheckpoint){ g_strndup (text, colon ? (gsize)(colon - text) : strlen (text)),
                                          colon ? g_strdup (colon + 1) : NULL };
  if (!colon || plait_option_is_choice (colon + 1, PLAIT_OPTION_CHECKPOINTS))
    return TRUE;
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "%s: no checkpoint has the name \"%s\"; expected best, last, average or update-N", text,
                     colon + 1);
}

static gboolean
run_command (PlaitInvocation *invocation, GError **error)
{
  const Options *options = invocation->options;
  guint n = g_strv_length (invocation->arguments);
  g_autoptr (GArray) checkpoints = g_array_new (FALSE, TRUE, sizeof (PlaitAverageCheckpoint));

  g_array_set_clear_func (checkpoints, checkpoint_clear);
  g_array_set_size (checkpoints, n);
  if (!options->output)
    return plait_fail (error, PLAIT_ERROR_INPUT, "--output is missing; name the run to write with --output RUN.h5");
  if (n < 2)
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "a mean needs at least two checkpoints; name several, such as a.h5 b.h5, or a.h5:best a.h5:last");
  for (guint i = 0; i < n; i++)
    {
      PlaitAverageCheckpoint *checkpoint = &g_array_index (checkpoints, PlaitAverageCheckpoint, i);

      if (!read_checkpoint (invocation->arguments[i], checkpoint, error)
          || !plait_output_differs ("--output", options->output, checkpoint->run, error))
        return FALSE;
    }
  return plait_file_check_new (options->output, options->force, "", "--output", error)
         && plait_average ((const PlaitAverageCheckpoint *)(gpointer)checkpoints->data, n, options->output,
                           options->changed, invocation->line, invocation->log, error);
}

static const PlaitOption options[] = {
  PLAIT_OPTION ("output", 'o', TEXT, output, "File for the run with the means", "RUN.h5"),
  PLAIT_OPTION_FORCE (Options),
  PLAIT_OPTION_CHANGED_PLUGINS (Options),
  { NULL },
};

const PlaitCommand plait_command_average = {
  .name = "average",
  .synopsis = "RUN.h5[:CHECKPOINT]... --output MEAN.h5 [--force]",
  .summary = "Write a run whose parameters are the means of several checkpoints",
  .details
  = "The checkpoints belong to one run, or to runs of one architecture and vocabulary, which may differ in seed and in "
    "settings of training. CHECKPOINT is best (the default), last, average, or update-N of a run with train.keep. The "
    "new run has the settings and vocabularies of the first run. The commands translate, score, test, show and export "
    "read the new run; it cannot be trained further, except by train.initialise. Its table /average/runs lists the "
    "checkpoints with the SHA-256 of their parameters.\n"
    "\n"
    "Examples:\n"
    "  plait average run.h5:update-800 run.h5:update-900 run.h5:update-1000 --output mean.h5\n"
    "  plait average seed-1.h5 seed-2.h5 seed-3.h5 --output mean.h5",
  .options = options,
  .size = sizeof (Options),
  .min = 1,
  .max = -1,
  .run = run_command,
};
