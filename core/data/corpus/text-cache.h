/* SPDX-License-Identifier: MIT */
#pragma once

#include "files/digest.h"
#include "files/file-stamp.h"
#include "files/file.h"
#include "text/log.h"

/*
 * Cache of data that was computed from large texts, so that the next process need not read them: digests, learnt
 * vocabularies and encoded corpora. Names are hashes of everything that the contents depend on; but the name of a
 * digest is a hash of the text's path, and its contents have the text's stamp. Contents carry a checksum; a damaged or
 * outdated file is ignored. Deleting the cache is always safe.
 */
typedef struct
{
  /* Folder of the cache; NULL: "plait-index" next to each text, or "plait" in the user's cache folder if "plait-index"
   * cannot be written. */
  const char *folder;

  gint64 min_bytes; /* smallest text file to cache, in bytes */
  gint64 min_age;   /* seconds since the last change of a file before its stamp is trusted */
  PlaitLog *log;    /* log of failures; may be NULL */
} PlaitTextCache;

/* Returns a cache of texts of 64 MiB or more in the folder $PLAIT_INDEX, or in the default folders if that is not set.
 * NULL if $PLAIT_INDEX is "none". (transfer full) */
PlaitTextCache *plait_text_cache_new (PlaitLog *log);
void plait_text_cache_free (PlaitTextCache *text_cache);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTextCache, plait_text_cache_free)

/* TRUE if the file @text is large enough to cache. FALSE if @text_cache is NULL. */
gboolean plait_text_cache_accepts (const PlaitTextCache *text_cache, const char *text);

/* Returns the path of the file cached for @text under @name, or NULL. (transfer full) */
char *plait_text_cache_find (const PlaitTextCache *text_cache, const char *text, const char *name);

/* Begins to write the file cached for @text under @name. Returns NULL, and logs the reason, if no folder can be
 * written. (transfer full) */
PlaitFile *plait_text_cache_begin (const PlaitTextCache *text_cache, const char *text, const char *name);

/* Caches @bytes [length] for @text under @name. Logs a failure. */
void plait_text_cache_store (const PlaitTextCache *text_cache, const char *text, const char *name, gconstpointer bytes,
                             gsize length);

/* Maximum number of corpora in a folder. Those used last stay. */
#define PLAIT_TEXT_CACHE_CORPORA 4

/* Suffixes of the files of a corpus: KEY.corpus, which is written last, and KEY.N.ids for its stream or factor N. */
#define PLAIT_TEXT_CACHE_CORPUS_SUFFIX ".corpus"
#define PLAIT_TEXT_CACHE_IDS_SUFFIX ".ids"

/* Removes the corpora that were used longest ago from the folder of the file @kept, if there are more than the
 * limit. */
void plait_text_cache_trim (const PlaitTextCache *text_cache, const char *kept);

/* Stamp and digest that a text file had when it was read. */
typedef struct
{
  PlaitFileStamp stamp;
  char digest[PLAIT_DIGEST_LENGTH + 1];
} PlaitKnownText;

/* Sets @known to the stamp and digest of the file @text; takes the digest from @text_cache (may be NULL) if the file
 * has not changed since the digest was cached. */
gboolean plait_text_cache_digest (const PlaitTextCache *text_cache, const char *text, PlaitKnownText *known,
                                  GError **error);
