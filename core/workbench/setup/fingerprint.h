/* SPDX-License-Identifier: MIT */
#pragma once

#include "corpus/text-cache.h"
#include "experiment/file.h"
#include "hdf5/store.h"

/*
 * Fingerprints tell runs apart: SHA-256 over the settings that can change results and the digests of data and plugins.
 */

/* Digests of the files that experiments read. Each is computed once, for all experiments that name the file, and is not
 * updated if the file changes later. */
typedef struct PlaitDigests PlaitDigests;

/* Returns the file at @path with its digest; digests of large files are cached (corpus/text-cache.h). NULL if it cannot
 * be read, or has changed since its digest was computed. (transfer none) */
const PlaitKnownText *plait_digests_file (PlaitDigests *digests, const char *path, GError **error);

/* Computes the digests of the files @paths in parallel, skipping unreadable ones; @pool may be NULL. */
void plait_digests_share (PlaitDigests *digests, GPtrArray *paths, PlaitPool *pool);

/* Returns an empty table of digests of files. If @run is not NULL, @own is the experiment of @run: the table takes
 * digests of training files from @run, so that these files need not exist, and reads the files of test splits that
 * exist. @run and @own must
 * outlive the result. (transfer full) */
PlaitDigests *plait_digests_new (PlaitStore *run, const PlaitExperiment *own);
void plait_digests_free (PlaitDigests *digests);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitDigests, plait_digests_free)

/* Called for one file. @name: its key in [data] ("train.en", "train.en.2" for its second file, "vocabulary.shared",
 * "head_rules") or "initialise" of [train]; @path: NULL if it is generated; @digest: its SHA-256. */
typedef gboolean (*PlaitDigestVisitor) (const char *name, const char *path, const char *digest, gpointer data,
                                        GError **error);

/* Returns the digest of @text, training text of a vocabulary of @experiment. NULL if it cannot be read. (transfer
 * none) */
const char *plait_digests_text (PlaitDigests *digests, const PlaitExperiment *experiment,
                                const PlaitVocabularyText *text, GError **error);

/* Returns the key of file @name: "data.train.en", "train.initialise". (transfer full) */
char *plait_digest_key (const char *name);

/* Visits the files of training and validation, then vocabulary files and head rules, then the run that training begins
 * with. Generated text has the digest that its file would have. */
gboolean plait_digests_visit_training (PlaitDigests *digests, const PlaitExperiment *experiment,
                                       PlaitDigestVisitor visitor, gpointer data, GError **error);

/* Visits the files of the test splits. */
gboolean plait_digests_visit_tests (PlaitDigests *digests, const PlaitExperiment *experiment,
                                    PlaitDigestVisitor visitor, gpointer data, GError **error);

/* Visits the training files, then the test files. */
gboolean plait_digests_visit (PlaitDigests *digests, const PlaitExperiment *experiment, PlaitDigestVisitor visitor,
                              gpointer data, GError **error);

/* Returns the fingerprint of the trained model: SHA-256 over plait_experiment_training_fingerprint_text and the digests
 * of data and plugins. (transfer full) */
char *plait_training_fingerprint (const PlaitExperiment *experiment, PlaitDigests *digests, GError **error);

/* Returns the fingerprint of the evaluation of @split: SHA-256 over the training fingerprint,
 * plait_experiment_evaluation_fingerprint_text and the digests of the split. (transfer full) */
char *plait_evaluation_fingerprint (const PlaitExperiment *experiment, const char *split,
                                    const char *training_fingerprint, PlaitDigests *digests, GError **error);

/* Returns the fingerprint of the whole run: SHA-256 over the fingerprints of its training and of all its evaluations.
 * (transfer full) */
char *plait_run_fingerprint (const PlaitExperiment *experiment, const char *training_fingerprint, PlaitDigests *digests,
                             GError **error);

/* TRUE if the change of [@group] @key from @old (NULL: absent) to @new is to be reported. */
typedef gboolean (*PlaitSettingDiffers) (const char *group, const char *key, const char *old, const char *new,
                                         gconstpointer data);

/* Adds to @told each key of @listed that @differs accepts, as text: "train.batch was 32, is 64". */
void plait_key_files_describe_differences (const PlaitKeyFile *listed, const PlaitKeyFile *before,
                                           const PlaitKeyFile *now, PlaitSettingDiffers differs, gconstpointer data,
                                           GPtrArray *told);

/* Returns every setting in which two fingerprint texts differ, except those that follow from another one: "train.batch
 * was 32, is 64; decoder.combiner was flat, is serial". NULL if the texts are equal. (transfer full) */
char *plait_fingerprint_difference (const char *before, const char *now);
