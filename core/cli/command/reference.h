/* SPDX-License-Identifier: MIT */
#pragma once

#include "command/command.h"

/*
 * The command's own description in the forms that other programs read: a manual page and completion for bash and zsh.
 * They are made of the tables that --help is made of, when plait is built. All go to stdout.
 */

/* roff, for man. */
void plait_manual_print (void);

/* Print @text so that man shows it as it is: within a line, or, if it @begins_line, at the beginning of one; and as a
 * whole line. */
void plait_manual_print_text (const char *text, gboolean begins_line);
void plait_manual_print_line (const char *text);

/* Shell code. */
void plait_completion_print_bash (void);
void plait_completion_print_zsh (void);
