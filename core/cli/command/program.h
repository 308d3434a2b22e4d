/* SPDX-License-Identifier: MIT */
#pragma once

#include "command/command.h"

/*
 * A program of commands: plait, and plait-bench beside it.
 */
typedef struct
{
  const char *name;
  const char *summary;                 /* a sentence */
  const char *help;                    /* what its --help says below the commands: sentences */
  const PlaitCommand *const *commands; /* in the order of the help text; NULL-terminated */

  /* Prints what "help FORM" asks for, such as "help --man". FALSE if there is no such form. NULL: there are none. */
  gboolean (*print_form) (const char *form);
} PlaitProgram;

/* Runs the command that @argv names, or prints what --help and --version ask for. Returns the exit code
 * (exit-codes.h). */
int plait_program_run (const PlaitProgram *program, int argc, char **argv);
