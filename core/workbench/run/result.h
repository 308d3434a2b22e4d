/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/log.h"
#include "metrics/metric.h"
#include "run/training-set.h"
#include "hdf5/store.h"

/* Results of a finished run, for tables. */

/* One metric on one test split. */
typedef struct
{
  char *split;
  char *metric; /* text of the metric, a key in files, such as "bleu:tok=none" */
  char *name;   /* title in tables, such as "BLEU" */
  double score;
  double low, high;            /* bootstrap interval; both equal the score without one */
  PlaitMetric *scorer;         /* NULL for scores without statistics of sentences, such as perplexity */
  PlaitStatistics *statistics; /* statistics of sentences for @scorer */
  char *set;                   /* settings of a named evaluation that differ from the run's, or NULL */
  char *references;            /* digest of the references; only systems with the same references are compared */
  gboolean aside;              /* TRUE: shown only if another run has the same column without this flag */
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
  GPtrArray *scores;    /* (element-type PlaitRunScore), in the file's order */
  gint64 parameters;    /* number of parameters of the model */
  GArray *rates;        /* double: target tokens per second in each row of the training table */
  GArray *vocabularies; /* (element-type PlaitRunVocabulary) */
  const char *target;   /* digest of the target's vocabulary, or NULL */
  PlaitTrainingSet set; /* the training data */
} PlaitRunResult;

/* TRUE if larger scores are better. For metrics without statistics of sentences, such as perplexity, smaller is
 * better. */
gboolean plait_run_score_larger_is_better (const PlaitRunScore *score);

/* Reads the results of @run. An attention dump gives an empty result. (transfer full) */
PlaitRunResult *plait_run_result_new (PlaitStore *run, GError **error);
void plait_run_result_free (PlaitRunResult *result);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitRunResult, plait_run_result_free)

/* Removes named evaluations from @results [n] (may contain NULL) if their settings differ from those of the first
 * evaluation with that name, so that all scores of a column come from one search. Warns of each; warnings call the
 * results @names [n]. */
void plait_run_results_drop_mixed (PlaitRunResult *const *results, const char *const *names, guint n, PlaitLog *log);

/* Returns the score of @metric on @split, or NULL. (transfer none) */
const PlaitRunScore *plait_run_result_find (const PlaitRunResult *result, const char *split, const char *metric);

/* Column of a table: one metric on one split with the same references. Strings belong to the results. */
typedef struct
{
  const char *split;
  const char *references; /* digest of the references */
  const char *metric;
  const char *name; /* title in tables, such as "BLEU", or the text of the metric if titles are equal */
  gboolean larger_is_better;
  gboolean tested; /* TRUE if statistics of sentences exist, so that p can be computed */
  gboolean apart;  /* TRUE if another column has results of this split with other references */
} PlaitScoreColumn;

/* Returns the score of @score_column in @result, or NULL. (transfer none) */
const PlaitRunScore *plait_score_column_score (const PlaitScoreColumn *score_column, const PlaitRunResult *result);

/* TRUE if both columns have the same split and references, so that one table can show them. */
gboolean plait_score_column_has_same_references (const PlaitScoreColumn *score_column, const PlaitScoreColumn *other);

/* Returns "test", or "test (references 3fa2b1c0)" if there are other references. (transfer full) */
char *plait_score_column_split_text (const PlaitScoreColumn *score_column);

/* Returns the columns of all scores of @results [n] (may contain NULL), grouped by split and references. Scores per
 * token are left out if the vocabularies of the target differ. (transfer full) (element-type PlaitScoreColumn) */
GArray *plait_run_results_score_columns (const PlaitRunResult *const *results, guint n);

/* TRUE if @results [n] (may contain NULL) have different vocabularies of the target. */
gboolean plait_run_results_differ_in_target (const PlaitRunResult *const *results, guint n);

/* Returns the differences between @results [n], called @names [n], besides their settings: vocabularies and training
 * data. NULL-terminated. (transfer full) */
char **plait_run_results_describe_differences (const PlaitRunResult *const *results, const char *const *names, guint n);
