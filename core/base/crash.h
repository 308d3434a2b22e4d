/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/export.h"

/*
 * Ends in words where foreign code brings the process down. While code of a plugin runs, its thread has said so; a
 * signal that means a crash then writes one sentence that names it and ends the process with exit code 1, and so does a
 * call of exit ().
 */

/* Whose code runs in this thread, texts that outlive it. */
typedef struct
{
  const char *who; /* NULL: the host's own */
  const char *call;
} PlaitCaller;

/* Sets whose code runs in this thread from now on, and returns whose did. */
PlaitCaller plait_crash_enter (PlaitCaller caller);

/* Whose code runs in this thread. */
PlaitCaller plait_crash_running (void);

/* Begins to watch: crash signals that nobody handles yet, and exit (). Once, from main. */
void plait_crash_watch (void);
