/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/export.h"

/*
 * The token ids of one stream of a corpus, sentence after sentence: written once, then read at random.
 *
 * Text is encoded once, not once an epoch, because encoding costs far more than reading ids back. Ids take two bytes
 * where the vocabulary has at most 65,536 entries, else four. Up to 64 MiB stay in memory; what is larger goes to an
 * unlinked temporary file (TMPDIR) that is mapped, so that a corpus of ten million lines costs page cache the system
 * can take back, and not memory: what is held is four bytes a sentence, its length.
 */
typedef struct PlaitTokenStore PlaitTokenStore;

/* An empty store for ids below @ids. (transfer full) */
PlaitTokenStore *plait_token_store_new (gint64 ids);
void plait_token_store_free (PlaitTokenStore *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTokenStore, plait_token_store_free)

/* Adds a sentence of @n ids. Fails if the temporary file cannot be written. */
gboolean plait_token_store_append (PlaitTokenStore *store, const gint32 *ids, gsize n, GError **error);

/* Ends the writing; reading may begin. */
gboolean plait_token_store_finish (PlaitTokenStore *store, GError **error);

/* The ids in sentence @sentence. */
gint64 plait_token_store_length (const PlaitTokenStore *store, gint64 sentence);

/* The id at @place of @sentence, from 0. */
gint32 plait_token_store_id (const PlaitTokenStore *store, gint64 sentence, gint64 place);

/* Copies the ids of @sentence to @ids. */
void plait_token_store_copy (const PlaitTokenStore *store, gint64 sentence, gint32 *ids);
