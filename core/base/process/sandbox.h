/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"

/*
 * Runs untrusted code in a child process.
 *
 * A foreign HDF5 file, a foreign model or the constructor of a plugin may crash, hang, end the process or exhaust
 * memory. So each of them first runs in a forked child with limits. If the child dies, the refusal says how.
 *
 * The child has no terminal: its standard streams lead to /dev/null, it cannot write files, and it dies with its
 * parent. Call this while no other thread holds a lock that @call needs (workers of a pool hold no lock).
 */
typedef struct
{
  guint wall_seconds;      /* limit of elapsed time, > 0 */
  guint processor_seconds; /* limit of processor time, > 0 */
  gsize memory_bytes;      /* memory that the child may map in addition to what is mapped now; 0: no limit */
} PlaitSandboxLimits;

/* Code that runs in the sandbox. Memory that it writes is lost with the child. Returns FALSE with *error set to refuse
 * its input. */
typedef gboolean (*PlaitSandboxFunc) (gpointer data, GError **error);

/* Limits for opening one file or module: 20 s, 10 s of processor time, 1 GiB. */
#define PLAIT_SANDBOX_LIMITS ((PlaitSandboxLimits){ 20, 10, (gsize)1 << 30 })

/* Runs @call (@data) in a child process. TRUE if @call returned TRUE there. Else FALSE with an error: the error of
 * @call if it set one; with @code the crash message if a plugin marked by process/crash.h crashed; otherwise with @code
 * a sentence that begins with @what (such as a file name) and says how the child ended. PLAIT_ERROR_FAILED if no child
 * process can be started. */
gboolean plait_sandbox_run (const char *what, PlaitErrorCode code, PlaitSandboxFunc call, gpointer data,
                            PlaitSandboxLimits limits, GError **error);

/* Runs @call like plait_sandbox_run, but the sentence about how the child ended begins with @subject alone: "the
 * plugin" gives "the plugin did not end within 20 seconds". */
gboolean plait_sandbox_run_with_subject (const char *subject, PlaitErrorCode code, PlaitSandboxFunc call, gpointer data,
                                         PlaitSandboxLimits limits, GError **error);

/* Confines the calling child process: removes its terminal, its right to write files and its signal handlers except
 * those of process/crash.h, gives it its own process group, and lets it die with its parent. A limit of 0 is not set.
 * wall_seconds is not set here; the caller must enforce it. */
void plait_sandbox_confine (PlaitSandboxLimits limits);
