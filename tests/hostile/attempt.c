/* SPDX-License-Identifier: MIT */
#include "attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

/* After which a call counts as one that does not end. */
#define LONGEST_CALL ((gint64)60 * G_USEC_PER_SEC)

/* Of a line for a person, in bytes; more is a file that was poured out. */
#define LONGEST_LINE 1100

/* The problems of an experiment file are told together, a line each, but not without end. */
#define MOST_LINES 110

void
attempt_clear (Attempt *attempt)
{
  g_free (attempt->output);
  g_free (attempt->errors);
}

/* In the child. */
static void
limit (int resource, guint64 most)
{
  struct rlimit limits = { most, most };

  if (most > 0 && setrlimit (resource, &limits) != 0)
    _exit (126);
}

/* In the child. */
static void
redirect (const char *path, int flags, int descriptor, int stream)
{
  if (path)
    descriptor = open (path, flags);
  if (descriptor < 0 || dup2 (descriptor, stream) < 0)
    _exit (126);
}

/* In the child. Root, whom the limit does not hold, becomes a user of whom there are no processes. */
static void
stay_alone (void)
{
  limit (RLIMIT_NPROC, 1);
  if (geteuid () == 0 && (chown (".", 54321, 54321) != 0 || setgid (54321) != 0 || setuid (54321) != 0))
    _exit (126);
}

AttemptProcess
attempt_start (const char *command, const AttemptLimits *limits)
{
  static const AttemptLimits none = { NULL };
  const char *own = g_str_has_prefix (command, "plait-bench ") ? strchr (command, ' ') + 1 : NULL;
  g_autofree char *program = plait_test_build_path (own ? "plait-bench" : "plait");
  g_autofree char *line = g_strconcat (program, " ", own ? own : command, NULL);
  g_auto (GStrv) words = g_strsplit (line, " ", -1);
  g_auto (GStrv) environment = g_get_environ ();
  const char *folder = plait_test_folder ();
  AttemptProcess process = { .output_text = g_string_new (NULL), .errors_text = g_string_new (NULL) };
  int output[2], errors[2];

  limits = limits ? limits : &none;
  environment = g_environ_setenv (environment, "XDG_DATA_HOME", folder, TRUE);
  environment = g_environ_unsetenv (environment, "PLAIT_PLUGIN_PATH");
  /* Pipes, since files would be under the limit of their size. */
  if (pipe2 (output, O_CLOEXEC) != 0 || pipe2 (errors, O_CLOEXEC) != 0)
    g_error ("no pipe");
  process.process = fork ();
  if (process.process == 0)
    {
      if (chdir (folder) != 0)
        _exit (126);
      if (limits->alone)
        stay_alone ();
      redirect (limits->input ? limits->input : "/dev/null", O_RDONLY, -1, STDIN_FILENO);
      redirect (limits->output, O_WRONLY, output[1], STDOUT_FILENO);
      redirect (NULL, 0, errors[1], STDERR_FILENO);
      limit (RLIMIT_CORE, 1);
      limit (RLIMIT_FSIZE, limits->file_size);
#ifndef __SANITIZE_ADDRESS__
      limit (RLIMIT_AS, limits->memory);
#endif
      if (limits->closed)
        close_range (STDIN_FILENO, STDERR_FILENO, 0);
      execve (program, words, environment);
      _exit (127);
    }
  CHECK (process.process > 0);
  close (output[1]);
  close (errors[1]);
  process.output = output[0];
  process.errors = errors[0];
  fcntl (process.output, F_SETFL, O_NONBLOCK);
  fcntl (process.errors, F_SETFL, O_NONBLOCK);
  return process;
}

/* Takes what is there to be read. */
static void
drain (int descriptor, GString *text)
{
  char buffer[4096];
  ssize_t n;

  while ((n = read (descriptor, buffer, sizeof buffer)) > 0)
    g_string_append_len (text, buffer, n);
}

static void
drain_both (AttemptProcess *process)
{
  drain (process->output, process->output_text);
  drain (process->errors, process->errors_text);
}

gboolean
attempt_await (AttemptProcess *process, const char *part)
{
  gint64 deadline = g_get_monotonic_time () + LONGEST_CALL;

  do
    {
      drain_both (process);
      if (strstr (process->errors_text->str, part))
        return TRUE;
      g_usleep (500);
    }
  while (g_get_monotonic_time () < deadline);
  return FALSE;
}

Attempt
attempt_end (AttemptProcess *process)
{
  gint64 deadline = g_get_monotonic_time () + LONGEST_CALL;
  Attempt attempt = { 0 };
  int status = 0;
  pid_t ended;

  while ((ended = waitpid (process->process, &status, WNOHANG)) == 0 && g_get_monotonic_time () < deadline)
    {
      drain_both (process);
      g_usleep (500);
    }
  if (ended == 0)
    {
      kill (process->process, SIGKILL);
      waitpid (process->process, &status, 0);
    }
  drain_both (process);
  close (process->output);
  close (process->errors);
  attempt.code = WIFSIGNALED (status) ? -WTERMSIG (status) : WEXITSTATUS (status);
  attempt.output = g_string_free (process->output_text, FALSE);
  attempt.errors = g_string_free (process->errors_text, FALSE);
  return attempt;
}

Attempt
attempt_with (const char *command, const AttemptLimits *limits)
{
  AttemptProcess process = attempt_start (command, limits);

  return attempt_end (&process);
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
attempt_check (const Attempt *attempt, int code, const char *parts)
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

/* The lines of @a that @b has not. (transfer full) */
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
attempt_refused_with (const char *command, const AttemptLimits *limits, int code, const char *parts)
{
  CONTEXT ("plait %s", command);
  g_autofree char *before = attempt_folder ();
  g_auto (Attempt) attempt = attempt_with (command, limits);
  g_autofree char *after = attempt_folder ();

  attempt_check (&attempt, code, parts);
  check_unchanged (before, after);
}

void
attempt_refused_or_done (const char *command, const char *parts)
{
  CONTEXT ("plait %s", command);
  g_autofree char *before = attempt_folder ();
  g_auto (Attempt) attempt = ATTEMPT (command);
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
