/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/run-output.h"
#include "setup/experiment-model.h"

/*
 * Evaluates a finished run with other metrics, searches, checkpoints or test splits. Writes a new file beside the old
 * one, with a copy of everything trained, and replaces the old one when it is complete.
 */
typedef struct
{
  const char *name; /* NAME of named evaluations (SPLIT.NAME), or NULL: the experiment's own */
  guint threads;    /* 0: all processors of this process */
  PlaitLog *log;
  const gint *stop; /* NULL, or a flag that a signal handler sets */
} PlaitTestOptions;

typedef struct
{
  guint made; /* number of evaluations made */
  guint kept; /* number of valid evaluations that were in the file */
} PlaitTestOutcome;

/* Evaluates @trained, a finished run with fingerprint @training_fingerprint, by the experiment of @run_inputs, into
 * @run_output. With options->name, @set lists the settings of the named evaluation (NULL-terminated). Leaves the file
 * alone if nothing in it would change. PLAIT_ERROR_INPUT if its plugins have changed. */
gboolean plait_test (PlaitStore *trained, PlaitRunOutput *run_output, PlaitRunInputs *run_inputs,
                     const char *training_fingerprint, const char *const *set, const PlaitTestOptions *options,
                     PlaitTestOutcome *outcome, GError **error);

/* Evaluates the run at @path, locked meanwhile. @overrides (NULL-terminated, or NULL) set keys of [decode], [evaluate]
 * and test splits of [data]. Training text is not needed. */
gboolean plait_test_file (const char *path, const char *const *overrides, const PlaitTestOptions *options,
                          PlaitTestOutcome *outcome, GError **error);
