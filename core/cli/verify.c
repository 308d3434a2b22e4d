/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/page.h"
#include "data/vocabulary.h"
#include "store/store.h"

/* plait verify: whether files are as they were written. */

/* Another program has written it: not the bytes that plait wrote, whatever it holds. */
static gboolean
fail_rewritten (const char *path, const PlaitStoreChanges *changes, GError **error)
{
  g_autofree char *text = plait_store_changes_text (changes, G_MAXUINT);

  return plait_fail (error, PLAIT_ERROR_CORRUPT, "%s: %s", path, text);
}

static gboolean
verify_store (const char *path, GError **error)
{
  g_autoptr (PlaitStore) store = plait_store_open_rewritten (path, NULL, error);

  if (store && plait_store_changes (store))
    return fail_rewritten (path, plait_store_changes (store), error);
  return store && plait_store_check (store, error);
}

/* The first bytes tell what the file is. One that tells nothing is no store, whose refusal says so. */
static gboolean
verify (const char *path, GError **error)
{
  char beginning[64];
  int file = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  ssize_t length = file >= 0 ? read (file, beginning, sizeof beginning) : 0;

  if (file >= 0)
    close (file);
  if (length > 0 && plait_vocabulary_is_ours (beginning, (gsize)length))
    return plait_vocabulary_verify (path, error);
  return verify_store (path, error);
}

gboolean
plait_command_verify (PlaitInvocation *invocation, GError **error)
{
  g_autoptr (PlaitPage) page = plait_page_new ();
  g_autoptr (PlaitJson) json = plait_json_new ();
  g_autoptr (GPtrArray) bad = g_ptr_array_new ();
  g_autofree char *list = NULL;
  gboolean as_json = FALSE;
  const GOptionEntry entries[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &as_json, "Print JSON", NULL },
    { NULL },
  };

  if (!plait_invocation_parse (invocation, entries, 1, -1, error))
    return FALSE;
  plait_json_begin_object (json, NULL);
  plait_json_begin_array (json, "files");
  for (char **path = invocation->arguments; *path; path++)
    {
      g_autoptr (GError) fault = NULL;

      if (!verify (*path, &fault))
        g_ptr_array_add (bad, *path);
      plait_json_begin_object (json, NULL);
      plait_json_text (json, "path", *path);
      plait_json_boolean (json, "whole", !fault);
      plait_json_text (json, "problem", fault ? fault->message : NULL);
      plait_json_end_object (json);
      if (as_json)
        continue;
      if (fault)
        plait_page_text (page, PLAIT_PAGE_PLAIN, "%s\n", fault->message);
      else
        plait_page_text (page, PLAIT_PAGE_PLAIN, "%s: whole\n", *path);
      fflush (stdout);
    }
  plait_json_end_array (json);
  plait_json_end_object (json);
  if (as_json)
    fputs (plait_json_string (json), stdout);
  if (bad->len == 0)
    return TRUE;
  g_ptr_array_add (bad, NULL);
  list = g_strjoinv (", ", (char **)bad->pdata);
  return plait_fail (error, PLAIT_ERROR_FAILED, "%u of %u files are not whole: %s", bad->len - 1,
                     g_strv_length (invocation->arguments), list);
}
