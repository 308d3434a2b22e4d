/* SPDX-License-Identifier: MIT */
#pragma once

#include "experiment/trained.h"

/* "NAME=FILE" options: the file of each source of a run. */

/* @given: the options; @without: names of sources that are missing. Returns a path for each source of @experiment, NULL
 * for a missing one: [n_sources]. Every source must be named once. (transfer container) */
const char **plait_source_files (const PlaitExperiment *experiment, const char *const *given,
                                 const char *const *without, GError **error);
