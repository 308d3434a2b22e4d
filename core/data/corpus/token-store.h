/* SPDX-License-Identifier: MIT */
#pragma once

#include "files/file.h"

/*
 * The token ids of one stream of a corpus, sentence after sentence: written once, then read at random.
 *
 * Text is encoded once, not once an epoch, because encoding costs far more than reading ids back. Ids take two bytes
 * where the vocabulary has at most 65,536 entries, else four. Up to 64 MiB stay in memory; what is larger goes to an
 * unlinked temporary file (TMPDIR), or all of it to a file that is kept for other processes, which is sealed by a hash.
 * Either is read sentence by sentence, so what is held is four bytes a sentence, its length.
 */
typedef struct PlaitTokenStore PlaitTokenStore;

/* An empty store for ids below @ids. (transfer full) */
PlaitTokenStore *plait_token_store_new (gint64 ids);
void plait_token_store_free (PlaitTokenStore *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTokenStore, plait_token_store_free)

/* Lets @store, which is empty, become @file, which it takes. */
gboolean plait_token_store_keep (PlaitTokenStore *store, PlaitFile *file, GError **error);

/* A store for ids below @ids from the file that another became. PLAIT_ERROR_INPUT unless it is whole and of as wide
 * ids: all of it is read. (transfer full) */
PlaitTokenStore *plait_token_store_open (const char *path, gint64 ids, GError **error);

/* Adds a sentence of @n ids. Fails if a file cannot be written. */
gboolean plait_token_store_append (PlaitTokenStore *store, const gint32 *ids, gsize n, GError **error);

/* Ends the writing; reading may begin. */
gboolean plait_token_store_finish (PlaitTokenStore *store, GError **error);

/* The hash that seals the finished file that @store becomes or was read from; 0: there is none. */
guint64 plait_token_store_checksum (const PlaitTokenStore *store);

/* Lets the finished file take its place. */
gboolean plait_token_store_commit (PlaitTokenStore *store, GError **error);

/* The sentences of @store. */
gint64 plait_token_store_sentences (const PlaitTokenStore *store);

/* The ids in sentence @sentence. */
gint64 plait_token_store_length (const PlaitTokenStore *store, gint64 sentence);

/* Reads the ids at @from (from 0) to @from + @n - 1 of @sentence to @ids. Fails where a file cannot be read. */
gboolean plait_token_store_read (const PlaitTokenStore *store, gint64 sentence, gint64 from, gint64 n, gint32 *ids,
                                 GError **error);
