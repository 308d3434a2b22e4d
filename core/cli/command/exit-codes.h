/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"

/* Exit codes of plait, which --help, the manual page and README.md list. */
typedef enum
{
  PLAIT_EXIT_DONE = 0,
  PLAIT_EXIT_FAILED = 1,
  PLAIT_EXIT_USAGE = 2,
  PLAIT_EXIT_INTERRUPTED = 130, /* 128 + SIGINT, as shells report it */
} PlaitExit;

typedef struct
{
  int code;
  const char *summary; /* meaning of the exit code, such as "failed"; NULL ends the table */
  const char *details; /* more about the exit code, printed after the meaning and a colon; or NULL */
} PlaitExitCode;

extern const PlaitExitCode plait_exit_codes[];

/* Returns the exit code of a command that ended with @error, or PLAIT_EXIT_DONE if @error is NULL. */
PlaitExit plait_exit_code (const GError *error);
