/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

#include "corpus/corpus.h"

/* Writes @length bytes (-1: a string) to @name in the test's folder. Its path. (transfer full) */
char *data_write (const char *name, const char *bytes, gssize length);

/* The same, compressed by gzip. (transfer full) */
char *data_write_gzip (const char *name, const char *bytes, gssize length);

/* The bytes, compressed by gzip. (transfer full) */
GBytes *data_gzip (const char *bytes, gssize length);

/* Writes @name, a feature file with a dataset /images, @sentences x 2 x 3, value (s, p, w) = 100 s + 10 p + w, with
 * @lengths [sentences] or NULL. Its path. (transfer full) */
char *data_features (const char *name, gint64 sentences, const gint32 *lengths);

/* A word vocabulary of the words in @text. (transfer full) */
PlaitVocabulary *data_words (const char *text);

/* A stream of tokens. */
PlaitCorpusStream data_tokens (const char *name, const char *path, PlaitVocabulary *vocabulary);

/* Two sources and a target, of one file each, and how to read them. */
typedef struct
{
  PlaitVocabulary *vocabulary;
  char *paths[3];
  PlaitCorpusStream sources[2];
  PlaitCorpusStream target;
  PlaitCorpusSettings settings;
} DataText;

/* Writes the texts; the second is gzip. Ids: a 4, b 5, c 6, d 7, unknown words 3. */
void data_text_set_up (DataText *text, const char *one, const char *two, const char *target);
void data_text_clear (DataText *text);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DataText, data_text_clear)

/* A corpus of @n tuples with sources "one" (sentence i has i % 7 + 1 tokens) and "two" (i % 3 tokens, so
 * it is sometimes missing), and a target of i % 5 + 1 tokens. Token 4 + i % 50 stands at the start of
 * each. (transfer full) */
PlaitCorpus *data_corpus (gint64 n);
