/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/fingerprint.h"
#include "hdf5/store.h"

/* What makes @run, a run's file, another one than @experiment would give now, for people: "train.batch was 32, is 64;
 * the file data.train.en has changed; the module of combiner flat has changed". Only what can change results is told,
 * and at most a few things. Empty if there is nothing: a setting that only one of them has and that stands at its
 * default is none. (transfer full) */
char *plait_grid_difference (const PlaitExperiment *experiment, PlaitDigests *digests, PlaitStore *run, GError **error);
