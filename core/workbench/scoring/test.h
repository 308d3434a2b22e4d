/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/run-output.h"
#include "setup/experiment-model.h"

/*
 * Evaluation of a finished run: other metrics, searches, checkpoints or test splits, written into its file, beside the
 * old one until it is whole. What was trained is copied as it is stored.
 */
typedef struct
{
  const char *name; /* of evaluations beside the others (SPLIT.NAME), or NULL: those of the experiment itself */
  guint threads;    /* 0: the processors this process may use */
  PlaitLog *log;
  const gint *stop; /* NULL, or a flag that a signal raises */
} PlaitTestOptions;

typedef struct
{
  guint made; /* evaluations */
  guint kept; /* that were there already, of the same key */
} PlaitTestOutcome;

/* Evaluates @trained, a finished run of @training_fingerprint, as the experiment of @run_inputs says, into @run_output;
 * with options->name @set has what was set for it (NULL-terminated). A file there in which nothing would change is left
 * alone. PLAIT_ERROR_INPUT if its plugins are other ones now. */
gboolean plait_test (PlaitStore *trained, PlaitRunOutput *run_output, PlaitRunInputs *run_inputs,
                     const char *training_fingerprint, const char *const *set, const PlaitTestOptions *options,
                     PlaitTestOutcome *outcome, GError **error);

/* The same of the run at @path, held meanwhile, its experiment with @overrides (NULL-terminated, or NULL) of [decode],
 * [evaluate] and test splits in [data]. What it was trained with need not be there any more. */
gboolean plait_test_file (const char *path, const char *const *overrides, const PlaitTestOptions *options,
                          PlaitTestOutcome *outcome, GError **error);
