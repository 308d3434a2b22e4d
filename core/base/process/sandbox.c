/* SPDX-License-Identifier: MIT */
#include "process/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/crash.h"
#include "files/memory.h"

/* Extra time after the limit in which a slow child can still send its report. */
#define REPORT_GRACE (5 * G_USEC_PER_SEC)

/* Report of the child: a byte for the verdict, a byte for the error code, then the sentence. It is shorter than
 * PIPE_BUF, so writing it never blocks. */
enum
{
  REPORT_SIZE = 4000,
  VERDICT_GOOD = 'y',
  VERDICT_REFUSED = 'n',
  VERDICT_CRASHED = 'c', /* process/crash.h wrote the report: a crash, an exit () or the time limit; exit code 1 */
};

static void
limit_resource (int resource, rlim_t soft, rlim_t hard)
{
  struct rlimit old;
  if (getrlimit (resource, &old) == 0 && old.rlim_max < hard)
    hard = old.rlim_max;
  struct rlimit limit = { MIN (soft, hard), hard };
  setrlimit (resource, &limit);
}

void
plait_sandbox_confine (PlaitSandboxLimits limits)
{
  prctl (PR_SET_PDEATHSIG, SIGKILL);
  setpgid (0, 0);
  for (int number = 1; number < NSIG; number++)
    signal (number, SIG_DFL);
  sigset_t none;
  sigemptyset (&none);
  sigprocmask (SIG_SETMASK, &none, NULL);
  plait_crash_reinstall_handlers ();

  int nowhere = TEMP_FAILURE_RETRY (open ("/dev/null", O_RDWR | O_CLOEXEC));
  if (nowhere >= 0)
    for (int stream = 0; stream <= 2; stream++)
      dup2 (nowhere, stream);

  limit_resource (RLIMIT_CORE, 0, 0);
  limit_resource (RLIMIT_FSIZE, 0, 0);
  if (limits.processor_seconds > 0)
    limit_resource (RLIMIT_CPU, limits.processor_seconds, (rlim_t)limits.processor_seconds + 1);
  if (limits.memory_bytes > 0)
    {
      rlim_t bytes = plait_address_space_used () + limits.memory_bytes;
      limit_resource (RLIMIT_AS, bytes, bytes);
    }
}

/* Handles the signal of the time limit. If code of a plugin is running, reports the plugin; else dies of the signal.
 * Must not return into the interrupted call. */
static void
time_is_up (int number)
{
  plait_crash_end_process ("did not finish in time");
  signal (number, SIG_DFL);
  raise (number);
}

static G_NORETURN void
run_child (int report_fd, PlaitErrorCode code, PlaitSandboxFunc call, gpointer data, PlaitSandboxLimits limits)
{
  /* The second byte, in the place of the error code, is not read. It must not be NUL, which would end the text. */
  const char begin[] = { VERDICT_CRASHED, VERDICT_CRASHED, '\0' };

  plait_sandbox_confine (limits);
  plait_crash_catch_exit (FALSE); /* the parent process reports an exit () outside known plugin code */
  plait_crash_report_to (report_fd, begin, "; this is a fault of the plugin");
  signal (SIGALRM, time_is_up);
  alarm (limits.wall_seconds);

  GError *error = NULL;
  gboolean good = call (data, &error);
  char report[REPORT_SIZE] = { good ? VERDICT_GOOD : VERDICT_REFUSED, (char)code };
  if (error)
    {
      if (error->domain == PLAIT_ERROR)
        report[1] = (char)error->code;
      g_strlcpy (report + 2, error->message, sizeof report - 2);
    }
  size_t size = 2 + strlen (report + 2);
  _exit (TEMP_FAILURE_RETRY (write (report_fd, report, size)) == (ssize_t)size ? 0 : 1);
}

/* Collects the report until the child ends or @deadline (monotonic microseconds) passes. TRUE if the child ended, also
 * by a signal; FALSE if it still runs. Does not wait for the end of the pipe, which a grandchild might keep open. */
