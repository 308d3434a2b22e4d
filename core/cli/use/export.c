/* SPDX-License-Identifier: MIT */
#include "command/command.h"
#include "command/options.h"
#include "command/output.h"
#include "weights/export.h"

/* Implements plait export: writes the parameters of a run as safetensors. */

typedef struct
{
  const char *output, *checkpoint;
  gboolean force, changed;
} Options;

static gboolean
run_command (PlaitInvocation *invocation, GError **error)
{
  const Options *options = invocation->options;
  g_autoptr (PlaitTrained) trained = NULL;

  if (!options->output)
    return plait_fail (error, PLAIT_ERROR_INPUT, "--output is missing; name the file to write with --output FILE");
  if (!plait_output_differs ("--output", options->output, invocation->arguments[0], error)
      || !plait_file_check_new (options->output, options->force, "", "--output", error))
    return FALSE;
  trained = plait_trained_open (invocation->arguments[0], options->checkpoint, NULL, options->changed, invocation->log,
                                error);
  return trained && plait_export_safetensors (trained, options->output, error);
}

static const PlaitOption options[] = {
  PLAIT_OPTION ("output", 'o', TEXT, output, "File to write", "FILE"),
  PLAIT_OPTION_FORCE (Options),
  PLAIT_OPTION_CHECKPOINT (Options),
  PLAIT_OPTION_CHANGED_PLUGINS (Options),
  { NULL },
};

const PlaitCommand plait_command_export = {
  .name = "export",
  .synopsis = "RUN.h5 --output FILE [--checkpoint NAME] [--force]",
  .summary = "Write the parameters of a run as safetensors, which other programs read",
  .details
  = "The file has all parameters under their names, unchanged, and the experiment in its metadata. train.initialise "
    "reads the file back, bit for bit. A weight is [inputs, outputs], a bias or gain [1, width]. The script "
    "experiments/to-ctranslate2.py makes a CTranslate2 model from a run.\n"
    "\n"
    "Examples:\n"
    "  plait export run.h5 --output run.safetensors\n"
    "  plait export run.h5 --checkpoint average --output run.safetensors",
  .options = options,
  .size = sizeof (Options),
  .min = 1,
  .max = 1,
  .run = run_command,
};
