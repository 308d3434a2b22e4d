/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include <stdio.h>

#include "store/store.h"

/* plait verify: whether files are as they were written. */

static gboolean
verify (const char *path, GError **error)
{
  g_autoptr (PlaitStore) store = plait_store_open (path, error);

  return store && plait_store_check (store, error);
}

gboolean
plait_command_verify (PlaitInvocation *invocation, GError **error)
{
  g_autoptr (GPtrArray) bad = g_ptr_array_new ();
  g_autofree char *list = NULL;

  if (!plait_invocation_parse (invocation, NULL, 1, -1, error))
    return FALSE;
  for (char **path = invocation->arguments; *path; path++)
    {
      g_autoptr (GError) fault = NULL;

      if (verify (*path, &fault))
        printf ("%s: whole\n", *path);
      else
        {
          printf ("%s\n", fault->message);
          g_ptr_array_add (bad, *path);
        }
      fflush (stdout);
    }
  if (bad->len == 0)
    return TRUE;
  g_ptr_array_add (bad, NULL);
  list = g_strjoinv (", ", (char **)bad->pdata);
  return plait_fail (error, PLAIT_ERROR_FAILED, "%u of %u files are not whole: %s", bad->len - 1,
                     g_strv_length (invocation->arguments), list);
}
