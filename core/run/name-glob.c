/* SPDX-License-Identifier: MIT */
#include "run/name-glob.h"

/* Goes back to the last star only, so that no pattern takes long. */
gboolean
plait_name_glob_matches (const char *glob, const char *name)
{
  const char *star = NULL;
  const char *behind = NULL; /* what the star has not swallowed yet */

  while (*name)
    {
      if (*glob == '*')
        {
          star = glob++;
          behind = name;
        }
      else if (*glob == '?' || *glob == *name)
        {
          glob++;
          name++;
        }
      else if (star)
        {
          glob = star + 1;
          name = ++behind;
        }
      else
        return FALSE;
    }
  while (*glob == '*')
    glob++;
  return *glob == '\0';
}

gboolean
plait_name_glob_any (char *const *globs, const char *name)
{
  for (guint i = 0; globs[i]; i++)
    if (plait_name_glob_matches (globs[i], name))
      return TRUE;
  return FALSE;
}
