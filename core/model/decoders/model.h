/* SPDX-License-Identifier: MIT */
#pragma once

#include "decoders/decoder.h"
#include "decoders/head.h"
#include "decoders/guided-alignment.h"
#include "decoders/source-tags.h"
#include "layers/linear.h"
#include "loading/call.h"
#include "autograd/layer-operators.h"
#include "outputs/output.h"

/*
 * A model: sources, their encoders, a combiner in each decoder layer, and the output layer. If no sequence is
 * predicted, a head takes the place of the decoder.
 *
 *     batch -> encoders -> memories -> decoder (combiner) -> states -> words
 *     batch -> encoders -> memories -> classifier -> states -> classes
 *     batch -> encoder -> memory -> masked-LM head -> states -> masked words
 */
typedef struct PlaitModel PlaitModel;

/* One of PlaitInput.factors: a factor of the tokens of a source, which the model reads, or tags of the words of a
 * source, which the model predicts (source-tags.h). */
typedef struct
{
  const char *name;
  gint64 vocabulary_size;
  gint64 width;  /* width of the factor's embedding, if concatenated to the token's; 0: embeddings are added */
  double weight; /* weight of the loss of tags; a target token has weight 1 */
} PlaitFactorSpecification;

typedef struct
{
  const char *name; /* name of the source */
  PlaitInputKind kind;
  const PlaitComponent *encoder; /* opened encoder; its inner encoders are open too */
  const char *vocabulary; /* name of the vocabulary of tokens; streams with one vocabulary may share their embedding */
  gint64 vocabulary_size; /* number of pieces, for tokens */
  gint64 feature_width;   /* width of feature rows */
  gint64 roles;           /* number of distinct roles in documents; 0: no roles */
  gboolean aligned;       /* TRUE: training learns word alignments with the target */
  /* [n_factors + n_tags]: factors, then tags. The factors are either all concatenated or all added. */
  const PlaitFactorSpecification *factors;
  guint n_factors;
  guint n_tags;
} PlaitSourceSpecification;

/* Specification of a model. The model keeps pointers into it. */
typedef struct
{
  const PlaitSourceSpecification *sources;
  guint n_sources;
  PlaitPredictSettings predict;
  const char *target_vocabulary; /* name of the target's vocabulary; NULL if no sequence is predicted */
  gint64 target_vocabulary_size; /* number of words or classes; 0 for choices, spans and numbers */
  gboolean target_starts;        /* TRUE: targets may have start tokens before each sentence of a document, or
                                    at the beginning of each text; then search may predict start tokens */
  PlaitDecoderSettings decoder;
  PlaitAlignmentSettings alignment; /* settings of guided alignment; used if a source is aligned */
  /* Opened components; NULL if no sequence is predicted. */
  const PlaitComponent *decoder_component;
  const PlaitComponent *combiner;
  const PlaitComponent *coverage; /* NULL: no coverage */
  const PlaitComponent *output;   /* NULL: the built-in softmax, without a plugin */
} PlaitModelSpecification;

/* Creates a model whose parameters are all zero; the caller initialises or loads them. Fails with PLAIT_ERROR_INPUT if
 * settings contradict each other, with PLAIT_ERROR_MEMORY if there is not enough memory. (transfer full) */
PlaitModel *plait_model_new (const PlaitModelSpecification *specification, GError **error);
void plait_model_free (PlaitModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitModel, plait_model_free)

/* Returns the specification that the model was created from. (transfer none) */
const PlaitModelSpecification *plait_model_specification (const PlaitModel *model);
PlaitParameters *plait_model_parameters (const PlaitModel *model);

/* Returns the memories that the decoder or the head reads, in the order of the sources. (transfer none) */
const PlaitMemorySpecification *plait_model_memories (const PlaitModel *model, guint *n);

/* Returns name and width of the encoders' summaries, in the order of the sources. A summary has the name of its source.
 * (transfer none) */
const PlaitMemorySpecification *plait_model_summaries (const PlaitModel *model, guint *n);

/* TRUE if @memory comes from source @source: its name is "SOURCE" or begins with "SOURCE.". */
gboolean plait_model_memory_is_of (const PlaitMemorySpecification *memory, const char *source);

