/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/run-inputs.h"

/*
 * The vocabularies of an experiment, one of each name: read from what data.vocabulary.NAME names, a file or a run; or
 * that of the run which training begins with (train.initialise); or learnt from the training text.
 *
 * In files of runs the group /vocabulary/NAME has the attributes format and sha256, the bytes model, and for other
 * programs pieces and scores. A run is a vocabulary wherever a file of one may be named.
 */

/* Where a vocabulary is from. */
typedef enum
{
  PLAIT_VOCABULARY_OF_LABELS,
  PLAIT_VOCABULARY_OF_FILE,
  PLAIT_VOCABULARY_OF_INITIAL, /* of the run that training begins with */
  PLAIT_VOCABULARY_LEARNT,
} PlaitVocabularyOrigin;

/* Returns where the vocabulary of token stream @stream of a new run is from. */
PlaitVocabularyOrigin plait_vocabulary_origin (const PlaitExperiment *experiment, const char *stream);

/* Finds them all; from @run (or NULL), one of the experiment, they are as it has them. *@run_inputs need not have them
 * yet. @pool (may be NULL) shares the learning. Says of each where it is from. A table from names to vocabularies.
 * (transfer full) */
GHashTable *plait_vocabularies_find (const PlaitRunInputs *run_inputs, PlaitStore *run, PlaitPool *pool, PlaitLog *log,
                                     GError **error);

/* Writes those that @experiment uses of @vocabularies below /vocabulary. */
gboolean plait_vocabularies_write (const PlaitExperiment *experiment, GHashTable *vocabularies, PlaitStore *store,
                                   GError **error);

/* The vocabulary in the file at @path: what plait_vocabulary_read reads there; or, of a run, the one of text that it
 * has under @name, or else, with @or_only or where @name is NULL, the only one that it has. @log may be NULL. (transfer
 * full) */
PlaitVocabulary *plait_run_vocabulary_open (const char *path, const char *name, gboolean or_only, PlaitLog *log,
                                            GError **error);
