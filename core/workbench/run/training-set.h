/* SPDX-License-Identifier: MIT */
#pragma once

#include "experiment/file.h"
#include "weights/initialisation.h"
#include "hdf5/store.h"
#include "training/trainer.h"

/*
 * The training data of a run. Runs of the same files can differ here although no setting differs: length limits, empty
 * targets and missing trees drop lines, depending on the streams read and the vocabularies; batches in tokens hold
 * fewer sentences if more text is read.
 *
 * Stored as attributes of /training.
 */
typedef struct
{
  gint64 lines;     /* lines of the files; 0: unknown, in runs of older versions */
  gint64 tuples;    /* number of training tuples */
  char digest[65];  /* SHA-256 of their line numbers */
  gint64 tokens;    /* largest number of tokens in a batch; 0: batches count sentences */
  double sentences; /* mean number of sentences in a batch, in the first epoch */
  guint taken;      /* number of parameters taken by train.initialise, of @all; both 0: not set */
  guint all;
} PlaitTrainingSet;

/* Describes the training text @corpus, the batches of @trainer before training, and @initialisation (may be NULL). */
PlaitTrainingSet plait_training_set_new (const PlaitExperiment *experiment, const PlaitCorpus *corpus,
                                         const PlaitTrainer *trainer, const PlaitInitialisation *initialisation);

/* Writes @set to /training of @run, except the fields that /initialisation has. */
gboolean plait_training_set_write (const PlaitTrainingSet *set, PlaitStore *run, GError **error);

/* Reads the training set of @run. */
PlaitTrainingSet plait_training_set_read (PlaitStore *run);

/* Returns the differences between @sets [n], called @names [n], which need not be unique. NULL-terminated, empty if no
 * difference is known. (transfer full) */
char **plait_training_sets_describe_differences (const PlaitTrainingSet *sets, const char *const *names, guint n);

/* Returns which of @names [n] have which of @values [n] (NULL: unknown): "VALUE in A, B; VALUE in C". With @keys (may
 * be NULL) values count as equal if their keys are. NULL if at most one value is known. (transfer full) */
char *plait_group_names_by_value (const char *const *values, const char *const *keys, const char *const *names,
                                  guint n);
