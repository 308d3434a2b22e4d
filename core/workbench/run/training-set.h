/* SPDX-License-Identifier: MIT */
#pragma once

#include "experiment/file.h"
#include "weights/initialisation.h"
#include "hdf5/store.h"
#include "training/trainer.h"

/*
 * What a run trains on. Runs of the same files may differ in it without a setting that says so: length limits, empty
 * targets and missing trees drop lines, which depends on the streams that are read and on the vocabularies, and batches
 * in tokens hold fewer sentences where more text is read.
 *
 * In the file of a run these are attributes of /training.
 */
typedef struct
{
  gint64 lines;     /* of the files; 0: not known, as of a run of an older plait */
  gint64 tuples;    /* trained on */
  char digest[65];  /* SHA-256 of the numbers of their lines */
  gint64 tokens;    /* of a batch at most; 0: batches count sentences */
  double sentences; /* a batch in the mean of the first epoch */
  guint taken;      /* parameters that training begins with of train.initialise, of @all; 0 of 0: it is not set */
  guint all;
} PlaitTrainingSet;

/* Looks at the training text @corpus, the batches of @trainer, which has not trained yet, and @initialisation (or
 * NULL). */
PlaitTrainingSet plait_training_set_new (const PlaitExperiment *experiment, const PlaitCorpus *corpus,
                                         const PlaitTrainer *trainer, const PlaitInitialisation *initialisation);

/* Writes @set to /training of @run, without what /initialisation tells. */
gboolean plait_training_set_write (const PlaitTrainingSet *set, PlaitStore *run, GError **error);

/* Reads what @run tells of it. */
PlaitTrainingSet plait_training_set_read (PlaitStore *run);

/* Says what @sets [n] have otherwise, called by @names [n], of which several may be equal. NULL-terminated, empty if
 * nothing is known to differ. (transfer full) */
char **plait_training_sets_describe_differences (const PlaitTrainingSet *sets, const char *const *names, guint n);

/* Lists which of @names [n] have which of @values [n] (NULL: not known): "VALUE in A, B; VALUE in C". With @keys (or
 * NULL) these tell values apart instead. NULL if at most one is known. (transfer full) */
char *plait_group_names_by_value (const char *const *values, const char *const *keys, const char *const *names,
                                  guint n);
