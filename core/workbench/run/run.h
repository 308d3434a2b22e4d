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
 *     /initialisation   parameters that training began with, if taken from another run: initialisation.h
 *     /checkpoint/last  parameters, optimizer, state     /checkpoint/best /checkpoint/average  parameters
 *     /checkpoint/update-N                               parameters after update N: kept-checkpoints.h
 *     /training/updates /training/validation             tables
 *     /evaluation/SPLIT                                  metrics, hypotheses, references: evaluations.h
 *     /attention/SPLIT/N/MEMORY                          heatmaps
 *     /coverage/SPLIT/N/MEMORY                           with coverage: attention.h
 *     /copy/SPLIT/N/MEMORY                               with an output that copies words: attention.h
 *     /descent/SPLIT/N/MEMORY                            with a combiner that selects rows: descent-dump.h
 */
typedef struct
{
  const char *output;   /* path of the run's file */
  const char *command;  /* command line, stored in the run */
  guint threads;        /* 0: all processors of this process */
  gboolean resume;      /* continue the run in the file, if there is one */
  gboolean force;       /* replace an existing file */
  const char *trained;  /* NULL, or a finished run of the same training: it is evaluated without training, or continued
                           if this training ends later */
  const char *lines;    /* NULL, or a file for the training log in JSON lines (training-log.h) */
  PlaitRanks *ranks;    /* NULL, or the processes that train together; only the first writes, logs and evaluates */
  gint64 updates;       /* if > 0: training ends after this update, with a checkpoint (PLAIT_RUN_PART) */
  PlaitRunSpeed *speed; /* NULL, or for plait_run_process_new memory shared with a process that only measures */
  PlaitLog *log;
  const gint *stop; /* NULL, or a flag that a signal handler sets */
} PlaitRunOptions;

/* Outcome of a run. */
typedef enum
{
  PLAIT_RUN_COMPLETE,
  PLAIT_RUN_EVALUATED,        /* a trained run was evaluated by this experiment */
  PLAIT_RUN_ALREADY_COMPLETE, /* the file held a finished run of this experiment */
  PLAIT_RUN_PART,             /* the requested updates are done */
} PlaitRunOutcome;

/* Trains and evaluates @experiment. An existing file is an error, except with options->force or options->resume.
 * Resuming continues a run of the same training (experiment, data and plugins). For a finished run it makes only
 * missing evaluations, unless training now ends later (train.epochs, updates, patience): then training continues, to
 * the bits of one long training. The file is locked until the run ends (files/lock.h). If another program replaces the
 * file meanwhile, the run ends and leaves that file alone. PLAIT_ERROR_INTERRUPTED after a checkpoint was written. */
gboolean plait_run (const PlaitExperiment *experiment, const PlaitRunOptions *options, PlaitRunOutcome *outcome,
                    GError **error);

/* Prints on stdout the plan of plait_run: parameters by component, memory, data, updates; as text or JSON. Fails with
 * the messages of plait_run if plait_run would fail before training. */
gboolean plait_run_plan (const PlaitExperiment *experiment, const PlaitRunOptions *options, gboolean as_json,
                         GError **error);

/* Measures the cost of a whole run of @experiment by plait_run_speed. Writes no file. */
gboolean plait_run_measure (const PlaitExperiment *experiment, const PlaitRunOptions *options, PlaitRunSpeed *speed,
                            GError **error);
