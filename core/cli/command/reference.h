/* SPDX-License-Identifier: MIT */
#pragma once

#include "command/command.h"

/*
 * The manual page and the completion scripts for bash and zsh.
 *
 * They are made from the option tables that --help prints, when plait is built. All functions write to stdout.
 */

/* Prints the manual page in roff. */
void plait_manual_print (void);

/* Prints @text escaped for roff: within a line, or, if @begins_line, at the beginning of a line.
 * plait_manual_print_line prints a whole line. */
void plait_manual_print_text (const char *text, gboolean begins_line);
void plait_manual_print_line (const char *text);

/* Print the completion script of the shell. */
void plait_completion_print_bash (void);
void plait_completion_print_zsh (void);
