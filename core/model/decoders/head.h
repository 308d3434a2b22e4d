/* SPDX-License-Identifier: MIT */
#pragma once

#include "decoders/encoder-outputs.h"
#include "settings/decoder-components.h"

/*
 * A head takes the place of the decoder if no sequence is predicted ([predict]). It reads memories directly and returns
 * states for the output layer, or logits.
 */
typedef struct PlaitHead PlaitHead;

/* Lies in memory of the model's parameters, as everything it points to. */
struct PlaitHead
{
  /* @target_rows, @target_inputs: the target, which only the masked-LM head reads. */
  PlaitNode *(*predict) (const PlaitHead *head, PlaitTape *tape, const PlaitEncoderOutputs *encoded,
                         PlaitRagged target_rows, const gint32 *target_inputs);
};

/* The rows that a head of tokens reads: the token's row in the first memory, and from each memory of another source the
 * row that represents its sentence, concatenated. */
typedef struct
{
  PlaitMemoryRow row;
  guint *others; /* [n_others]: memories of other sources, in memory of the model's parameters */
  guint n_others;
  gint64 width; /* sum of the widths */
} PlaitTokenRows;

PlaitTokenRows plait_token_rows_declare (const PlaitDecoderComponents *components);

/* Returns the rows [rows of tokens, width] of @tokens of each sentence, at @positions [rows of tokens] in it. Fails the
 * step if the first memory has no row for a token; @kind is named in the message. */
PlaitNode *plait_token_rows_apply (const PlaitTokenRows *rows, PlaitTape *tape, const PlaitEncoderOutputs *encoded,
                                   PlaitRagged tokens, const gint64 *positions, const char *kind);

/* Returns the row of @memory that represents each sentence, [sentences, width]. */
PlaitNode *plait_head_sentence_row (PlaitTape *tape, const PlaitMemory *memory, PlaitMemoryRow row);

/* Declares the head of the kind of prediction. Fails with PLAIT_ERROR_INPUT if settings contradict each other.
 * (transfer none) */
PlaitHead *plait_head_new (const PlaitDecoderComponents *components, GError **error);

/* Returns the equations by which the prediction is computed from the decoder's states, separated by ';'. (transfer
 * none) */
const char *plait_predict_equations (PlaitPredictKind kind);

/* Creates the head for classes or choices. Classes: it returns states for the output layer. Choices: it returns logits
 * [documents, sentences of the longest document], padded with PLAIT_MASKED_LOGIT. */
PlaitHead *plait_classifier_new (const PlaitDecoderComponents *components, GError **error);

/* Creates the head for tags: states of the tokens of the first source. */
PlaitHead *plait_tag_head_new (const PlaitDecoderComponents *components, GError **error);

/* Sets @encoded->tagged to the tokens of @input, without special ones. */
void plait_tag_head_find_tokens (const PlaitInput *input, PlaitArena *arena, PlaitEncoderOutputs *encoded);

/* Creates the head for answer spans: logits of beginning and end, two rows for each document. */
PlaitHead *plait_span_head_new (const PlaitDecoderComponents *components, GError **error);

/* Creates the masked-LM head: states of masked tokens. Its target inputs are the tokens' positions in the sentence. */
PlaitHead *plait_masked_lm_head_new (const PlaitDecoderComponents *components, GError **error);
