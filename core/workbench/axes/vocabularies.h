/* SPDX-License-Identifier: MIT */
#pragma once

#include "axes/cells.h"

/*
 * The vocabularies of the cells of a grid. Cells that would learn different vocabularies with equal settings for a
 * common stream learn one vocabulary, from the training text of all of them. [grid] can turn that off:
 *
 *     vocabularies=own     each cell learns from its own text
 *
 * A cell that learns from more than its own text gets data.vocabulary_text keys, so that its run records the text.
 * Generated texts of different tasks are never combined.
 */

/* TRUE if @grid has vocabularies=own. A fault is added to its problems. */
gboolean plait_vocabularies_read_own (const PlaitGridGroup *grid);

/* Makes cells [@n] learn one vocabulary where they would learn different ones for a common stream. TRUE if that changed
 * a cell. */
gboolean plait_vocabularies_join (PlaitExperimentCell *cells, guint n, PlaitDigests *digests);

/* Returns the vocabularies of @experiment. (transfer full) (element-type PlaitCellVocabulary) */
GPtrArray *plait_vocabularies_describe (const PlaitExperiment *experiment, PlaitDigests *digests);

/* Returns the names of the vocabularies that differ between cells, NULL-terminated. (transfer container) */
const char **plait_vocabularies_that_differ (const PlaitCells *cells);
