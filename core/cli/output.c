/* SPDX-License-Identifier: MIT */
#include "cli/output.h"

#include <errno.h>
#include <glib/gstdio.h>

gboolean
plait_output_differs (const char *option, const char *output, const char *input, GError **error)
{
  if (!output || !input || !plait_file_is_same (output, input))
    return TRUE;
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "%s %s: is the same file as %s, which the command needs besides; name another", option, output,
                     input);
}

static gboolean
cannot_be_written (const char *path, int number, GError **error)
{
  return plait_fail (error, PLAIT_ERROR_FAILED,
                     "%s: cannot be written (%s), so nothing of it is kept; free some space, or name another file",
                     path, g_strerror (number));
}

gboolean
plait_output_begin (PlaitOutput *output, const char *path, GError **error)
{
  *output = (PlaitOutput){ .stream = stdout, .path = path };
  if (!path)
    return TRUE;
  output->stream = NULL;
  output->file = plait_file_begin (path, error);
  if (!output->file)
    return FALSE;
  output->stream = g_fopen (plait_file_temporary (output->file), "wbe");
  return output->stream || cannot_be_written (path, errno, error);
}

gboolean
plait_output_commit (PlaitOutput *output, GError **error)
{
  if (!output->path)
    return TRUE;
  if (fflush (output->stream) != 0 || ferror (output->stream) || fclose (g_steal_pointer (&output->stream)) != 0)
    return cannot_be_written (output->path, errno, error);
  return plait_file_commit (g_steal_pointer (&output->file), error);
}

void
plait_output_abandon (PlaitOutput *output)
{
  if (!output->path)
    return;
  g_clear_pointer (&output->stream, fclose);
  g_clear_pointer (&output->file, plait_file_abandon);
}
