/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/ranks.h"
#include "run/speed.h"
#include "setup/experiment-model.h"

/*
 * A run: an experiment trained, evaluated, and kept in one HDF5 file that is replaced as a whole at each checkpoint.
 *
 *     /                 attributes: version, name, experiment (the resolved text), key, training_key, seed, status
 *     /environment      what is not compared: environment.h, and what training took
 *     /plugins /vocabulary /data
 *     /initialisation   what training began with, where it was another run: initialisation.h
 *     /checkpoint/last  parameters, optimizer, state     /checkpoint/best /checkpoint/average  parameters
 *     /training/updates /training/validation             tables
 *     /evaluation/SPLIT                                  metrics, hypotheses, references: evaluations.h
 *     /attention/SPLIT/N/MEMORY                          heatmaps
 *     /coverage/SPLIT/N/MEMORY                           of a model that has coverage: attention.h
 *     /descent/SPLIT/N/MEMORY                            of a combiner that chooses rows: descent-dump.h
 */
typedef struct
{
  const char *output;   /* path of the run's file */
  const char *command;  /* command line, to be stored */
  guint threads;        /* 0: the processors this process may use */
  gboolean resume;      /* go on with the run in the file, if there is one */
  gboolean force;       /* begin anew over what is in the file */
  const char *trained;  /* NULL, or a finished run of the same training: it is evaluated, and nothing trained; or one
                           that ends earlier: it is gone on with */
  const char *lines;    /* NULL, or a file that training is told to as JSON lines: training-log.h */
  const char *events;   /* NULL, or a folder of TensorBoard's */
  PlaitRanks *ranks;    /* NULL, or the processes that train together; the first alone writes, speaks and evaluates */
  gint64 updates;       /* > 0: end after this update, with a checkpoint: PLAIT_RUN_PART */
  PlaitRunSpeed *speed; /* plait_run_process_new: NULL, or memory shared with the process, which only measures */
  PlaitLog *log;
  const gint *stop; /* NULL, or a flag that a signal raises */
} PlaitRunOptions;

/* What became of a run. */
typedef enum
{
  PLAIT_RUN_COMPLETE,
  PLAIT_RUN_EVALUATED,        /* what was trained already was evaluated as this experiment says */
  PLAIT_RUN_ALREADY_COMPLETE, /* the file held a finished run of this very experiment */
  PLAIT_RUN_PART,             /* the updates that were asked for are made */
} PlaitRunOutcome;

/* Trains and evaluates @experiment. An existing file is an error unless options->force, or options->resume, and then
 * only a run of the same training (experiment, data and plugins) is gone on with; of one that is finished only those
 * evaluations are made that it lacks, unless training ends later than it did (train.epochs, updates, patience): then it
 * is trained further, to the bits of one long training. The file is locked until the run ends (files/lock.h), and a
 * file that another program has written in the meantime is left alone, which ends the run. PLAIT_ERROR_INTERRUPTED
 * after a checkpoint was written. */
gboolean plait_run (const PlaitExperiment *experiment, const PlaitRunOptions *options, PlaitRunOutcome *outcome,
                    GError **error);

/* Prints on stdout what plait_run would do: parameters by component, memory, data, the plan of updates; for programs as
 * JSON. What plait_run would refuse before training is refused in the same words. */
gboolean plait_run_plan (const PlaitExperiment *experiment, const PlaitRunOptions *options, gboolean as_json,
                         GError **error);

/* What a run of @experiment from its beginning would take, measured as plait_run_speed tells. Nothing is written. */
gboolean plait_run_measure (const PlaitExperiment *experiment, const PlaitRunOptions *options, PlaitRunSpeed *speed,
                            GError **error);
