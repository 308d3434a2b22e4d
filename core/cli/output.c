/* SPDX-License-Identifier: MIT */
#include "cli/output.h"

#include <sys/stat.h>

static gboolean
is_same_file (const char *a, const char *b)
{
  g_autofree char *a_path = g_canonicalize_filename (a, NULL);
  g_autofree char *b_path = g_canonicalize_filename (b, NULL);
  struct stat a_status, b_status;

  return g_str_equal (a_path, b_path)
         || (stat (a, &a_status) == 0 && stat (b, &b_status) == 0 && a_status.st_dev == b_status.st_dev
             && a_status.st_ino == b_status.st_ino);
}

gboolean
plait_output_differs (const char *option, const char *output, const char *input, GError **error)
{
  if (output == NULL || input == NULL || !is_same_file (output, input))
    return TRUE;
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "%s %s: is the same file as %s, which the command needs besides; name another", option, output,
                     input);
}
