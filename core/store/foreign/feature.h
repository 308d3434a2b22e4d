/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"
#include "types/features.h"

/*
 * Feature files: HDF5 that somebody else wrote, with a dataset [sentence, position, width] of any integer or float
 * type, such as the positions of an image a sentence.
 *
 * A dataset DATASET_lengths [sentence] of integers beside it, which may be missing, tells how many positions of each
 * sentence count: the first ones, or with 0 none, where there is no image. What stands behind them is not looked at.
 *
 * libhdf5 does not survive every damaged file, so a file is opened and read in a child process first
 * (process/sandbox.h): whole up to 64 MiB, beyond that rows from all over it. Only then this process opens it.
 */

/* Opens @path and its dataset @dataset (such as "/features"; NULL or "": the only dataset of the root group). Refused
 * with PLAIT_ERROR_INPUT: another rank or type, no position or width, a shape that the file cannot hold, rows above 1
 * GiB, data that stands in other files. Refused with PLAIT_ERROR_CORRUPT: what kills its trial. (transfer full) */
PlaitFeatures *plait_feature_file_open (const char *path, const char *dataset, GError **error);
