/* SPDX-License-Identifier: MIT */
#pragma once

#include "files/digest.h"
#include "files/file-mark.h"
#include "files/file.h"
#include "text/log.h"

/*
 * Where what large texts were turned into is kept, so that the next process need not read them: digests, vocabularies
 * that were learnt, and encoded corpora. Names are hashes of all that the contents follow from, and contents are
 * sealed: what is damaged, or of another text, counts as not there. Nothing that is kept is needed.
 */
typedef struct
{
  const char *folder; /* NULL: "plait-index" beside each text, or where that cannot be, "plait" in the user's cache */
  gint64 least;       /* bytes of a file from which on it is worth it */
  gint64 settled;     /* seconds since a file was last changed, before which its mark tells too little */
  PlaitLog *log;      /* or NULL */
} PlaitIndex;

/* As $PLAIT_INDEX says: a folder, "none", or nothing; NULL if it is none. Texts of 64 MiB or more. (transfer full) */
PlaitIndex *plait_index_new (PlaitLog *log);
void plait_index_free (PlaitIndex *index);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitIndex, plait_index_free)

/* TRUE if the file @text is large enough. @index may be NULL: nothing is. */
gboolean plait_index_takes (const PlaitIndex *index, const char *text);

/* The file that is kept for @text under @name; NULL if there is none. (transfer full) */
char *plait_index_find (const PlaitIndex *index, const char *text, const char *name);

/* Begins to write it; NULL if it can be written nowhere, which the log is told. (transfer full) */
PlaitFile *plait_index_begin (const PlaitIndex *index, const char *text, const char *name);

/* Keeps @length bytes for @text under @name, if it can. */
void plait_index_keep (const PlaitIndex *index, const char *text, const char *name, gconstpointer bytes, gsize length);

/* How many corpora a folder keeps: those that were used last. */
#define PLAIT_INDEX_CORPORA 4

/* Names of the parts of a corpus begin with its key and a dot, and end so; the first is written last. */
#define PLAIT_INDEX_CORPUS ".corpus"
#define PLAIT_INDEX_IDS ".ids"

/* Removes the corpora from the folder of @kept, a file in it, that are too many. */
void plait_index_trim (const PlaitIndex *index, const char *kept);

/* A file of text as it was when it was read. */
typedef struct
{
  PlaitFileMark mark;
  char digest[PLAIT_DIGEST_LENGTH + 1];
} PlaitKnownText;

/* Its digest: read, or as it is kept for this very file. @index may be NULL. */
gboolean plait_index_digest (const PlaitIndex *index, const char *text, PlaitKnownText *known, GError **error);
