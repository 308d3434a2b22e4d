/* SPDX-License-Identifier: MIT */
#pragma once

#include "dumps/alignment-scores.h"
#include "scoring/evaluation-references.h"
#include "significance/report.h"
#include "setup/experiment-model.h"
#include "search/translate.h"

/*
 * Evaluation of a trained model on one split: translations, scores with intervals, perplexity, and the attention of
 * some sentences. For classes the translations are labels, for masked tokens their pieces; these have no attention.
 */
typedef struct
{
  char *name;
  char **lines; /* [n_lines], NULL-terminated */
} PlaitEvaluationSource;

/* A score from outside. */
typedef struct
{
  const char *name; /* borrowed from the experiment */
  double *scores;   /* [n_lines] */
} PlaitOutsideScore;

typedef struct
{
  char *split;
  PlaitTranslation *translation;
  PlaitReferences *references;
  GArray *sources;           /* PlaitEvaluationSource: the sources that are text */
  GPtrArray *results;        /* PlaitResult: metrics of [evaluate], perplexities, rates of over-translation ... */
  double *log_probabilities; /* [n_lines], of the references, in nats */
  gint64 *tokens;            /* [n_lines], tokens of the references, end tokens included */
  GArray *lengths;           /* PlaitLengthRow: scores by source length; empty unless [evaluate] asks for them */
  GPtrArray *rates;          /* PlaitTranslationRates that [evaluate] asks for */
  GArray *outside;           /* PlaitOutsideScore: scores from outside, once they were computed */
  GError *fault;             /* error of the first score from outside that failed, or NULL */
  PlaitAlignmentScores *alignments; /* word alignments; NULL without files of them */
} PlaitEvaluation;

/* Inputs of an evaluation. All pointers are borrowed. */
typedef struct
{
  const PlaitExperimentModel *experiment_model;
  const PlaitRunInputs *run_inputs;
  PlaitSearch *search;
  PlaitLog *log;
  const gint *stop;
} PlaitEvaluator;

/* Translates and scores @corpus. (transfer full) */
PlaitEvaluation *plait_evaluation_new (const PlaitEvaluator *evaluator, const char *split, const PlaitCorpus *corpus,
                                       GError **error);
void plait_evaluation_free (PlaitEvaluation *evaluation);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitEvaluation, plait_evaluation_free)

/* Writes /evaluation/SPLIT, and times to /environment/evaluation/SPLIT. */
gboolean plait_evaluation_write (const PlaitEvaluation *evaluation, PlaitStore *store, GError **error);

/* Writes /attention/SPLIT/N, with coverage /coverage/SPLIT/N, with copied words /copy/SPLIT/N, and with selected rows
 * /descent/SPLIT/N of the first @n sentences: SPLIT from search, SPLIT-forced from forced decoding of the references. N
 * is the line of a sentence, or DOCUMENT.CHUNK. */
gboolean plait_evaluation_write_attention (const PlaitEvaluator *evaluator, const char *split,
                                           const PlaitCorpus *corpus, gint64 n, PlaitStore *store, GError **error);

/* Writes attention and coverage of one pass over @batch. Each sentence is an item (tables/ragged.h) of
 * /attention/@name, /coverage/@name, /copy/@name and /descent/@name, called @names [n_sentences]. The target is the
 * best of @hypotheses [n_sentences], or the batch's own if @hypotheses is NULL. */
gboolean plait_evaluation_write_batch_attention (const PlaitEvaluator *evaluator, const char *name,
                                                 const PlaitBatch *batch, char *const *names,
                                                 const PlaitAttentionRecords *attention,
                                                 const PlaitHypotheses *hypotheses, PlaitStore *store, GError **error);
