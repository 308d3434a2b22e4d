/* SPDX-License-Identifier: MIT */
#pragma once

#include "hdf5/store.h"

/* Runs that begin with the parameters of another one. */

/* A tiny run in "base.h5", validated, with an average. Returns its path. (transfer none) */
const char *test_base_run (const char *experiment);

/* Runs the experiment without moving its parameters, into the file @name, with what is said in @said (or NULL). @more:
 * overrides, NULL-terminated, or NULL. (transfer full); NULL on failure. */
PlaitStore *test_run_still (const char *experiment, const char *name, const char *const *more, char **said,
                            GError **error);

/* TRUE if parameter @name of checkpoint "last" of @a has the bits of that of checkpoint @checkpoint of @b. */
gboolean test_is_same (PlaitStore *a, PlaitStore *b, const char *checkpoint, const char *name);

/* What became of parameter @name in @run. (transfer full) */
char *test_outcome_of (PlaitStore *run, const char *name);

#define TEST_CHECK_OUTCOME(run, name, expected)                                                                        \
  do                                                                                                                   \
    {                                                                                                                  \
      g_autofree char *outcome = test_outcome_of (run, name);                                                          \
      CHECK_STRING (outcome, expected);                                                                                \
    }                                                                                                                  \
  while (0)
