/* SPDX-License-Identifier: MIT */
#pragma once

#include "documents/documents.h"

/*
 * The text of the unknown words of one stream, sentence by sentence. An unknown word is the word, between white space,
 * that contains an unknown token. Each different text is stored once; a sentence has the number of a text for each of
 * its unknown tokens.
 */
typedef struct PlaitUnknownWords PlaitUnknownWords;

/* Returns an empty store. (transfer full) */
PlaitUnknownWords *plait_unknown_words_new (void);
void plait_unknown_words_free (PlaitUnknownWords *words);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitUnknownWords, plait_unknown_words_free)

/* Appends an entry: the words of the first @kept unknown tokens of @text (@length bytes), which was encoded to @ids. If
 * @sentences is NULL, @text is one sentence with @n ids. Otherwise @text is @n_sentences sentences of a document,
 * separated by LF; sentence i has sentences[i].tokens ids, and @n is not used. Fails if a file cannot be written. */
gboolean plait_unknown_words_append (PlaitUnknownWords *words, const PlaitVocabulary *vocabulary, const char *text,
                                     gsize length, const gint32 *ids, gsize n, const PlaitDocumentSentence *sentences,
                                     gint64 n_sentences, gsize kept, GError **error);

/* Ends writing. From now on, words can be read. */
gboolean plait_unknown_words_finish (PlaitUnknownWords *words, GError **error);

/* Appends to @texts the word of each unknown token of sentence (or document) @sentence, in their order. A word is NULL
 * if the words of its sentence could not be matched with the tokens. The texts belong to @words. */
gboolean plait_unknown_words_read (const PlaitUnknownWords *words, gint64 sentence, GPtrArray *texts, GError **error);
