/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* Makes SIGINT, SIGTERM and SIGHUP set a flag, which long work checks between its steps. Returns the flag. An ignored
 * SIGHUP stays ignored. The same signal a second time ends the process at once. A write to a closed pipe fails instead
 * of ending the process, so that the closed pipe of the log does not stop a command that writes files. */
const gint *plait_stop_on_signals (void);

/* Does the same as plait_stop_on_signals() for commands whose result goes to stdout, with two differences: SIGPIPE ends
 * the process, and a signal also interrupts reading from a pipe or a terminal. Returns the flag that the
 * signals set. */
const gint *plait_stop_reads_on_signals (void);
