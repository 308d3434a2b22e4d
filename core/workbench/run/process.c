/* SPDX-License-Identifier: MIT */
#include "run/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/crash.h"
#include "files/memory.h"

/* The last report of a child process to its parent: one byte, and the error message unless the run is done. The report
 * is shorter than PIPE_BUF, so it arrives as a whole. */
enum
{
  REPORT_SIZE = 4000,
  VERDICT_DONE = 'y',
  VERDICT_INTERRUPTED = 'i',
  VERDICT_FAILED = 'n',
};

struct PlaitRunProcess
{
  pid_t child; /* process id; 0 after the process has ended and waitpid() has returned */
  int pipe;
  gsize size;
  char report[REPORT_SIZE + 1];
};

/*
 * Functions of the child process
 */

/* Makes the kernel kill this process, not its parent, if memory runs out. */
static void
offer_to_die_first (void)
{
  int file = open ("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

  if (file < 0)
    return;
  /* If this is not permitted, the kernel kills the largest process, which in most cases is this child. */
  (void)!write (file, "500", 3);
  close (file);
}

/* Makes this process die with @parent, and sends its output to @log. Makes a new process group, so that Ctrl-C reaches
 * only the parent, which then asks its children to stop. */
static void
leave_parent (pid_t parent, int log)
{
  int nothing = open ("/dev/null", O_RDONLY | O_CLOEXEC);

  prctl (PR_SET_PDEATHSIG, SIGKILL);
  if (getppid () != parent)
    _exit (1);
  setpgid (0, 0);
  offer_to_die_first ();
  if (nothing >= 0)
    dup2 (nothing, STDIN_FILENO);
  dup2 (log, STDOUT_FILENO);
  dup2 (log, STDERR_FILENO);
}

static G_NORETURN void
run_child (const PlaitExperiment *experiment, PlaitRunOptions options, int report_pipe)
{
  char report[REPORT_SIZE] = { VERDICT_DONE };
  g_autoptr (GError) error = NULL;
  PlaitRunOutcome outcome;
  gsize size;

  plait_crash_report_to (report_pipe, (const char[]){ VERDICT_FAILED, '\0' }, PLAIT_CRASH_ENDS_RUN);
  options.log = plait_log_new_with ((PlaitLogSettings){ .stream = stderr, .now = g_get_monotonic_time });
  if (!(options.speed ? plait_run_measure (experiment, &options, options.speed, &error)
                      : plait_run (experiment, &options, &outcome, &error)))
    {
      gboolean interrupted = g_error_matches (error, PLAIT_ERROR, PLAIT_ERROR_INTERRUPTED);

      plait_log_error (options.log, "%s", error->message);
      report[0] = interrupted ? VERDICT_INTERRUPTED : VERDICT_FAILED;
      g_strlcpy (report + 1, error->message, sizeof report - 1);
    }
  fflush (NULL);
  size = 1 + strlen (report + 1);
  _exit (TEMP_FAILURE_RETRY (write (report_pipe, report, size)) == (gssize)size ? 0 : 1);
}

/*
 * Functions of the parent process
 */

PlaitRunProcess *
plait_run_process_new (const PlaitExperiment *experiment, const PlaitRunOptions *options, const char *log,
                       gboolean append, GError **error)
{
  g_autoptr (PlaitRunProcess) process = g_new0 (PlaitRunProcess, 1);
  pid_t parent = getpid ();
  sigset_t all, before;
  struct stat status;
  int ends[2];
  int file;

  process->pipe = -1;
  /* Open with O_NONBLOCK, so that a pipe without a reader fails at once. */
  file = open (log ? log : "/dev/null",
               O_WRONLY | (log ? O_CREAT : 0) | O_CLOEXEC | O_NONBLOCK | O_APPEND | (append ? 0 : O_TRUNC), 0666);
  if (file < 0 || fstat (file, &status) != 0 || (log && !S_ISREG (status.st_mode)))
    {
      plait_fail (error, PLAIT_ERROR_FAILED, "%s: cannot be written (%s); make it writable, or move it away",
                  log ? log : "/dev/null", file < 0 ? g_strerror (errno) : "it is not a regular file");
      if (file >= 0)
        close (file);
      return NULL;
    }
  if (pipe2 (ends, O_CLOEXEC) != 0)
    {
      plait_fail (
          error, PLAIT_ERROR_FAILED,
          "no pipe can be made for a cell's process (%s); close files, or raise the limit of open files (ulimit -n)",
          g_strerror (errno));
      close (file);
      return NULL;
    }
  fflush (NULL);
  /* Block signals during the fork. SIGTERM before the fork sets the flag, which the child reads; SIGTERM after the fork
   * reaches the child itself. */
  sigfillset (&all);
  sigprocmask (SIG_SETMASK, &all, &before);
  process->child = fork ();
  if (process->child == 0 && options->stop && g_atomic_int_get (options->stop))
    signal (SIGTERM, SIG_IGN);
  sigprocmask (SIG_SETMASK, &before, NULL);
  if (process->child == 0)
    {
      close (ends[0]);
      leave_parent (parent, file);
      run_child (experiment, *options, ends[1]);
    }
  close (file);
  close (ends[1]);
  process->pipe = ends[0];
  if (process->child > 0)
    return g_steal_pointer (&process);
  process->child = 0;
  return plait_fail_null (error, PLAIT_ERROR_FAILED, "no process can be started for the cell (%s); lower --jobs",
                          g_strerror (errno));
}

void
plait_run_process_free (PlaitRunProcess *process)
{
  if (!process)
    return;
  if (process->child > 0)
    {
      kill (process->child, SIGKILL);
      while (waitpid (process->child, NULL, 0) < 0 && errno == EINTR)
        ;
    }
  if (process->pipe >= 0)
    close (process->pipe);
  g_free (process);
}

void
plait_run_process_memory (const PlaitRunProcess *process, gsize *held, gsize *max)
{
  plait_memory_of_process (process->child, held, max);
}

int
plait_run_process_descriptor (const PlaitRunProcess *process)
{
  return process->pipe;
}

static void
read_report (PlaitRunProcess *process)
{
  struct pollfd wait = { process->pipe, POLLIN, 0 };
  gssize n = 1;

  while (process->pipe >= 0 && n > 0 && process->size < REPORT_SIZE && poll (&wait, 1, 0) > 0)
    {
      n = TEMP_FAILURE_RETRY (read (process->pipe, process->report + process->size, REPORT_SIZE - process->size));
      process->size += (gsize)MAX (n, 0);
    }
}

/* Returns a text that describes the end of a process that sent no report. (transfer full) */
static char *
describe_end (int status)
{
  int number;

  if (WIFEXITED (status))
    return g_strdup_printf ("its process exited with exit code %d before the run was finished", WEXITSTATUS (status));
  number = WTERMSIG (status);
  if (number == SIGKILL)
    return g_strdup ("its process was killed (signal 9): the machine ran out of memory, or a user killed it");
  return g_strdup_printf ("its process crashed (signal %d, %s)", number, strsignal (number));
}

PlaitProcessEnd
plait_run_process_poll (PlaitRunProcess *process, char **reason)
{
  int status = 0;
  pid_t ended;

  read_report (process);
  ended = waitpid (process->child, &status, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR))
    return PLAIT_PROCESS_RUNNING;
  read_report (process);
  process->child = 0;
  switch (process->size > 0 ? process->report[0] : 0)
    {
    case VERDICT_DONE:
      return PLAIT_PROCESS_DONE;
    case VERDICT_INTERRUPTED:
      return PLAIT_PROCESS_INTERRUPTED;
    case VERDICT_FAILED:
      *reason = g_utf8_make_valid (process->report + 1, -1);
      return PLAIT_PROCESS_FAILED;
    default:
      *reason = describe_end (status);
      return PLAIT_PROCESS_FAILED;
    }
}

void
plait_run_process_stop (PlaitRunProcess *process, gboolean at_once)
{
  if (process->child > 0)
    kill (process->child, at_once ? SIGKILL : SIGTERM);
}
