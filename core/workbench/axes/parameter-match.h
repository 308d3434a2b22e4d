/* SPDX-License-Identifier: MIT */
#pragma once

#include "experiment/file.h"
#include "axes/keys.h"

/*
 * Cells of a grid with as many parameters as its first cell, so that combiners are compared at equal model size.
 *
 *     [grid]
 *     decoder.combiner=parallel;hierarchical;flat
 *     match=parameters
 *     match.vary=decoder.feed_forward
 *
 * The keys in match.vary are widths, whose values for the first cell are in the file. In every other cell the widths
 * are multiplied by one number and rounded to multiples of match.multiple (1). The number is widths so that the cell's
 * parameters come as near as possible to the parameters of the first cell. A cell that differs by more than
 * match.tolerance (0.01) is an error. A vocabulary counts with data.vocabulary_size entries.
 */
typedef struct PlaitParameterMatch PlaitParameterMatch;

/* Reads the keys match and match.* of @grid (borrowed). NULL if all of them are missing, or if it adds to its problems.
 * (transfer full) */
PlaitParameterMatch *plait_parameter_match_new (const PlaitGridGroup *grid);
void plait_parameter_match_free (PlaitParameterMatch *match);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitParameterMatch, plait_parameter_match_free)

/* TRUE if match.vary names @key. */
gboolean plait_parameter_match_varies (const PlaitParameterMatch *match, const char *key);

/* Resolves the cell whose values @file has, with matched widths. Afterwards @file has its own widths again. The first
 * call resolves the first cell, which sets the number of parameters for the others. *@parameters becomes the number of
 * parameters, *@widths the widths, such as "decoder.feed_forward=231" (transfer full). NULL if it adds to @problems.
 * (transfer full) */
PlaitExperiment *plait_parameter_match_resolve (PlaitParameterMatch *match, const PlaitResolver *resolver,
                                                PlaitKeyFile *file, gint64 *parameters, char **widths,
                                                PlaitProblems *problems);
