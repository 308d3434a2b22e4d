/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/log.h"
#include "corpus/corpus.h"
#include "corpus/feed.h"
#include "experiment/file.h"
#include "setup/fingerprint.h"
#include "hdf5/store.h"

/*
 * The inputs of a run, known before the model: text files (written first if a task generates them) and vocabularies,
 * which are learnt from the training text, read from files, or taken from a run.
 */
typedef struct PlaitRunInputs PlaitRunInputs;

/* Returns the inputs of @experiment. @run is NULL, or a run that gives the vocabularies, so that its text is not
 * needed. With @own, the run's experiment (may be NULL), the digests of training files are also those stored in @run
 * (plait_digests_new); @run and @own must outlive the result. @pool (may be NULL) speeds up learning. (transfer
 * full) */
PlaitRunInputs *plait_run_inputs_new (const PlaitExperiment *experiment, PlaitStore *run, const PlaitExperiment *own,
                                      PlaitPool *pool, PlaitLog *log, GError **error);
void plait_run_inputs_free (PlaitRunInputs *run_inputs);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitRunInputs, plait_run_inputs_free)

/* Writes the text of a generated corpus, unless this was done, into a folder that is removed with @run_inputs. Before
 * that its splits have no files; learning vocabularies calls it. */
gboolean plait_run_inputs_generate (PlaitRunInputs *run_inputs, PlaitLog *log, GError **error);

/* Returns the vocabulary of token stream @stream; NULL for a stream of features. (transfer none) */
PlaitVocabulary *plait_run_inputs_vocabulary (const PlaitRunInputs *run_inputs, const char *stream);

/* Returns the file of @stream in @split, or NULL. (transfer none) */
const char *plait_run_inputs_file (const PlaitRunInputs *run_inputs, const char *split, const char *stream);

/* Returns the files of @stream in the training split, NULL-terminated. (transfer container) */
const char **plait_run_inputs_training_files (const PlaitRunInputs *run_inputs, const char *stream);

/* Returns the file of @text, and generates it first if it is generated but not training text. NULL on failure.
 * (transfer none) */
const char *plait_run_inputs_text (const PlaitRunInputs *run_inputs, const PlaitVocabularyText *text, GError **error);

/* Returns the cache of large texts; NULL if there is none, as for generated text. (transfer none) */
const PlaitTextCache *plait_run_inputs_text_cache (const PlaitRunInputs *run_inputs);

/* Opens a split. Training drops tuples by the length limits and data.share, and logs their number; other splits keep
 * every line. (transfer full) */
PlaitCorpus *plait_run_inputs_open (const PlaitRunInputs *run_inputs, const char *split, PlaitPool *pool, PlaitLog *log,
                                    GError **error);

/* Location of a text that the user names. */
typedef struct
{
  const char *path; /* NULL: no text */
  guint column;     /* column of a table, from 1; 0: whole lines */
} PlaitTextLocation;

/* A run that reads a feed. */
typedef struct
{
  const PlaitRunInputs *run_inputs;
  PlaitTextLocation *sources; /* [sources]; no path: missing in every line */
  PlaitTextLocation *trees;   /* [sources]; used for each source with data.trees=given */
} PlaitFeedReader;

/* Opens files or pipes that the user names, to be read once by @n runs: batches have the sources of all of them, end to
 * end. @target: path or NULL, read by the first run. @table: format of columns, or NULL. data.empty of the runs decides
 * about empty lines. (transfer full) */
PlaitFeed *plait_run_inputs_open_feed (const PlaitFeedReader *readers, guint n, const char *target,
                                       const PlaitFeedTable *table, GError **error);

/* Writes the vocabularies to /vocabulary and the digest of every file to /data. */
gboolean plait_run_inputs_write (const PlaitRunInputs *run_inputs, PlaitStore *store, GError **error);

/* Writes the digests of the test splits, over existing ones. */
gboolean plait_run_inputs_write_tests (const PlaitRunInputs *run_inputs, PlaitStore *store, GError **error);

/* Fails if files differ from the digests stored in @run; the error names them. plait_run_inputs_check_training checks
 * only files of training. */
gboolean plait_run_inputs_check (const PlaitRunInputs *run_inputs, PlaitStore *run, GError **error);
gboolean plait_run_inputs_check_training (const PlaitRunInputs *run_inputs, PlaitStore *run, GError **error);

/* Returns the experiment. (transfer none) */
const PlaitExperiment *plait_run_inputs_experiment (const PlaitRunInputs *run_inputs);

/* Returns the digests of files, as far as they were computed. (transfer none) */
PlaitDigests *plait_run_inputs_digests (const PlaitRunInputs *run_inputs);
