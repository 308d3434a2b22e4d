/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/run-inputs.h"

/*
 * The vocabularies of an experiment, by name. Each is read from data.vocabulary.NAME (a file or a run), or taken from
 * the run that training begins with (train.initialise), or learnt from text.
 *
 * In the file of a run, the group /vocabulary/NAME has the attributes format and sha256, the bytes model, and for other
 * programs pieces and scores. Wherever a vocabulary file can be named, a run can be named too.
 */

/* Origin of a vocabulary. */
typedef enum
{
  PLAIT_VOCABULARY_OF_LABELS,
  PLAIT_VOCABULARY_OF_FILE,
  PLAIT_VOCABULARY_OF_INITIAL, /* from the run that training begins with */
  PLAIT_VOCABULARY_LEARNT,
} PlaitVocabularyOrigin;

/* Returns the origin of the vocabulary that a new run uses for token stream @stream. */
PlaitVocabularyOrigin plait_vocabulary_origin (const PlaitExperiment *experiment, const char *stream);

/* Returns the number of entries of the vocabulary of token stream @stream, if a new run takes the vocabulary from a
 * file or from the run that training begins with. 0 if the vocabulary is learnt, or cannot be read; the code that uses
 * the vocabulary reports the error. */
gint64 plait_vocabulary_given_size (const PlaitExperiment *experiment, const char *stream);

/* Returns a table that maps names to vocabularies, with all vocabularies of the experiment. If @run, a run of this
 * experiment, is not NULL, takes all vocabularies from @run. @run_inputs need not have vocabularies yet. @pool (may be
 * NULL) speeds up learning. (transfer full) */
GHashTable *plait_vocabularies_find (const PlaitRunInputs *run_inputs, PlaitStore *run, PlaitPool *pool, PlaitLog *log,
                                     GError **error);

/* Writes to /vocabulary each of @vocabularies that @experiment uses. */
gboolean plait_vocabularies_write (const PlaitExperiment *experiment, GHashTable *vocabularies, PlaitStore *store,
                                   GError **error);

/* Returns the vocabulary in the file at @path: a vocabulary file, or a run. From a run, takes the text vocabulary
 * @name; if @name is NULL or @or_only is TRUE, also accepts the only text vocabulary of the run. @log may be NULL.
 * (transfer full) */
PlaitVocabulary *plait_run_vocabulary_open (const char *path, const char *name, gboolean or_only, PlaitLog *log,
                                            GError **error);
