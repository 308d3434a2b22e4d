/* SPDX-License-Identifier: MIT */
#pragma once

#include "decoders/decoder.h"
#include "decoders/head.h"
#include "decoders/guided-alignment.h"
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

typedef struct
{
  const char *name; /* name of the source */
  PlaitInputKind kind;
  const PlaitComponent *encoder; /* opened, and its inner encoders too */
  const char *vocabulary; /* name of the vocabulary of tokens; streams with one vocabulary may share their embedding */
  gint64 vocabulary_size; /* number of pieces, for tokens */
  gint64 feature_width;   /* width of feature rows */
  gint64 roles;           /* number of different roles in documents; 0: no roles */
  gboolean aligned;       /* TRUE: training learns word alignments with the target */
} PlaitSourceSpecification;

/* The model keeps pointers into its specification. */
typedef struct
{
  const PlaitSourceSpecification *sources;
  guint n_sources;
  PlaitPredictSettings predict;
  const char *target_vocabulary; /* name of the target's vocabulary; NULL if no sequence is predicted */
  gint64 target_vocabulary_size; /* words or classes; 0 for choices and spans */
  gboolean target_starts; /* TRUE: targets contain start tokens, such as between sentences; search may choose them */
  PlaitDecoderSettings decoder;
  PlaitAlignmentSettings alignment; /* read if a source is aligned */
  /* Opened. Both components are NULL if no sequence is predicted. */
  const PlaitComponent *decoder_component;
  const PlaitComponent *combiner;
  const PlaitComponent *coverage; /* opened, or NULL */
  const PlaitComponent *output;   /* opened; NULL: the built-in softmax, without a plugin */
} PlaitModelSpecification;

/* Creates a model with all parameters zero; initialise or load them. Fails with PLAIT_ERROR_INPUT if settings
 * contradict each other, with PLAIT_ERROR_MEMORY if there is not enough memory. (transfer full) */
PlaitModel *plait_model_new (const PlaitModelSpecification *specification, GError **error);
void plait_model_free (PlaitModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitModel, plait_model_free)

/* Returns the specification that the model was created from. (transfer none) */
const PlaitModelSpecification *plait_model_specification (const PlaitModel *model);
PlaitParameters *plait_model_parameters (const PlaitModel *model);

/* Returns the memories that the decoder reads, in order. (transfer none) */
const PlaitMemorySpecification *plait_model_memories (const PlaitModel *model, guint *n);

/* Returns name and width of the summaries, each called after its source, in order. (transfer none) */
const PlaitMemorySpecification *plait_model_summaries (const PlaitModel *model, guint *n);

/* TRUE if @memory comes from source @source: its name is "SOURCE" or begins with "SOURCE.". */
gboolean plait_model_memory_is_of (const PlaitMemorySpecification *memory, const char *source);

/* Returns the decoder, or NULL if a head takes its place. (transfer none) */
const PlaitDecoder *plait_model_decoder (const PlaitModel *model);

/* Returns what the decoder or the head computes from @encoded: states for the output layer, or logits. @record: NULL or
 * collects attention weights of the decoder. */
PlaitNode *plait_model_states (const PlaitModel *model, PlaitTape *tape, const PlaitEncoderOutputs *encoded,
                               const PlaitBatch *batch, PlaitAttentionRecord *record);

/* Returns the output that computes words from states; NULL if states are logits. (transfer none) */
const PlaitModelOutput *plait_model_output (const PlaitModel *model);

/* TRUE if a sentence of @rows rows can be read by source @source, or by the decoder if @source is n_sources. Fails with
 * PLAIT_ERROR_INPUT if it has more rows than learned positions. */
gboolean plait_model_check_length (const PlaitModel *model, guint source, gint64 rows, GError **error);

/* TRUE if source @source can read @input; else fails with PLAIT_ERROR_INPUT. */
gboolean plait_model_check_input (const PlaitModel *model, guint source, const PlaitInput *input, GError **error);

/* TRUE if @batch fits the model: number and kind of sources, token ids below the vocabulary size, lengths within
 * learned positions. Fails with PLAIT_ERROR_INPUT, which names the sentence. */
gboolean plait_model_check_batch (const PlaitModel *model, const PlaitBatch *batch, GError **error);

/* Returns the columns of the losses that plugins declared. (transfer none) */
const PlaitLossColumns *plait_model_losses (const PlaitModel *model);

/* Sets the number of the update whose loss is computed next, from 1. Losses that start later have the weight 0. A model
 * of which it was not set gives every loss its weight. */
void plait_model_set_update (PlaitModel *model, gint64 update);

/* Runs all encoders on @batch. @losses collects their losses, or is NULL. */
PlaitEncoderOutputs plait_model_encode (const PlaitModel *model, PlaitTape *tape, const PlaitBatch *batch,
                                        PlaitLossPass *losses);

/* Returns the distribution of words for @states [rows], which the decoder or a head has just computed from @encoded.
 * @record: NULL or receives gate and copied weights of an output that copies words. The model must have an output. */
PlaitWordDistribution plait_model_words (const PlaitModel *model, PlaitTape *tape, const PlaitEncoderOutputs *encoded,
                                         PlaitNode *states, PlaitRagged rows, PlaitAttentionRecord *record);

/* Losses of one batch. */
typedef struct
{
  PlaitOutputLossSums words;
  double losses[PLAIT_MAX_LOSS_COLUMNS]; /* [plugins' losses], without their weights */
  double auxiliary;                      /* sum of losses times their weights */
  double guessing; /* negative log-likelihood of the target rows if all words, or candidates, are equally probable */
} PlaitModelSums;

/*
 * Returns the training criterion of @batch as the root of the tape: options->scale * (sum of the target rows' losses +
 * weighted losses of plugins). Fills @sums at once. @row_losses: NULL or receives the negative log-likelihood of each
 * target row. @record: NULL or collects attention weights.
 */
PlaitNode *plait_model_loss (const PlaitModel *model, PlaitTape *tape, const PlaitBatch *batch,
                             const PlaitOutputLossOptions *options, PlaitModelSums *sums, double *row_losses,
                             PlaitAttentionRecord *record);
