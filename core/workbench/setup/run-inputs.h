/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/log.h"
#include "corpus/corpus.h"
#include "corpus/feed.h"
#include "experiment/file.h"
#include "setup/fingerprint.h"
#include "hdf5/store.h"

/*
 * The inputs of a run that exist before the model: files of text or features, and vocabularies. If a task generates the
 * text, the files are written first. Vocabularies are learnt from text, read from files, or taken from a run.
 */
typedef struct PlaitRunInputs PlaitRunInputs;

/* Returns the inputs of @experiment. @run is NULL, or a run that gives the vocabularies; then no text is needed. If
 * @own is not NULL, it is the experiment of @run, and digests of training files are also taken from @run
 * (plait_digests_new). @run and @own must outlive the result. @pool (may be NULL) speeds up learning. (transfer
 * full) */
PlaitRunInputs *plait_run_inputs_new (const PlaitExperiment *experiment, PlaitStore *run, const PlaitExperiment *own,
                                      PlaitPool *pool, PlaitLog *log, GError **error);
void plait_run_inputs_free (PlaitRunInputs *run_inputs);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitRunInputs, plait_run_inputs_free)

/* Writes the text of a generated corpus, unless that was done before, into a folder that is removed with @run_inputs.
 * Before this call, the splits of the corpus have no files. plait_run_inputs_new() calls this function if its @run is
 * NULL. */
gboolean plait_run_inputs_generate (PlaitRunInputs *run_inputs, PlaitLog *log, GError **error);

/* Returns the vocabulary of token stream @stream; NULL for a stream of features. (transfer none) */
PlaitVocabulary *plait_run_inputs_vocabulary (const PlaitRunInputs *run_inputs, const char *stream);

/* Returns the paths of the files of @stream in @split, NULL-terminated; several only for training. (transfer none) */
const char *const *plait_run_inputs_files (const PlaitRunInputs *run_inputs, const char *split, const char *stream);

/* Returns the path of the file of @text. If the text is generated and is not training text, writes the file first. NULL
 * on failure. (transfer none) */
const char *plait_run_inputs_text (const PlaitRunInputs *run_inputs, const PlaitVocabularyText *text, GError **error);

/* Returns the cache of large texts; NULL if there is no cache, as for generated text. (transfer none) */
const PlaitTextCache *plait_run_inputs_text_cache (const PlaitRunInputs *run_inputs);

/* Opens a split. From the training split, drops tuples as [data] says (length limits, empty targets, missing trees,
 * data.share), and logs their number. Keeps every line of other splits. (transfer full) */
PlaitCorpus *plait_run_inputs_open (const PlaitRunInputs *run_inputs, const char *split, PlaitPool *pool, PlaitLog *log,
                                    GError **error);

/* Location of a text that the user names. */
typedef struct
{
  const char *paths[2]; /* { path of the file, NULL }; { NULL, NULL }: no text */
  guint column;         /* column of a table, from 1; 0: the text is the whole line */
} PlaitTextLocation;

/* A run that reads text from a feed, with the locations of its texts. */
typedef struct
{
  const PlaitRunInputs *run_inputs;
  PlaitTextLocation *sources; /* [sources]: where the text is; without a path, the source is missing in every line */
  PlaitTextLocation *trees;   /* [sources]: where the trees are; read for sources with trees if data.trees=given */
  PlaitTextLocation *factors; /* where the factors of all sources are, source by source */
} PlaitFeedReader;

/* Opens files or pipes that the user names, to be read once by the @n runs of @readers. Each batch has the sources of
 * all runs, one run after the other. @target is the path of the target text, which the first run reads, or NULL. @table
 * is the format of columns, or NULL. If data.empty=error in any run, empty lines are errors. (transfer full) */
PlaitFeed *plait_run_inputs_open_feed (const PlaitFeedReader *readers, guint n, const char *target,
                                       const PlaitFeedTable *table, GError **error);

/* Writes the vocabularies to /vocabulary, the digest of every file to /data, and the head rules, if any, to /trees. */
gboolean plait_run_inputs_write (const PlaitRunInputs *run_inputs, PlaitStore *store, GError **error);

/* Writes the digests of the test splits to /data, replacing existing ones. */
gboolean plait_run_inputs_write_tests (const PlaitRunInputs *run_inputs, PlaitStore *store, GError **error);

/* Fails if the files differ from those whose digests @run stores; the error names the files that differ.
 * plait_run_inputs_check_training() does not check files of test splits. */
gboolean plait_run_inputs_check (const PlaitRunInputs *run_inputs, PlaitStore *run, GError **error);
gboolean plait_run_inputs_check_training (const PlaitRunInputs *run_inputs, PlaitStore *run, GError **error);

/* Returns the experiment. (transfer none) */
const PlaitExperiment *plait_run_inputs_experiment (const PlaitRunInputs *run_inputs);

/* Returns the table of digests of files, which has those that were computed so far. (transfer none) */
PlaitDigests *plait_run_inputs_digests (const PlaitRunInputs *run_inputs);
