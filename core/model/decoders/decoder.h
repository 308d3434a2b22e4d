/* SPDX-License-Identifier: MIT */
#pragma once

#include "cross-attention/attention-record.h"
#include "settings/decoder-build.h"

/*
 * Decoders: what reads the memories of all sources and gives one row of states for each row of the target, that the
 * output projection tells words from. Those of sequences read through attention sites, each row after the target so
 * far, and run in two ways over the same parameters: forward over whole targets (training, forced decoding,
 * teacher-forced dumps), and step by step over hypotheses (search). The others ([predict]) have no sites and no steps:
 * forward alone says all, and they need not know what the target is.
 */
typedef struct PlaitDecoder PlaitDecoder;
typedef struct PlaitDecoderState PlaitDecoderState;

/* What reading a batch gave, in the order of the specifications, and a decoder goes on from. In the tape's arena. */
typedef struct
{
  PlaitMemory *memories; /* [n_memories] */
  guint n_memories;
  PlaitNode **summaries; /* [n_summaries]: of the sources that give one, [sentences, width] each */
  guint n_summaries;
  double *multiplications;          /* [n_sources]: what reading each took (plait_tape_multiplications) */
  PlaitRagged candidates;           /* of choices: the sentences of each document, each of which was read by itself */
  PlaitLossPass *losses;            /* what encoders, combiner and coverage add theirs to, or NULL: not wanted */
  PlaitAttentionCost *rows_weighed; /* is added to, or NULL */
  const PlaitDocuments *documents;  /* whose roles the target has, sentence by sentence; NULL: it has none */
  const gint32 *roles;              /* made of them, of each row of the target */
} PlaitEncoderOutputs;

typedef struct
{
  gboolean (*check_length) (const PlaitDecoder *decoder, gint64 length, GError **error); /* NULL: any will do */
  PlaitNode *(*forward) (const PlaitDecoder *decoder, PlaitTape *tape, const PlaitEncoderOutputs *encoded,
                         PlaitRagged target_rows, const gint32 *target_inputs, PlaitAttentionRecord *record);

  /* Both NULL: not of a sequence. */
  PlaitDecoderState *(*start) (const PlaitDecoder *decoder, PlaitTape *tape, const PlaitEncoderOutputs *encoded,
                               gint64 hypotheses, gint64 steps);
  PlaitNode *(*step) (PlaitDecoderState *state, PlaitTape *tape, PlaitRagged hypotheses, const gint32 *tokens,
                      const gint64 *parents, PlaitAttentionRecord *record);
} PlaitDecoderTable;

/* Memory of the model's parameters, as all that it holds. */
struct PlaitDecoder
{
  const PlaitDecoderTable *table;
  guint n_layers; /* attention sites: one a layer of a Transformer, one in all of a recurrent decoder, else none */
  gint32 start;   /* what it reads where targets have their first start token */
};

struct PlaitDecoderState
{
  const PlaitDecoder *decoder;
  PlaitEncoderOutputs encoded; /* its roles are of the rows of this step */
  gboolean begun;              /* a step has been made */

  /* Where the target has roles. */
  gint64 *sentence;      /* [hypotheses], which one of its document each hypothesis of the last step is in */
  gint64 *next_sentence; /* the same, being filled */
};

/* To which width the decoder of a sequence wants memories brought that have @widths [n] as their encoders give them. */
gint64 plait_decoder_memory_width (const PlaitDecoderSettings *settings, const gint64 *widths, guint n);

/* Declares a decoder's parameters below "decoder/". NULL with PLAIT_ERROR_INPUT where settings do not fit together.
 * (transfer none) */
PlaitDecoder *plait_decoder_new (const PlaitDecoderBuild *build, GError **error);

/* The embeddings of @n target tokens, with those of their @roles, unless they are NULL, added: the segment embeddings
 * of Rohde, Wu & Liu 2021, section 4.1, in the decoder too. */
PlaitNode *plait_decoder_embed (const PlaitDecoderBuild *build, PlaitTape *tape, const gint32 *tokens,
                                const gint32 *roles, gint64 n);

/* TRUE if there are steps, so that a search goes word by word. */
gboolean plait_decoder_has_steps (const PlaitDecoder *decoder);

/* TRUE if a target of @length rows can be read; PLAIT_ERROR_INPUT if not (learned positions end). */
gboolean plait_decoder_check_length (const PlaitDecoder *decoder, gint64 length, GError **error);

/* States after each row of @target_inputs: [rows of target_rows, width]. Row t of a sentence depends on its rows 0 ..
 * t.
 * @record is NULL or collects attention weights. */
PlaitNode *plait_decoder_forward (const PlaitDecoder *decoder, PlaitTape *tape, const PlaitEncoderOutputs *encoded,
                                  PlaitRagged target_rows, const gint32 *target_inputs, PlaitAttentionRecord *record);

/*
 * Search. The state keeps what does not change from step to step (projected keys and values, made on @tape) and
 * what grows (caches). At most @hypotheses rows at once and @steps steps. It lives in the arena of @tape.
 */
PlaitDecoderState *plait_decoder_start (const PlaitDecoder *decoder, PlaitTape *tape,
                                        const PlaitEncoderOutputs *encoded, gint64 hypotheses, gint64 steps);

/*
 * One step: hypothesis i reads @tokens[i] and continues hypothesis @parents[i] of the step before; before the first
 * step there is one for each sentence.
 * @hypotheses: which rows belong to which sentence. Returns states [hypotheses, width] on @tape, which may be begun
 * anew for each step.
 */
PlaitNode *plait_decoder_step (PlaitDecoderState *state, PlaitTape *tape, PlaitRagged hypotheses, const gint32 *tokens,
                               const gint64 *parents, PlaitAttentionRecord *record);

/* What decoders compute, in the words of the papers, a line each between ';', as schemas tell of plugins: the layers or
 * steps around a combiner. x <- residual (x, c) and normalise stand for what decoder.norm says. (transfer none) */
const char *plait_decoder_equations (const PlaitDecoderSettings *settings);

/* What is predicted of its states, and of what reads memories in its place. (transfer none) */
const char *plait_predict_equations (PlaitPredictKind kind);

/* The Transformer decoder (Vaswani et al. 2017; Libovicky et al. 2018, section 2). */
PlaitDecoder *plait_transformer_decoder_new (const PlaitDecoderBuild *build, GError **error);

/* GRU and LSTM decoders (dl4mt; Chen et al. 2017, eq. 3-7; Luong et al. 2015). */
PlaitDecoder *plait_recurrent_decoder_new (const PlaitDecoderBuild *build, GError **error);

/* What a class is read from; of a choice the logits themselves, a column for each sentence of the document that has
 * most of them, PLAIT_MASKED_LOGIT where another has none. */
PlaitDecoder *plait_classifier_new (const PlaitDecoderBuild *build, GError **error);

/* The logits of where an answer begins and ends, two rows a document. */
PlaitDecoder *plait_span_head_new (const PlaitDecoderBuild *build, GError **error);

/* What masked tokens are read from; its target inputs are their places in the sentence. */
PlaitDecoder *plait_masked_lm_head_new (const PlaitDecoderBuild *build, GError **error);
