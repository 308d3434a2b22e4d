/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/log.h"
#include "corpus/corpus.h"
#include "corpus/feed.h"
#include "experiment/file.h"
#include "setup/fingerprint.h"
#include "hdf5/store.h"

/*
 * What an experiment is made of before there is a model: the text files (written first where a task generates them) and
 * the vocabularies, learnt from the training text, read from files, or taken from a run.
 */
typedef struct PlaitRunInputs PlaitRunInputs;

/* @run is NULL, or a run whose vocabularies are taken: its text need not be there. With @own (or NULL), its experiment,
 * it is also taken at its word for what it was trained with (plait_digests_new); then both must outlive the materials.
 * @pool (may be NULL) shares what is learnt. (transfer full) */
PlaitRunInputs *plait_run_inputs_new (const PlaitExperiment *experiment, PlaitStore *run, const PlaitExperiment *own,
                                      PlaitPool *pool, PlaitLog *log, GError **error);
void plait_run_inputs_free (PlaitRunInputs *run_inputs);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitRunInputs, plait_run_inputs_free)

/* Writes the text of a generated corpus, if it is one and that has not been done, into a folder that goes away with the
 * materials. Its splits have no files before; what learns vocabularies from it has done it. */
gboolean plait_run_inputs_generate (PlaitRunInputs *run_inputs, PlaitLog *log, GError **error);

/* The vocabulary of token stream @stream; NULL of one of numbers. (transfer none) */
PlaitVocabulary *plait_run_inputs_vocabulary (const PlaitRunInputs *run_inputs, const char *stream);

/* The file of @stream in @split, or NULL. (transfer none) */
const char *plait_run_inputs_file (const PlaitRunInputs *run_inputs, const char *split, const char *stream);

/* The file of @text, which is generated now if it is not training text. NULL on failure. (transfer none) */
const char *plait_run_inputs_text (const PlaitRunInputs *run_inputs, const PlaitVocabularyText *text, GError **error);

/* Where what is made of large texts is kept; NULL: nowhere, as of generated text. (transfer none) */
const PlaitTextCache *plait_run_inputs_text_cache (const PlaitRunInputs *run_inputs);

/* Opens a split. Test splits and validation keep every line; training drops what the length limits say, and tells it.
 * (transfer full) */
PlaitCorpus *plait_run_inputs_open (const PlaitRunInputs *run_inputs, const char *split, PlaitPool *pool, PlaitLog *log,
                                    GError **error);

/* Where a text given by hand stands. */
typedef struct
{
  const char *path; /* NULL: nowhere */
  guint column;     /* from 1, of a table at that path; 0: the whole of its lines */
} PlaitTextLocation;

/* Opens files or pipes given by hand, to be read once: one place a source (nowhere: that source is missing in every
 * line), in @trees one for each source whose trees are read (data.trees=given), @target a path or NULL; @table is that
 * of the columns, or NULL. Empty lines are what data.empty says. (transfer full) */
PlaitFeed *plait_run_inputs_open_feed (const PlaitRunInputs *run_inputs, const PlaitTextLocation *sources,
                                       const PlaitTextLocation *trees, const char *target, const PlaitFeedTable *table,
                                       GError **error);

/* Writes the vocabularies below /vocabulary, and below /data the digest of every file that was read. */
gboolean plait_run_inputs_write (const PlaitRunInputs *run_inputs, PlaitStore *store, GError **error);

/* Writes the digests of the test splits, over those that are there. */
gboolean plait_run_inputs_write_tests (const PlaitRunInputs *run_inputs, PlaitStore *store, GError **error);

/* Fails, naming the file, if the files are not those whose digests @run holds; the second looks at what is trained with
 * alone. */
gboolean plait_run_inputs_check (const PlaitRunInputs *run_inputs, PlaitStore *run, GError **error);
gboolean plait_run_inputs_check_training (const PlaitRunInputs *run_inputs, PlaitStore *run, GError **error);

/* (transfer none) */
const PlaitExperiment *plait_run_inputs_experiment (const PlaitRunInputs *run_inputs);

/* The digests of the files, as far as they were taken. (transfer none) */
PlaitDigests *plait_run_inputs_digests (const PlaitRunInputs *run_inputs);
