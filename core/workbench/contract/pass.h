/* SPDX-License-Identifier: MIT */
#pragma once

#include "contract/fixture.h"

/* Passes over small batches. */

#define PLAIT_PASS_SENTENCES 3
#define PLAIT_PASS_ROWS 64 /* target rows, at most */

/* The lengths of PLAIT_PASS_SENTENCES sentences. */
typedef struct
{
  gint64 sources[3][PLAIT_PASS_SENTENCES]; /* of up to three sources */
  gint64 targets[PLAIT_PASS_SENTENCES];
} PlaitPassLengths;

/* All sources of all sentences are there, with two rows at least. */
extern const PlaitPassLengths plait_pass_whole;

/* Of the second sentence the second source is missing, the third has a source alone. */
extern const PlaitPassLengths plait_pass_missing;

/* Their batch, and that of one of its sentences. (transfer full) */
PlaitBatch *plait_pass_batch (const PlaitFixture *fixture, const PlaitPassLengths *lengths);
PlaitBatch *plait_pass_sentence (const PlaitFixture *fixture, const PlaitPassLengths *lengths, gint64 sentence);

/* What a pass gave. */
typedef struct
{
  double rows[PLAIT_PASS_ROWS]; /* the negative log-likelihood of each target row */
  PlaitModelSums sums;
} PlaitPass;

/* The loss of @batch on @threads threads; in PLAIT_TAPE_TRAIN and PLAIT_TAPE_CHECK with the gradients, which are those
 * of the parameters then. @key is dropout's. A batch that the model cannot read is refused. */
gboolean plait_pass_run (const PlaitFixture *fixture, const PlaitBatch *batch, PlaitTapeMode mode, guint threads,
                         guint64 key, PlaitPass *pass, GError **error);

/* What to look at other properties with: plait_pass_missing, which has most in it, or plait_pass_whole where the plugin
 * gives no numbers there, which is for one property to tell. */
const PlaitPassLengths *plait_pass_lengths (const PlaitFixture *fixture);

/* That every row of @pass over @batch is a number, and a loss. */
gboolean plait_pass_is_finite (const PlaitPass *pass, const PlaitBatch *batch, GError **error);

/* That forward and backward over @batch give losses as above, and gradients that are numbers and not all zero. */
gboolean plait_pass_trains (const PlaitFixture *fixture, const PlaitBatch *batch, GError **error);

/* That each sentence of @lengths alone is what it is in their batch. */
gboolean plait_pass_equals_its_sentences (const PlaitFixture *fixture, const PlaitPassLengths *lengths, GError **error);

/* That the gradients of @batch, of @sample numbers of each parameter, are those of finite differences in @mode,
 * PLAIT_TAPE_CHECK or, with dropout, PLAIT_TAPE_TRAIN. Differences of floats tell gross errors alone. */
gboolean plait_pass_has_gradients (const PlaitFixture *fixture, const PlaitBatch *batch, PlaitTapeMode mode,
                                   guint sample, GError **error);

/* TRUE if @a and @b are equal but for rounding: a batch adds up in another order than its sentences. */
gboolean plait_pass_nearly_equal (double a, double b);
