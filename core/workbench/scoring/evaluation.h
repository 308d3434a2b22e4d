/* SPDX-License-Identifier: MIT */
#pragma once

#include "dumps/alignment-scores.h"
#include "scoring/evaluation-references.h"
#include "scoring/tag-scores.h"
#include "significance/report.h"
#include "setup/experiment-model.h"
#include "search/translate.h"

/* A text source of an evaluated split. */
typedef struct
{
  char *name;
  char **lines; /* [n_lines], NULL-terminated */
} PlaitEvaluationSource;

/* An external score (evaluate.scores.NAME): numbers that a command or file gave. */
typedef struct
{
  const char *name; /* borrowed from the experiment */
  double *scores;   /* [n_lines]: score of each line */
} PlaitOutsideScore;

/*
 * Evaluation of a trained model on one split: translations, scores with intervals, and perplexity. If the model
 * predicts classes, the translations are labels; if it predicts masked tokens, their pieces.
 */
typedef struct
{
  char *split; /* name of the evaluation: SPLIT or SPLIT.NAME */
  PlaitTranslation *translation;
  PlaitReferences *references;
  GArray *sources;           /* (element-type PlaitEvaluationSource): the sources that are text */
  GPtrArray *results;        /* (element-type PlaitResult): metrics of [evaluate], perplexities, rates ... */
  double *log_probabilities; /* [n_lines]: log-probability of each line's first reference, in nats */
  gint64 *tokens;            /* [n_lines]: number of tokens of each line's first reference, end tokens included */
  GArray *lengths;  /* (element-type PlaitLengthRow): scores by source length; empty unless [evaluate] asks for them */
  GPtrArray *rates; /* (element-type PlaitTranslationRates): over- and under-translation, if [evaluate] requests it */
  GArray *outside;  /* (element-type PlaitOutsideScore): external scores, added by plait_outside_scores_add() */
  GError *fault;    /* error of the first external score that failed, or NULL */
  PlaitAlignmentScores *alignments; /* word alignments; NULL if there are no alignment files */
  PlaitTagScores *tags;             /* tags of words; NULL if the split lacks the tags that the model predicts */
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

/* Translates and scores @corpus, except by external scores (outside-scores.h). @split is SPLIT or SPLIT.NAME. (transfer
 * full) */
PlaitEvaluation *plait_evaluation_new (const PlaitEvaluator *evaluator, const char *split, const PlaitCorpus *corpus,
                                       GError **error);
void plait_evaluation_free (PlaitEvaluation *evaluation);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitEvaluation, plait_evaluation_free)

/* Writes /evaluation/SPLIT, and times to /environment/evaluation/SPLIT. */
gboolean plait_evaluation_write (const PlaitEvaluation *evaluation, PlaitStore *store, GError **error);

/* Writes the attention of the first @n sentences or chunks to /attention/NAME/ITEM. If the model has coverage, copied
 * words or selected rows, writes them to /coverage/NAME/ITEM, /copy/NAME/ITEM and /descent/NAME/ITEM. NAME is @split
 * for attention of the search, @split-forced for forced decoding of the references. ITEM is the line of a sentence, or
 * DOCUMENT.CHUNK. Writes nothing if the model has no decoder. */
gboolean plait_evaluation_write_attention (const PlaitEvaluator *evaluator, const char *split,
                                           const PlaitCorpus *corpus, gint64 n, PlaitStore *store, GError **error);

/* Writes @attention, recorded for @batch. Sentence i becomes the item @names[i] (tables/ragged.h) of /attention/@name,
 * /coverage/@name, /copy/@name and /descent/@name. Its target is the best hypothesis of @hypotheses[i]; if @hypotheses
 * is NULL, the target in the batch. Skips sentences without a hypothesis. */
gboolean plait_evaluation_write_batch_attention (const PlaitEvaluator *evaluator, const char *name,
                                                 const PlaitBatch *batch, char *const *names,
                                                 const PlaitAttentionRecords *attention,
                                                 const PlaitHypotheses *hypotheses, PlaitStore *store, GError **error);
