/* SPDX-License-Identifier: MIT */
#pragma once

#include "corpus/iterator.h"
#include "training/optimizer.h"
#include "training/trainer.h"
#include "training/update.h"

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
  double all_reduce_seconds; /* of the updates that this trainer has made */

  /* The state, which checkpoints hold. */
  gint64 step;
  gint64 begun; /* updates of the optimizer before the first, by another training */
  gint64 target_tokens;
  double seconds;
  double learning_rate; /* of the last update */
  double gradient_norm;
  PlaitTrainingSums sums; /* since the last row of the training table */
  gint64 stale;           /* validations since the best */
  double first_ratio;     /* of the first update: its loss to that of guessing (divergence.c) */
  double recent_ratio;    /* the same of the last updates */
  GArray *rows;           /* PlaitTrainingRow */
  GArray *validations;    /* PlaitValidationRow */
  GPtrArray *recent;      /* PlaitScalar arrays: parameters at the last validations, oldest first */
};

/* The epoch of the last batch, as people count: from 1. */
gint64 plait_trainer_epoch (const PlaitTrainer *trainer);

/* Rows of all streams of @batch. */
gint64 plait_trainer_rows (const PlaitBatch *batch);

/* Returns the beginning of the longest sentence of @batch if that takes too long to compute for a plan. NULL if it does
 * not, or if its parts belong together, as those of trees do. It borrows from @batch. (transfer full) */
PlaitBatch *plait_trainer_truncated_batch (const PlaitBatch *batch);

/* Takes the sums of the present update into the mean of the last updates. */
void plait_trainer_note_likelihood (PlaitTrainer *trainer);

/* Fails if training has diverged. @sums: of validation text, or NULL: training ends without one. The same in all
 * processes. */
gboolean plait_trainer_check_divergence (const PlaitTrainer *trainer, const PlaitLikelihood *sums, GError **error);

/* Computes the validation row of the present parameters. */
gboolean plait_trainer_validate (PlaitTrainer *trainer, PlaitValidationRow *row, GError **error);

/* Notes row @row of either table, if anyone hears it. */
void plait_trainer_note_update (const PlaitTrainer *trainer, guint row);
void plait_trainer_note_validation (const PlaitTrainer *trainer, guint row);
