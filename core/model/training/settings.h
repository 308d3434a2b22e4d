/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/tensor.h"
#include "schema/settings.h"

/* [train]. */

typedef enum
{
  PLAIT_OPTIMIZER_ADAM,
  PLAIT_OPTIMIZER_ADADELTA,
} PlaitOptimizerKind;

typedef enum
{
  PLAIT_SCHEDULE_NOAM,
  PLAIT_SCHEDULE_INVERSE_SQUARE_ROOT,
  PLAIT_SCHEDULE_LINEAR,
  PLAIT_SCHEDULE_CONSTANT,
} PlaitSchedule;

/* What training multiplies. */
typedef enum
{
  PLAIT_TRAIN_FLOAT,
  PLAIT_TRAIN_BFLOAT16,
  PLAIT_TRAIN_BFLOAT16_EMULATED,
} PlaitTrainPrecision;

/* What backward computes once more instead of keeping it. */
typedef enum
{
  PLAIT_RECOMPUTE_OFF,
  PLAIT_RECOMPUTE_LAYERS,
} PlaitRecompute;

typedef enum
{
  PLAIT_BEST_BY_LOSS,
  PLAIT_BEST_BY_METRIC,
} PlaitBestBy;

typedef enum
{
  PLAIT_INITIAL_VALUES_GLOROT,
  PLAIT_INITIAL_VALUES_DL4MT,
} PlaitInitialValues;

/* Of a run, to begin with or to be evaluated. */
typedef enum
{
  PLAIT_CHECKPOINT_BEST, /* or the last, where it was not validated */
  PLAIT_CHECKPOINT_LAST,
  PLAIT_CHECKPOINT_AVERAGE,
} PlaitCheckpoint;

/* What is taken of a run that training begins with. */
typedef enum
{
  PLAIT_INITIAL_TRAINING_PARAMETERS,
  PLAIT_INITIAL_TRAINING_OPTIMIZER, /* its moments too, and the place in the schedule */
} PlaitInitialTrainingState;

/* Vocabularies where training begins with the parameters of a run. */
typedef enum
{
  PLAIT_INITIAL_VOCABULARY_TAKEN, /* of the run */
  PLAIT_INITIAL_VOCABULARY_LEARNT,
} PlaitInitialVocabulary;

/* Where name maps are found (weights/name-map.h). */
#define PLAIT_NAME_MAP_FOLDER "weights"

/* Learned positions beyond those that are taken. */
typedef enum
{
  PLAIT_POSITIONS_FRESH,
  PLAIT_POSITIONS_COPIED, /* the same again, from the first */
} PlaitInitialPositions;

typedef struct
{
  gint64 batch;
  gint batch_unit; /* PlaitBatchUnit */
  gint64 window;
  gint64 accumulate;
  gint64 shards;
  gint precision; /* PlaitTrainPrecision */
  double source_dropout;
  gint64 epochs;
  gint64 updates;
  gint optimizer; /* PlaitOptimizerKind */
  double learning_rate;
  gint schedule; /* PlaitSchedule */
  gint64 warm_up;
  double beta1;
  double beta2;
  double epsilon;
  gint epsilon_place; /* 0 corrected, 1 uncorrected */
  double rho;
  double adadelta_epsilon;
  double weight_decay;
  double clip;
  double smoothing;
  gint smoothing_over; /* 0 all, 1 others */
  gint loss_per;       /* 0 token, 1 sentence */
  gint64 validate_every;
  gint64 validation_batch;
  gint best_by; /* PlaitBestBy */
  const char *metric;
  gint initial_values;         /* PlaitInitialValues */
  const char *initialise;      /* absolute path of a run; empty: none */
  const char *initialise_take; /* globs over names of parameters, a list; empty: all */
  const char *initialise_leave;
  gint initialise_checkpoint; /* PlaitCheckpoint */
  gint initialise_state;      /* PlaitInitialTrainingState */
  gint initialise_vocabulary; /* PlaitInitialVocabulary */
  const char *initialise_map; /* name of a name map; empty: names are ours */
  gint initialise_positions;  /* PlaitInitialPositions */
  gint64 patience;
  gint64 average;
  gint64 checkpoint_every;
  gint64 log_every;
  gint64 memory;
  gint recompute; /* PlaitRecompute */
} PlaitTrainSettings;

extern const PlaitSettingGroup plait_train_group;

/* The precision of training's products (plait_tape_multiply_in). */
PlaitPrecision plait_train_precision (const PlaitTrainSettings *settings);

/* The learning rate of update @step (1: the first) for a model of width @width; @updates is the last one's number,
 * which the linear schedule falls to zero at. */
double plait_learning_rate (const PlaitTrainSettings *settings, gint64 step, gint64 width, gint64 updates);
