/* SPDX-License-Identifier: MIT */
#pragma once

#include "decoders/decoder.h"
#include "layers/linear.h"
#include "loading/call.h"
#include "autograd/layer-operators.h"

/*
 * A model: sources, their encoders, a combiner in each decoder layer, and the vocabulary projection. What predicts no
 * sequence has in the decoder's place what gives its states, and the projection is onto what it predicts.
 *
 *     batch -> encoders -> memories -> decoder (combiner) -> states -> words
 *     batch -> encoders -> memories -> classifier -> states -> classes
 *     batch -> encoder -> memory -> unmasker -> states -> masked words
 */
typedef struct PlaitModel PlaitModel;

typedef struct
{
  const char *name; /* of the source */
  PlaitInputKind kind;
  const PlaitComponent *encoder; /* opened, with what it stands on */
  const char *vocabulary;        /* of tokens: its name; streams of one name may share their embedding */
  gint64 vocabulary_size;        /* of tokens */
  gint64 feature_width;          /* of features */
  gint64 roles;                  /* of documents: most roles of one; 0: they have none */
} PlaitSourceSpecification;

/* All that it points to must outlive the model. */
typedef struct
{
  const PlaitSourceSpecification *sources;
  guint n_sources;
  PlaitPredictSettings predict;
  const char *target_vocabulary; /* of a sequence */
  gint64 target_vocabulary_size; /* of classes: how many there are; of choices: 0 */
  gboolean target_starts;        /* targets have start tokens of their own, such as one between sentences, which a
                                    search may choose */
  PlaitDecoderSettings decoder;
  const PlaitComponent *combiner; /* opened; NULL unless a sequence is predicted */
  const PlaitComponent *coverage; /* opened; NULL: none */
} PlaitModelSpecification;

/* Declares and allocates all parameters (values zero: initialise or load them). PLAIT_ERROR_INPUT where settings do not
 * fit together, PLAIT_ERROR_MEMORY where there is no room. (transfer full) */
PlaitModel *plait_model_new (const PlaitModelSpecification *specification, GError **error);
void plait_model_free (PlaitModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitModel, plait_model_free)

/* What it was made from. (transfer none) */
const PlaitModelSpecification *plait_model_specification (const PlaitModel *model);
PlaitParameters *plait_model_parameters (const PlaitModel *model);

/* The memories that the decoder reads, in order. (transfer none) */
const PlaitMemorySpecification *plait_model_memories (const PlaitModel *model, guint *n);

/* TRUE if @memory is of the source @source: it is called so, or "SOURCE.PART". */
gboolean plait_model_memory_is_of (const PlaitMemorySpecification *memory, const char *source);

const PlaitDecoder *plait_model_decoder (const PlaitModel *model);

/* The output projection: [V, width], and its bias [1, V] or NULL; NULL where states are logits. (transfer none) */
PlaitParameter *plait_model_output (const PlaitModel *model, PlaitParameter **bias);

/* TRUE if a sentence of @rows rows can be read by source @source, or by the decoder if that is n_sources.
 * PLAIT_ERROR_INPUT where learned positions end before. */
gboolean plait_model_check_length (const PlaitModel *model, guint source, gint64 rows, GError **error);

/* TRUE if source @source can read @input, its sentences and what they consist of: PLAIT_ERROR_INPUT likewise. */
gboolean plait_model_check_input (const PlaitModel *model, guint source, const PlaitInput *input, GError **error);

/* TRUE if the shapes of @batch suit the model: number and kind of sources, ids below the vocabulary size, lengths that
 * learned positions reach. PLAIT_ERROR_INPUT names the sentence. */
gboolean plait_model_check_batch (const PlaitModel *model, const PlaitBatch *batch, GError **error);

/* The losses that the parts declared. (transfer none) */
const PlaitLossColumns *plait_model_losses (const PlaitModel *model);

/* Runs all encoders on @batch. @losses: NULL where nobody wants them. */
PlaitEncoderOutputs plait_model_encode (const PlaitModel *model, PlaitTape *tape, const PlaitBatch *batch,
                                        PlaitLossPass *losses);

/* What a batch came to. */
typedef struct
{
  PlaitOutputLossSums words;
  double losses[PLAIT_MAX_LOSS_COLUMNS]; /* of the parts, without their weights */
  double auxiliary;                      /* the same, weighted, in all */
  double guessing; /* negative log-likelihood of the target rows if all words, or candidates, are equally probable */
} PlaitModelSums;

/*
 * The training criterion of @batch as the root of the tape: options->scale * sum of the target rows' losses, plus the
 * parts' own losses times their weights and options->scale. @sums is filled at once; @row_losses is NULL or
 * takes the negative log-likelihood of each target row; @record is NULL or collects teacher-forced attention.
 */
PlaitNode *plait_model_loss (const PlaitModel *model, PlaitTape *tape, const PlaitBatch *batch,
                             const PlaitOutputLossOptions *options, PlaitModelSums *sums, double *row_losses,
                             PlaitAttentionRecord *record);
