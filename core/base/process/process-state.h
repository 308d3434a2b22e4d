/* SPDX-License-Identifier: MIT */
#pragma once

#include <fenv.h>
#include <signal.h>
#include <sys/stat.h>

#include "types/export.h"

/*
 * State of the whole process that foreign code may change unnoticed: the working folder, the umask, the locale, the
 * rounding of numbers, the signal handlers, the standard streams.
 */
typedef struct
{
  int folder; /* descriptor of the working folder; -1 if not open */
  int streams[3];
  mode_t mask;
  char *locale;
  fenv_t numbers;
  int rounding;
  gboolean keeps_subnormals; /* FALSE if subnormal numbers are flushed to zero */
  struct sigaction signals[NSIG];
} PlaitProcessState;

/* Saves the state. Call plait_process_state_restore later, which also frees it. */
void plait_process_state_save (PlaitProcessState *state);

/* Restores what has changed. Returns the name of a changed item ("the working folder"), or NULL if nothing has changed.
 * (transfer none) */
const char *plait_process_state_restore (PlaitProcessState *state);
