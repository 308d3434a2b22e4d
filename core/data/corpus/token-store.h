/* SPDX-License-Identifier: MIT */
#pragma once

#include "files/file.h"

/*
 * Token ids of one stream of a corpus, sentence after sentence: written once, then read at random.
 *
 * Text is encoded once instead of once per epoch, because encoding costs far more than reading ids back. Ids take two
 * bytes for vocabularies of at most 65,536 entries, else four. A store below 64 MiB stays in memory; a larger one moves
 * to an unlinked temporary file in TMPDIR. A store may also be a cache file for other processes, which ends with a
 * checksum. Files are read sentence by sentence, so memory holds only four bytes per sentence, its length.
 */
typedef struct PlaitTokenStore PlaitTokenStore;

/* Returns an empty store for ids below @ids. (transfer full) */
PlaitTokenStore *plait_token_store_new (gint64 ids);
void plait_token_store_free (PlaitTokenStore *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTokenStore, plait_token_store_free)

/* Makes the empty @store write to the cache file @file. Takes ownership of @file. */
gboolean plait_token_store_keep (PlaitTokenStore *store, PlaitFile *file, GError **error);

/* Opens the cache file at @path for ids below @ids. Reads all of it. Returns NULL if it cannot be read, is damaged or
 * has ids of another width. (transfer full) */
PlaitTokenStore *plait_token_store_open (const char *path, gint64 ids);

/* Appends a sentence of @n ids. Fails if a file cannot be written, or if @store has 2^29 sentences. */
gboolean plait_token_store_append (PlaitTokenStore *store, const gint32 *ids, gsize n, GError **error);

/* Ends writing. From now on, sentences can be read. */
gboolean plait_token_store_finish (PlaitTokenStore *store, GError **error);

/* Returns the checksum of the cache file that was finished or opened; 0 if there is no such file. */
guint64 plait_token_store_checksum (const PlaitTokenStore *store);

/* Publishes the finished cache file under its name. FALSE on failure, such as if another process did so first. */
gboolean plait_token_store_commit (PlaitTokenStore *store);

gint64 plait_token_store_sentences (const PlaitTokenStore *store);

/* Returns the number of ids in sentence @sentence. */
gint64 plait_token_store_length (const PlaitTokenStore *store, gint64 sentence);

/* Reads the ids @from .. @from + @n - 1 of sentence @sentence to @ids [n]. Fails if the file cannot be read. */
gboolean plait_token_store_read (const PlaitTokenStore *store, gint64 sentence, gint64 from, gint64 n, gint32 *ids,
                                 GError **error);
