/* SPDX-License-Identifier: MIT */
#pragma once

#include "corpus/iterator.h"
#include "training/optimizer.h"
#include "training/trainer.h"
#include "training/update.h"

/* Number of updates whose gradients were clipped. */
typedef struct
{
  gint64 updates;
  gint64 clipped; /* updates whose gradients were clipped */
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
  double all_reduce_seconds; /* time of exchange in the updates of this trainer */

  /* State that checkpoints store. */
  gint64 step;
  gint64 begun; /* updates that the optimizer made in an earlier training */
  gint64 target_tokens;
  double seconds;
  double learning_rate; /* rate of the last update */
  double gradient_norm;
  PlaitTrainingSums sums;     /* sums since the last row of the training table */
  PlaitClipping clipping;     /* since the beginning */
  PlaitClipping row_clipping; /* since the last row of the training table */
  gint64 drops;               /* how often the schedule plateau has lowered the rate */
  gint64 stalled;             /* validations since the best one or the last drop; counted for that schedule */
  gint64 stale;               /* validations since the best one */
  double first_ratio;         /* loss / loss of guessing in the first update (divergence.c) */
  double recent_ratio;        /* loss / loss of guessing in the last updates (divergence.c) */
  GArray *rows;               /* PlaitTrainingRow */
  GArray *validations;        /* PlaitValidationRow */
  GPtrArray *recent;          /* PlaitScalar arrays: parameters at the last validations, oldest first */
};

/* Returns the epoch of the last batch, counted from 1. */
gint64 plait_trainer_epoch (const PlaitTrainer *trainer);

/* Returns the number of rows of all streams of @batch. */
gint64 plait_trainer_rows (const PlaitBatch *batch);

/* Returns the beginning of the longest sentence of @batch if that sentence is too long to compute in full. Returns NULL
 * if it is not, or if the sentence cannot be cut, as with trees. The result borrows from @batch. (transfer full) */
PlaitBatch *plait_trainer_truncated_batch (const PlaitBatch *batch);

/* Adds the sums of the current update to the mean of the last updates. */
void plait_trainer_note_likelihood (PlaitTrainer *trainer);

/* Fails if training has diverged. @sums: sums of the validation text, or NULL if training ends without one. All
 * processes fail together. */
gboolean plait_trainer_check_divergence (const PlaitTrainer *trainer, const PlaitLikelihood *sums, GError **error);

/* Computes the validation row of the current parameters. */
gboolean plait_trainer_validate (PlaitTrainer *trainer, PlaitValidationRow *row, GError **error);

/* Passes row @row of the table of updates to the callback note, if there is one. */
void plait_trainer_note_update (const PlaitTrainer *trainer, guint row);
void plait_trainer_note_validation (const PlaitTrainer *trainer, guint row);
