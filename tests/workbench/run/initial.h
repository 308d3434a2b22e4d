/* SPDX-License-Identifier: MIT */
#pragma once

#include "hdf5/store.h"

/* Functions for tests of runs that begin with the parameters of another run. */

/* Trains @experiment for 7 updates, up to the first validation of tiny runs. Returns the path of the run, "base.h5".
 * (transfer none) */
const char *test_base_run (const char *experiment);

/* Runs @experiment for one update with a learning rate of 0, which leaves the parameters unchanged, and writes the file
 * @name. @more are overrides, NULL-terminated, or NULL. Unless @said is NULL, sets *@said to the log (transfer
 * full). Returns the run (transfer full); NULL on failure. */
PlaitStore *test_run_still (const char *experiment, const char *name, const char *const *more, char **said,
                            GError **error);

/* TRUE if parameter @name has equal bits in checkpoint "last" of @a and in checkpoint @checkpoint of @b. */
gboolean test_is_same (PlaitStore *a, PlaitStore *b, const char *checkpoint, const char *name);

/* Returns what @run stores about the initialisation of parameter @name, such as "taken"; NULL if it stores nothing.
 * (transfer full) */
char *test_outcome_of (PlaitStore *run, const char *name);

#define TEST_CHECK_OUTCOME(run, name, expected)                                                                        \
  do                                                                                                                   \
    {                                                                                                                  \
      g_autofree char *outcome = test_outcome_of (run, name);                                                          \
      CHECK_STRING (outcome, expected);                                                                                \
    }                                                                                                                  \
  while (0)
