/* SPDX-License-Identifier: MIT */
#include "process/process-state.h"

#include <fcntl.h>
#include <float.h>
#include <locale.h>
#include <string.h>
#include <unistd.h>

#define FIRST_COPY 10 /* lowest number of a copied descriptor; foreign code may expect that lower numbers are free */

static gboolean
keeps_subnormals (void)
{
  volatile double least = DBL_MIN;

  least /= 4;
  return least > 0;
}

static gboolean
is_same_file (int a, int b)
{
  struct stat one, other;

  return fstat (a, &one) == 0 && fstat (b, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

static gboolean
restore_folder (int folder)
{
  int now = open (".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  gboolean same = folder < 0 || (now >= 0 && is_same_file (folder, now));

  if (now >= 0)
    close (now);
  if (!same)
    (void)!fchdir (folder);
  return same;
}

/* Restores the standard streams that have changed. TRUE if all were unchanged. */
static gboolean
restore_streams (const int *streams)
{
  gboolean same = TRUE;

  for (int i = 0; i < 3; i++)
    if (streams[i] >= 0 && !is_same_file (streams[i], i))
      {
        same = FALSE;
        dup2 (streams[i], i);
      }
  return same;
}

static gboolean
restore_signals (const struct sigaction *before)
{
  gboolean same = TRUE;

  for (int number = 1; number < NSIG; number++)
    {
      struct sigaction now;

      if (sigaction (number, NULL, &now) != 0 || now.sa_sigaction == before[number].sa_sigaction)
        continue;
      same = FALSE;
      sigaction (number, &before[number], NULL);
    }
  return same;
}

static gboolean
restore_numbers (const PlaitProcessState *state)
{
  gboolean same = fegetround () == state->rounding && keeps_subnormals () == state->keeps_subnormals;

  fesetenv (&state->numbers);
  return same;
}

static gboolean
restore_locale (const char *locale)
{
  gboolean same = g_strcmp0 (setlocale (LC_ALL, NULL), locale) == 0;

  if (!same)
    setlocale (LC_ALL, locale);
  return same;
}

void
plait_process_state_save (PlaitProcessState *state)
{
  memset (state, 0, sizeof *state);
  state->folder = open (".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  for (int i = 0; i < 3; i++)
    state->streams[i] = fcntl (i, F_DUPFD_CLOEXEC, FIRST_COPY);
  state->mask = umask (0);
  umask (state->mask);
  state->locale = g_strdup (setlocale (LC_ALL, NULL));
  fegetenv (&state->numbers);
  state->rounding = fegetround ();
  state->keeps_subnormals = keeps_subnormals ();
  for (int number = 1; number < NSIG; number++)
    sigaction (number, NULL, &state->signals[number]);
}

const char *
plait_process_state_restore (PlaitProcessState *state)
{
  const char *changed = NULL;

  if (!restore_signals (state->signals))
    changed = "the handling of a signal";
  if (umask (state->mask) != state->mask)
    changed = "the mask of new files";
  if (!restore_locale (state->locale))
    changed = "the locale";
  if (!restore_numbers (state))
    changed = "the rounding of numbers";
  if (!restore_streams (state->streams))
    changed = "a standard stream";
  if (!restore_folder (state->folder))
    changed = "the working folder";
  if (state->folder >= 0)
    close (state->folder);
  for (int i = 0; i < 3; i++)
    if (state->streams[i] >= 0)
      close (state->streams[i]);
  g_clear_pointer (&state->locale, g_free);
  return changed;
}
