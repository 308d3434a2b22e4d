/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/fingerprint.h"
#include "hdf5/store.h"

/* Returns the differences between the run file @run and the run that @experiment would give now, as a sentence:
 * "train.batch was 32, is 64; the file data.train.en has changed; the module of combiner flat has changed". Lists at
 * most six, and only differences that can change results. "" without a difference; a setting at its default equals a
 * missing one. (transfer full) */
char *plait_grid_difference (const PlaitExperiment *experiment, PlaitDigests *digests, PlaitStore *run, GError **error);
