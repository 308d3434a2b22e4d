/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"

/*
 * Trying something untrusted in a child process.
 *
 * A foreign HDF5 file, a foreign model or a plugin's constructor may crash, hang, end the process or eat all memory. It
 * is done once in a forked child with limits; how the child died is the reason given in the refusal.
 *
 * The child has no terminal: its standard input, output and error lead nowhere, it writes no file, and it dies with its
 * parent. Call this while no other thread holds a lock that @call needs (the pool's workers hold none).
 */
typedef struct
{
  guint wall_seconds;      /* > 0 */
  guint processor_seconds; /* > 0 */
  gsize memory_bytes;      /* what may be mapped beyond what is mapped now; 0: no limit */
} PlaitSandboxLimits;

/* What is tried. Runs in the child; its memory is lost. FALSE with *error set is a refusal in
 * the callee's own words. */
typedef gboolean (*PlaitSandboxFunc) (gpointer data, GError **error);

/* Limits that suit the opening of one file or module: 20 s, 10 s of processor time, 1 GiB. */
#define PLAIT_SANDBOX_LIMITS ((PlaitSandboxLimits){ 20, 10, (gsize)1 << 30 })

/* Runs @call (@data) in a child. TRUE if it returned TRUE there. Otherwise FALSE: with the child's own error if it gave
 * one, else with @code and a sentence that begins with @what (such as a file's name) and says how the child ended. */
gboolean plait_sandbox_run (const char *what, PlaitErrorCode code, PlaitSandboxFunc call, gpointer data,
                            PlaitSandboxLimits limits, GError **error);

/* The same where that sentence begins with @subject as it stands: "the plugin", which "did not end within 20 seconds".
 * Where foreign code that says so runs in the child (process/crash.h), a crash of it is told as one there. */
gboolean plait_sandbox_run_with_subject (const char *subject, PlaitErrorCode code, PlaitSandboxFunc call, gpointer data,
                                         PlaitSandboxLimits limits, GError **error);

/* What a child gives up before a trial, for other children that do what may fail: terminal, files, signal handlers, a
 * process group shared with the parent, and its parent's death. Limits of 0 are none; wall_seconds is the parent's
 * affair. */
void plait_sandbox_confine (PlaitSandboxLimits limits);
