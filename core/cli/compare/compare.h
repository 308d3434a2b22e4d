/* SPDX-License-Identifier: MIT */
#pragma once

#include "comparison/comparison.h"

/* Prints the divergence of attention between the two files in @paths. */
gboolean plait_compare_attention (char *const *paths, gboolean json, PlaitLog *log, GError **error);

/* Prints the accuracy of words in each split by their frequency in the training text at @path. */
gboolean plait_compare_frequencies (const PlaitRunComparison *comparison, const char *path, gboolean as_json,
                                    GError **error);

/* Prints the @n sentences of each split whose scores differ most between the two runs of @comparison, by the first
 * metric with a score for each sentence. */
gboolean plait_compare_sentences (const PlaitRunComparison *comparison, gint64 n, gboolean as_json, GError **error);
