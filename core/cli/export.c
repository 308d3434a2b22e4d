/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"
#include "run/export.h"

/* plait export: the parameters of a run in formats that other programs read. */

#define FORMATS "safetensors|ctranslate2"
#define MAX_POSITIONS 1048576

/* The places in FORMATS. */
enum
{
  FORMAT_SAFETENSORS,
  FORMAT_CTRANSLATE2,
};

gboolean
plait_command_export (PlaitInvocation *invocation, GError **error)
{
  char *output = NULL, *checkpoint = NULL, *format_name = NULL, *positions_text = NULL;
  gint64 positions = 0;
  gboolean force = FALSE, changed = FALSE;
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output, "Write here", "FILE|FOLDER" },
    { "format", 0, 0, G_OPTION_ARG_FILENAME, &format_name, "A file (the default), or a folder", FORMATS },
    { "positions", 0, 0, G_OPTION_ARG_FILENAME, &positions_text,
      "ctranslate2: positions for so many tokens of a source and of a translation; else position_limit", "N" },
    PLAIT_OUTPUT_FORCE (force),
    { "checkpoint", 'c', 0, G_OPTION_ARG_FILENAME, &checkpoint, "Of these parameters; best unless told",
      "best|last|average" },
    PLAIT_OPTION_CHANGED_PLUGINS (changed),
    { NULL },
  };
  g_autoptr (PlaitTrained) trained = NULL;
  guint format;

  if (!plait_invocation_parse (invocation, entries, 1, 1, error)
      || !plait_option_integer ("--positions", positions_text, 1, MAX_POSITIONS, &positions, error))
    return FALSE;
  format = plait_option_choice (format_name, FORMATS);
  if (!output)
    return plait_fail (error, PLAIT_ERROR_INPUT, "there is nowhere to write to: add --output FILE");
  if (positions > 0 && format != FORMAT_CTRANSLATE2)
    return plait_fail (error, PLAIT_ERROR_INPUT, "--positions goes with --format ctranslate2 alone; leave it out");
  if (!plait_output_differs ("--output", output, invocation->arguments[0], error)
      || !(format == FORMAT_CTRANSLATE2 ? plait_output_check_folder (output, plait_ctranslate2_files, force, error)
                                        : plait_file_check_new (output, force, "", "--output", error)))
    return FALSE;
  trained = plait_trained_open (invocation->arguments[0], checkpoint, NULL, changed, invocation->log, error);
  if (!trained)
    return FALSE;
  return format == FORMAT_CTRANSLATE2 ? plait_export_ctranslate2 (trained, output, positions, invocation->log, error)
                                      : plait_export_safetensors (trained, output, error);
}
