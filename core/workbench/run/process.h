/* SPDX-License-Identifier: MIT */
#pragma once

#include "run/run.h"

/*
 * A run in a child process, so that a crash ends only this run. The child's output goes into a file. The child dies
 * with its parent. If memory runs out, the kernel kills the child before the parent.
 */
typedef struct PlaitRunProcess PlaitRunProcess;

typedef enum
{
  PLAIT_PROCESS_RUNNING,
  PLAIT_PROCESS_DONE,
  PLAIT_PROCESS_INTERRUPTED, /* a signal stopped the run; if it was training, it wrote a checkpoint first */
  PLAIT_PROCESS_FAILED,
} PlaitProcessEnd;

/* Starts plait_run (@experiment, @options) in a child process, or plait_run_measure() if options->speed is set. The
 * child's output replaces the file @log, or with @append is appended to it; NULL: the output is dropped. options->log
 * is not used. The calling process must have no other thread. (transfer full) */
PlaitRunProcess *plait_run_process_new (const PlaitExperiment *experiment, const PlaitRunOptions *options,
                                        const char *log, gboolean append, GError **error);

/* Kills the process if it still runs, and frees @process. */
void plait_run_process_free (PlaitRunProcess *process);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitRunProcess, plait_run_process_free)

/* Sets *@held to the bytes of memory that the process holds now, and *@max to their maximum so far; both to 0 after the
 * process has ended. */
void plait_run_process_memory (const PlaitRunProcess *process, gsize *held, gsize *max);

/* Returns a file descriptor, which becomes readable when plait_run_process_poll() should be called. */
int plait_run_process_descriptor (const PlaitRunProcess *process);

/* Returns how the process has ended, or that it still runs. With PLAIT_PROCESS_FAILED, sets *@reason (transfer
 * full). */
PlaitProcessEnd plait_run_process_poll (PlaitRunProcess *process, char **reason);

/* Asks the process to write a checkpoint and end; with @at_once kills it. plait_run_process_poll() reports when it has
 * ended. */
void plait_run_process_stop (PlaitRunProcess *process, gboolean at_once);
