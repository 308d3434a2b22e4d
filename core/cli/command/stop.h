/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* Makes SIGINT, SIGTERM and SIGHUP (unless it is ignored) set a flag that long work checks between its steps; a second
 * such signal ends the process at once. SIGPIPE is ignored, so that a closed pipe of the log does not stop a command
 * that writes files. Returns the flag. */
const gint *plait_stop_on_signals (void);

/* Does what plait_stop_on_signals does, for commands whose result goes to stdout: SIGPIPE ends the process, and a
 * signal also interrupts reading from a pipe or a terminal. Returns the flag. */
const gint *plait_stop_reads_on_signals (void);
