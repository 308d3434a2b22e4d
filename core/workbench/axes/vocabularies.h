/* SPDX-License-Identifier: MIT */
#pragma once

#include "axes/cells.h"

/*
 * The vocabularies of the cells of a grid. Cells that would learn different vocabularies of the same settings for a
 * stream that they have in common learn one, from the training text of all of them, unless [grid] says otherwise:
 *
 *     vocabularies=own     each cell learns from the text that it reads itself
 *
 * A cell whose own text is not all of that has data.vocabulary_text keys, so that its run says what it was learnt from.
 * Generated text of different tasks is never put together.
 */

/* Returns whether [grid] of @file lets each cell learn its own; a fault is added to @problems. */
gboolean plait_vocabularies_read_own (const PlaitKeyFile *file, PlaitProblems *problems);

/* Has cells learn together what they would learn apart. Returns whether that changed any. */
gboolean plait_vocabularies_join (PlaitExperimentCell *cells, guint n, PlaitDigests *digests);

/* Describes the vocabularies of @experiment. (transfer full) (element-type PlaitCellVocabulary) */
GPtrArray *plait_vocabularies_describe (const PlaitExperiment *experiment, PlaitDigests *digests);

/* Returns the names of the vocabularies that are not the same in all cells, NULL-terminated. (transfer container) */
const char **plait_vocabularies_that_differ (const PlaitCells *cells);
