/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/log.h"
#include "process/ranks.h"
#include "corpus/corpus.h"
#include "decoders/model.h"
#include "hdf5/store.h"
#include "training/settings.h"

/*
 * The training loop.
 *
 * The state of training is a few numbers, the parameters and the optimizer's moments. Every random draw is keyed by
 * seed, purpose and step. So a trainer that reads a stored state computes the same bits as a training without
 * interruption.
 */
typedef struct PlaitTrainer PlaitTrainer;

/* Values of the loss columns in a row of a table. */
typedef struct
{
  /* Losses without their weights, for each sentence, or for each item if the loss has items. */
  double losses[PLAIT_MAX_LOSS_COLUMNS];
  double accuracies[PLAIT_MAX_LOSS_COLUMNS]; /* shares of items that were predicted correctly */
} PlaitLossMeans;

/* A row of the training table. Numbers are means over the updates since the previous row, unless a comment says
 * otherwise. */
typedef struct
{
  gint64 step;
  gint64 epoch;                    /* counted from 1 */
  double loss;                     /* nats for each target token, smoothing included */
  double negative_log_likelihood;  /* nats for each target token */
  double auxiliary;                /* sum of the auxiliary losses times their weights, for each sentence */
  double accuracy;                 /* share of target tokens that were the most probable word */
  double learning_rate;            /* rate of the last update */
  double gradient_norm;            /* norm in the last update, before clipping */
  double clipped;                  /* share of the updates whose gradients were clipped */
  gint64 target_tokens;            /* target tokens since the beginning */
  double seconds;                  /* time spent on updates since the beginning; varies between machines */
  double target_tokens_per_second; /* varies between machines */
  PlaitLossMeans means;
} PlaitTrainingRow;

/* A row of the validation table. */
typedef struct
{
  gint64 step;
  gint64 epoch;                   /* counted from 1 */
  double negative_log_likelihood; /* nats for each target token */
  double perplexity;
  double accuracy;
  double metric; /* value of train.metric on the translated validation text; NaN if train.metric is empty */
  gboolean best;
  PlaitLossMeans means; /* set only for losses that have items */
} PlaitValidationRow;

/* A number of a row, as passed to the note callback. */
typedef struct
{
  const char *name;    /* name of the column */
  PlaitStoreType type; /* INT64, DOUBLE, or INT32 for a flag */
  double value;        /* integers are below 2^53; NaN: no value */
} PlaitTrainingNumber;

/* Reasons for the end of training. */
typedef enum
{
  PLAIT_TRAINING_CONTINUES,
  PLAIT_TRAINING_COMPLETE,      /* all epochs or updates are done */
  PLAIT_TRAINING_STOPPED_EARLY, /* train.patience validations without improvement */
  PLAIT_TRAINING_INTERRUPTED,   /* the stop flag was set or the limit reached; a checkpoint was written */
} PlaitTrainingEnd;

/* Callbacks of the trainer. */
typedef struct
{
  /* Computes train.metric on validation text with the current parameters; NULL if train.metric is empty. */
  gboolean (*measure) (gpointer data, double *score, GError **error);
  gboolean larger_is_better; /* TRUE if a larger score is better */
  /* Writes a checkpoint with plait_trainer_write. @best: the current parameters are the best so far. @interrupted: the
   * checkpoint is written only because training was interrupted. NULL: no checkpoints. */
  gboolean (*checkpoint) (gpointer data, gboolean best, gboolean interrupted, GError **error);
  /* Receives each new row of /training/TABLE, where @table is "updates" or "validation"; or NULL. */
  void (*note) (gpointer data, const char *table, const PlaitTrainingNumber *numbers, guint n);
  gpointer data;
} PlaitTrainerCallbacks;

typedef struct
{
  PlaitModel *model; /* model whose parameters are initialised */
  const PlaitTrainSettings *settings;
  guint64 seed;
  gint64 width; /* width of the model, for the noam schedule */
  const PlaitCorpus *corpus;
  const PlaitCorpus *validation; /* NULL: no validation */
  PlaitPool *pool;
  PlaitLog *log;
  const gint *stop;  /* flag that a signal handler sets, or NULL */
  gint64 limit;      /* if > 0, training is interrupted after this update, as if @stop were set */
  PlaitRanks *ranks; /* processes that train together, or NULL; only the first may set callbacks checkpoint and note */
  PlaitTrainerCallbacks callbacks;
} PlaitTrainerSetup;

