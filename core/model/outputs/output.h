/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/layer-operators.h"
#include "loading/call.h"

/*
 * An output computes words, classes or masked tokens from states. Loss, best words and scores come from one
 * PlaitWordDistribution.
 */

/* Settings from which an output is built. */
typedef struct
{
  const PlaitComponent *component; /* opened; NULL: softmax of the states as they are */
  PlaitOutputBuild build;
} PlaitOutputComponents;

typedef struct
{
  PlaitInstance instance; /* its component is NULL: softmax of the states as they are */
  PlaitOutputShape shape;
} PlaitModelOutput;

/* Declares the parameters of the output. The output lies in memory of the parameters. (transfer none) */
PlaitModelOutput *plait_output_new (const PlaitOutputComponents *components, GError **error);

/* Probabilities of words for each row of a pass: softmax (table states + bias). */
typedef struct
{
  PlaitNode *states; /* [rows, width of the table] */
  const PlaitParameter *table;
  const PlaitParameter *bias; /* or NULL */
} PlaitWordDistribution;

/* Returns the distribution for @states [rows, width], which the decoder or a head computed. */
PlaitWordDistribution plait_output_apply (const PlaitModelOutput *output, PlaitTape *tape, PlaitNode *states);

/* Returns the loss of @targets, as plait_output_loss does. */
PlaitNode *plait_word_distribution_loss (const PlaitWordDistribution *words, PlaitTape *tape, const gint32 *targets,
                                         const PlaitOutputLossOptions *options, PlaitOutputLossSums *sums,
                                         double *row_losses);

/* Computes the negative log-likelihood @row_losses [rows] of one word of @ids [rows] in each row. */
void plait_word_distribution_losses (const PlaitWordDistribution *words, PlaitTape *tape, const gint32 *ids,
                                     double *row_losses);

/* Computes the log-probabilities [n][words] of all words in the rows @first .. @first + @n - 1, with the bits that
 * plait_word_distribution_best gives its words. For a few rows at a time, because of their memory. Needs packed
 * parameters. */
void plait_word_distribution_rows (const PlaitWordDistribution *words, PlaitTape *tape, gint64 first, gint64 n,
                                   PlaitScalar *log_probabilities);

/* Finds the @best most probable words of each row, as plait_output_layer_top_k does, without the @n_forbidden words
 * @forbidden: @ids and @log_probabilities [rows][best]. Needs packed parameters. */
void plait_word_distribution_best (const PlaitWordDistribution *words, PlaitTape *tape, const gint32 *forbidden,
                                   guint n_forbidden, guint best, gint32 *ids, PlaitScalar *log_probabilities);
