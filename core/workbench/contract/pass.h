/* SPDX-License-Identifier: MIT */
#pragma once

#include "contract/fixture.h"

/* Forward and backward passes over small batches, for the tests of the contract. */

#define PLAIT_PASS_SENTENCES 3
#define PLAIT_PASS_ROWS 64 /* maximum target rows */

/* Lengths of PLAIT_PASS_SENTENCES sentences. */
typedef struct
{
  gint64 sources[3][PLAIT_PASS_SENTENCES]; /* lengths in up to three sources */
  gint64 targets[PLAIT_PASS_SENTENCES];
} PlaitPassLengths;

/* Lengths of sentences that have all sources, each with two rows or more. */
extern const PlaitPassLengths plait_pass_whole;

/* Lengths with which the second sentence lacks the second source, and the third sentence has only the second source. */
extern const PlaitPassLengths plait_pass_missing;

/* plait_pass_batch returns the batch of all sentences, plait_pass_sentence the batch of one sentence. (transfer
 * full) */
PlaitBatch *plait_pass_batch (const PlaitFixture *fixture, const PlaitPassLengths *lengths);
PlaitBatch *plait_pass_sentence (const PlaitFixture *fixture, const PlaitPassLengths *lengths, gint64 sentence);

/* Results of a pass over a batch. */
typedef struct
{
  double rows[PLAIT_PASS_ROWS]; /* negative log-likelihood of each target row */
  PlaitModelSums sums;
} PlaitPass;

/* Computes the loss of @batch on @threads threads. PLAIT_TAPE_TRAIN and PLAIT_TAPE_CHECK also write the gradients
 * of the parameters. @key is the random key of dropout. Fails if the model cannot read the batch. */
gboolean plait_pass_run (const PlaitFixture *fixture, const PlaitBatch *batch, PlaitTapeMode mode, guint threads,
                         guint64 key, PlaitPass *pass, GError **error);

/* Returns lengths for checking any property: plait_pass_missing, or plait_pass_whole if the plugin cannot train with
 * missing sources (another property reports that). */
const PlaitPassLengths *plait_pass_lengths (const PlaitFixture *fixture);

/* TRUE if the loss of each target row of @batch is a finite number above 0. */
gboolean plait_pass_is_finite (const PlaitPass *pass, const PlaitBatch *batch, GError **error);

/* TRUE if forward and backward over @batch give finite losses, and gradients that are finite and not all zero. */
gboolean plait_pass_trains (const PlaitFixture *fixture, const PlaitBatch *batch, GError **error);

/* TRUE if the losses of each sentence of @lengths alone equal its losses in the batch of all sentences, except for
 * rounding. */
gboolean plait_pass_equals_its_sentences (const PlaitFixture *fixture, const PlaitPassLengths *lengths, GError **error);

/* TRUE if the gradients of @batch equal finite differences, at @sample elements of each parameter. @mode is
 * PLAIT_TAPE_CHECK (no dropout) or PLAIT_TAPE_TRAIN (dropout). If PlaitScalar is float, finite differences reveal only
 * large errors. */
gboolean plait_pass_has_gradients (const PlaitFixture *fixture, const PlaitBatch *batch, PlaitTapeMode mode,
                                   guint sample, GError **error);

/* TRUE if @a and @b are equal except for rounding. */
gboolean plait_pass_nearly_equal (double a, double b);
