/* SPDX-License-Identifier: MIT */
#pragma once

#include "axes/cells.h"

/*
 * The vocabularies of the cells of a grid. Cells that have a common stream and equal vocabulary settings learn one
 * vocabulary, from the training text of all these cells. [grid] can turn this off:
 *
 *     vocabularies=own     each cell learns from its own text
 *
 * A cell that learns from more than its own text gets data.vocabulary_text keys, so that its run records the text.
 * Generated texts of different tasks are never combined.
 */

/* TRUE if @grid has vocabularies=own. Adds a problem to @grid if the value is wrong. */
gboolean plait_vocabularies_read_own (const PlaitGridGroup *grid);

/* Makes cells with a common stream and equal vocabulary settings learn one vocabulary together. TRUE if that changed
 * one of @cells [@n]. */
gboolean plait_vocabularies_join (PlaitExperimentCell *cells, guint n, PlaitDigests *digests);

/* Returns the vocabularies of @experiment. (transfer full) (element-type PlaitCellVocabulary) */
GPtrArray *plait_vocabularies_describe (const PlaitExperiment *experiment, PlaitDigests *digests);

/* Returns the names under which cells have unequal vocabularies, NULL-terminated. (transfer container) */
const char **plait_vocabularies_that_differ (const PlaitCells *cells);
