/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"

/* Calling another program and reading its answer. */
typedef struct
{
  const char *const *words; /* the program, found in PATH, and its arguments; NULL-terminated */
  const char *input;        /* for its standard input; NULL: empty */
  guint seconds;            /* that it may take */
  const gint *stop;         /* a flag that ends the call, or NULL */
} PlaitProgramCall;

typedef enum
{
  PLAIT_PROGRAM_DONE,      /* exit code 0 */
  PLAIT_PROGRAM_FAILED,    /* another exit code, or a signal */
  PLAIT_PROGRAM_TIMED_OUT, /* killed when its time was over */
} PlaitProgramOutcome;

/* What the program wrote until it ended, as valid UTF-8; the rest beyond 1 MiB is lost, and a program that writes more
 * fails. */
typedef struct
{
  PlaitProgramOutcome end;
  char *output;
  char *errors;
} PlaitProgramResult;

void plait_program_result_clear (PlaitProgramResult *answer);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PlaitProgramResult, plait_program_result_clear)

/* Runs the program and waits for its end, not for the end of what it leaves running. Programs that it began are killed
 * with it when its time is over. PLAIT_ERROR_FAILED if it cannot be run, PLAIT_ERROR_INTERRUPTED if the flag was
 * raised. */
gboolean plait_program_call (const PlaitProgramCall *call, PlaitProgramResult *answer, GError **error);
