/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/fingerprint.h"
#include "hdf5/store.h"

/* Returns a sentence with the differences between the run file @run and the run that @experiment would give now:
 * "train.batch was 32, is 64; the file of data.train.en has changed". Lists at most six, and only differences that can
 * change results. For a key of the core that @run lacks, the default counts. If there is no difference, the sentence
 * says that files or plugins without a digest in @run may have changed; "" if @run has all digests. Call this only if
 * the fingerprints differ. (transfer full) */
char *plait_grid_difference (const PlaitExperiment *experiment, PlaitDigests *digests, PlaitStore *run, GError **error);
