/* SPDX-License-Identifier: MIT */
#pragma once

#include "vocabulary/sentencepiece.h"
#include "vocabulary/vocabulary.h"

/* What is known of a vocabulary once it is loaded. */
typedef struct
{
  gint32 size;
  gboolean adds_bos; /* BOS is the first token of each text */
} PlaitVocabularyFacts;

/* What a kind of vocabulary does; words.c has two, subwords.c and published.c one each. @model is the kind's own. */
typedef struct PlaitVocabularyFormat PlaitVocabularyFormat;

struct PlaitVocabularyFormat
{
  const char *format;
  const char *header; /* what its bytes begin with; NULL: nothing of their own */
  const char *seal;   /* what stands there in a file, before a digest; NULL: it is in none */
  const char *(*piece) (gconstpointer model, gint32 id);
  double (*score) (gconstpointer model, gint32 id); /* NULL: always 0 */
  void (*encode) (gconstpointer model, const char *text, gsize length, GArray *ids);
  char *(*decode) (gconstpointer model, const gint32 *ids, gsize n);
  void (*free) (gpointer model);

  /* Checks @bytes, makes a model of them and fills @facts, which are zero; messages begin with @name. */
  gpointer (*load) (const PlaitVocabularyFormat *format, GBytes *bytes, const char *name, PlaitVocabularyFacts *facts,
                    GError **error);

  /* Makes the serialised bytes from text; NULL: they come from elsewhere. */
  GBytes *(*train) (const PlaitVocabularyFormat *format, const PlaitVocabularySettings *settings,
                    const char *const *paths, GError **error);
};

extern const PlaitVocabularyFormat plait_words_format;
extern const PlaitVocabularyFormat plait_labels_format;
extern const PlaitVocabularyFormat plait_sentencepiece_format;
extern const PlaitVocabularyFormat plait_published_format;

/* TRUE if @bytes begin with @header. */
gboolean plait_vocabulary_begins_with (GBytes *bytes, const char *header);

/* No file of a vocabulary is larger; what claims to be is refused before it is read. */
#define PLAIT_VOCABULARY_MAX_FILE ((gsize)256 << 20)

/* A line of text from decoded bytes (NULL: none), which may be any: what would break a line or a C string becomes a
 * space. Frees @bytes. (transfer full) */
char *plait_vocabulary_make_line (GString *bytes);

/* The SentencePiece model @bytes, tried in a child process first; messages begin with @name. Its special ids may be
 * any. (transfer full) */
PlaitSentencePiece *plait_subwords_open (GBytes *bytes, const char *name, GError **error);
