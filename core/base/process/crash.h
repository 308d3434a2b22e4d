/* SPDX-License-Identifier: MIT */
#pragma once

#include <signal.h>

#include "types/export.h"

/*
 * Reports crashes of plugins by the plugin's name. While code of a plugin runs in a thread, the thread is marked with
 * this plugin. A crash signal, or a call of exit (), then writes one sentence that names the plugin and ends the
 * process with exit code 1. Threads of a pool that compute for a plugin are marked as well.
 */

/* The plugin whose code runs in this thread. Its two texts must live until the process ends. */
typedef struct
{
  const char *who; /* name of the plugin; NULL: plait itself */
  const char *call;
} PlaitCodeOwner;

/* Sets the owner of the code that runs in this thread from now on. Returns the previous owner. */
PlaitCodeOwner plait_crash_set_owner (PlaitCodeOwner caller);

/* Returns the owner of the code that runs in this thread. */
PlaitCodeOwner plait_crash_get_owner (void);

/* Installs handlers for exit () and for crash signals without a handler, and gives SIGCHLD its default action. Call
 * once, from main. */
void plait_crash_install_handlers (void);

/* If @guarded, an exit () outside any known plugin code (by a library, or a thread that a plugin started) also ends
 * with a message and exit code 1. The guard is off at the start; plait turns the guard off before its own exit. */
void plait_crash_catch_exit (gboolean guarded);

/* Adds @module, whose threads cannot be recognised, to the suspects that crash messages name. The text must live until
 * the process ends. */
void plait_crash_suspect (const char *module);

/* Installs the crash handlers again, in a child that has reset all signal handlers. Does nothing if they were never
 * installed. */
void plait_crash_reinstall_handlers (void);

/* Reports that the plugin whose code runs did @what, and ends the process. Returns only if plait's own code runs.
 * Allowed in a signal handler. */
void plait_crash_end_process (const char *what);

/* Gives this thread a separate signal stack, so that a stack overflow can be reported. The main thread gets it from
 * plait_crash_install_handlers. */
void plait_crash_use_signal_stack (void);

/* Removes the crash signals from @signals, the set that a thread will block: a blocked crash signal ends the process
 * without a message. */
void plait_crash_unblock_signals (sigset_t *signals);

/* End of a crash message if the crash also ends the run. */
#define PLAIT_CRASH_ENDS_RUN "; this is a fault of the plugin, and the run ends here"

/* Also writes the messages that name a plugin or report an exit () to @descriptor, between the texts @begin and @end,
 * which must live until the process ends. A parent process reads them there. @end blames the plugin, so it is left out
 * if a library called exit (). */
void plait_crash_report_to (int descriptor, const char *begin, const char *end);
