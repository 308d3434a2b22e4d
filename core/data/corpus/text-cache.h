/* SPDX-License-Identifier: MIT */
#pragma once

#include "files/digest.h"
#include "files/file-stamp.h"
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
  gint64 min_bytes;   /* bytes of a file from which on it is worth it */
  gint64 min_age;     /* seconds since a file was last changed, before which its mark tells too little */
  PlaitLog *log;      /* or NULL */
} PlaitTextCache;

/* As $PLAIT_INDEX says: a folder, "none", or nothing; NULL if it is none. Texts of 64 MiB or more. (transfer full) */
PlaitTextCache *plait_text_cache_new (PlaitLog *log);
void plait_text_cache_free (PlaitTextCache *text_cache);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTextCache, plait_text_cache_free)

/* TRUE if the file @text is large enough. @text_cache may be NULL: nothing is. */
gboolean plait_text_cache_accepts (const PlaitTextCache *text_cache, const char *text);

/* The file that is kept for @text under @name; NULL if there is none. (transfer full) */
char *plait_text_cache_find (const PlaitTextCache *text_cache, const char *text, const char *name);

/* Begins to write it; NULL if it can be written nowhere, which the log is told. (transfer full) */
PlaitFile *plait_text_cache_begin (const PlaitTextCache *text_cache, const char *text, const char *name);

/* Keeps @length bytes for @text under @name, if it can. */
void plait_text_cache_store (const PlaitTextCache *text_cache, const char *text, const char *name, gconstpointer bytes,
                             gsize length);

/* How many corpora a folder keeps: those that were used last. */
#define PLAIT_TEXT_CACHE_CORPORA 4

/* Names of the parts of a corpus begin with its key and a dot, and end so; the first is written last. */
#define PLAIT_TEXT_CACHE_CORPUS_SUFFIX ".corpus"
#define PLAIT_TEXT_CACHE_IDS_SUFFIX ".ids"

/* Removes the corpora from the folder of @kept, a file in it, that are too many. */
void plait_text_cache_trim (const PlaitTextCache *text_cache, const char *kept);

/* A file of text as it was when it was read. */
typedef struct
{
  PlaitFileStamp stamp;
  char digest[PLAIT_DIGEST_LENGTH + 1];
} PlaitKnownText;

/* Its digest: read, or as it is kept for this very file. @text_cache may be NULL. */
gboolean plait_text_cache_digest (const PlaitTextCache *text_cache, const char *text, PlaitKnownText *known,
                                  GError **error);
