/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/fingerprint.h"
#include "hdf5/store.h"

/* Returns a sentence with the differences between the run file @run and the run that @experiment would give now:
 * "train.batch was 32, is 64; the file data.train.en has changed; the module of combiner flat has changed". Lists at
 * most six, and only differences that can change results. Returns "" if there is no difference. A missing setting
 * counts as its default. Call this only if the fingerprints differ. If nothing else differs, the sentence says that
 * files may have changed whose digests @run does not store, such as decode.dictionary. (transfer full) */
char *plait_grid_difference (const PlaitExperiment *experiment, PlaitDigests *digests, PlaitStore *run, GError **error);
