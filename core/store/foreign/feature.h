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

/* Opens the feature file @path. @dataset is a path such as "/features"; NULL or "": the only dataset of the root
 * group; DATASET_lengths does not count. (transfer full)
 * PLAIT_ERROR_INPUT if the dataset has another shape or type, an empty dimension, a sentence above 1 GiB, or values in
 * another file, or if the file cannot hold so many values. PLAIT_ERROR_CORRUPT if the child process crashes or exceeds
 * its limits, or if HDF5's flag says that the file is open for writing. */
PlaitFeatures *plait_feature_file_open (const char *path, const char *dataset, GError **error);
