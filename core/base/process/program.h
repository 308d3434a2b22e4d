/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"

/* A call of another program. */
typedef struct
{
  const char *const *words; /* the program, searched in PATH, and its arguments; NULL-terminated */
  const char *input;        /* text for standard input; NULL: empty */
  guint seconds;            /* time limit */
  const gint *stop;         /* flag that ends the call when it is set; may be NULL */
  gsize max_output;         /* maximum bytes of standard output, and of standard error; 0: 1 MiB */
} PlaitProgramCall;

typedef enum
{
  PLAIT_PROGRAM_DONE,       /* exit code 0 */
  PLAIT_PROGRAM_FAILED,     /* another exit code, or a signal */
  PLAIT_PROGRAM_TIMED_OUT,  /* killed after its time limit */
  PLAIT_PROGRAM_OVERFLOWED, /* killed because it wrote more than call->max_output */
} PlaitProgramOutcome;

/* Output of a program until it ended, as valid UTF-8. A program that writes more than call->max_output is killed,
 * unless it has ended already. The output above this maximum is lost. */
typedef struct
{
  PlaitProgramOutcome end;
  char *output;
  char *errors;
} PlaitProgramResult;

void plait_program_result_clear (PlaitProgramResult *answer);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PlaitProgramResult, plait_program_result_clear)

/* Runs a program and waits for its end, but not for processes that it leaves running. After the time limit the program
 * and its children are killed. TRUE if the program ended or was killed; answer->end says how. FALSE with
 * PLAIT_ERROR_FAILED if the program cannot be started, with PLAIT_ERROR_INTERRUPTED if call->stop was set. */
gboolean plait_program_call (const PlaitProgramCall *call, PlaitProgramResult *answer, GError **error);
