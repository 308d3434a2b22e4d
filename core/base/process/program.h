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
  PLAIT_PROGRAM_DONE,   /* exit code 0 */
  PLAIT_PROGRAM_FAILED, /* another exit code, or a signal */
  PLAIT_PROGRAM_LATE,   /* killed when its time was over */
} PlaitProgramEnd;

/* What the program wrote until it ended, as valid UTF-8; the rest beyond 1 MiB is lost, and a program that writes more
 * fails. */
typedef struct
{
  PlaitProgramEnd end;
  char *output;
  char *errors;
} PlaitProgramAnswer;

void plait_program_answer_clear (PlaitProgramAnswer *answer);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PlaitProgramAnswer, plait_program_answer_clear)

/* Runs the program and waits for its end, not for the end of what it leaves running. Programs that it began are killed
 * with it when its time is over. PLAIT_ERROR_FAILED if it cannot be run, PLAIT_ERROR_INTERRUPTED if the flag was
 * raised. */
gboolean plait_program_call (const PlaitProgramCall *call, PlaitProgramAnswer *answer, GError **error);
