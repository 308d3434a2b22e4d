/* SPDX-License-Identifier: MIT */
#pragma once

#include "corpus/text-cache.h"
#include "experiment/file.h"
#include "hdf5/store.h"

/* Digests of the files that experiments read. Each digest is computed once, for all experiments that name the file, and
 * is not updated if the file changes later. */
typedef struct PlaitDigests PlaitDigests;

/* Returns the file at @path with its digest; digests of large files are cached (corpus/text-cache.h). NULL if the file
 * cannot be read, or has changed since its digest was computed. (transfer none) */
const PlaitKnownText *plait_digests_file (PlaitDigests *digests, const char *path, GError **error);

/* Returns the file at @path with the digest that it had when it was first read, even if the file has changed since.
 * NULL if it cannot be read. (transfer none) */
const PlaitKnownText *plait_digests_known (PlaitDigests *digests, const char *path, GError **error);

/* Computes the digests of the files @paths in parallel, skipping unreadable ones; @pool may be NULL. */
void plait_digests_share (PlaitDigests *digests, GPtrArray *paths, PlaitPool *pool);

/* Returns an empty table of digests of files. If @run is not NULL, @own is its experiment: digests of training files
 * are then taken from @run, so these files need not exist. Files of test splits are read if they exist; if not, and
 * @own names them too, @run gives their digests. @run and @own must outlive the result. (transfer full) */
PlaitDigests *plait_digests_new (PlaitStore *run, const PlaitExperiment *own);
void plait_digests_free (PlaitDigests *digests);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitDigests, plait_digests_free)

/* Called for one file. @name is a key of [data], such as "train.en", "vocabulary.shared" or "head_rules", or of
 * [train]: "initialise" or "initialise_map". A number marks one of several files: "train.en.2" is the second file of
 * train.en, "initialise.1" the first file that the index initialise lists. @path is NULL for generated text, and for
 * the files of an index that a run records. @digest is the SHA-256 of the file. */
typedef gboolean (*PlaitDigestVisitor) (const char *name, const char *path, const char *digest, gpointer data,
                                        GError **error);

/* Returns the digest of @text, a text from which a vocabulary of @experiment is learnt. NULL if it cannot be read.
 * (transfer none) */
const char *plait_digests_text (PlaitDigests *digests, const PlaitExperiment *experiment,
                                const PlaitVocabularyText *text, GError **error);

/* Returns the key of the file @name with its group: "data.train.en" for "train.en", "train.initialise" for
 * "initialise". (transfer full) */
char *plait_digest_key (const char *name);

/* Calls @visitor for each file of the streams of @split. Generated text has the digest that its file would have. */
gboolean plait_digests_visit_split (PlaitDigests *digests, const PlaitExperiment *experiment, const char *split,
                                    PlaitDigestVisitor visitor, gpointer data, GError **error);

/* Calls @visitor for the files of training and validation, then for vocabulary files and for other texts from which
 * vocabularies are learnt, then for the head rules, the file that training begins with, and the name map. Generated
 * text has the digest that its file would have. */
gboolean plait_digests_visit_training (PlaitDigests *digests, const PlaitExperiment *experiment,
                                       PlaitDigestVisitor visitor, gpointer data, GError **error);

/* Calls @visitor for the files of the test splits. */
gboolean plait_digests_visit_tests (PlaitDigests *digests, const PlaitExperiment *experiment,
                                    PlaitDigestVisitor visitor, gpointer data, GError **error);

/* Calls @visitor for the files of plait_digests_visit_training(), then for those of plait_digests_visit_tests(). */
gboolean plait_digests_visit (PlaitDigests *digests, const PlaitExperiment *experiment, PlaitDigestVisitor visitor,
                              gpointer data, GError **error);
