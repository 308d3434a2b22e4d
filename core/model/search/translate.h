/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/log.h"
#include "corpus/corpus.h"
#include "vocabulary/vocabulary.h"
#include "search/search.h"

/* Functions that translate and score whole corpora, in batches sorted by length, with results in the order of the
 * corpus. The corpus must be complete, without dropped sentences. If no attention is requested, the processes of the
 * search (plait_search_set_ranks) share the batches, and each process gets all results. */

/* Translation of a corpus. */
typedef struct
{
  gint64 n;
  PlaitHypotheses *hypotheses; /* hypotheses of each sentence of the corpus: [n] */
  PlaitSearchWork work;        /* work of the search during this translation */

  gint64 n_lines; /* number of lines or documents */
  char **text;    /* best translation of each line or document, a NULL-terminated array; "" if there is no hypothesis.
                     LF separates the translations of the chunks of a document */
} PlaitTranslation;

void plait_translation_free (PlaitTranslation *translation);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTranslation, plait_translation_free)

/* Appends the text of @hypothesis to @text as plait_document_decode does. If @vocabulary is NULL, appends the text of
 * each token that has one, and the numbers of the other tokens. */
void plait_translation_append (const PlaitVocabulary *vocabulary, const PlaitHypothesis *hypothesis, GString *text);

/* Callback for a sentence of a batch, after the batch was computed. Sentence @sentence of @batch is sentence
 * batch->sentence[@sentence] of the corpus. Must not keep the arguments. */
typedef gboolean (*PlaitAttentionTaker) (const PlaitBatch *batch, gint64 sentence, const PlaitHypothesis *best,
                                         const PlaitAttentionRecord *attention, gpointer data, GError **error);

/* Translates @corpus. @what ("validation", "test") is shown in progress. @stop is NULL or a flag that aborts with
 * PLAIT_ERROR_INTERRUPTED. @take is NULL or is called with the attention of each sentence's best hypothesis. (transfer
 * full) */
PlaitTranslation *plait_translate_corpus (PlaitSearch *search, const PlaitCorpus *corpus,
                                          const PlaitVocabulary *vocabulary, const PlaitDecodeSettings *settings,
                                          const char *what, PlaitLog *log, const gint *stop, PlaitAttentionTaker take,
                                          gpointer data, GError **error);

/* Computes natural log-probabilities of the targets of @corpus. For each line or document, @log_probabilities [lines]
 * receives the sum over its tokens and end tokens, and @tokens [lines] the number of tokens and end tokens. @take is
 * NULL or is called with the teacher-forced attention of each target. */
gboolean plait_score_corpus (PlaitSearch *search, const PlaitCorpus *corpus, gint64 batch, const char *what,
                             PlaitLog *log, const gint *stop, double *log_probabilities, gint64 *tokens,
                             PlaitAttentionTaker take, gpointer data, GError **error);

/* Callback for each batch that was encoded. Must not keep the arguments. */
typedef void (*PlaitEncodingTaker) (const PlaitBatch *batch, const PlaitEncoderOutputs *outputs, gpointer data);

/* Runs the encoders on all of @corpus in each process, and calls @take for each batch. */
gboolean plait_encode_corpus (PlaitSearch *search, const PlaitCorpus *corpus, gint64 batch, const char *what,
                              PlaitLog *log, const gint *stop, PlaitEncodingTaker take, gpointer data, GError **error);
