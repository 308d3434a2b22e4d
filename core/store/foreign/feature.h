/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"
#include "types/features.h"

/*
 * Feature files: HDF5 files of other programs with a dataset [sentence, position, width] of any integer or float type,
 * such as vectors of the regions of one image for each sentence.
 *
 * A second dataset DATASET_lengths [sentence] of integers is optional. It holds the number of valid positions of each
 * sentence, counted from the first; 0 if there is no image. Values of other positions are ignored.
 *
 * libhdf5 can crash on damaged files, so a file is first opened and read in a child process (process/sandbox.h): all
 * values if they have at most 64 MiB, else sentences from all parts of the file. Only then this process opens it.
 */

/* Opens dataset @dataset of @path (such as "/features"; NULL or "": the only dataset of the root group).
 * PLAIT_ERROR_INPUT if the dataset does not have three dimensions or does not hold integers or floats, or if a
 * dimension is empty or a sentence is larger than 1 GiB. PLAIT_ERROR_INPUT also if the shape claims more values than
 * the file holds, or if the values are stored in another file. PLAIT_ERROR_CORRUPT if the child process crashes or
 * exceeds its limits, or if HDF5's flag says that the file is open for writing. (transfer full) */
PlaitFeatures *plait_feature_file_open (const char *path, const char *dataset, GError **error);
