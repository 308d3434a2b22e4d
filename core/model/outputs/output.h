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
  const PlaitComponent *component; /* opened output; NULL: the built-in softmax, without a plugin */
  PlaitOutputBuild build;
  PlaitCrossAttentionLayer *cross; /* cross-attention that the output may read; NULL if there is no cross-attention */
} PlaitOutputComponents;

typedef struct
{
  PlaitInstance instance; /* instance.component is NULL for the built-in softmax */
  PlaitOutputShape shape;
  guint n_memories;
  gboolean copies; /* TRUE: the output copies words */
  gboolean reads;  /* TRUE: the output reads values of the decoder other than the states */
} PlaitModelOutput;

/* Declares the parameters of the output and returns it, in memory that belongs to the parameters. Fails with
 * PLAIT_ERROR_INPUT if the decoder lacks an attention or a head that the output reads. (transfer none) */
PlaitModelOutput *plait_output_new (const PlaitOutputComponents *components, GError **error);

/* Values that an output reads in addition to the states. */
typedef struct
{
  const PlaitReadings *readings; /* values that the decoder stored for the output; NULL: the output reads no such
                                    values */
  const PlaitMemory *memories;
  const PlaitCopyableWords *words; /* words of the memories from which words are copied, or NULL */
  PlaitRagged rows;                /* rows of the states: whole targets, or the hypotheses of a step */
  PlaitAttentionRecord *record;    /* receives the gate and the copy probabilities, or NULL */
} PlaitOutputInputs;

/* Probabilities of words for each row of a pass: softmax (table states + bias), mixed with copied words. */
typedef struct
{
  PlaitNode *states; /* [rows, width of the table] */
  const PlaitParameter *table;
  const PlaitParameter *bias;      /* bias of each word, or NULL */
  const PlaitOutputCopies *copies; /* nodes from which copied words are computed, in the tape's arena; NULL: no
                                      copied words */
  PlaitOutputMixture *mixture;     /* values of @copies in PLAIT_TAPE_EVALUATE; NULL: other mode, or no copied words */
} PlaitWordDistribution;

/* Returns the distribution for @states [rows, width], which the decoder or a head computed. */
PlaitWordDistribution plait_output_apply (const PlaitModelOutput *output, PlaitTape *tape, PlaitNode *states,
                                          const PlaitOutputInputs *inputs);

/* Returns the loss of @targets, as plait_output_loss does. A target that is outside the vocabulary and cannot be copied
 * in its row counts as the unknown word. */
PlaitNode *plait_word_distribution_loss (const PlaitWordDistribution *words, PlaitTape *tape, const gint32 *targets,
                                         const PlaitOutputLossOptions *options, PlaitOutputLossSums *sums,
                                         double *row_losses);

/* Computes @row_losses [rows]: the negative log-likelihood of word ids[i] in row i. @ids: [rows]. */
void plait_word_distribution_losses (const PlaitWordDistribution *words, PlaitTape *tape, const gint32 *ids,
                                     double *row_losses);

/* Computes the log-probabilities [n][@n_words] of all words in the rows @first .. @first + @n - 1.
 * plait_word_distribution_best computes the same bits. @n_words: size of the vocabulary, or more if sentences have own
 * words (source words outside the vocabulary). Call the function for a few rows at a time to save memory. Needs packed
 * parameters. */
void plait_word_distribution_rows (const PlaitWordDistribution *words, PlaitTape *tape, gint64 first, gint64 n,
                                   gint64 n_words, PlaitScalar *log_probabilities);

/* Finds the @best most probable words of each row except the @n_forbidden words @forbidden, as plait_output_layer_top_k
 * does. Writes them to @ids and @log_probabilities [rows][best]. Needs packed parameters. */
void plait_word_distribution_best (const PlaitWordDistribution *words, PlaitTape *tape, const gint32 *forbidden,
                                   guint n_forbidden, guint best, gint32 *ids, PlaitScalar *log_probabilities);
