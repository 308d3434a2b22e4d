/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/tape.h"
#include "cross-attention/attention-record.h"
#include "search/beam.h"
#include "search/search.h"

/* Arenas and tapes for sentences that are searched together, and counts of the work done. */
typedef struct
{
  PlaitPool *pool; /* borrowed */
  PlaitArena *batch_arena;
  PlaitArena *step_arena;
  PlaitTape *batch_tape; /* lasts for a batch */
  PlaitTape *step;
  double *weights; /* weights of the members in the batch (plait_search_weigh), in the batch arena */
  gint64 steps;    /* number of hypotheses extended by a step */
  PlaitAttentionCost rows_weighed;
} PlaitSearchWorkspace;

/*
 * The encoders run and project memories on the batch tape of a workspace. Every step runs on the step tape, whose arena
 * is cleared for each step. Only the beam remembers hypotheses.
 */
struct PlaitSearch
{
  PlaitSearchMember *members; /* [n_members] */
  guint n_members;
  PlaitEnsembleRule rule;
  PlaitModel *model; /* model of the first member */
  PlaitPool *pool;
  gsize memory;
  PlaitSearchWorkspace whole;
  PlaitSearchWorkspace *parts; /* [threads], once a batch was searched in parts */
  PlaitRanks *ranks;           /* processes that share corpora, or NULL */
  PlaitSearchWork work;
  PlaitUnknownReplacement *replacement; /* replaces unknown tokens, or NULL */
};

/* Frees the hypotheses of one sentence. */
void plait_hypotheses_clear (PlaitHypotheses *hypotheses);

/* TRUE if a token of @hypothesis is unknown and has no text. */
gboolean plait_hypothesis_has_unknown (const PlaitHypothesis *hypothesis);

/* Sets the words of unknown tokens of @hypotheses [sentences of @batch]. @attention has the record of each hypothesis
 * with unknown tokens, [hypotheses][sentences]. */
gboolean plait_search_replace_unknown (const PlaitSearch *search, const PlaitBatch *batch,
                                       const PlaitAttentionRecords *attention, PlaitHypotheses *hypotheses,
                                       GError **error);

/*
 * Returns the number of parts, 1 or the number of threads, in which a batch of @sentences with @width hypotheses each
 * is searched. Threads that share a step of few rows mostly wait for each other, so each thread searches its own
 * sentences. The bits of a row do not depend on other rows, hence not on the number of parts.
 */
gint64 plait_search_parts (const PlaitPool *pool, gint64 sentences, gint64 width);

/* TRUE if sentence @sentence is missing in all sources of @batch. */
gboolean plait_search_is_unread (const PlaitBatch *batch, gint64 sentence);

/* Fills @weights [sentences][members] with the weights of the members in each sentence of @batch; their sum is 1. A
 * member whose sources are all missing in a sentence has weight 0 there, unless the sentence is missing for all. */
void plait_search_weigh (const PlaitSearch *search, const PlaitBatch *batch, double *weights);

/* Combines the log-probabilities of a word by the members, [n_members], with @weights [n_members]. */
double plait_search_combine (const PlaitSearch *search, const double *weights, const double *log_probabilities);

/* Returns an empty attention record for a pass or a step, in the batch arena of @workspace. */
PlaitAttentionRecord *plait_search_record (const PlaitSearch *search, PlaitSearchWorkspace *workspace,
                                           gboolean coverage);

/* Computes the log-probabilities of all words in the rows @first .. @first + @n - 1 of a step. @hypotheses: rows of
 * each sentence of the batch. @words [members]: distributions of the members. @log_probabilities [members][n][n_words]
 * receives those of the search in its first [n][n_words]. With @best > 0, words that are neither EOS nor among the
 * @best most probable may get minus infinity. */
void plait_search_row_log_probabilities (const PlaitSearch *search, PlaitSearchWorkspace *workspace,
                                         PlaitRagged hypotheses, const PlaitWordDistribution *words, gint64 first,
                                         gint64 n, gint64 n_words, guint best, PlaitScalar *log_probabilities);

/* Finds the words of each row of a step that plait_beam_row_words takes: @ids and @log_probabilities [rows][best], with
 * @best as plait_beam_row_columns returns it. @words [members]: distributions of the members. @own_words: maximum
 * number of own words of a sentence, which follow the vocabulary. */
void plait_search_row_words (const PlaitSearch *search, PlaitSearchWorkspace *workspace, const PlaitBeam *beam,
                             const PlaitWordDistribution *words, gint64 own_words, const gint32 *forbidden,
                             guint n_forbidden, gboolean end, guint best, gint32 *ids, PlaitScalar *log_probabilities);

/* Makes EOS the only candidate of the rows of @beam whose next step is the last that their limit allows. @words:
 * distribution of the rows; @ids and @log_probabilities [rows][best]: their candidates. */
void plait_search_end_words (PlaitSearchWorkspace *workspace, const PlaitBeam *beam, const PlaitWordDistribution *words,
                             guint best, gint32 *ids, PlaitScalar *log_probabilities);

/* Predicts classes, choices, spans or masked tokens of the sentences of @batch on @tape, in evaluation mode. Fills
 * @predictions [n_sentences], which must be zero before, as plait_search_batch documents: with the @n_best best
 * predictions of each sentence, or with only one for masked tokens. Fails the step if the tape's arena is full; the
 * caller then frees the predictions made so far. */
void plait_predict (PlaitModel *model, PlaitTape *tape, const PlaitBatch *batch, gint64 n_best,
                    PlaitHypotheses *predictions);
