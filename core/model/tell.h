/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/search.h"

/* What @model, which predicts no sequence, tells of the sentences of @batch: reads them on @tape, whose values are
 * evaluated, and fills @told [n_sentences], all zero before, as plait_search_batch says. Of classes, choices and spans
 * the @n_best best. Leaves by the tape's arena where that is full; what is told by then is the caller's. */
void plait_tell (PlaitModel *model, PlaitTape *tape, const PlaitBatch *batch, gint64 n_best, PlaitHypotheses *told);