/* Creates a trainer, which keeps the pointers of @setup. (transfer full) */
PlaitTrainer *plait_trainer_new (const PlaitTrainerSetup *setup, GError **error);
void plait_trainer_free (PlaitTrainer *trainer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTrainer, plait_trainer_free)

/* Trains until training ends. Interruption is not an error. */
gboolean plait_trainer_run (PlaitTrainer *trainer, PlaitTrainingEnd *end, GError **error);

/* Measures the memory of one step, without an update, on the largest of some batches. *@bytes: memory of the step in
 * addition to parameters and moments. *@estimated: TRUE if a sentence was too long to compute in full, so that *@bytes
 * is extrapolated from a part of it or from a smaller batch. Restores the position of the iterator. */
gboolean plait_trainer_measure_memory (PlaitTrainer *trainer, gsize *bytes, gboolean *estimated, GError **error);

/* Measures the memory of validation, on the batch with the longest validation sentences, or on a part of it if a
 * sentence is too long to compute in full. *@bytes: the memory, extrapolated if only a part was computed; 0 without
 * validation text. */
gboolean plait_trainer_measure_validation_memory (PlaitTrainer *trainer, gsize *bytes, GError **error);

/* Measured speed of a trainer. */
typedef struct
{
  double update;      /* seconds for each update */
  double sentence;    /* seconds of the updates, divided by the number of their training tuples */
  gint64 validations; /* number of validations in a whole training, if patience does not end it early */
} PlaitTrainerSpeed;

/* Makes one update to warm up, then 1 to @max_updates updates in about @seconds, and measures these. Changes the
 * trainer's state, so training cannot continue afterwards. */
gboolean plait_trainer_measure_speed (PlaitTrainer *trainer, double seconds, gint64 max_updates,
                                      PlaitTrainerSpeed *speed, GError **error);

/* Returns the bytes of parameters, moments and the parameters kept for the average, and those of gradients if
 * train.accumulate is above 1. Otherwise the gradients belong to the memory of a step. */
gsize plait_trainer_fixed_bytes (const PlaitTrainer *trainer);

/* Returns the total number of updates, as far as it is known in advance. */
gint64 plait_trainer_planned_updates (const PlaitTrainer *trainer);

/* Returns how many updates the whole current epoch has. */
gint64 plait_trainer_epoch_updates (const PlaitTrainer *trainer);

gint64 plait_trainer_step (const PlaitTrainer *trainer);

/* TRUE if training has ended. plait_trainer_run then returns at once. */
gboolean plait_trainer_has_ended (const PlaitTrainer *trainer);

/* TRUE if the last batch was the last one of its epoch. */
gboolean plait_trainer_ends_epoch (const PlaitTrainer *trainer);

/* Returns the average of the parameters at the last validations, laid out as the parameters' values; NULL before the
 * first validation, and if train.average is 0. (transfer full) */
PlaitScalar *plait_trainer_average (const PlaitTrainer *trainer);

/* Group in which the time of training is stored. */
#define PLAIT_TRAINER_TIMES "/environment/training"

/* Write and read the state needed to resume. Below /checkpoint/last: parameters, optimizer, numbers, and parameters
 * kept for the average; below /training: the tables of updates and validations; and the group PLAIT_TRAINER_TIMES. */
gboolean plait_trainer_write (const PlaitTrainer *trainer, PlaitStore *store, GError **error);
gboolean plait_trainer_read (PlaitTrainer *trainer, PlaitStore *store, GError **error);

/* Reads the moments of the parameters @taken (NULL-terminated) from @store, which has the state of an earlier training
 * with the same optimizer. *@step receives the number of updates of that training and of all trainings that it
 * continued in this way. The schedule of the learning rate continues after this number. */
gboolean plait_trainer_import_moments (PlaitTrainer *trainer, const PlaitParameter *const *taken, PlaitStore *store,
                                       gint64 *step, GError **error);

/* Passes all existing rows to the callback note, in the order in which they were made. */
void plait_trainer_note_all (const PlaitTrainer *trainer);
