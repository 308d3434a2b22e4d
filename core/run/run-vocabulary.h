/* SPDX-License-Identifier: MIT */
#pragma once

#include "data/vocabulary.h"
#include "store/store.h"

/* Vocabularies in files of runs: the group /vocabulary/NAME has the attributes format and sha256, the bytes model, and
 * for other programs pieces and scores. A run is a vocabulary wherever a file of one may be named. */

gboolean plait_run_vocabulary_write (const PlaitVocabulary *vocabulary, PlaitStore *run, const char *name,
                                     GError **error);

/* (transfer full) */
PlaitVocabulary *plait_run_vocabulary_read (PlaitStore *run, const char *name, GError **error);

/* Whether @run has a vocabulary @name that is of text, and no labels. */
gboolean plait_run_vocabulary_has (PlaitStore *run, const char *name);

/* The name of the only vocabulary of text that @run has, where it has one alone; NULL: it has none, or several.
 * (transfer full) */
char *plait_run_vocabulary_only (PlaitStore *run);

/* The vocabulary in the file at @path: what plait_vocabulary_read reads there; or, of a run, the one of text that it
 * has under @name, or else, with @or_only or where @name is NULL, the only one that it has. @log may be NULL. (transfer
 * full) */
PlaitVocabulary *plait_run_vocabulary_open (const char *path, const char *name, gboolean or_only, PlaitLog *log,
                                            GError **error);
