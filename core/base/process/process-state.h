/* SPDX-License-Identifier: MIT */
#pragma once

#include <fenv.h>
#include <signal.h>
#include <sys/stat.h>

#include "types/export.h"

/*
 * What belongs to the whole process, and what foreign code may change on the sly: the working folder, the mask of new
 * files, the locale, how numbers are rounded, what signals do, the standard streams.
 */
typedef struct
{
  int folder; /* descriptors; -1: not there */
  int streams[3];
  mode_t mask;
  char *locale;
  fenv_t numbers;
  int rounding;
  gboolean keeps_subnormals; /* numbers below the least normal one are not made zero */
  struct sigaction signals[NSIG];
} PlaitProcessState;

/* Notes the state as it is now. End it with plait_process_state_restore. */
void plait_process_state_save (PlaitProcessState *state);

/* Puts back what is otherwise than it was, and returns what that was ("the working folder"), or NULL. */
const char *plait_process_state_restore (PlaitProcessState *state);
