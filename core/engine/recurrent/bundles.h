/* SPDX-License-Identifier: MIT */
#pragma once

#include "recurrent/rnn-step.h"

/*
 * Bundles of sentences. A recurrence takes all sentences of a batch through one step after another, and a step of
 * narrow states gives the threads less to do than to wait for each other. So while its factors are near every thread,
 * each thread takes a bundle of the sentences through all steps. The bits of a row do not depend on the rows beside it,
 * hence not on the bundles: these may follow the number of threads.
 */

/* Takes bundle @bundle of @bundles through, cutting its work for @pool. */
typedef void (*PlaitBundleWork) (gpointer data, gint64 bundle, gint64 bundles, PlaitPool *pool);

/* Calls @work for each of the bundles that @sentences make, in the threads with pools of one; for all of them as a
 * single bundle with @pool where each step is better cut by itself. No step has more than @most_rows rows, and a step
 * multiplies by the @n @factors. */
void plait_bundles_run (PlaitPool *pool, gint64 sentences, gint64 most_rows, const PlaitRnnWeight *factors, guint n,
                        PlaitBundleWork work, gpointer data);

/* The first row of bundle @bundle where the trees of @sentences, whose offsets count @rows rows, go into @bundles
 * bundles of about as many rows; @rows for the bundle after the last. */
gint64 plait_bundle_row (PlaitRagged sentences, gint64 rows, gint64 bundle, gint64 bundles);
