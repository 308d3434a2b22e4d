/* SPDX-License-Identifier: MIT */
#pragma once

#include "vocabulary/sentencepiece.h"
#include "vocabulary/vocabulary.h"

typedef struct
{
  gint32 size;
  gboolean adds_bos; /* TRUE: BOS is the first token of each text */
} PlaitVocabularyFacts;

/* A kind of vocabulary: words.c has two kinds, subwords.c and published.c one each. @model is what load returned. */
typedef struct PlaitVocabularyFormat PlaitVocabularyFormat;

struct PlaitVocabularyFormat
{
  const char *format;
  const char *header; /* first bytes of a serialised vocabulary of this kind; may be NULL */
  const char *seal;   /* bytes that replace @header in a file, before the digest; NULL: this kind has no files */
  const char *(*piece) (gconstpointer model, gint32 id);
  double (*score) (gconstpointer model, gint32 id); /* returns the score of @id; NULL: all scores are 0 */
  void (*encode) (gconstpointer model, const char *text, gsize length, GArray *ids);
  char *(*decode) (gconstpointer model, const gint32 *ids, gsize n);
  void (*free) (gpointer model);

  /* Checks @bytes, makes a model of them and fills @facts, which the caller has zeroed. Messages begin with @name. */
  gpointer (*load) (const PlaitVocabularyFormat *format, GBytes *bytes, const char *name, PlaitVocabularyFacts *facts,
                    GError **error);

  /* Makes the serialised bytes from text. The pointer is NULL if plait does not train this kind. */
  GBytes *(*train) (const PlaitVocabularyFormat *format, const PlaitVocabularySettings *settings,
                    const char *const *paths, GError **error);
};

extern const PlaitVocabularyFormat plait_words_format;
extern const PlaitVocabularyFormat plait_labels_format;
extern const PlaitVocabularyFormat plait_sentencepiece_format;
extern const PlaitVocabularyFormat plait_published_format;

/* TRUE if @bytes begin with @header. */
gboolean plait_vocabulary_begins_with (GBytes *bytes, const char *header);

/* Size limit of vocabulary files, checked before reading. */
#define PLAIT_VOCABULARY_MAX_FILE ((gsize)256 << 20)

/* Returns decoded @bytes as a line of valid UTF-8: NUL, LF and CR become spaces. Frees @bytes, which may be NULL (""
 * then). (transfer full) */
char *plait_vocabulary_make_line (GString *bytes);