/* Returns the decoder, or NULL if a head takes its place. (transfer none) */
const PlaitDecoder *plait_model_decoder (const PlaitModel *model);

/* Returns what the decoder or the head computes from @encoded: states for the output layer, logits, or numbers.
 * @record: collects attention weights of the decoder, or NULL. */
PlaitNode *plait_model_states (const PlaitModel *model, PlaitTape *tape, const PlaitEncoderOutputs *encoded,
                               const PlaitBatch *batch, PlaitAttentionRecord *record);

/* Returns the output that computes words from states; NULL if states are logits or numbers. (transfer none) */
const PlaitModelOutput *plait_model_output (const PlaitModel *model);

/* TRUE if source @source can read a sentence of @rows rows; if @source is n_sources, TRUE if the decoder can. Fails
 * with PLAIT_ERROR_INPUT if there are more rows than learned positions. */
gboolean plait_model_check_length (const PlaitModel *model, guint source, gint64 rows, GError **error);

/* TRUE if source @source can read @input; else fails with PLAIT_ERROR_INPUT. */
gboolean plait_model_check_input (const PlaitModel *model, guint source, const PlaitInput *input, GError **error);

/* TRUE if an encoder of source @source has the function check_input. */
gboolean plait_model_has_input_check (const PlaitModel *model, guint source);

/* TRUE if @input is too long for source @source: the rows are too many, or the encoder refuses the document. */
gboolean plait_model_is_too_long (const PlaitModel *model, guint source, const PlaitInput *input);

/* TRUE if sources, factors, widths, ids, answers and lengths of @batch fit the model; else fails with
 * PLAIT_ERROR_INPUT. */
gboolean plait_model_check_batch (const PlaitModel *model, const PlaitBatch *batch, GError **error);

/* Returns the columns of the losses that plugins declared, of guided alignment and of tags. (transfer none) */
const PlaitLossColumns *plait_model_losses (const PlaitModel *model);

/* Returns the streams of tags that the model predicts, in the order of the sources. (transfer none) */
const PlaitSourceTags *plait_model_tags (const PlaitModel *model, guint *n);

/* Sets the number of the update whose loss is computed next, from 1. A loss that starts at a later update counts with
 * weight 0. If the number is never set, every loss counts with its own weight. */
void plait_model_set_update (PlaitModel *model, gint64 update);

/* Runs all encoders on @batch. @losses collects their losses, or is NULL. */
PlaitEncoderOutputs plait_model_encode (const PlaitModel *model, PlaitTape *tape, const PlaitBatch *batch,
                                        PlaitLossPass *losses);

/* Returns the distribution of words for @states [rows], which the decoder or a head computed from @encoded just before.
 * @record: receives the gate and the copy probabilities of an output that copies words, or NULL. The model must have an
 * output. */
PlaitWordDistribution plait_model_words (const PlaitModel *model, PlaitTape *tape, const PlaitEncoderOutputs *encoded,
                                         PlaitNode *states, PlaitRagged rows, PlaitAttentionRecord *record);

/* Losses of one batch. */
typedef struct
{
  PlaitOutputLossSums words;
  double losses[PLAIT_MAX_LOSS_COLUMNS];        /* losses without their weights: [model's loss columns] */
  PlaitLossItems items[PLAIT_MAX_LOSS_COLUMNS]; /* counts of the items, such as tags, that each loss predicts: [model's
                                                   loss columns] */
  double auxiliary;                             /* sum of the losses times their weights */
  double guessing; /* negative log-likelihood of the target rows if all words, or candidates, are equally probable; 0
                      for numbers */
} PlaitModelSums;

/*
 * Returns the training criterion of @batch as the root of the tape: options->scale * (weighted sum of the target rows'
 * losses + weighted losses of the loss columns). Fills @sums and, unless NULL, @row_losses: the negative log-likelihood
 * of each target row, or the squared error of a number. @record: collects attention weights, or NULL.
 */
PlaitNode *plait_model_loss (const PlaitModel *model, PlaitTape *tape, const PlaitBatch *batch,
                             const PlaitOutputLossOptions *options, PlaitModelSums *sums, double *row_losses,
                             PlaitAttentionRecord *record);
