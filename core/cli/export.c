/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/output.h"
#include "run/export.h"

/* plait export: the parameters of a run in formats that other programs read. */

/* A format, and the files that it writes below what --output names (none: that itself). */
static const struct
{
  const char *name;
  const char *files[6];
  gboolean (*write) (const PlaitTrained *trained, const char *path, GError **error);
} formats[] = {
  { "safetensors", { NULL }, plait_export_safetensors },
  { "ctranslate2",
    { PLAIT_CTRANSLATE2_MODEL, PLAIT_CTRANSLATE2_CONFIG, PLAIT_CTRANSLATE2_SHARED, PLAIT_CTRANSLATE2_SOURCE,
      PLAIT_CTRANSLATE2_TARGET, NULL },
    plait_export_ctranslate2 },
};

static gboolean
find_format (const char *name, guint *format, GError **error)
{
  for (*format = 0; *format < G_N_ELEMENTS (formats); (*format)++)
    if (g_str_equal (formats[*format].name, name))
      return TRUE;
  return plait_fail (error, PLAIT_ERROR_INPUT, "--format cannot be \"%s\"; expected safetensors or ctranslate2", name);
}

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
  g_autofree char *output = NULL, *checkpoint = NULL, *format_name = NULL;
  gboolean force = FALSE;
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output, "Write here", "FILE|FOLDER" },
    { "format", 0, 0, G_OPTION_ARG_FILENAME, &format_name, "A file (the default), or a folder",
      "safetensors|ctranslate2" },
    PLAIT_OUTPUT_FORCE (force),
    { "checkpoint", 'c', 0, G_OPTION_ARG_FILENAME, &checkpoint, "Of these parameters; best unless told",
      "best|last|average" },
    { NULL },
  };
  g_autoptr (PlaitTrained) trained = NULL;
  guint format;

  if (!plait_invocation_parse (invocation, entries, 1, 1, error)
      || !find_format (format_name ? format_name : formats[0].name, &format, error))
    return FALSE;
  if (!output)
    return plait_fail (error, PLAIT_ERROR_INPUT, "there is nowhere to write to: add --output FILE");
  if (!plait_output_differs ("--output", output, invocation->arguments[0], error)
      || !check_new (format, output, force, error))
    return FALSE;
  trained = plait_trained_open (invocation->arguments[0], checkpoint, NULL, invocation->log, error);
  return trained && formats[format].write (trained, output, error);
}
