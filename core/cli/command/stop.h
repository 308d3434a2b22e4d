/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* From now on SIGINT, SIGTERM and SIGHUP, unless that is ignored, raise a flag that long work looks at between its
 * steps; the second such signal ends the process at once. What goes into a file is none the worse for a reader of the
 * log that leaves: SIGPIPE ends nothing. Returns the flag. */
const gint *plait_stop_on_signals (void);

/* The same where what is printed is the work: SIGPIPE ends it, and a signal also the wait for input from a pipe or a
 * terminal. */
const gint *plait_stop_reads_on_signals (void);
