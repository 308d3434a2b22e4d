/* SPDX-License-Identifier: MIT */
#pragma once

#include "data/vocabulary.h"

/* What a kind of vocabulary does; words.c has two, subwords.c one. @model is the kind's own. */
typedef struct
{
  const char *format;
  gint32 (*size) (gconstpointer model);
  const char *(*piece) (gconstpointer model, gint32 id);
  double (*score) (gconstpointer model, gint32 id);
  void (*encode) (gconstpointer model, const char *text, gsize length, GArray *ids);
  char *(*decode) (gconstpointer model, const gint32 *ids, gsize n);
  void (*free) (gpointer model);

  /* Checks @bytes and makes a model of them; messages begin with @name. */
  gpointer (*load) (GBytes *bytes, const char *name, GError **error);

  /* Makes the serialised bytes from text. */
  GBytes *(*train) (const PlaitVocabularySettings *settings, const char *const *paths, GError **error);
} PlaitVocabularyFormat;

extern const PlaitVocabularyFormat plait_words_format;
extern const PlaitVocabularyFormat plait_labels_format;
extern const PlaitVocabularyFormat plait_sentencepiece_format;
