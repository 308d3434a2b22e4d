/* SPDX-License-Identifier: MIT */
#pragma once

#include "experiment/file.h"

/*
 * Cells of a grid with as many parameters as its first one, so that combiners are compared and not sizes.
 *
 *     [grid]
 *     decoder.combiner=parallel;hierarchical;flat
 *     match=parameters
 *     match.vary=decoder.feed_forward
 *
 * The keys of match.vary (a list; the file has their values) are widths: in every cell but the first they are
 * multiplied by one number, rounded to multiples of match.multiple (1), so that the parameters of the cell come as near
 * to the first one's as they can, and within match.tolerance of them (0.01) at least. Vocabularies count with
 * data.vocabulary_size entries.
 */
typedef struct PlaitParameterMatch PlaitParameterMatch;

/* What [grid] of @file asks for; NULL where it does not, or where it adds to @problems. (transfer full) */
PlaitParameterMatch *plait_parameter_match_new (const PlaitKeyFile *file, PlaitProblems *problems);
void plait_parameter_match_free (PlaitParameterMatch *match);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitParameterMatch, plait_parameter_match_free)

/* TRUE if @key is one that varies. */
gboolean plait_parameter_match_varies (const PlaitParameterMatch *match, const char *key);

/* The experiment of the cell that @file has the values of, its widths suited (transfer full), which @file has no longer
 * afterwards; *@parameters becomes how many it has, *@chosen "decoder.feed_forward=231" (transfer full). The first cell
 * is what the others are suited to. NULL where it adds to @problems. */
PlaitExperiment *plait_parameter_match_resolve (PlaitParameterMatch *match, const PlaitResolver *resolver,
                                                PlaitKeyFile *file, gint64 *parameters, char **chosen,
                                                PlaitProblems *problems);
