/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/log.h"
#include "corpus/corpus.h"
#include "corpus/feed.h"
#include "experiment/file.h"
#include "setup/key.h"
#include "hdf5/store.h"

/*
 * What an experiment is made of before there is a model: the text files (written first where a task generates them) and
 * the vocabularies, learnt from the training text, read from files, or taken from a run.
 */
typedef struct PlaitMaterials PlaitMaterials;

/* @run is NULL, or a run whose vocabularies are taken: its text need not be there. With @own (or NULL), its experiment,
 * it is also taken at its word for what it was trained with (plait_digests_new); then both must outlive the materials.
 * @pool (may be NULL) shares what is learnt. (transfer full) */
PlaitMaterials *plait_materials_new (const PlaitExperiment *experiment, PlaitStore *run, const PlaitExperiment *own,
                                     PlaitPool *pool, PlaitLog *log, GError **error);
void plait_materials_free (PlaitMaterials *materials);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitMaterials, plait_materials_free)

/* Writes the text of a generated corpus, if it is one and that has not been done, into a folder that goes away with the
 * materials. Its splits have no files before; what learns vocabularies from it has done it. */
gboolean plait_materials_generate (PlaitMaterials *materials, PlaitLog *log, GError **error);

/* The vocabulary of token stream @stream; NULL of one of numbers. (transfer none) */
PlaitVocabulary *plait_materials_vocabulary (const PlaitMaterials *materials, const char *stream);

/* The file of @stream in @split, or NULL. (transfer none) */
const char *plait_materials_file (const PlaitMaterials *materials, const char *split, const char *stream);

/* The file of @text, which is generated now if it is not training text. NULL on failure. (transfer none) */
const char *plait_materials_text (const PlaitMaterials *materials, const PlaitVocabularyText *text, GError **error);

/* Where what is made of large texts is kept; NULL: nowhere, as of generated text. (transfer none) */
const PlaitIndex *plait_materials_index (const PlaitMaterials *materials);

/* Opens a split. Test splits and validation keep every line; training drops what the length limits say, and tells it.
 * (transfer full) */
PlaitCorpus *plait_materials_open (const PlaitMaterials *materials, const char *split, PlaitPool *pool, PlaitLog *log,
                                   GError **error);

/* Where a text given by hand stands. */
typedef struct
{
  const char *path; /* NULL: nowhere */
  guint column;     /* from 1, of a table at that path; 0: the whole of its lines */
} PlaitTextPlace;

/* Opens files or pipes given by hand, to be read once: one place a source (nowhere: that source is missing in every
 * line), in @trees one for each source whose trees are read (data.trees=given), @target a path or NULL; @table is that
 * of the columns, or NULL. Empty lines are what data.empty says. (transfer full) */
PlaitFeed *plait_materials_open_feed (const PlaitMaterials *materials, const PlaitTextPlace *sources,
                                      const PlaitTextPlace *trees, const char *target, const PlaitFeedTable *table,
                                      GError **error);

/* Writes the vocabularies below /vocabulary, and below /data the digest of every file that was read. */
gboolean plait_materials_write (const PlaitMaterials *materials, PlaitStore *store, GError **error);

/* Writes the digests of the test splits, over those that are there. */
gboolean plait_materials_write_tests (const PlaitMaterials *materials, PlaitStore *store, GError **error);

/* Fails, naming the file, if the files are not those whose digests @run holds; the second looks at what is trained with
 * alone. */
gboolean plait_materials_check (const PlaitMaterials *materials, PlaitStore *run, GError **error);
gboolean plait_materials_check_training (const PlaitMaterials *materials, PlaitStore *run, GError **error);

/* (transfer none) */
const PlaitExperiment *plait_materials_experiment (const PlaitMaterials *materials);

/* The digests of the files, as far as they were taken. (transfer none) */
PlaitDigests *plait_materials_digests (const PlaitMaterials *materials);
