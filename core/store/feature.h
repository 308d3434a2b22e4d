/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"
#include "tensor/tensor.h"

/*
 * Feature files: HDF5 that somebody else wrote, with a dataset [sentence, position, width] of any integer or float
 * type, such as the positions of an image a sentence.
 *
 * A dataset DATASET_lengths [sentence] of integers beside it, which may be missing, tells how many positions of each
 * sentence count: the first ones, or with 0 none, where there is no image. What stands behind them is not looked at.
 *
 * libhdf5 does not survive every damaged file, so a file is opened and read in a child process first
 * (base/trial.h): whole up to 64 MiB, beyond that rows from all over it. Only then this process opens it.
 */
typedef struct PlaitFeatureFile PlaitFeatureFile;

/* Opens @path and its dataset @dataset (such as "/features"; NULL: the only dataset of the root group). Refused with
 * PLAIT_ERROR_INPUT: another rank or type, no position or width, a shape that the file cannot hold, rows above 1 GiB,
 * data that stands in other files. Refused with PLAIT_ERROR_CORRUPT: what kills its trial. (transfer full) */
PlaitFeatureFile *plait_feature_file_open (const char *path, const char *dataset, GError **error);
void plait_feature_file_free (PlaitFeatureFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitFeatureFile, plait_feature_file_free)

/* The first and the last extent of the dataset. */
gint64 plait_feature_file_sentences (const PlaitFeatureFile *file);
gint64 plait_feature_file_width (const PlaitFeatureFile *file);

/* The positions of @sentence that count; 0: it is missing. */
gint64 plait_feature_file_length (const PlaitFeatureFile *file, gint64 sentence);

/* Whether the file is as it was when it was opened (base/file-mark.h). */
gboolean plait_feature_file_check (const PlaitFeatureFile *file, GError **error);

/* Reads position @position, which is there, of @sentence into @row [width]; fails as the next. */
gboolean plait_feature_file_read_row (PlaitFeatureFile *file, gint64 sentence, gint64 position, PlaitScalar *row,
                                      GError **error);

/* Reads @sentences[0 .. n - 1] (each in 0 .. sentences - 1, in any order) into @rows [their lengths, width]. An
 * infinite or undefined value is an error that names where it stands, and so is a file that was changed since it was
 * opened. */
gboolean plait_feature_file_read (PlaitFeatureFile *file, const gint64 *sentences, gint64 n, PlaitTensor rows,
                                  GError **error);
