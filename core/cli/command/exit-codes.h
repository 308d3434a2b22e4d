/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"

/* What plait ends with, as --help, the manual page and README.md tell it. */
typedef enum
{
  PLAIT_EXIT_DONE = 0,
  PLAIT_EXIT_FAILED = 1,
  PLAIT_EXIT_USAGE = 2,
  PLAIT_EXIT_INTERRUPTED = 130, /* as a shell has it for SIGINT */
} PlaitExit;

typedef struct
{
  int code;
  const char *summary; /* "failed"; NULL ends the table */
  const char *details; /* what goes on behind a colon, or NULL */
} PlaitExitCode;

extern const PlaitExitCode plait_exit_codes[];

/* That of a command that ended with @error; NULL: none. */
PlaitExit plait_exit_code (const GError *error);
