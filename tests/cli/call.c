/* SPDX-License-Identifier: MIT */
#include "call.h"

#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <pty.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

void
plait_test_call_clear (PlaitTestCall *call)
{
  g_free (call->output);
  g_free (call->errors);
}

/* The program and its arguments, NULL-terminated; the strings are the caller's. */
static const char **
command_line (char *program, const char *const *arguments)
{
  GPtrArray *words = g_ptr_array_new ();

  g_ptr_array_add (words, program);
  for (guint i = 0; arguments[i]; i++)
    g_ptr_array_add (words, (gpointer)arguments[i]);
  g_ptr_array_add (words, NULL);
  return (const char **)g_ptr_array_free (words, FALSE);
}

/* (transfer full) */
static char *
text_of (GBytes *bytes)
{
  gsize n;
  const char *data = g_bytes_get_data (bytes, &n);

  return n > 0 ? g_strndup (data, n) : g_strdup ("");
}

static PlaitTestCall
call_with (const char *name, const char *input, const char *plugin_path, const char *const *arguments)
{
  g_autofree char *data = plait_test_path ("data");
  PlaitTestCall call = { -1, NULL, NULL };
  g_autofree char *program = plait_test_build_path (name);
  g_autofree const char **words = command_line (program, arguments);
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocessLauncher) launcher
      = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE);
  gsize n = input ? strlen (input) : 0;
  int ends[2];

  /* All of it is there before the program is, which may end without reading it. */
  CHECK (pipe2 (ends, O_CLOEXEC | O_NONBLOCK) == 0 && write (ends[1], input, n) == (gssize)n);
  close (ends[1]);
  fcntl (ends[0], F_SETFL, 0);
  g_subprocess_launcher_take_stdin_fd (launcher, ends[0]);
  g_subprocess_launcher_set_cwd (launcher, plait_test_folder ());
  g_subprocess_launcher_setenv (launcher, "XDG_DATA_HOME", data, TRUE);
  g_subprocess_launcher_setenv (launcher, "PLAIT_PLUGIN_PATH", plugin_path, TRUE);
  g_autoptr (GSubprocess) process = g_subprocess_launcher_spawnv (launcher, words, &error);

  CHECK_NO_ERROR (error);
  if (!process)
    return call;
  g_autoptr (GBytes) output = NULL, errors = NULL;
  CHECK (g_subprocess_communicate (process, NULL, NULL, &output, &errors, &error));
  CHECK_NO_ERROR (error);
  if (g_subprocess_get_if_exited (process))
    call.code = g_subprocess_get_exit_status (process);
  call.output = text_of (output);
  call.errors = text_of (errors);
  return call;
}

PlaitTestCall
plait_test_call (const char *input, const char *const *arguments)
{
  return call_with ("plait", input, "", arguments);
}

PlaitTestCall
plait_test_call_program (const char *program, const char *const *arguments)
{
  return call_with (program, NULL, "", arguments);
}

PlaitTestCall
plait_test_call_with_plugins (const char *plugin_path, const char *const *arguments)
{
  return call_with ("plait", NULL, plugin_path, arguments);
}

PlaitTestCall
plait_test_call_on_terminal (guint columns, const char *const *arguments)
{
  PlaitTestCall call = { -1, NULL, g_strdup ("") };
  g_autofree char *program = plait_test_build_path ("plait");
  g_autofree const char **words = command_line (program, arguments);
  g_autoptr (GString) output = g_string_new (NULL);
  struct winsize size = { .ws_row = 50, .ws_col = (unsigned short)columns };
  const char *folder = plait_test_folder ();
  int terminal, status;
  char buffer[4096];

  pid_t child = forkpty (&terminal, NULL, NULL, &size);
  CHECK (child >= 0);
  if (child == 0)
    {
      if (g_chdir (folder) == 0 && setenv ("TERM", "xterm-256color", 1) == 0 && unsetenv ("NO_COLOR") == 0)
        execv (program, (char **)words);
      _exit (127);
    }
  for (ssize_t n; (n = read (terminal, buffer, sizeof buffer)) > 0;)
    g_string_append_len (output, buffer, n);
  if (waitpid (child, &status, 0) == child && WIFEXITED (status))
    call.code = WEXITSTATUS (status);
  close (terminal);
  call.output = g_string_free (g_steal_pointer (&output), FALSE);
  return call;
}

void
plait_test_check_refused (const PlaitTestCall *call, const char *part)
{
  CONTEXT ("refused with \"%s\"", part);

  CHECK_INT (call->code, 2);
  CHECK_STRING (call->output, "");
  CHECK_CONTAINS (call->errors, part);
  CHECK (g_str_has_prefix (call->errors, "error: "));
  CHECK (call->errors && strchr (call->errors, '\n') == call->errors + strlen (call->errors) - 1);
}

void
plait_test_write (const char *name, const char *text)
{
  g_autofree char *path = plait_test_path (name);

  CHECK (g_file_set_contents (path, text, -1, NULL));
}
