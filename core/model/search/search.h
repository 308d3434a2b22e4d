/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/ranks.h"
#include "decoders/model.h"
#include "cross-attention/attention-record.h"

/*
 * Beam search over sentences and hypotheses together (greedy: a beam of one), and forced decoding.
 *
 * A hypothesis' score is its log-probability over the length penalty, its end counted (Wu et al. 2016, eq. 14).
 * Finished hypotheses stay in the beam; a sentence is done when no unfinished one can overtake, or at the length limit,
 * which ends hypotheses as they stand, or by their end alone. Ties go to the older hypothesis, then to the lower id.
 */

typedef struct
{
  gint32 *tokens; /* without the end; owned */
  gint64 length;
  double log_probability; /* nats, the end included where there is one */
  double score;           /* what ranked it */
  gboolean ended;         /* FALSE: cut at the length limit */
} PlaitHypothesis;

/* The best hypotheses of one sentence, best first. */
typedef struct
{
  guint n;
  PlaitHypothesis *hypotheses;
} PlaitHypotheses;

/* What a search has done since it was made. */
typedef struct
{
  gint64 words;                    /* of the best hypotheses found, their ends included */
  gint64 steps;                    /* of hypotheses: one reads a word and says what may follow */
  PlaitAttentionCost rows_weighed; /* in these steps */
  double seconds;                  /* that the reading of sources and the search took, by the clock */
} PlaitSearchWork;

typedef struct PlaitSearch PlaitSearch;

/* A search over @model (borrowed) on @pool (borrowed). Weights are packed once: make a new search when they change, and
 * one at a time. Its arenas take at most @memory bytes (0: no limit). PLAIT_ERROR_MEMORY if the packed weights do not
 * fit, PLAIT_ERROR_INPUT if this processor has not @precision. (transfer full) */
PlaitSearch *plait_search_new (PlaitModel *model, PlaitPool *pool, PlaitPrecision precision, gsize memory,
                               GError **error);
void plait_search_free (PlaitSearch *search);

/* From now on whole corpora are dealt to the processes of @ranks (borrowed), all of which search them. */
void plait_search_set_ranks (PlaitSearch *search, PlaitRanks *ranks);
PlaitRanks *plait_search_ranks (const PlaitSearch *search);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitSearch, plait_search_free)

/* What searches, not forced decoding, have come to so far, or since they had come to @before. */
PlaitSearchWork plait_search_work (const PlaitSearch *search);
PlaitSearchWork plait_search_work_since (const PlaitSearch *search, const PlaitSearchWork *before);

/* Rows of memories that one step of one hypothesis has weighed on average, over all sources, layers and heads; those
 * that a combiner chose; and milliseconds for a word of a translation. 0 before anything was searched. */
double plait_search_work_rows_weighed (const PlaitSearchWork *work);
double plait_search_work_rows_selected (const PlaitSearchWork *work);
double plait_search_work_milliseconds (const PlaitSearchWork *work);

/* "12.30 states touched a word, 0.415 ms a word" (transfer full) */
char *plait_search_work_text (const PlaitSearchWork *work);

/* Searches all sentences of @batch: [n_sentences], each with up to settings->n_best hypotheses, in the batch's order,
 * and none where all sources are missing.
 * In a model of classes they are the most probable ones, of one token each, their label in its vocabulary, in one of
 * choices the number of the sentence; in one of masked tokens one, of the most probable token in the place of each; in
 * one of spans one, of the two tokens where the answer begins and ends.
 * PLAIT_ERROR_MEMORY names the sentences and the keys to lower. (transfer full) */
PlaitHypotheses *plait_search_batch (PlaitSearch *search, const PlaitBatch *batch, const PlaitDecodeSettings *settings,
                                     GError **error);
void plait_hypotheses_free (PlaitHypotheses *hypotheses, gint64 n);

/* As plait_search_batch, of a sequence alone, with the attention that the search paid for the @n_recorded best
 * hypotheses of each sentence, followed along their ancestries, in @attention, [attended][n_sentences] (of no target
 * rows where a sentence has fewer), and with @coverage also their coverage, whose states are some fifty numbers a pair
 * where attention is one a head. (transfer full), both */
PlaitHypotheses *plait_search_batch_with_attention (PlaitSearch *search, const PlaitBatch *batch,
                                                    const PlaitDecodeSettings *settings,
                                                    PlaitAttentionRecords **attention, guint n_recorded,
                                                    gboolean coverage, GError **error);

/* Forced decoding of the batch's targets: the log-probability of each target row in @row_log_probabilities [target
 * rows], and with @attention non-NULL the attention of each sentence (transfer full), with @coverage also its
 * coverage. */
gboolean plait_search_forced (PlaitSearch *search, const PlaitBatch *batch, double *row_log_probabilities,
                              PlaitAttentionRecords **attention, gboolean coverage, GError **error);
