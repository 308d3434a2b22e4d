/* SPDX-License-Identifier: MIT */
#pragma once

#include "experiment/file.h"
#include "weights/initialisation.h"
#include "hdf5/store.h"
#include "training/trainer.h"

/*
 * The training data of a run. Runs of the same files can differ here even if all settings of [data] are equal. Length
 * limits, empty targets and missing trees drop lines, depending on the vocabularies and on the streams that a run
 * reads. And batches whose size is counted in tokens hold fewer sentences if more text is read.
 *
 * Stored as attributes of /training.
 */
typedef struct
{
  gint64 lines;     /* number of lines of each stream; 0: unknown, in runs of older versions */
  gint64 tuples;    /* number of training tuples */
  char digest[65];  /* SHA-256 of the line numbers of the tuples; "" if unknown */
  gint64 tokens;    /* maximum number of tokens in an update, from [train]; 0: batches count sentences */
  double sentences; /* mean number of sentences in an update, in the first epoch */
  guint taken;      /* number of parameter tensors taken, whole or in part; 0 if train.initialise is not set */
  guint all;        /* number of all parameter tensors; 0 if train.initialise is not set */
} PlaitTrainingSet;

/* Describes the training text @corpus, the batches of @trainer before training, and the parameters taken by
 * @initialisation (may be NULL). */
PlaitTrainingSet plait_training_set_new (const PlaitExperiment *experiment, const PlaitCorpus *corpus,
                                         const PlaitTrainer *trainer, const PlaitInitialisation *initialisation);

/* Writes @set to /training of @run, without the fields "taken" and "all", which /initialisation stores. */
gboolean plait_training_set_write (const PlaitTrainingSet *set, PlaitStore *run, GError **error);

/* Reads the training set of @run. All fields are 0 if @run does not store it. */
PlaitTrainingSet plait_training_set_read (PlaitStore *run);

/* Returns sentences about the differences between @sets [n]. They call the sets @names [n], which need not be unique.
 * NULL-terminated, empty if no difference is known. (transfer full) */
char **plait_training_sets_describe_differences (const PlaitTrainingSet *sets, const char *const *names, guint n);

/* Returns a text that lists for each different value the names with this value: "VALUE in A, B; VALUE in C". Shortens
 * long lists. Name i of @names [n] has values[i] (NULL: unknown). With @keys [n] (may be NULL), values are equal if
 * their keys are equal. Returns NULL if all known values are equal. (transfer full) */
char *plait_group_names_by_value (const char *const *values, const char *const *keys, const char *const *names,
                                  guint n);
