/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/layer-operators.h"
#include "cross-attention/cross-attention.h"
#include "loading/call.h"

/*
 * An output computes words, classes or masked tokens from states. Loss, best words and scores come from one
 * PlaitWordDistribution.
 */

/* Settings from which an output is built. */
typedef struct
{
  const PlaitComponent *component; /* opened; NULL: the built-in softmax, without a plugin */
  PlaitOutputBuild build;
  PlaitCrossAttentionLayer *cross; /* cross-attention that the output may read; NULL if there is no decoder */
} PlaitOutputComponents;

typedef struct
{
  PlaitInstance instance; /* instance.component is NULL for the built-in softmax */
  PlaitOutputShape shape;
  guint n_memories;
  gboolean copies; /* TRUE: the output copies words */
  gboolean reads;  /* TRUE: the output reads more than the states */
} PlaitModelOutput;

/* Declares the parameters of the output. The output lies in memory of the parameters. Fails with PLAIT_ERROR_INPUT if
 * the combiner has no attention that the output reads. (transfer none) */
PlaitModelOutput *plait_output_new (const PlaitOutputComponents *components, GError **error);

/* Values that an output reads besides the states. */
typedef struct
{
  const PlaitReadings *readings; /* what the decoder left; NULL: the output reads nothing */
  const PlaitMemory *memories;
  const PlaitCopyableWords *words; /* words of the copied memories, or NULL */
  PlaitRagged rows;                /* rows of the states: whole targets, or the hypotheses of a step */
  PlaitAttentionRecord *record;    /* NULL, or receives gate and copied weights */
} PlaitOutputInputs;

/* Probabilities of words for each row of a pass: softmax (table states + bias), mixed with copied words. */
typedef struct
{
  PlaitNode *states; /* [rows, width of the table] */
  const PlaitParameter *table;
  const PlaitParameter *bias;      /* or NULL */
  const PlaitOutputCopies *copies; /* copied words, in the tape's arena; NULL: none */
  PlaitOutputMixture *mixture;     /* the copied words as numbers, for search; NULL: none */
} PlaitWordDistribution;

/* Returns the distribution for @states [rows, width], which the decoder or a head computed. */
PlaitWordDistribution plait_output_apply (const PlaitModelOutput *output, PlaitTape *tape, PlaitNode *states,
                                          const PlaitOutputInputs *inputs);

/* Returns the loss of @targets, as plait_output_loss does. A target that is not in the vocabulary and cannot be copied
 * in its row counts as the unknown word. */
PlaitNode *plait_word_distribution_loss (const PlaitWordDistribution *words, PlaitTape *tape, const gint32 *targets,
                                         const PlaitOutputLossOptions *options, PlaitOutputLossSums *sums,
                                         double *row_losses);

/* Computes the negative log-likelihood @row_losses [rows] of one word of @ids [rows] in each row. */
void plait_word_distribution_losses (const PlaitWordDistribution *words, PlaitTape *tape, const gint32 *ids,
                                     double *row_losses);

/* Computes the log-probabilities [n][@n_words] of all words in the rows @first .. @first + @n - 1, with the bits that
 * plait_word_distribution_best gives its words. @n_words: the size of the vocabulary, or more, for own words of the
 * sentences. For a few rows at a time, because of their memory. Needs packed parameters. */
void plait_word_distribution_rows (const PlaitWordDistribution *words, PlaitTape *tape, gint64 first, gint64 n,
                                   gint64 n_words, PlaitScalar *log_probabilities);

/* Finds the @best most probable words of each row, as plait_output_layer_top_k does, without the @n_forbidden words
 * @forbidden: @ids and @log_probabilities [rows][best]. Needs packed parameters. */
void plait_word_distribution_best (const PlaitWordDistribution *words, PlaitTape *tape, const gint32 *forbidden,
                                   guint n_forbidden, guint best, gint32 *ids, PlaitScalar *log_probabilities);
