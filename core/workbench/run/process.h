/* SPDX-License-Identifier: MIT */
#pragma once

#include "run/run.h"

/*
 * A run in a process of its own, so that whatever it dies of costs this run alone. What it says goes into a file; it
 * dies with its parent, and gives way first when the machine runs out of memory.
 */
typedef struct PlaitRunProcess PlaitRunProcess;

typedef enum
{
  PLAIT_PROCESS_RUNNING,
  PLAIT_PROCESS_DONE,
  PLAIT_PROCESS_INTERRUPTED, /* after a checkpoint */
  PLAIT_PROCESS_FAILED,
} PlaitProcessEnd;

/* Begins plait_run (@experiment, @options), or plait_run_measure where options->speed is set, in a process whose output
 * goes into the file @log (NULL: nowhere), replaced unless @append; options->log is not used. No other thread may run.
 * (transfer full) */
PlaitRunProcess *plait_run_process_new (const PlaitExperiment *experiment, const PlaitRunOptions *options,
                                        const char *log, gboolean append, GError **error);

/* Kills the process if it still runs. */
void plait_run_process_free (PlaitRunProcess *process);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitRunProcess, plait_run_process_free)

/* The bytes of memory that it holds and the most that it has held so far. */
void plait_run_process_memory (const PlaitRunProcess *process, gsize *held, gsize *max);

/* Becomes readable when there is something to look at. */
int plait_run_process_descriptor (const PlaitRunProcess *process);

/* TRUE if it has ended, and of what: *@reason is set if it failed. (transfer full) */
PlaitProcessEnd plait_run_process_poll (PlaitRunProcess *process, char **reason);

/* Asks the process to write a checkpoint and end, or ends it @at_once; plait_run_process_poll tells when it has. */
void plait_run_process_stop (PlaitRunProcess *process, gboolean at_once);
