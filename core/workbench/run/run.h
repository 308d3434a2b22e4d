/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/ranks.h"
#include "run/speed.h"
#include "setup/experiment-model.h"

/*
 * A run: an experiment trained, evaluated, and kept in one HDF5 file that is replaced as a whole at each checkpoint.
 *
 *     /                 attributes: version, name, experiment (the resolved text), key, training_key, seed, status
 *     /environment      time, host and cost, which comparisons ignore: environment.h
 *     /plugins /vocabulary /data
 *     /initialisation   origin of each initial parameter, with train.initialise: initialisation.h
 *     /checkpoint/last  parameters, optimizer, state     /checkpoint/best /checkpoint/average  parameters
 *     /checkpoint/update-N                               parameters after update N: kept-checkpoints.h
 *     /training         attributes: training-set.h       /training/updates /training/validation          tables
 *     /evaluation/SPLIT                                  metrics, hypotheses, references: evaluations.h
 *     /attention/SPLIT/MEMORY                            heatmaps of all dumped sentences
 *     /coverage/SPLIT/MEMORY                             only with a coverage: attention.h
 *     /copy/SPLIT/MEMORY                                 only with an output that copies words: attention.h
 *     /descent/SPLIT/MEMORY                              only with a combiner that selects rows: descent-dump.h
 */
typedef struct
{
  const char *output;   /* path of the run's file */
  const char *command;  /* command line that is stored in the run */
  guint threads;        /* number of threads; 0: all processors of this process */
  gboolean resume;      /* TRUE: continue the run in the file, if there is one */
  gboolean force;       /* TRUE: replace an existing file */
  const char *trained;  /* NULL, or the file of a finished run with the same training up to its last update. If the
                           experiment has more updates, training goes on from there; then comes the evaluation */
  const char *lines;    /* file for the training log in JSON lines (training-log.h), or NULL */
  PlaitRanks *ranks;    /* processes that train and search together, of which only the first writes files; or NULL */
  gint64 updates;       /* if > 0: training stops after this update, with a checkpoint and the outcome PLAIT_RUN_PART */
  PlaitRunSpeed *speed; /* shared memory for the result of a child process that only measures speed
                           (plait_run_process_new); NULL: run as usual */
  PlaitLog *log;
  const gint *stop; /* flag that a signal handler sets to interrupt the run, or NULL */
} PlaitRunOptions;

/* Outcome of a run. */
typedef enum
{
  PLAIT_RUN_COMPLETE,
  PLAIT_RUN_EVALUATED,        /* a run that was already trained was evaluated as this experiment asks */
  PLAIT_RUN_ALREADY_COMPLETE, /* the file already held a finished run of this experiment. If no training was needed,
                                 processes other than the first always get this outcome */
  PLAIT_RUN_PART,             /* training stopped after the requested updates */
} PlaitRunOutcome;

/*
 * Trains and evaluates @experiment. An existing file is an error, except with options->force or options->resume.
 *
 * Resuming continues a run with the same training (experiment, data and plugins). If that run is finished, resuming
 * makes only its missing evaluations. But if training now ends later (train.epochs, updates, patience), training
 * continues and gives the same bits as one long training. This is an error if the schedule ends at its last update.
 *
 * The file is locked until the run ends (files/lock.h). If another program replaces the file meanwhile, the run ends
 * and leaves that file alone. An interrupted run writes a checkpoint; then the first process of options->ranks (or the
 * only process) fails with PLAIT_ERROR_INTERRUPTED, and the others return TRUE.
 */
gboolean plait_run (const PlaitExperiment *experiment, const PlaitRunOptions *options, PlaitRunOutcome *outcome,
                    GError **error);

/* Prints on stdout what plait_run() would do, as text or JSON: data, updates, parameters by component, learning rates,
 * memory. Fails with the errors of plait_run() if it would fail before training. */
gboolean plait_run_plan (const PlaitExperiment *experiment, const PlaitRunOptions *options, gboolean as_json,
                         GError **error);

/* Estimates the cost of a whole run of @experiment by plait_run_speed(). Writes no file. */
gboolean plait_run_measure (const PlaitExperiment *experiment, const PlaitRunOptions *options, PlaitRunSpeed *speed,
                            GError **error);
