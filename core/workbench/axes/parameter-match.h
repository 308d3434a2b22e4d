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
 * fraction match.tolerance (default 0.01) is an error. A vocabulary from a file or a run is counted with its entries.
 * Parameters are counted as if each other vocabulary had its maximum size: the value of data.vocabulary_size, or of
 * factor_vocabulary_size for a factor or tags. If that value is 0, a fixed size is assumed.
 */
typedef struct PlaitParameterMatch PlaitParameterMatch;

/* Reads the keys match and match.* of @grid (borrowed). Returns NULL if all of them are missing, or after adding a
 * problem to @grid. (transfer full) */
PlaitParameterMatch *plait_parameter_match_new (const PlaitGridGroup *grid);
void plait_parameter_match_free (PlaitParameterMatch *match);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitParameterMatch, plait_parameter_match_free)

/* TRUE if match.vary names @key. */
gboolean plait_parameter_match_varies (const PlaitParameterMatch *match, const char *key);

/* Returns the experiment of one cell, with matched widths. @file holds the values of the cell. Afterwards @file has its
 * own widths again. The first call must be for the first cell: later calls match its number of parameters. If the first
 * call failed, later calls return the experiment with the file's widths and leave *@parameters unchanged. Sets
 * *@parameters to the number of parameters and *@widths (transfer full) to the widths, such as
 * "decoder.feed_forward=231". Returns NULL after adding a fault to @problems. (transfer full) */
PlaitExperiment *plait_parameter_match_resolve (PlaitParameterMatch *match, const PlaitResolver *resolver,
                                                PlaitKeyFile *file, gint64 *parameters, char **widths,
                                                PlaitProblems *problems);
