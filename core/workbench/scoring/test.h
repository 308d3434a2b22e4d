/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/run-output.h"
#include "setup/experiment-model.h"

/*
 * Evaluates a finished run with other metrics, searches, checkpoints or test splits. Writes a new file next to the old
 * one, with a copy of everything trained, and replaces the old file when the new one is complete.
 */

typedef struct
{
  const char *name; /* NAME, if the evaluations are to be named SPLIT.NAME; NULL: the experiment's own evaluations */
  guint threads;    /* number of threads; 0: all processors of this process */
  PlaitLog *log;
  const gint *stop; /* flag that a signal handler sets to interrupt the test, or NULL */
} PlaitTestOptions;

typedef struct
{
  guint made; /* number of evaluations that were made */
  guint kept; /* number of valid evaluations that the file already had */
} PlaitTestOutcome;

/* Evaluates @trained, a finished run with fingerprint @training_fingerprint, as the experiment of @run_inputs says, and
 * writes @run_output. If options->name is set, @set lists the settings of the named evaluation. Leaves the file alone
 * if nothing in it would change. PLAIT_ERROR_PLUGIN if the run's plugins have changed. If an external score fails,
 * writes everything else, then fails. */
gboolean plait_test (PlaitStore *trained, PlaitRunOutput *run_output, PlaitRunInputs *run_inputs,
                     const char *training_fingerprint, const PlaitOverride *set, const PlaitTestOptions *options,
                     PlaitTestOutcome *outcome, GError **error);

/* Evaluates the run in the file @path, which is locked meanwhile. @overrides (may be NULL) may set keys of [decode]
 * and [evaluate], and test splits of [data]. Needs no training text. */
gboolean plait_test_file (const char *path, const PlaitOverride *overrides, const PlaitTestOptions *options,
                          PlaitTestOutcome *outcome, GError **error);
