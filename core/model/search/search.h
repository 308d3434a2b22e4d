/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/ranks.h"
#include "decoders/model.h"
#include "search/phrases.h"
#include "cross-attention/attention-record.h"

/*
 * Beam search over sentences and hypotheses together (greedy with a beam of one), and forced decoding.
 * decode.method=sample draws the words of each hypothesis at random instead.
 *
 * The score of a hypothesis is log-probability / length penalty (Wu et al. 2016, eq. 14) + decode.word_reward * length,
 * EOS included. Finished hypotheses stay in the beam by default (decode.finished). The search of a sentence ends when
 * no unfinished hypothesis can get a higher score than the n_best finished ones, or when as many hypotheses are
 * finished as the beam is wide. It ends at the length limit too, where decode.at_limit cuts hypotheses or ends them by
 * EOS. Ties go to the hypothesis that is earlier in the beam, then to the lower id.
 */

typedef struct
{
  gint32 *tokens; /* owned; without EOS */
  char **words; /* owned, [length]: text of each unknown token that has one, else NULL. words is NULL if no token has a
                   text */
  gint64 length;
  double log_probability; /* nats, EOS included if ended */
  double score;           /* score that ranks the hypothesis */
  gboolean ended;         /* FALSE: cut at the length limit */
} PlaitHypothesis;

/* Best hypotheses of one sentence, best first; when sampling, the samples in the order of their numbers. */
typedef struct
{
  guint n;
  PlaitHypothesis *hypotheses;
} PlaitHypotheses;

/* Counts of the work of a search. */
typedef struct
{
  gint64 words;                    /* words of the best hypotheses, EOS included */
  gint64 steps;                    /* number of rows in all decoder steps; a row reads one word and proposes the next */
  PlaitAttentionCost rows_weighed; /* memory rows that attention scored in decoder steps */
  double seconds;                  /* wall-clock time of encoding and search */
} PlaitSearchWork;

/* Sets the text of token @token of @hypothesis to @word (transfer full). If @word is NULL, changes nothing. */
void plait_hypothesis_set_word (PlaitHypothesis *hypothesis, gint64 token, char *word);

/* Replaces own words in @hypothesis (source words outside the vocabulary, which a model can copy) by unknown tokens
 * with their text. @sentence: index in @batch of the sentence that @hypothesis translates. */
void plait_hypothesis_read_own_words (PlaitHypothesis *hypothesis, const PlaitBatch *batch, gint64 sentence);

/* Returns the target text of sentence @sentence of @batch as a hypothesis with log-probability 0. Free its contents
 * with plait_hypothesis_clear. */
PlaitHypothesis plait_hypothesis_of_target (const PlaitBatch *batch, gint64 sentence);
void plait_hypothesis_clear (PlaitHypothesis *hypothesis);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PlaitHypothesis, plait_hypothesis_clear)

/* Returns hypothesis->words in the type that plait_document_decode takes. (transfer none) */
const char *const *plait_hypothesis_words (const PlaitHypothesis *hypothesis);

typedef struct PlaitSearch PlaitSearch;
typedef struct PlaitUnknownReplacement PlaitUnknownReplacement;

/* Rule by which an ensemble computes the probability of a word from those of its members. */
typedef enum
{
  PLAIT_ENSEMBLE_MEAN, /* weighted mean of the probabilities */
  PLAIT_ENSEMBLE_LOG,  /* weighted mean of the log-probabilities; the probabilities of all words then do not sum to 1 */
} PlaitEnsembleRule;

#define PLAIT_SEARCH_MAX_MEMBERS 64

/* A model that takes part in a search. */
typedef struct
{
  PlaitModel *model; /* borrowed */
  PlaitPrecision precision;
  double weight; /* positive; the weights of all members sum to 1 */
} PlaitSearchMember;

/*
 * Creates a search as plait_search_new does, but over an ensemble of @members [@n, at most PLAIT_SEARCH_MAX_MEMBERS].
 * All models must translate into one vocabulary. Batches have the sources of all members end to end. Hypotheses have
 * the log-probabilities of the ensemble; recorded attention is that of the first member. (transfer full)
 */
PlaitSearch *plait_search_new_ensemble (const PlaitSearchMember *members, guint n, PlaitEnsembleRule rule,
                                        PlaitPool *pool, gsize memory, GError **error);

/* Creates a search over @model (borrowed) on @pool (borrowed). Packs the weights of @model once: create a new search
 * when the weights change. A model can have only one search at a time. Each arena has at most @memory bytes (0: no
 * limit). Fails with PLAIT_ERROR_MEMORY if the packed weights do not fit, with PLAIT_ERROR_INPUT if products in
 * @precision cannot run here (plait_precision_runs_here). (transfer full) */
PlaitSearch *plait_search_new (PlaitModel *model, PlaitPool *pool, PlaitPrecision precision, gsize memory,
                               GError **error);
