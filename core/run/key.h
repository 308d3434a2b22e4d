/* SPDX-License-Identifier: MIT */
#pragma once

#include "experiment/file.h"

/*
 * What tells runs apart: the settings that can change results, and the digests of data and plugins.
 */

/* Digests of the files that experiments read, each taken once, however many experiments name it. */
typedef struct PlaitDigests PlaitDigests;

/* (transfer full) */
PlaitDigests *plait_digests_new (void);
void plait_digests_free (PlaitDigests *digests);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitDigests, plait_digests_free)

/* Called for one file: @name is its key in [data] ("train.en", "vocabulary.shared", "head_rules") or "initialise" of
 * [train], @path where it stands (NULL: it is generated), @digest its SHA-256. */
typedef gboolean (*PlaitDigestVisitor) (const char *name, const char *path, const char *digest, gpointer data,
                                        GError **error);

/* The key that names file @name: "data.train.en", "train.initialise". (transfer full) */
char *plait_digest_key (const char *name);

/* Visits the files of all splits and used streams, then those of vocabularies that are read and head rules, then the
 * run that training begins with. The text of a generated corpus has the digest that its files would have. */
gboolean plait_digests_visit (PlaitDigests *digests, const PlaitExperiment *experiment, PlaitDigestVisitor visitor,
                              gpointer data, GError **error);

/* The key of @experiment: SHA-256 over @settings, which are its plait_experiment_key, and the digests of its data and
 * plugins. (transfer full) */
char *plait_run_key (const PlaitExperiment *experiment, const char *settings, PlaitDigests *digests, GError **error);
