/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/tape.h"
#include "cross-attention/attention-record.h"
#include "search/beam.h"
#include "search/search.h"

/* Arenas and tapes for sentences that are searched together, and counts of the work that was done with them. */
typedef struct
{
  PlaitPool *pool; /* borrowed */
  PlaitArena *batch_arena;
  PlaitArena *step_arena;
  PlaitTape *batch_tape; /* tape that is begun once for each batch */
  PlaitTape *step;
  double *weights; /* [sentences][members] weights of the members (plait_search_weigh), in the batch arena */
  gint64 steps;    /* number of rows in all decoder steps */
  PlaitAttentionCost rows_weighed;
} PlaitSearchWorkspace;

/*
 * The encoders run and project memories on the batch tape of a workspace. Each decoder step runs on the step tape,
 * whose arena is cleared for each step. Only the beam keeps hypotheses from step to step.
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
  PlaitSearchWorkspace *parts; /* [threads]; NULL until a batch is searched in parts */
  PlaitRanks *ranks;           /* processes that share corpora, or NULL */
  PlaitSearchWork work;
  PlaitUnknownReplacement *replacement; /* replaces unknown tokens, or NULL */
};

/* Frees the hypotheses of one sentence. */
void plait_hypotheses_clear (PlaitHypotheses *hypotheses);

/* TRUE if a token of @hypothesis is unknown and has no text. */
gboolean plait_hypothesis_has_unknown (const PlaitHypothesis *hypothesis);

/* Sets the text of those unknown tokens in @hypotheses [sentences of @batch] that have no text. @attention has the
 * record of each hypothesis with such a token, [hypotheses][sentences]. */
gboolean plait_search_replace_unknown (const PlaitSearch *search, const PlaitBatch *batch,
                                       const PlaitAttentionRecords *attention, PlaitHypotheses *hypotheses,
                                       GError **error);

/*
 * Returns the number of parts into which a batch of @sentences with @width hypotheses each is cut for search: the
 * number of threads, or 1 if the batch is small or BLAS is in use. If all threads shared a step of few rows, they would
 * mostly wait for each other, so each thread searches one part. The bits of a row do not depend on the number of parts,
 * because without BLAS they do not depend on other rows.
 */
gint64 plait_search_parts (const PlaitPool *pool, gint64 sentences, gint64 width);

/* TRUE if sentence @sentence is missing in all sources of @batch. */
gboolean plait_search_is_unread (const PlaitBatch *batch, gint64 sentence);

/* Fills @weights [sentences][members] with the weights of the members in each sentence of @batch; a sentence's weights
 * sum to 1. A member whose sources are all missing in a sentence has weight 0 there, unless the sentence is missing for
 * all members. */
void plait_search_weigh (const PlaitSearch *search, const PlaitBatch *batch, double *weights);

/* Returns the log-probability of a word by the ensemble. @log_probabilities [n_members]: the word's log-probability by
 * each member. @weights [n_members]: weights of the members. */
double plait_search_combine (const PlaitSearch *search, const double *weights, const double *log_probabilities);

/* Returns an empty attention record for a pass, in the batch arena of @workspace. */
PlaitAttentionRecord *plait_search_record (const PlaitSearch *search, PlaitSearchWorkspace *workspace,
                                           gboolean coverage);

/* Computes the log-probabilities of all words by the ensemble, for @n rows of a step from row @first on. Writes them to
 * the first [n][n_words] elements of @log_probabilities, which has memory for [members][n][n_words]. @hypotheses: rows
 * of each sentence of the batch. @words [members]: distribution of each member. If @best > 0, words other than EOS and
 * the @best most probable words may get minus infinity. */
void plait_search_row_log_probabilities (const PlaitSearch *search, PlaitSearchWorkspace *workspace,
                                         PlaitRagged hypotheses, const PlaitWordDistribution *words, gint64 first,
                                         gint64 n, gint64 n_words, guint best, PlaitScalar *log_probabilities);

/* Calls plait_beam_row_words for each row of a step, and writes the words and their log-probabilities to @ids and
 * @log_probabilities [rows][best]; @best is plait_beam_row_columns. @words [members]: distribution of each member.
 * @own_words: maximum number of own words of a sentence. Own words are source words outside the vocabulary; their ids
 * follow those of the vocabulary. */
void plait_search_row_words (const PlaitSearch *search, PlaitSearchWorkspace *workspace, const PlaitBeam *beam,
                             const PlaitWordDistribution *words, gint64 own_words, const gint32 *forbidden,
                             guint n_forbidden, gboolean end, guint best, gint32 *ids, PlaitScalar *log_probabilities);

/* Makes EOS the only candidate of the rows of @beam whose next step is the last one that the limit of the sentence
 * allows. @words: distribution of the rows; @ids and @log_probabilities [rows][best]: candidates of the rows. */
void plait_search_end_words (PlaitSearchWorkspace *workspace, const PlaitBeam *beam, const PlaitWordDistribution *words,
                             guint best, gint32 *ids, PlaitScalar *log_probabilities);

/* Predicts classes, tags, choices, spans, numbers or masked tokens of the sentences of @batch on @tape, in evaluation
 * mode. Fills @predictions [n_sentences], zeroed by the caller, as plait_search_batch documents: the @n_best best
 * predictions of each sentence, but only one for tags, numbers and masked tokens. Fails the step if the tape's arena is
 * full or values are not finite numbers; the caller then frees the predictions made so far. */
void plait_predict (PlaitModel *model, PlaitTape *tape, const PlaitBatch *batch, gint64 n_best,
                    PlaitHypotheses *predictions);
