/* SPDX-License-Identifier: MIT */
#include "command/command.h"
#include "command/options.h"
#include "command/output.h"
#include "weights/export.h"

/* plait export: the parameters of a run as safetensors. */

gboolean
plait_command_export (PlaitInvocation *invocation, GError **error)
{
  char *output = NULL, *checkpoint = NULL;
  gboolean force = FALSE, changed = FALSE;
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output, "Write here", "FILE" },
    PLAIT_OUTPUT_FORCE (force),
    { "checkpoint", 'c', 0, G_OPTION_ARG_FILENAME, &checkpoint, "Of these parameters; best unless told",
      "best|last|average" },
    PLAIT_OPTION_CHANGED_PLUGINS (changed),
    { NULL },
  };
  g_autoptr (PlaitTrained) trained = NULL;

  if (!plait_invocation_parse (invocation, entries, 1, 1, error))
    return FALSE;
  if (!output)
    return plait_fail (error, PLAIT_ERROR_INPUT, "there is nowhere to write to: add --output FILE");
  if (!plait_output_differs ("--output", output, invocation->arguments[0], error)
      || !plait_file_check_new (output, force, "", "--output", error))
    return FALSE;
  trained = plait_trained_open (invocation->arguments[0], checkpoint, NULL, changed, invocation->log, error);
  return trained && plait_export_safetensors (trained, output, error);
}
