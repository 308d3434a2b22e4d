/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/log.h"
#include "corpus/corpus.h"
#include "vocabulary/vocabulary.h"
#include "search/search.h"

/* Translating and scoring whole corpora that dropped nothing, batches sorted by length, results in the order of the
 * corpus. Without attention, the batches are dealt to the processes of the search (plait_search_set_ranks), and all
 * come to all results. */

/* What becomes of each sentence of a corpus. */
typedef struct
{
  gint64 n;
  PlaitHypotheses *hypotheses; /* [n] */
  PlaitSearchWork work;        /* that it took */

  /* The best of each line or document of the corpus, NULL-terminated: empty where there is none, and of a document that
   * was cut those of its chunks with a space between them. */
  gint64 n_lines;
  char **text;
} PlaitTranslation;

void plait_translation_free (PlaitTranslation *translation);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTranslation, plait_translation_free)

/* Appends @tokens [n] to @text as plait_document_decode does; with @vocabulary NULL they are numbers. */
void plait_translation_append (const PlaitVocabulary *vocabulary, const gint32 *tokens, gint64 n, GString *text);

/* Called after each batch of a translation with attention, for each of its sentences: @batch->sentence[@sentence] of
 * the corpus. Takes nothing over. */
typedef gboolean (*PlaitAttentionTaker) (const PlaitBatch *batch, gint64 sentence, const PlaitHypothesis *best,
                                         const PlaitAttentionRecord *attention, gpointer data, GError **error);

/* Translates @corpus. @what ("validation", "test") is for progress. @stop is NULL or a flag that ends the work with
 * PLAIT_ERROR_INTERRUPTED. @take is NULL or is given the attention of each sentence's best hypothesis.
 * (transfer full) */
PlaitTranslation *plait_translate_corpus (PlaitSearch *search, const PlaitCorpus *corpus,
                                          const PlaitVocabulary *vocabulary, const PlaitDecodeSettings *settings,
                                          const char *what, PlaitLog *log, const gint *stop, PlaitAttentionTaker take,
                                          gpointer data, GError **error);

/* Natural log-probabilities of the targets of @corpus: the sum over each line's or document's tokens and ends, [lines],
 * and how many those are. With @take also the teacher-forced attention (its hypothesis is the target). */
gboolean plait_score_corpus (PlaitSearch *search, const PlaitCorpus *corpus, gint64 batch, const char *what,
                             PlaitLog *log, const gint *stop, double *log_probabilities, gint64 *tokens,
                             PlaitAttentionTaker take, gpointer data, GError **error);
