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
 * The keys in match.vary are widths. The file gives their values for the first cell. In every other cell, all widths
 * are multiplied by one factor and rounded to multiples of match.multiple (default 1). The factor is the one that
 * brings the cell's number of parameters nearest to that of the first cell. A cell that still differs by more than the
 * fraction match.tolerance (default 0.01) is an error. The number of parameters depends on the sizes of vocabularies. A
 * vocabulary from a file or a run has a known size. Every other vocabulary is assumed to have its maximum size
 * (data.vocabulary_size, or factor_vocabulary_size for a factor or tags), or a fixed size if the maximum is 0.
 */
typedef struct PlaitParameterMatch PlaitParameterMatch;

/* Reads the keys match and match.* of @grid (borrowed). Returns NULL if all of them are missing, or after adding a
 * problem to @grid. (transfer full) */
PlaitParameterMatch *plait_parameter_match_new (const PlaitGridGroup *grid);
void plait_parameter_match_free (PlaitParameterMatch *match);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitParameterMatch, plait_parameter_match_free)

/* TRUE if match.vary names @key. */
gboolean plait_parameter_match_varies (const PlaitParameterMatch *match, const char *key);

/* Returns the experiment of the cell whose values @file holds, with matched widths. Restores the widths in @file. The
 * first call must be for the first cell of the grid: later calls match that cell's number of parameters. Sets
 * *@parameters to the number of parameters and *@widths (transfer full) to the widths, such as
 * "decoder.feed_forward=231". If the first call failed, later calls do not change widths and do not set *@parameters.
 * Returns NULL after adding a fault to @problems. (transfer full) */
PlaitExperiment *plait_parameter_match_resolve (PlaitParameterMatch *match, const PlaitResolver *resolver,
                                                PlaitKeyFile *file, gint64 *parameters, char **widths,
                                                PlaitProblems *problems);