static gboolean
await_child (pid_t child, int report_fd, gint64 deadline, char *report, size_t *report_size, int *status)
{
  gboolean open = TRUE;
  while (TRUE)
    {
      pid_t ended = waitpid (child, status, WNOHANG);
      if (ended < 0 && errno != EINTR)
        *status = 0; /* reaped elsewhere (SIGCHLD is ignored), so only the report says how the child ended */
      gboolean finished = ended == child || (ended < 0 && errno != EINTR);

      /* After the child's end, all that it wrote is in the pipe. */
      struct pollfd wait = { report_fd, POLLIN, 0 };
      gint64 left = (deadline - g_get_monotonic_time ()) / 1000;
      int timeout = finished ? 0 : (int)CLAMP (left, 0, 20);
      if (!open && !finished)
        g_usleep (500);
      else if (open && poll (&wait, 1, timeout) > 0)
        {
          ssize_t n = TEMP_FAILURE_RETRY (read (report_fd, report + *report_size, REPORT_SIZE - *report_size));
          if (n > 0)
            {
              *report_size += (size_t)n;
              continue;
            }
          open = FALSE;
        }
      if (finished)
        return TRUE;
      if (left <= 0)
        return FALSE;
    }
}

static gboolean
explain_end (const char *subject, PlaitErrorCode code, PlaitSandboxLimits limits, gboolean ended, int status,
             const char *report, size_t report_size, GError **error)
{
  if (!ended || (WIFSIGNALED (status) && WTERMSIG (status) == SIGALRM))
    return plait_fail (error, code, "%s did not end within %u seconds", subject, limits.wall_seconds);
  if (WIFSIGNALED (status))
    {
      int number = WTERMSIG (status);
      if (number == SIGXCPU || number == SIGKILL)
        return plait_fail (error, code, "%s used more than %u seconds of processor time or was killed", subject,
                           limits.processor_seconds);
      if (number == SIGXFSZ)
        return plait_fail (error, code, "%s tried to write a file", subject);
      g_autofree char *limit = limits.memory_bytes == 0
                                   ? g_strdup ("")
                                   : g_strdup_printf (", limited to %zu MiB of memory,", limits.memory_bytes >> 20);
      return plait_fail (error, code, "%s%s crashed (signal %d, %s)", subject, limit, number, strsignal (number));
    }
  if (report_size >= 2 && report[0] == VERDICT_CRASHED)
    return plait_fail (error, code, "%.*s", (int)report_size - 2, report + 2);
  if (report_size < 2 || WEXITSTATUS (status) != 0)
    return plait_fail (error, code, "%s exited early with exit code %d", subject, WEXITSTATUS (status));
  return report[0] == VERDICT_GOOD
         || plait_fail (error, (PlaitErrorCode)report[1], "%.*s", (int)report_size - 2, report + 2);
}

static gboolean
run_in_child (const char *subject, PlaitErrorCode code, PlaitSandboxFunc call, gpointer data, PlaitSandboxLimits limits,
              GError **error)
{
  int ends[2];
  if (pipe2 (ends, O_CLOEXEC) != 0)
    return plait_fail (
        error, PLAIT_ERROR_FAILED,
        "no pipe can be made for a sandbox (%s); close files, or raise the limit of open files (ulimit -n)",
        g_strerror (errno));

  pid_t child = fork ();
  if (child < 0)
    {
      int reason = errno;
      close (ends[0]);
      close (ends[1]);
      return plait_fail (error, PLAIT_ERROR_FAILED,
                         "no process can be started for a sandbox (%s); end other processes, or raise the limit of "
                         "processes (ulimit -u)",
                         g_strerror (reason));
    }
  if (child == 0)
    run_child (ends[1], code, call, data, limits);
  close (ends[1]);

  char report[REPORT_SIZE];
  size_t report_size = 0;
  int status = 0;
  gint64 deadline = g_get_monotonic_time () + (gint64)limits.wall_seconds * G_USEC_PER_SEC + REPORT_GRACE;
  gboolean ended = await_child (child, ends[0], deadline, report, &report_size, &status);
  kill (-child, SIGKILL); /* kills processes that the child started; fails harmlessly if their group is empty */
  if (!ended)
    {
      kill (child, SIGKILL);
      while (waitpid (child, &status, 0) < 0 && errno == EINTR)
        ;
    }
  close (ends[0]);
  return explain_end (subject, code, limits, ended, status, report, report_size, error);
}

gboolean
plait_sandbox_run (const char *what, PlaitErrorCode code, PlaitSandboxFunc call, gpointer data,
                   PlaitSandboxLimits limits, GError **error)
{
  g_autofree char *subject = g_strconcat (what, ": refused, its check in a separate process", NULL);

  return run_in_child (subject, code, call, data, limits, error);
}

gboolean
plait_sandbox_run_with_subject (const char *subject, PlaitErrorCode code, PlaitSandboxFunc call, gpointer data,
                                PlaitSandboxLimits limits, GError **error)
{
  return run_in_child (subject, code, call, data, limits, error);
}
