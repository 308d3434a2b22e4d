/* SPDX-License-Identifier: MIT */
#pragma once

#include "experiment/file.h"
#include "axes/keys.h"

/*
 * Gives every cell of a grid about as many parameters as its first cell, so that combiners are compared at equal model
 * size.
 *
 *     [grid]
 *     decoder.combiner=parallel;hierarchical;flat
 *     match=parameters
 *     match.vary=decoder.feed_forward
 *
 * The keys in match.vary are widths, whose values for the first cell are in the file. In every other cell, all widths
 * are multiplied by one factor and rounded to multiples of match.multiple (default 1). The factor is searched so that
 * the cell's number of parameters comes as near as possible to that of the first cell. A cell that still differs by
 * more than the fraction match.tolerance (default 0.01) is an error. Each vocabulary is counted with
 * data.vocabulary_size entries.
 */
typedef struct PlaitParameterMatch PlaitParameterMatch;

/* Reads the keys match and match.* of @grid (borrowed). Returns NULL if all of them are missing, or after adding a
 * problem to @grid. (transfer full) */
PlaitParameterMatch *plait_parameter_match_new (const PlaitGridGroup *grid);
void plait_parameter_match_free (PlaitParameterMatch *match);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitParameterMatch, plait_parameter_match_free)

/* TRUE if match.vary names @key. */
gboolean plait_parameter_match_varies (const PlaitParameterMatch *match, const char *key);

/* Returns the experiment of the cell whose values @file has, with matched widths. Afterwards @file has its own widths
 * again. The first call resolves the first cell, whose number of parameters the other cells must match. Sets
 * *@parameters to the number of parameters and *@widths (transfer full) to the widths, such as
 * "decoder.feed_forward=231". Returns NULL after adding a fault to @problems. (transfer full) */
PlaitExperiment *plait_parameter_match_resolve (PlaitParameterMatch *match, const PlaitResolver *resolver,
                                                PlaitKeyFile *file, gint64 *parameters, char **widths,
                                                PlaitProblems *problems);
