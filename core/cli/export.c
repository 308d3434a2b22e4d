/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"
#include "run/export.h"

/* plait export: the parameters of a run in formats that other programs read. */

#define FORMATS "safetensors|ctranslate2"

/* A format, and the files that it writes below what --output names (none: that itself). */
static const struct
{
  const char *files[6];
  gboolean (*write) (const PlaitTrained *trained, const char *path, GError **error);
} formats[] = {
  { { NULL }, plait_export_safetensors },
  { { PLAIT_CTRANSLATE2_MODEL, PLAIT_CTRANSLATE2_CONFIG, PLAIT_CTRANSLATE2_SHARED, PLAIT_CTRANSLATE2_SOURCE,
      PLAIT_CTRANSLATE2_TARGET, NULL },
    plait_export_ctranslate2 },
};

/* Whether none of what @format writes is there. */
static gboolean
check_new (guint format, const char *output, gboolean force, GError **error)
{
  if (!formats[format].files[0])
    return plait_file_check_new (output, force, "", "--output", error);
  for (guint i = 0; formats[format].files[i]; i++)
    {
      g_autofree char *path = g_build_filename (output, formats[format].files[i], NULL);

      if (!plait_file_check_new (path, force, "", "--output", error))
        return FALSE;
    }
  return TRUE;
}

gboolean
plait_command_export (PlaitInvocation *invocation, GError **error)
{
  char *output = NULL, *checkpoint = NULL, *format_name = NULL;
  gboolean force = FALSE;
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output, "Write here", "FILE|FOLDER" },
    { "format", 0, 0, G_OPTION_ARG_FILENAME, &format_name, "A file (the default), or a folder", FORMATS },
    PLAIT_OUTPUT_FORCE (force),
    { "checkpoint", 'c', 0, G_OPTION_ARG_FILENAME, &checkpoint, "Of these parameters; best unless told",
      "best|last|average" },
    { NULL },
  };
  g_autoptr (PlaitTrained) trained = NULL;
  guint format;

  if (!plait_invocation_parse (invocation, entries, 1, 1, error))
    return FALSE;
  format = plait_option_choice (format_name, FORMATS);
  if (!output)
    return plait_fail (error, PLAIT_ERROR_INPUT, "there is nowhere to write to: add --output FILE");
  if (!plait_output_differs ("--output", output, invocation->arguments[0], error)
      || !check_new (format, output, force, error))
    return FALSE;
  trained = plait_trained_open (invocation->arguments[0], checkpoint, NULL, invocation->log, error);
  return trained && formats[format].write (trained, output, error);
}
