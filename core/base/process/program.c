/* SPDX-License-Identifier: MIT */
#include "process/program.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files/transfer.h"

#define USUAL_MAX ((off_t)1 << 20) /* maximum bytes of output if the caller sets no maximum */
#define LOOK_EVERY 5000            /* microseconds between checks of the child */

/* Anonymous files for input and output. A file can be read after the program has ended, even if a child of the program
 * still holds it; reading a pipe would block. */
enum
{
  INPUT,
  OUTPUT,
  ERRORS,
  N_FILES,
};

void
plait_program_result_clear (PlaitProgramResult *answer)
{
  g_free (answer->output);
  g_free (answer->errors);
}

/* Runs in the child between fork and exec. */
static void
prepare_child (gpointer nothing)
{
  setpgid (0, 0);
}

static off_t
size_of (int descriptor)
{
  struct stat status;

  return fstat (descriptor, &status) == 0 ? status.st_size : 0;
}

static off_t
max_output (const PlaitProgramCall *call)
{
  return call->max_output > 0 ? (off_t)call->max_output : USUAL_MAX;
}

/* Returns the content of a file, cut at @max bytes, as valid UTF-8. (transfer full) */
static char *
read_all (int descriptor, off_t max)
{
  gsize size = (gsize)MIN (size_of (descriptor), max);
  g_autofree char *bytes = g_malloc0 (size + 1);

  if (plait_read_at (descriptor, bytes, size, 0) < 0)
    return g_strdup ("");
  return g_utf8_make_valid (bytes, -1);
}

/* Kills @child and its process group. */
static void
end_child (pid_t child)
{
  kill (-child, SIGKILL);
  kill (child, SIGKILL);
  while (waitpid (child, NULL, 0) < 0 && errno == EINTR)
    ;
}

static gboolean
await (pid_t child, const PlaitProgramCall *call, const int *files, PlaitProgramOutcome *end, GError **error)
{
  gint64 deadline = g_get_monotonic_time () + (gint64)call->seconds * G_USEC_PER_SEC;
  int status = 0;
  pid_t ended;

  while ((ended = waitpid (child, &status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR))
    {
      gboolean stopped = call->stop && g_atomic_int_get (call->stop);
      gboolean late = g_get_monotonic_time () > deadline;

      if (!stopped && !late && MAX (size_of (files[OUTPUT]), size_of (files[ERRORS])) <= max_output (call))
        {
          g_usleep (LOOK_EVERY);
          continue;
        }
      end_child (child);
      *end = late ? PLAIT_PROGRAM_TIMED_OUT : PLAIT_PROGRAM_OVERFLOWED;
      return !stopped || plait_fail (error, PLAIT_ERROR_INTERRUPTED, "interrupted while %s ran", call->words[0]);
    }
  *end = ended == child && WIFEXITED (status) && WEXITSTATUS (status) == 0 ? PLAIT_PROGRAM_DONE : PLAIT_PROGRAM_FAILED;
  return TRUE;
}

static gboolean
run (const PlaitProgramCall *call, const int *files, PlaitProgramResult *answer, GError **error)
{
  g_autoptr (GError) fault = NULL;
  GPid child;

  if (call->input && !plait_write_at (files[INPUT], call->input, strlen (call->input), 0))
    return plait_fail (error, PLAIT_ERROR_FAILED,
                       "%s: there is no memory for the input of this program; free some memory", call->words[0]);
  if (!g_spawn_async_with_fds (NULL, (char **)call->words, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD,
                               prepare_child, NULL, &child, files[INPUT], files[OUTPUT], files[ERRORS], &fault))
    return plait_fail (error, PLAIT_ERROR_FAILED,
                       "%s: this program cannot be run (%s); install it, or correct its name", call->words[0],
                       fault->message);
  if (!await (child, call, files, &answer->end, error))
    return FALSE;
  answer->output = read_all (files[OUTPUT], max_output (call));
  answer->errors = read_all (files[ERRORS], max_output (call));
  return TRUE;
}

gboolean
plait_program_call (const PlaitProgramCall *call, PlaitProgramResult *answer, GError **error)
{
  static const char *const names[N_FILES] = { "input", "output", "errors" };
  int files[N_FILES];
  gboolean good = TRUE;

  for (guint i = 0; i < N_FILES; i++)
    {
      files[i] = memfd_create (names[i], MFD_CLOEXEC);
      if (files[i] < 0 && good)
        good = plait_fail (error, PLAIT_ERROR_FAILED,
                           "%s: no temporary file can be made for the %s of this program (%s); close files, or raise "
                           "the limit of open files (ulimit -n)",
                           call->words[0], names[i], g_strerror (errno));
    }
  good = good && run (call, files, answer, error);
  for (guint i = 0; i < N_FILES; i++)
    if (files[i] >= 0)
      close (files[i]);
  return good;
}
