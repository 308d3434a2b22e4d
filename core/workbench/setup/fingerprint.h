/* SPDX-License-Identifier: MIT */
#pragma once

#include "experiment/file.h"
#include "setup/digests.h"

/*
 * A fingerprint identifies a trained model, an evaluation or a run: SHA-256 over the settings that can change its
 * results and the digests of its files and plugins.
 */

/* Returns the fingerprint of the trained model: SHA-256 over plait_experiment_training_fingerprint_text, the digests of
 * data and plugins, and with train.best_by=metric the digests of the dictionary and of the model files of metrics.
 * (transfer full) */
char *plait_training_fingerprint (const PlaitExperiment *experiment, PlaitDigests *digests, GError **error);

/* Returns the fingerprint of the evaluation of @split: SHA-256 over the training fingerprint,
 * plait_experiment_evaluation_fingerprint_text and the digests of the files of the split, of the dictionary, of the
 * model files of metrics, and of external scores. (transfer full) */
char *plait_evaluation_fingerprint (const PlaitExperiment *experiment, const char *split,
                                    const char *training_fingerprint, PlaitDigests *digests, GError **error);

/* Returns the fingerprint of the whole run: SHA-256 over the fingerprints of its training and of all its evaluations.
 * (transfer full) */
char *plait_run_fingerprint (const PlaitExperiment *experiment, const char *training_fingerprint, PlaitDigests *digests,
                             GError **error);

/* Returns the keys or metrics that name files whose digests are part of the fingerprints of @experiment, but are not
 * stored in runs: "decode.dictionary", "evaluate.scores.NAME", "bleu:tok=spm,model=FILE". (transfer full) */
char **plait_fingerprint_other_files (const PlaitExperiment *experiment, PlaitDigests *digests, GError **error);

/* TRUE if the change of [@group] @key from @old (NULL: missing) to @new must be reported. */
typedef gboolean (*PlaitSettingDiffers) (const char *group, const char *key, const char *old, const char *new,
                                         gconstpointer data);

/* Calls @differs for each key of @listed, with the key's values in @before and @now. If @differs returns TRUE, appends
 * a text such as "train.batch was 32, is 64" to @told. */
void plait_key_files_describe_differences (const PlaitKeyFile *listed, const PlaitKeyFile *before,
                                           const PlaitKeyFile *now, PlaitSettingDiffers differs, gconstpointer data,
                                           GPtrArray *told);

/* Returns a text with every setting in which two fingerprint texts differ: "train.batch was 32, is 64; decoder.combiner
 * was flat, is serial". Leaves out differences that follow from another one. NULL if the texts are equal. (transfer
 * full) */
char *plait_fingerprint_difference (const char *before, const char *now);
