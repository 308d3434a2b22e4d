/* SPDX-License-Identifier: MIT */
#pragma once

#include "cross-attention/attention-record.h"
#include "settings/decoder-build.h"

/*
 * A decoder reads the memories of all sources and returns one row of states for each row of the target; the output
 * layer computes words from states. Decoders of sequences read memories through cross-attention; row t depends on
 * target rows 0 .. t. They run in two ways over the same parameters: forward over whole targets (training, forced
 * decoding, dumps), and step by step over hypotheses (search). The heads for other predictions ([predict]) have no
 * cross-attention and no steps, and their forward does not read the target.
 */
typedef struct PlaitDecoder PlaitDecoder;
typedef struct PlaitDecoderState PlaitDecoderState;

/* Outputs of all encoders for one batch, in the order of the sources, in the tape's arena. */
typedef struct
{
  PlaitMemory *memories;
  guint n_memories;
  PlaitNode **summaries; /* [n_summaries], each [sentences, width], of the sources that give one */
  guint n_summaries;
  double *multiplications;          /* [n_sources]: multiplications done by each encoder (plait_tape_multiplications) */
  PlaitRagged candidates;           /* [documents]: sentences of each document, each read by itself; set for choices */
  PlaitLossPass *losses;            /* losses of encoders, combiner and coverage; NULL: not wanted */
  PlaitAttentionCost *rows_weighed; /* cost to add to, or NULL */
  const PlaitDocuments *documents;  /* documents whose sentences' roles the target takes, or NULL */
  const gint32 *roles;              /* [target rows], computed from documents, or NULL */
} PlaitEncoderOutputs;

typedef struct
{
  /* NULL: any length can be read. */
  gboolean (*check_length) (const PlaitDecoder *decoder, gint64 length, GError **error);

  PlaitNode *(*forward) (const PlaitDecoder *decoder, PlaitTape *tape, const PlaitEncoderOutputs *encoded,
                         PlaitRagged target_rows, const gint32 *target_inputs, PlaitAttentionRecord *record);

  /* NULL if no sequence is predicted. */
  PlaitDecoderState *(*start) (const PlaitDecoder *decoder, PlaitTape *tape, const PlaitEncoderOutputs *encoded,
                               gint64 hypotheses, gint64 steps);
  PlaitNode *(*step) (PlaitDecoderState *state, PlaitTape *tape, PlaitRagged hypotheses, const gint32 *tokens,
                      const gint64 *parents, PlaitAttentionRecord *record);
} PlaitDecoderTable;

/* Lies in memory of the model's parameters, as everything it points to. */
struct PlaitDecoder
{
  const PlaitDecoderTable *table;
  guint n_layers; /* layers with cross-attention: all of a Transformer, 1 of a recurrent decoder, else 0 */
  gint32 start;   /* token read in place of a target's first start token */
};

struct PlaitDecoderState
{
  const PlaitDecoder *decoder;
  PlaitEncoderOutputs encoded; /* roles are those of the rows of this step */
  gboolean begun;              /* at least one step was made */

  /* Set if the target has roles. */
  gint64 *sentence;      /* [hypotheses]: index of the sentence that each hypothesis of the previous step is in */
  gint64 *next_sentence; /* [hypotheses]: buffer for the current step */
};

/* Returns the width to which the decoder of a sequence projects memories of @widths [n]. */
gint64 plait_decoder_memory_width (const PlaitDecoderSettings *settings, const gint64 *widths, guint n);

/* Declares the decoder, with parameters below "decoder/". Fails with PLAIT_ERROR_INPUT if settings contradict each
 * other. (transfer none) */
PlaitDecoder *plait_decoder_new (const PlaitDecoderBuild *build, GError **error);

/* Returns the embeddings of @n target tokens, plus the embeddings of their @roles if not NULL: the segment embeddings
 * of Rohde, Wu & Liu 2021, section 4.1, applied to the decoder. */
PlaitNode *plait_decoder_embed (const PlaitDecoderBuild *build, PlaitTape *tape, const gint32 *tokens,
                                const gint32 *roles, gint64 n);

/* TRUE if the decoder has steps, so that search runs word by word. */
gboolean plait_decoder_has_steps (const PlaitDecoder *decoder);

/* TRUE if a target of @length rows can be read; fails with PLAIT_ERROR_INPUT if it has more rows than learned
 * positions. */
gboolean plait_decoder_check_length (const PlaitDecoder *decoder, gint64 length, GError **error);

/* Returns the states after each row of @target_inputs, [rows of target_rows, width]. Row t of a sentence depends on its
 * rows 0 .. t only. @record collects attention weights, or is NULL. */
PlaitNode *plait_decoder_forward (const PlaitDecoder *decoder, PlaitTape *tape, const PlaitEncoderOutputs *encoded,
                                  PlaitRagged target_rows, const gint32 *target_inputs, PlaitAttentionRecord *record);

/*
 * Begins a search with at most @hypotheses rows at once and @steps steps. The state holds projected keys and values,
 * computed on @tape, and caches that grow. It lies in the arena of @tape.
 */
PlaitDecoderState *plait_decoder_start (const PlaitDecoder *decoder, PlaitTape *tape,
                                        const PlaitEncoderOutputs *encoded, gint64 hypotheses, gint64 steps);

/*
 * Computes one step: hypothesis i reads @tokens[i] and continues hypothesis @parents[i] of the previous step. Before
 * the first step there is one hypothesis for each sentence. @hypotheses: the rows of each sentence. Returns states
 * [hypotheses, width] on @tape, which may be cleared for each step.
 */
PlaitNode *plait_decoder_step (PlaitDecoderState *state, PlaitTape *tape, PlaitRagged hypotheses, const gint32 *tokens,
                               const gint64 *parents, PlaitAttentionRecord *record);

/* Returns the equations of the decoder's layers or steps around the combiner, in the notation of the papers, separated
 * by ';'. x <- residual (x, c) and normalise depend on decoder.norm. (transfer none) */
const char *plait_decoder_equations (const PlaitDecoderSettings *settings);

/* Returns the equations of the prediction from states, separated by ';'. (transfer none) */
const char *plait_predict_equations (PlaitPredictKind kind);

/* Creates a Transformer decoder (Vaswani et al. 2017; Libovicky et al. 2018, section 2). */
PlaitDecoder *plait_transformer_decoder_new (const PlaitDecoderBuild *build, GError **error);

/* Creates a GRU or LSTM decoder (dl4mt; Chen et al. 2017, eq. 3-7; Luong et al. 2015). */
PlaitDecoder *plait_recurrent_decoder_new (const PlaitDecoderBuild *build, GError **error);

/* Creates the head for classes or choices. Classes: states for the output layer. Choices: logits [documents, most
 * sentences of a document], padded with PLAIT_MASKED_LOGIT. */
PlaitDecoder *plait_classifier_new (const PlaitDecoderBuild *build, GError **error);

/* Creates the head for answer spans: logits of beginning and end, two rows for each document. */
PlaitDecoder *plait_span_head_new (const PlaitDecoderBuild *build, GError **error);

/* Creates the masked-LM head: states of masked tokens. Its target inputs are the tokens' positions in the sentence. */
PlaitDecoder *plait_masked_lm_head_new (const PlaitDecoderBuild *build, GError **error);
