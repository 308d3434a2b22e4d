/* SPDX-License-Identifier: MIT */
#include "command/output.h"

gboolean
plait_output_differs (const char *option, const char *output, const char *input, GError **error)
{
  if (!output || !input || !plait_file_is_same (output, input))
    return TRUE;
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "%s %s: is the same file as %s, which the command also needs; name another file", option, output,
                     input);
}

gboolean
plait_output_begin (PlaitOutput *output, const char *path, GError **error)
{
  *output = (PlaitOutput){ .stream = stdout };
  if (!path)
    return TRUE;
  output->file = plait_file_begin (path, error);
  output->stream = output->file ? plait_file_stream (output->file) : NULL;
  return output->file != NULL;
}

gboolean
plait_output_commit (PlaitOutput *output, GError **error)
{
  return !output->file || plait_file_commit (g_steal_pointer (&output->file), error);
}

void
plait_output_abandon (PlaitOutput *output)
{
  g_clear_pointer (&output->file, plait_file_abandon);
}
