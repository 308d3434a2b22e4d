/* SPDX-License-Identifier: MIT */
#pragma once

#include "command/command.h"

/*
 * A program that consists of commands: plait or plait-bench.
 */
typedef struct
{
  const char *name;
  const char *summary;                 /* what the program does, in one sentence */
  const char *help;                    /* sentences that --help prints after the list of commands */
  const PlaitCommand *const *commands; /* commands in the order of the help text, NULL-terminated */

  /* Prints the output of "help FORM", such as "help --man". Returns FALSE if @form is unknown. The field is NULL if the
   * program accepts no FORM. */
  gboolean (*print_form) (const char *form);
} PlaitProgram;

/* Runs the command that @argv names, or prints the output of --help or --version. Returns the exit code
 * (exit-codes.h). */
int plait_program_run (const PlaitProgram *program, int argc, char **argv);
