/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* From now on SIGINT and SIGTERM raise a flag that long work looks at between its steps; the second such signal ends
 * the process at once. Returns the flag. */
const gint *plait_stop_on_signals (void);

/* The same; a signal also ends the wait for input from a pipe or a terminal. */
const gint *plait_stop_reads_on_signals (void);
