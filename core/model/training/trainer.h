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
 * Where training stands is a few numbers, the parameters and the optimizer's moments; every random draw is keyed by
 * seed, purpose and step. So a trainer that reads the state another one wrote goes on to the same bits as if nothing
 * had happened.
 */
typedef struct PlaitTrainer PlaitTrainer;

/* A row of the training table: means over the updates since the row before. */
typedef struct
{
  gint64 step;
  gint64 epoch;                          /* from 1 */
  double loss;                           /* a target token, smoothing included, nats */
  double negative_log_likelihood;        /* a target token, nats */
  double auxiliary;                      /* the parts' own losses a sentence, weighted */
  double accuracy;                       /* share of target tokens that were the most probable word */
  double learning_rate;                  /* of the last update */
  double gradient_norm;                  /* before clipping */
  gint64 target_tokens;                  /* since the beginning */
  double seconds;                        /* spent in updates since the beginning: depends on the machine */
  double target_tokens_per_second;       /* likewise */
  double losses[PLAIT_MAX_LOSS_COLUMNS]; /* of the parts, a sentence, without their weights */
} PlaitTrainingRow;

/* A row of the validation table. */
typedef struct
{
  gint64 step;
  gint64 epoch;                   /* from 1 */
  double negative_log_likelihood; /* a target token, nats */
  double perplexity;
  double accuracy;
  double metric; /* of translated text, as the metric gives it; NaN where none is asked for */
  gboolean best;
} PlaitValidationRow;

/* A number of a row, as programs are told it. */
typedef struct
{
  const char *name;    /* of its column */
  PlaitStoreType type; /* INT64, DOUBLE, or INT32 for a flag */
  double value;        /* integers are below 2^53; a real NaN: there is none */
} PlaitTrainingNumber;

/* Why training ended. */
typedef enum
{
  PLAIT_TRAINING_CONTINUES,
  PLAIT_TRAINING_COMPLETE,      /* epochs or updates are done */
  PLAIT_TRAINING_STOPPED_EARLY, /* patience is used up */
  PLAIT_TRAINING_INTERRUPTED,   /* the stop flag was raised; a checkpoint was asked for */
} PlaitTrainingEnd;

/* The caller's side. */
typedef struct
{
  /* Scores the present parameters on validation text; NULL where train.metric is empty. */
  gboolean (*measure) (gpointer data, double *score, GError **error);
  gboolean larger_is_better; /* of these scores */
  /* Writes a checkpoint of the trainer's state, which plait_trainer_write gives. @best: the present parameters are the
   * best so far. */
  gboolean (*checkpoint) (gpointer data, gboolean best, GError **error);
  /* Hears of each row of /training/TABLE, "updates" or "validation", as it is made; or NULL. */
  void (*note) (gpointer data, const char *table, const PlaitTrainingNumber *numbers, guint n);
  gpointer data;
} PlaitTrainerCallbacks;

typedef struct
{
  PlaitModel *model; /* its parameters initialised */
  const PlaitTrainSettings *settings;
  guint64 seed;
  gint64 width; /* of the model, for the noam schedule */
  const PlaitCorpus *corpus;
  const PlaitCorpus *validation; /* or NULL: no validation */
  PlaitPool *pool;
  PlaitLog *log;
  const gint *stop;  /* NULL, or a flag that a signal raises */
  gint64 limit;      /* > 0: it is as if the flag were raised after this update */
  PlaitRanks *ranks; /* NULL, or the processes that train together; the first alone writes checkpoints and notes rows */
  PlaitTrainerCallbacks callbacks;
} PlaitTrainerSetup;

/* All that @setup points to must outlive the trainer. (transfer full) */
PlaitTrainer *plait_trainer_new (const PlaitTrainerSetup *setup, GError **error);
void plait_trainer_free (PlaitTrainer *trainer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTrainer, plait_trainer_free)

/* Trains on from where it stands until training ends. Interruption is no error. */
gboolean plait_trainer_run (PlaitTrainer *trainer, PlaitTrainingEnd *end, GError **error);

/* Computes a step of the largest of some batches without an update: bytes that a step takes beside parameters and
 * moments. *@estimated: a sentence of it is so long that a part was computed. Puts the iterator back where it was. */
gboolean plait_trainer_measure_memory (PlaitTrainer *trainer, gsize *bytes, gboolean *estimated, GError **error);

/* The same of the batch of validation with the longest sentences; 0 where there is none. */
gboolean plait_trainer_measure_validation_memory (PlaitTrainer *trainer, gsize *bytes, GError **error);

/* How fast a trainer is. */
typedef struct
{
  double update;      /* seconds */
  double sentence;    /* seconds of updates a training tuple */
  gint64 validations; /* of a whole training, unless patience ends it earlier */
} PlaitTrainerSpeed;

/* Makes an update to warm up, and then as many as take @seconds, at least one and at most @max_updates, whose times, as
 * those of all updates, tell the speed. The trainer has trained by so much then, and is of no further use to a run. */
gboolean plait_trainer_measure_speed (PlaitTrainer *trainer, double seconds, gint64 max_updates,
                                      PlaitTrainerSpeed *speed, GError **error);

/* Bytes of parameters, those that the average keeps, and moments, and of gradients where several batches make an
 * update: those of one batch are part of its step. */
gsize plait_trainer_fixed_bytes (const PlaitTrainer *trainer);

/* The number of updates in all, as far as it is known beforehand. */
gint64 plait_trainer_planned_updates (const PlaitTrainer *trainer);

/* Returns the number of updates of the present epoch. */
gint64 plait_trainer_epoch_updates (const PlaitTrainer *trainer);

gint64 plait_trainer_step (const PlaitTrainer *trainer);

/* TRUE if training has come to its end, so that plait_trainer_run would do nothing. */
gboolean plait_trainer_has_ended (const PlaitTrainer *trainer);

/* TRUE if the next update begins an epoch. */
gboolean plait_trainer_ends_epoch (const PlaitTrainer *trainer);

/* The average over the last validations, laid out as the parameters' values, or NULL where there is none yet.
 * (transfer full) */
PlaitScalar *plait_trainer_average (const PlaitTrainer *trainer);

/* Where the time that training took stands. */
#define PLAIT_TRAINER_TIMES "/environment/training"

/* Writes and reads everything that resume needs below @path: parameters, optimizer, state, recent parameters for the
 * average; both tables below /training; and PLAIT_TRAINER_TIMES. */
gboolean plait_trainer_write (const PlaitTrainer *trainer, PlaitStore *store, const char *path, GError **error);
gboolean plait_trainer_read (PlaitTrainer *trainer, PlaitStore *store, const char *path, GError **error);

/* Takes of another training that plait_trainer_write wrote below @path of @store, by the same optimizer, the moments of
 * the parameters @taken (terminated by NULL), and its place in the schedule of the learning rate, which goes on from
 * there: *@step updates were made. */
gboolean plait_trainer_import_moments (PlaitTrainer *trainer, const PlaitParameter *const *taken, PlaitStore *store,
                                       const char *path, gint64 *step, GError **error);

/* Notes all rows that there are, in the order in which they were made. */
void plait_trainer_note_all (const PlaitTrainer *trainer);
