/* SPDX-License-Identifier: MIT */
#pragma once

#include "experiment/groups.h"
#include "hdf5/store.h"
#include "metrics/metric.h"

/*
 * Scores of texts that are not translations: the word alignments or the tags of a split, a text for each line. A run
 * stores the texts, so that comparisons can compute the statistics of the scores again.
 */
typedef enum
{
  PLAIT_TEXT_SCORES_ALIGNMENT, /* AER, precision and recall of the links of a source */
  PLAIT_TEXT_SCORES_TAGS,      /* accuracy of the tags of a source's words */
} PlaitTextScoresKind;

/* Texts that a model made, and the reference texts of a file. */
typedef struct
{
  PlaitTextScoresKind kind;
  const char *name;  /* name of what is scored: a source, or SOURCE.TAGS */
  char **hypotheses; /* NULL-terminated */
  char **references; /* NULL-terminated, as many as @hypotheses */
} PlaitTextScores;

/* Appends the scores of @texts to @results (element-type PlaitResult), with bootstrap intervals as @settings say. */
gboolean plait_text_scores_add_results (const PlaitTextScores *texts, const PlaitEvaluateSettings *settings,
                                        GPtrArray *results, GError **error);

/* Writes the hypotheses and references of @texts below @group, the group of an evaluation. */
gboolean plait_text_scores_write (const PlaitTextScores *texts, PlaitStore *store, const char *group, GError **error);

/* Computes the statistics of a score again from the texts below @group. @metric and @title are the score's metric and
 * title in a run. Sets *@scorer (transfer full) to the metric if the result is not NULL. Returns NULL without an error
 * if the score is not of alignments or tags. (transfer full) */
PlaitStatistics *plait_text_scores_read (PlaitStore *store, const char *group, const char *metric, const char *title,
                                         PlaitMetric **scorer, GError **error);
