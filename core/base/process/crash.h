/* SPDX-License-Identifier: MIT */
#pragma once

#include <signal.h>

#include "types/export.h"

/*
 * Ends in words where foreign code brings the process down. While code of a plugin runs, its thread has said so; a
 * signal that means a crash then writes one sentence that names it and ends the process with exit code 1, and so does a
 * call of exit (). What a pool computes for a plugin is the plugin's in every thread.
 */

/* Whose code runs in this thread, texts that outlive it. */
typedef struct
{
  const char *who; /* NULL: the host's own */
  const char *call;
} PlaitCodeOwner;

/* Sets whose code runs in this thread from now on, and returns whose did. */
PlaitCodeOwner plait_crash_set_owner (PlaitCodeOwner caller);

/* Whose code runs in this thread. */
PlaitCodeOwner plait_crash_get_owner (void);

/* Begins to watch: crash signals that nobody handles yet, and exit (). Once, from main. */
void plait_crash_install_handlers (void);

/* TRUE if an exit () that no code of a plugin is seen to call ends in words too, with exit code 1: one of a thread that
 * a plugin has begun, or of a library. Not until it is asked for, and not where plait itself is about to exit. */
void plait_crash_catch_exit (gboolean guarded);

/* Lets these words name @module, whose threads cannot be told from those of others. The text outlives the process. */
void plait_crash_suspect (const char *module);

/* Watches on where the handlers of all signals have been taken away, in a child; nothing where nobody watched. */
void plait_crash_reinstall_handlers (void);

/* Tells, as for a crash, that the code which runs in this thread did @what, and ends the process; returns where it is
 * the host's own. Allowed in a signal handler. */
void plait_crash_end_process (const char *what);

/* Gives this thread a stack on which to tell that its own is full. plait_crash_install_handlers does so for main's. */
void plait_crash_use_signal_stack (void);

/* Takes the crash signals out of those that a thread is to block: blocked, they end the process without a word. */
void plait_crash_unblock_signals (sigset_t *signals);

/* How the sentence ends where a run ends with it. */
#define PLAIT_CRASH_ENDS_RUN "; this is a fault of the plugin, and the run ends here"

/* Lets the sentence go to @descriptor too, between @begin and @end, texts that outlive the process: to whoever waits
 * for the report of this process. */
void plait_crash_report_to (int descriptor, const char *begin, const char *end);
