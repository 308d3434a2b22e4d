/* SPDX-License-Identifier: MIT */
#pragma once

#include "corpus/iterator.h"
#include "training/optimizer.h"
#include "training/trainer.h"
#include "training/update.h"

typedef struct
{
  gint64 updates; /* number of all updates */
  gint64 clipped; /* number of updates whose gradients were clipped */
} PlaitClipping;

struct PlaitTrainer
{
  PlaitTrainerSetup setup;
  PlaitParameters *parameters;
  PlaitArena *arena;
  PlaitTape *tape;
  PlaitUpdate *update;
  PlaitOptimizer *optimizer;
  PlaitIterator *iterator;
  gint64 planned;
  double all_reduce_seconds; /* seconds that this trainer's updates spent on communication between processes */

  /* State that checkpoints store. */
  gint64 step;
  gint64 begun; /* number of updates that earlier trainings made and that the moments include; 0: no earlier training */
  gint64 target_tokens;
  double seconds;
  double learning_rate; /* rate of the last update */
  double gradient_norm;
  PlaitTrainingSums sums;     /* sums since the last row of the training table */
  PlaitClipping clipping;     /* clipping since the first update */
  PlaitClipping row_clipping; /* clipping since the last row of the training table */
  gint64 drops;               /* number of times that the schedule plateau has lowered the rate */
  gint64 stalled; /* number of validations since the later of two events: the best validation, or the last time that the
                     schedule plateau lowered the rate */
  gint64 stale;   /* number of validations since the best one */
  double first_ratio;  /* negative log-likelihood divided by that of guessing, in update 1 (divergence.c) */
  double recent_ratio; /* negative log-likelihood divided by that of guessing, decaying mean of the last updates */
  GArray *rows;        /* PlaitTrainingRow */
  GArray *validations; /* PlaitValidationRow */
  GPtrArray *recent;   /* PlaitScalar arrays: parameters at the last validations, oldest first */
};

/* Returns the epoch of the last batch, counted from 1. */
gint64 plait_trainer_epoch (const PlaitTrainer *trainer);

/* Returns the number of rows of all streams of @batch. */
gint64 plait_trainer_rows (const PlaitBatch *batch);

/* Returns the first rows of the longest sentence of @batch, as a batch. Returns NULL if that sentence is short enough
 * to compute in full, or if a source cannot be cut: its rows are not tokens, or trees, documents or word alignments
 * refer to its rows. The result borrows from @batch. (transfer full) */
PlaitBatch *plait_trainer_truncated_batch (const PlaitTrainer *trainer, const PlaitBatch *batch);

/* Adds the ratio of the current update to the decaying mean of these ratios (divergence.c). */
void plait_trainer_note_likelihood (PlaitTrainer *trainer);

/* Fails if training has diverged. @sums: sums of the validation text, or NULL if training ends without validation. If
 * it fails in one process, it fails in all. */
gboolean plait_trainer_check_divergence (const PlaitTrainer *trainer, const PlaitLikelihood *sums, GError **error);

/* Computes the validation row of the current parameters. */
gboolean plait_trainer_validate (PlaitTrainer *trainer, PlaitValidationRow *row, GError **error);

/* Returns the mean of loss column @i. @loss: sum of the loss over @sentences sentences, which have @items. If the
 * column has an accuracy, the mean is over items, else over sentences. Sets *@accuracy to the share of correct items.
 * Without items, *@accuracy and a mean over items are NaN. */
double plait_trainer_mean_loss (const PlaitTrainer *trainer, guint i, double loss, PlaitLossItems items,
                                gint64 sentences, double *accuracy);

/* Passes row @row of the table of updates to the callback note, if there is one. */
void plait_trainer_note_update (const PlaitTrainer *trainer, guint row);
void plait_trainer_note_validation (const PlaitTrainer *trainer, guint row);
