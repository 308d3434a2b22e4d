/* SPDX-License-Identifier: MIT */
#pragma once

#include "comparison/comparison.h"

/* Prints how much attention differs between the two files in @paths: the divergence of their weights. */
gboolean plait_compare_attention (char *const *paths, gboolean json, PlaitLog *log, GError **error);

/* Prints for each split how accurately words are translated, by their frequency in the training text at @path. */
gboolean plait_compare_frequencies (const PlaitRunComparison *comparison, const char *path, gboolean as_json,
                                    GError **error);

/* Prints the @n sentences of each split whose scores differ most between the two runs of @comparison. Uses the first
 * metric that has scored single sentences in both runs. */
gboolean plait_compare_sentences (const PlaitRunComparison *comparison, gint64 n, gboolean as_json, GError **error);
