/* SPDX-License-Identifier: MIT */
#pragma once

#include "metrics/metric.h"

/*
 * Perplexity from log-probabilities, as a metric like the others, so that it has intervals and tests too. Its rows are
 * [log-probability (natural), tokens, words].
 */
typedef enum
{
  PLAIT_PERPLEXITY_TOKEN, /* exp (-log-probability / tokens): comparable only between models of one vocabulary */
  PLAIT_PERPLEXITY_WORD,  /* exp (-log-probability / words): comparable between vocabularies */
} PlaitPerplexityUnit;

/* (transfer full) */
PlaitMetric *plait_metric_new_perplexity (PlaitPerplexityUnit unit);

/* Rows from the summed natural log-probability of each sentence [sentences], the predicted tokens in that sum and the
 * words they spell (each with the end of sentence where the sum has it). PLAIT_ERROR_INPUT for a log-probability that
 * is positive or not a number, negative counts, or no tokens or words at all. (transfer full) */
PlaitStatistics *plait_perplexity_statistics (const double *log_probabilities, const gint64 *tokens,
                                              const gint64 *words, gsize sentences, GError **error);
