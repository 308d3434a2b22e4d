/* SPDX-License-Identifier: MIT */
#pragma once

#include "comparison/comparison.h"

/* Prints how differently the two files in @paths attend. */
gboolean plait_compare_attention (char *const *paths, gboolean json, PlaitLog *log, GError **error);

/* Prints how well the words of each split are translated by how often the text in @path, which training read, has
 * them. */
gboolean plait_compare_frequencies (const PlaitRunComparison *comparison, const char *path, gboolean as_json,
                                    GError **error);

/* Prints the @n sentences of each split whose scores, by its first metric of sentences, differ most between the two
 * runs of @comparison. */
gboolean plait_compare_sentences (const PlaitRunComparison *comparison, gint64 n, gboolean as_json, GError **error);
