/* SPDX-License-Identifier: MIT */
#include "attempt.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

/* Maximum length of a line of error output, in bytes. A longer line would show the contents of a file. */
#define LONGEST_LINE 1100

/* Maximum number of lines of error output. The problems of an experiment file are reported together. */
#define MOST_LINES 110

PlaitTestProcess
attempt_start (const char *command, const PlaitTestCallSettings *settings)
{
  g_auto (GStrv) words = g_strsplit (command, " ", -1);
  PlaitTestCallSettings all = { NULL };
  guint first = 0;

  if (settings)
    all = *settings;
  if (g_str_equal (words[0], "plait-bench"))
    all.program = words[first++];
  return plait_test_call_begin ((const char *const *)words + first, &all);
}

PlaitTestCall
attempt_with (const char *command, const PlaitTestCallSettings *settings)
{
  PlaitTestProcess process = attempt_start (command, settings);

  return plait_test_call_end (&process);
}

static void
check_readable (const char *errors)
{
  static const char *const crashes[]
      = { "Sanitizer", "runtime error", "Assertion", "HDF5-DIAG", "terminate called", "CRITICAL", "WARNING", "GLib" };

  for (guint i = 0; i < G_N_ELEMENTS (crashes); i++)
    CHECK (!strstr (errors, crashes[i]));
  CHECK (g_utf8_validate (errors, -1, NULL));
  for (const char *p = errors; *p != '\0'; p++)
    CHECK (*p == '\n' || (guchar)*p >= ' ');
}

static void
check_length (const char *error)
{
  g_auto (GStrv) lines = g_strsplit (error, "\n", -1);

  CHECK (g_strv_length (lines) <= MOST_LINES);
  for (guint i = 0; lines[i]; i++)
    CHECK (strlen (lines[i]) <= LONGEST_LINE);
}

void
attempt_check (const PlaitTestCall *attempt, int code, const char *parts)
{
  CONTEXT ("stderr: %.1500s", attempt->errors);
  const char *error
      = g_str_has_prefix (attempt->errors, "error: ") ? attempt->errors : strstr (attempt->errors, "\nerror: ");
  g_auto (GStrv) wanted = g_strsplit (parts, "|", -1);

  CHECK_INT (attempt->code, code);
  check_readable (attempt->errors);
  REQUIRE (error != NULL);
  CHECK (!strstr (error + 1, "\nerror: "));
  check_length (error);
  for (guint i = 0; wanted[i]; i++)
    CHECK_CONTAINS (error, wanted[i]);
}

static void
describe (const char *path, const char *name, GString *text)
{
  struct stat status;

  if (lstat (path, &status) != 0)
    g_string_append_printf (text, "%s gone\n", name);
  else if (S_ISREG (status.st_mode))
    {
      g_autofree char *bytes = NULL;
      gsize length = 0;

      g_file_get_contents (path, &bytes, &length, NULL);
      g_string_append_printf (text, "%s %jx\n", name, (guint64)XXH3_64bits (bytes, length));
    }
  else if (S_ISDIR (status.st_mode))
    {
      g_autoptr (GDir) folder = g_dir_open (path, 0, NULL);
      GSList *names = NULL;
      const char *member;

      g_string_append_printf (text, "%s/\n", name);
      while (folder && (member = g_dir_read_name (folder)))
        names = g_slist_insert_sorted (names, g_strdup (member), (GCompareFunc)strcmp);
      for (GSList *one = names; one; one = one->next)
        {
          g_autofree char *below = g_build_filename (path, one->data, NULL);
          g_autofree char *below_name = g_build_filename (name, one->data, NULL);

          describe (below, below_name, text);
        }
      g_slist_free_full (names, g_free);
    }
  else
    g_string_append_printf (text, "%s mode %o\n", name, (guint)status.st_mode);
}

char *
attempt_folder (void)
{
  g_autoptr (GString) text = g_string_new (NULL);

  describe (plait_test_folder (), ".", text);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* Returns the lines of @a that are not in @b. (transfer full) */
static char *
lines_without (const char *a, const char *b)
{
  g_auto (GStrv) lines = g_strsplit (a, "\n", -1), others = g_strsplit (b, "\n", -1);
  g_autoptr (GString) found = g_string_new (NULL);

  for (guint i = 0; lines[i]; i++)
    if (!g_strv_contains ((const char *const *)others, lines[i]))
      g_string_append_printf (found, "%s;", lines[i]);
  return g_string_free (g_steal_pointer (&found), FALSE);
}

static void
check_unchanged (const char *before, const char *after)
{
  g_autofree char *gone = lines_without (before, after), *come = lines_without (after, before);

  CHECK_STRING (come, "");
  CHECK_STRING (gone, "");
}

void
attempt_refused_with (const char *command, const PlaitTestCallSettings *settings, int code, const char *parts)
{
  CONTEXT ("plait %s", command);
  g_autofree char *before = attempt_folder ();
  PlaitTestCall attempt = attempt_with (command, settings);
  g_autofree char *after = attempt_folder ();

  attempt_check (&attempt, code, parts);
  check_unchanged (before, after);
}

void
attempt_refused_or_done (const char *command, const PlaitTestCallSettings *settings, const char *parts)
{
  CONTEXT ("plait %s", command);
  g_autofree char *before = attempt_folder ();
  PlaitTestCall attempt = attempt_with (command, settings);
  g_autofree char *after = attempt_folder ();

  if (attempt.code != 0)
    {
      attempt_check (&attempt, 2, parts);
      check_unchanged (before, after);
      return;
    }
  CONTEXT ("stderr: %.1500s", attempt.errors);
  check_readable (attempt.errors);
  CHECK (!strstr (attempt.errors, "error: "));
}
