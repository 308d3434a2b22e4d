/* SPDX-License-Identifier: MIT */
#pragma once

#include "command/command.h"

/* Prints the manual page in roff, from the option tables that --help prints. */
void plait_manual_print (void);

/* Prints @text escaped for roff. @begins_line is TRUE if the text stands at the beginning of a line.
 * plait_manual_print_line() prints a whole line. */
void plait_manual_print_text (const char *text, gboolean begins_line);
void plait_manual_print_line (const char *text);