void plait_search_free (PlaitSearch *search);

/* Shares the batches of whole corpora among the processes of @ranks (borrowed). Every process must then search these
 * corpora. */
void plait_search_set_ranks (PlaitSearch *search, PlaitRanks *ranks);
PlaitRanks *plait_search_ranks (const PlaitSearch *search);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitSearch, plait_search_free)

/* Makes @replacement replace unknown tokens (unknown.h) in searches with decode.unknown=replace. Such searches record
 * attention. (transfer full for @replacement) */
void plait_search_set_replacement (PlaitSearch *search, PlaitUnknownReplacement *replacement);

/* Returns the part of @batch that member @member reads. The result borrows the rows of @batch and must not be freed. */
PlaitBatch plait_search_member_batch (const PlaitSearch *search, guint member, const PlaitBatch *batch);

/* Returns the model that reads source @source of a batch, and sets *@of_model to the number of that source in the
 * model. (transfer none) */
PlaitModel *plait_search_reader (const PlaitSearch *search, guint source, guint *of_model);

/* TRUE if all models can read @batch, as plait_model_check_batch checks. */
gboolean plait_search_check_batch (const PlaitSearch *search, const PlaitBatch *batch, GError **error);

/* TRUE if the decoders can read a target of @rows rows. */
gboolean plait_search_check_target (const PlaitSearch *search, gint64 rows);

/* Returns the work that @search has done since it was created; plait_search_work_since returns the difference to
 * @before. Forced decoding is not counted. */
PlaitSearchWork plait_search_work (const PlaitSearch *search);
PlaitSearchWork plait_search_work_since (const PlaitSearch *search, const PlaitSearchWork *before);

/* Return averages, 0 before the first search. plait_search_work_rows_weighed: memory rows that a step of a hypothesis
 * scored, summed over all sources, layers and heads. plait_search_work_rows_selected: the part of these rows that a
 * combiner selected. plait_search_work_milliseconds: milliseconds for each word. */
double plait_search_work_rows_weighed (const PlaitSearchWork *work);
double plait_search_work_rows_selected (const PlaitSearchWork *work);
double plait_search_work_milliseconds (const PlaitSearchWork *work);

/* Returns plait_search_work_rows_weighed and plait_search_work_milliseconds as a text, such as "12.30 states touched
 * per step, 0.415 ms per word". (transfer full) */
char *plait_search_work_text (const PlaitSearchWork *work);

/* Searches all sentences of @batch. Returns [n_sentences] in the order of the batch, each with up to settings->n_best
 * hypotheses. Sequences: a hypothesis is a translation; a sentence that is missing in all sources has no hypothesis.
 * Classes: one token, the label. Tags: the label of each token. Choices: the number of the chosen sentence. Masked
 * tokens: the most probable token at each masked position. Numbers: one token whose text is the number. Spans: the
 * first and last position of the answer, or one token: no answer. If memory is too small, the message
 * (PLAIT_ERROR_MEMORY) names the keys to lower. (transfer full) */
PlaitHypotheses *plait_search_batch (PlaitSearch *search, const PlaitBatch *batch, const PlaitDecodeSettings *settings,
                                     GError **error);
void plait_hypotheses_free (PlaitHypotheses *hypotheses, gint64 n);

/* Searches like plait_search_batch, for sequences only. @requirements [n_sentences]: what each translation must
 * contain, or NULL; each must fit into decode.maximum_length (plait_requirement_length). If @attention is not NULL,
 * *@attention receives the attention of the first @n_recorded hypotheses of each sentence, [n_recorded][n_sentences].
 * The record of a hypothesis that does not exist has no target rows. @coverage: the records have coverage too. The
 * caller owns the hypotheses and the records. (transfer full) */
PlaitHypotheses *plait_search_batch_with_attention (PlaitSearch *search, const PlaitBatch *batch,
                                                    const PlaitDecodeSettings *settings,
                                                    const PlaitRequirement *requirements,
                                                    PlaitAttentionRecords **attention, guint n_recorded,
                                                    gboolean coverage, GError **error);

/* Runs the encoders of the first model on @batch, and predicts tags of its words. *@outputs is valid until the next
 * call with @search. */
gboolean plait_search_encode (PlaitSearch *search, const PlaitBatch *batch, PlaitEncoderOutputs *outputs,
                              GError **error);

/* Computes the log-probability of each target row of @batch by forced decoding, in @row_log_probabilities [target
 * rows]. If @attention is not NULL, *@attention receives the attention of each sentence (transfer full), with @coverage
 * also the coverage. Fails if a log-probability is not a number. */
gboolean plait_search_forced (PlaitSearch *search, const PlaitBatch *batch, double *row_log_probabilities,
                              PlaitAttentionRecords **attention, gboolean coverage, GError **error);
