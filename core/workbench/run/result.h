/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/log.h"
#include "metrics/metric.h"
#include "run/training-set.h"
#include "hdf5/store.h"

/* What a table wants of a finished run. */

/* One metric on one test split. */
typedef struct
{
  char *split;
  char *metric; /* "bleu:tok=none": a key */
  char *name;   /* "BLEU" */
  double score;
  double low, high;            /* of the bootstrap; both the score where there was none */
  PlaitMetric *scorer;         /* NULL for what is not kept sentence by sentence, such as perplexity */
  PlaitStatistics *statistics; /* of the sentences, with @scorer */
  char *set;                   /* of an evaluation beside the run's own: the settings that it has otherwise; or NULL */
  char *references;            /* digest: only systems on the same references are compared */
  gboolean aside;              /* makes no column, but stands in one that another run makes */
} PlaitRunScore;

/* A vocabulary that a run has. */
typedef struct
{
  char *name;
  char *digest;
  gint64 entries;
} PlaitRunVocabulary;

typedef struct
{
  GPtrArray *scores;    /* (element-type PlaitRunScore), in the order of the file */
  gint64 parameters;    /* numbers in the model */
  GArray *rates;        /* double: target tokens per second of the rows of the training table */
  GArray *vocabularies; /* (element-type PlaitRunVocabulary) */
  const char *target;   /* digest of the target's vocabulary; NULL: it has none */
  PlaitTrainingSet set; /* what it was trained on */
} PlaitRunResult;

/* TRUE if a larger score is better: all metrics that are not kept sentence by sentence, such as perplexity, are better
 * the smaller they are. */
gboolean plait_run_score_larger_is_better (const PlaitRunScore *score);

/* Reads the results of @run; a dump of attention has none. (transfer full) */
PlaitRunResult *plait_run_result_new (PlaitStore *run, GError **error);
void plait_run_result_free (PlaitRunResult *result);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitRunResult, plait_run_result_free)

/* Leaves out of @results [n] (NULL among them: none) the evaluations beside the runs' own that were made with other
 * settings than the first of their name, and warns of them by @names [n]: one column has one search. */
void plait_run_results_drop_mixed (PlaitRunResult *const *results, const char *const *names, guint n, PlaitLog *log);

/* The score of @metric on @split, or NULL. (transfer none) */
const PlaitRunScore *plait_run_result_find (const PlaitRunResult *result, const char *split, const char *metric);

/* One metric on one split over the same references, as a column of a table. Strings are those of the results. */
typedef struct
{
  const char *split;
  const char *references; /* digest */
  const char *metric;
  const char *name; /* "BLEU"; the metric where several of a split have one name */
  gboolean larger_is_better;
  gboolean tested; /* sentences are known, so p can be given */
  gboolean apart;  /* other results have other references of this split: their scores are another measure */
} PlaitScoreColumn;

/* The score of @score_column in @result, or NULL. (transfer none) */
const PlaitRunScore *plait_score_column_score (const PlaitScoreColumn *score_column, const PlaitRunResult *result);

/* TRUE if both are of the same references of the same split, so that their scores may stand in one table. */
gboolean plait_score_column_has_same_references (const PlaitScoreColumn *score_column, const PlaitScoreColumn *other);

/* "test", or "test (references 3fa2b1c0)" where there are others. (transfer full) */
char *plait_score_column_split_text (const PlaitScoreColumn *score_column);

/* All that @results (NULL among them: none) were scored by, what is of one split together, and in it what is of the
 * same references; without what is per token where they have different vocabularies of the target. (transfer full)
 * (element-type PlaitScoreColumn) */
GArray *plait_run_results_score_columns (const PlaitRunResult *const *results, guint n);

/* TRUE if @results [n] (NULL among them: none) have different vocabularies of the target. */
gboolean plait_run_results_differ_in_target (const PlaitRunResult *const *results, guint n);

/* Says what @results [n], called by @names [n], have otherwise beside their settings: vocabularies and what they were
 * trained on. NULL-terminated. (transfer full) */
char **plait_run_results_describe_differences (const PlaitRunResult *const *results, const char *const *names, guint n);
