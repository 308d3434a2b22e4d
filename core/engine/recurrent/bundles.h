/* SPDX-License-Identifier: MIT */
#pragma once

#include "recurrent/rnn-step.h"

/*
 * Bundles of sentences. A recurrence takes all sentences of a batch through one step after another. If states are
 * narrow, threads wait for each other longer than they work on a step. So while the weights fit into each core's cache,
 * each thread takes a bundle of sentences through all steps. The bits of a row do not depend on the other rows, so the
 * number of bundles may follow the number of threads.
 */

/* Takes bundle @bundle of @bundles through all steps, with the threads of @pool. */
typedef void (*PlaitBundleWork) (gpointer data, gint64 bundle, gint64 bundles, PlaitPool *pool);

/* Cuts @sentences sentences into bundles and calls @work for each, on one thread per bundle. If bundles would not save
 * time, or would change bits, calls @work only once, for one bundle with all sentences and with @pool. @most_rows: rows
 * of the largest step. @factors: the @n weights that each step multiplies by. */
void plait_bundles_run (PlaitPool *pool, gint64 sentences, gint64 most_rows, const PlaitRnnWeight *factors, guint n,
                        PlaitBundleWork work, gpointer data);

/* Returns the first row of bundle @bundle if @sentences, of @rows rows in all, are cut into @bundles bundles with about
 * equally many rows each. Returns @rows for @bundle == @bundles. */
gint64 plait_bundle_row (PlaitRagged sentences, gint64 rows, gint64 bundle, gint64 bundles);
