/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/log.h"
#include "metrics/metric.h"
#include "run/training-set.h"
#include "hdf5/store.h"

/* Results of a finished run, as tables show them. */

/* Score of one metric on one test split. */
typedef struct
{
  char *split;
  char *metric; /* text of the metric, such as "bleu:tok=none"; identifies it in files */
  char *name;   /* title of the metric in tables, such as "BLEU" */
  double score;
  double low, high;    /* bootstrap interval; equal to the score if there is none */
  PlaitMetric *scorer; /* computes the score from statistics of sentences; NULL for scores without such statistics, such
                          as perplexity */
  PlaitStatistics *statistics; /* statistics of all sentences, which scorer reads; NULL if scorer is NULL */
  char *set; /* settings of the named evaluation SPLIT.NAME that can change scores; NULL: not a named evaluation */
  char *references; /* digest of the references; only systems scored with equal references are compared */
  gboolean aside;   /* TRUE: tables show the column only if it also has a score with aside FALSE */
} PlaitRunScore;

/* A vocabulary of a run. */
typedef struct
{
  char *name;
  char *digest;
  gint64 entries;
} PlaitRunVocabulary;

typedef struct
{
  GPtrArray *scores;    /* (element-type PlaitRunScore): in the order of the file */
  gint64 parameters;    /* number of parameters of the model */
  GArray *rates;        /* (element-type double): target tokens per second, for each row of /training/updates */
  GArray *vocabularies; /* (element-type PlaitRunVocabulary) */
  const char *target;   /* digest of the target's vocabulary; NULL if unknown */
  PlaitTrainingSet set; /* description of the training data */
} PlaitRunResult;

/* TRUE if larger values of @score are better. FALSE for perplexity and other scores without statistics of sentences. */
gboolean plait_run_score_larger_is_better (const PlaitRunScore *score);

/* Returns the results that @run stores. The results are empty if @run has no group /training, such as an attention
 * dump. (transfer full) */
PlaitRunResult *plait_run_result_new (PlaitStore *run, GError **error);
void plait_run_result_free (PlaitRunResult *result);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitRunResult, plait_run_result_free)

/* Removes the scores of named evaluations from @results [n] (may contain NULL) if their settings differ from those of
 * the first evaluation with that name, so that all scores of a column come from equal settings. Logs a warning for each
 * evaluation that loses scores, with the name of its result from @names [n]. */
void plait_run_results_drop_mixed (PlaitRunResult *const *results, const char *const *names, guint n, PlaitLog *log);

/* Returns the score by @metric on @split; NULL if there is none. (transfer none) */
const PlaitRunScore *plait_run_result_find (const PlaitRunResult *result, const char *split, const char *metric);

/* Column of a table: one metric on one split, with equal references. Strings belong to the results. */
typedef struct
{
  const char *split;
  const char *references; /* digest of the references */
  const char *metric;
  const char *name; /* title in tables, such as "BLEU"; the text of the metric if several columns of these references
                       have this title */
  gboolean larger_is_better;
  gboolean tested; /* TRUE if statistics of sentences exist, so that p values can be computed */
  gboolean apart;  /* TRUE if another column has scores of this split with other references */
} PlaitScoreColumn;

/* Returns the score of @result that belongs in @score_column; NULL if there is none. (transfer none) */
const PlaitRunScore *plait_score_column_score (const PlaitScoreColumn *score_column, const PlaitRunResult *result);

/* TRUE if both columns have the same split and references, so that one table can show them. */
gboolean plait_score_column_has_same_references (const PlaitScoreColumn *score_column, const PlaitScoreColumn *other);

/* Returns the name of the split, such as "test". If score_column->apart, adds the digest of the column's references:
 * "test (references 3fa2b1c0)". (transfer full) */
char *plait_score_column_split_text (const PlaitScoreColumn *score_column);

/* Returns the columns of all scores of @results [n] (may contain NULL), grouped by split and references. Leaves out
 * scores per token if the vocabularies of the target differ, and columns in which all scores have aside TRUE. (transfer
 * full) (element-type PlaitScoreColumn) */
GArray *plait_run_results_score_columns (const PlaitRunResult *const *results, guint n);

/* TRUE if @results [n] (may contain NULL) have different target vocabularies. Ignores unknown ones. */
gboolean plait_run_results_differ_in_target (const PlaitRunResult *const *results, guint n);

/* Returns sentences about differences between the vocabularies and training data of @results [n] (may contain NULL),
 * which the sentences call @names [n]. NULL-terminated. (transfer full) */
char **plait_run_results_describe_differences (const PlaitRunResult *const *results, const char *const *names, guint n);
