/* SPDX-License-Identifier: MIT */
#pragma once

#include "cross-attention/cross-attention.h"
#include "decoders/encoder-outputs.h"
#include "settings/decoder-components.h"

/*
 * A decoder of sequences: the host's side of a decoder plugin (interface/decoder.h). It runs in two ways over the same
 * parameters: forward over whole targets (training, forced decoding, dumps), and step by step over hypotheses (search).
 */
typedef struct PlaitDecoder PlaitDecoder;
typedef struct PlaitDecoderState PlaitDecoderState;

/* Returns the width to which memories of @widths [n] are projected for the decoder; 0 with an error if the decoder asks
 * for an invalid width. */
gint64 plait_decoder_memory_width (const PlaitComponent *decoder, const PlaitDecoderSettings *settings,
                                   const gint64 *widths, guint n, GError **error);

/* Builds the decoder, with parameters below "decoder/", in memory that belongs to the parameters. Fails with
 * PLAIT_ERROR_INPUT if settings contradict each other. (transfer none) */
PlaitDecoder *plait_decoder_new (const PlaitDecoderComponents *components, GError **error);

/* Returns the number of cross-attentions. Attention records count them as layers. */
guint plait_decoder_n_layers (const PlaitDecoder *decoder);

/* Returns cross-attention @layer, counted from 0. (transfer none) */
const PlaitCrossAttentionLayer *plait_decoder_cross (const PlaitDecoder *decoder, guint layer);

/* TRUE if the decoder can read a target of @length rows; fails with PLAIT_ERROR_INPUT if there are more rows than
 * learned positions. */
gboolean plait_decoder_check_length (const PlaitDecoder *decoder, gint64 length, GError **error);

/* Returns the states after each row of @target_inputs, [rows of target_rows, width]. State t of a target depends on its
 * rows 0 .. t only. @record collects attention weights, or is NULL. */
PlaitNode *plait_decoder_forward (const PlaitDecoder *decoder, PlaitTape *tape, const PlaitEncoderOutputs *encoded,
                                  PlaitRagged target_rows, const gint32 *target_inputs, PlaitAttentionRecord *record);

/*
 * Begins a search of at most @steps steps with at most @hypotheses hypotheses at once. Returns the state of the search,
 * in the arena of @tape.
 */
PlaitDecoderState *plait_decoder_start (const PlaitDecoder *decoder, PlaitTape *tape,
                                        const PlaitEncoderOutputs *encoded, gint64 hypotheses, gint64 steps);

/*
 * Computes one step and returns its states [hypotheses, width] on @tape, which may be cleared after each step.
 * Hypothesis i reads @tokens[i] and continues hypothesis @parents[i] of the previous step. Before the first step there
 * is one hypothesis for each sentence. @hypotheses: the offsets of each sentence's hypotheses.
 */
PlaitNode *plait_decoder_step (PlaitDecoderState *state, PlaitTape *tape, PlaitRagged hypotheses, const gint32 *tokens,
                               const gint64 *parents, PlaitAttentionRecord *record);
