/* SPDX-License-Identifier: MIT */
#pragma once

#include "metrics/pieces.h"
#include "significance/report.h"
#include "setup/experiment-model.h"
#include "search/translate.h"

/*
 * Evaluation of a trained model on one split: translations, scores with intervals, perplexity, and the attention of
 * some sentences. Of a model of classes the translations are labels, of one of masked tokens their pieces; they have no
 * attention.
 */
typedef struct
{
  char *name;
  char **lines; /* [n_lines], NULL-terminated */
} PlaitEvaluationSource;

typedef struct
{
  char *split;
  PlaitTranslation *translation;
  char **references;         /* [n_lines], NULL-terminated */
  GArray *sources;           /* PlaitEvaluationSource: the text of those that are text */
  GPtrArray *results;        /* PlaitResult: the metrics of [evaluate], perplexities, rates of over-translation ... */
  double *log_probabilities; /* [n_lines], nats, of the references */
  gint64 *tokens;            /* [n_lines], of the references, their ends counted */
  GArray *lengths;           /* PlaitLengthRow: scores by the length of the source; none: not asked for */
  GPtrArray *rates;          /* PlaitTranslationRates that were asked for */
} PlaitEvaluation;

/* What evaluation needs. All is borrowed. */
typedef struct
{
  const PlaitExperimentModel *experiment_model;
  const PlaitRunInputs *run_inputs;
  PlaitSearch *search;
  PlaitLog *log;
  const gint *stop;
} PlaitEvaluator;

/* Returns @pieces as the key evaluate.join spells it. (transfer none) */
const char *plait_evaluation_join_name (PlaitTextPieces pieces);

/* Joins @texts (NULL-terminated, of @split), references or translations, as [evaluate] join says. Warns, if @log is not
 * NULL, where it says nothing and they look like pieces of words. */
void plait_evaluation_join (const PlaitExperiment *experiment, const char *split, char **texts, PlaitLog *log);

/* Checks that the metrics @names can score translations of the references of @corpus, of which the split is @split;
 * NULL or a corpus without text of a target: nothing to check. */
gboolean plait_evaluation_check_references (const PlaitExperiment *experiment, const char *names, const char *split,
                                            const PlaitCorpus *corpus, PlaitLog *log, GError **error);

/* Translates and scores @corpus. (transfer full) */
PlaitEvaluation *plait_evaluation_new (const PlaitEvaluator *evaluator, const char *split, const PlaitCorpus *corpus,
                                       GError **error);
void plait_evaluation_free (PlaitEvaluation *evaluation);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitEvaluation, plait_evaluation_free)

/* Writes /evaluation/SPLIT, and what the machine took to /environment/evaluation/SPLIT. */
gboolean plait_evaluation_write (const PlaitEvaluation *evaluation, PlaitStore *store, GError **error);

/* Writes /attention/SPLIT/N and, in a model with coverage, /coverage/SPLIT/N, and where rows are chosen
 * /descent/SPLIT/N of the first @n sentences, from search, and SPLIT-forced, from forced decoding of the references. N
 * is a sentence's line, or of chunks DOCUMENT.CHUNK. */
gboolean plait_evaluation_write_attention (const PlaitEvaluator *evaluator, const char *split,
                                           const PlaitCorpus *corpus, gint64 n, PlaitStore *store, GError **error);

/* Writes attention and coverage of one pass over @batch, each sentence as an item (tables/ragged.h) of
 * /attention/@name, /coverage/@name and /descent/@name, called @names [n_sentences]. The target is the best of
 * @hypotheses [n_sentences], or with NULL the batch's own. */
gboolean plait_evaluation_write_batch_attention (const PlaitEvaluator *evaluator, const char *name,
                                                 const PlaitBatch *batch, char *const *names,
                                                 const PlaitAttentionRecords *attention,
                                                 const PlaitHypotheses *hypotheses, PlaitStore *store, GError **error);
