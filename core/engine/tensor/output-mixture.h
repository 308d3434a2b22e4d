/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/tensor.h"

/*
 * Rows of an output layer that mix the softmax over the vocabulary with a distribution c over few copied words:
 *
 *     p (v) = g softmax (logits)_v + (1 - g) c (v),   g = sigmoid (gate)
 *
 * A row without copied words has g = 1. Ids at or above V have no logit: their probability comes from c alone.
 */
typedef struct
{
  const gint64 *offsets;     /* copied words of row i: offsets[i] .. offsets[i + 1] - 1; [r + 1] */
  const gint32 *ids;         /* [words] ascending within a row, each id once */
  const PlaitScalar *copied; /* [words] probability c of each copied word; the probabilities of a row sum to 1 */
  const PlaitScalar *gate;   /* gate of each row: [r]; not read in rows without copied words */
  PlaitScalar *dcopied; /* [words] receives the gradient of @copied; NULL: neither @dcopied nor @dgate is computed */
  PlaitScalar *dgate;   /* [r] receives the gradient of @gate; 0 in rows without copied words */
} PlaitOutputMixture;

/* TRUE if row @row of the output layer has copied words. @mixture may be NULL. */
static inline gboolean
plait_output_mixture_has_words (const PlaitOutputMixture *mixture, gint64 row)
{
  return mixture && mixture->offsets[row + 1] > mixture->offsets[row];
}

/* Returns the index of the first copied word of @row whose id is at least @id; offsets[row + 1] if there is none. */
gint64 plait_output_mixture_find (const PlaitOutputMixture *mixture, gint64 row, gint64 id);

/* Copies logits of copied words of @row to @copied_logits [words]. @logits [n] is a block of logits for the ids @first
 * .. @first + @n - 1; copied words with other ids are skipped. */
void plait_output_mixture_note (const PlaitOutputMixture *mixture, gint64 row, gint64 first, const PlaitScalar *logits,
                                gint64 n, PlaitScalar *copied_logits);

/* Returns log p of copied word @word of @row. @words: V; @log_sum: log of the sum of the exponentials of all logits of
 * the row. */
double plait_output_mixture_log_probability (const PlaitOutputMixture *mixture, gint64 row, gint64 word, gint64 words,
                                             const PlaitScalar *copied_logits, double log_sum);

/* Returns log g of @row. */
double plait_output_mixture_log_gate (const PlaitOutputMixture *mixture, gint64 row);

/* Inputs and outputs of plait_output_mixture_row, which computes the loss of one row with label smoothing: -rest * log
 * p (target) - each * sum of log p (v) over the vocabulary. */
typedef struct
{
  gint64 words;      /* V, number of words of the vocabulary */
  gint32 target;     /* id of the target; may be at or above V */
  double logit;      /* logit of the target if it is below V */
  double log_sum;    /* log of the sum of the exponentials of all logits */
  double greatest;   /* greatest of all logits */
  double logits;     /* sum of all logits; read only if @each is not 0 */
  double each, rest; /* @each: probability that label smoothing gives to every word; @rest: probability that the
                        target gets in addition */
  double scale;      /* factor of the loss in gradients */
  gboolean best;     /* before the call: TRUE if the target has the greatest logit; after it: the greatest p. Ties: the
                        lower id */
  double loss;
  double negative_log_likelihood;
  /* Outputs. The gradient of logit v, before @scale, is softmax_v * @generated - @each. The target's logit also
   * subtracts @rest * @target_share. A copied word's logit also adds its correction in @copied_logits. */
  double generated;
  double target_share;
} PlaitMixedRow;

/* Computes the loss of @row, and the gradients in @mixture unless the pointers to them are NULL. Replaces each logit of
 * the row's copied words in @copied_logits by the correction of that logit's gradient (see PlaitMixedRow), which is not
 * yet multiplied by mixed->scale. */
void plait_output_mixture_row (const PlaitOutputMixture *mixture, gint64 row, PlaitScalar *copied_logits,
                               PlaitMixedRow *mixed);
