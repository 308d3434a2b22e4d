/* SPDX-License-Identifier: MIT */
#pragma once

#include "decoders/encoder-outputs.h"
#include "settings/decoder-components.h"

/*
 * A head takes the place of the decoder if no sequence is predicted ([predict]). It reads memories directly and returns
 * states for the output layer, logits or numbers.
 */
typedef struct PlaitHead PlaitHead;

/* A head and everything it points to are in memory that belongs to the model's parameters. */
struct PlaitHead
{
  /* Returns states, logits or numbers. @target_rows and @target_inputs are the target, which only the masked-LM head
   * reads. */
  PlaitNode *(*predict) (const PlaitHead *head, PlaitTape *tape, const PlaitEncoderOutputs *encoded,
                         PlaitRagged target_rows, const gint32 *target_inputs);
};

/* Rows that a head reads for each token, side by side: the token's row in the first memory, and from each memory of
 * another source the row that represents the sentence. */
typedef struct
{
  PlaitMemoryRow row;
  guint *others; /* [n_others]: indices of the memories of other sources */
  guint n_others;
  gint64 width; /* sum of the widths of all rows that are read */
} PlaitTokenRows;

PlaitTokenRows plait_token_rows_declare (const PlaitDecoderComponents *components);

/* Returns the rows [rows of tokens, width] that the head reads for @tokens, the tokens of each sentence. @positions
 * [rows of tokens]: position of each token in its sentence. Fails the step if the first memory has no row for a token;
 * the message names @kind. */
PlaitNode *plait_token_rows_apply (const PlaitTokenRows *rows, PlaitTape *tape, const PlaitEncoderOutputs *encoded,
                                   PlaitRagged tokens, const gint64 *positions, const char *kind);

/* Returns one row for each sentence, [sentences, width]: by @row, the first or last row of @memory, or the mean row. */
PlaitNode *plait_head_sentence_row (PlaitTape *tape, const PlaitMemory *memory, PlaitMemoryRow row);

/* Builds the head for predict.kind, with its parameters. Fails with PLAIT_ERROR_INPUT if predict.memories names a
 * memory that does not exist. (transfer none) */
PlaitHead *plait_head_new (const PlaitDecoderComponents *components, GError **error);

/* Returns the equations that compute the prediction from states, separated by ';'. (transfer none) */
const char *plait_predict_equations (PlaitPredictKind kind);

/* Creates the head for classes, choices or numbers. Classes: it returns states for the output layer. Choices: logits
 * [documents, sentences of the longest document], padded with PLAIT_MASKED_LOGIT. Numbers: one number for each
 * sentence, [sentences, 1]. */
PlaitHead *plait_classifier_new (const PlaitDecoderComponents *components, GError **error);

/* Creates the head for tags, which returns states of the tokens of the first source. */
PlaitHead *plait_tag_head_new (const PlaitDecoderComponents *components, GError **error);

/* Sets in @encoded which rows are tagged: the tokens of @input without start and end tokens. */
void plait_tag_head_find_tokens (const PlaitInput *input, PlaitArena *arena, PlaitEncoderOutputs *encoded);

/* Creates the head for answer spans, which returns two rows of logits for each document: for the beginning and for the
 * end. */
PlaitHead *plait_span_head_new (const PlaitDecoderComponents *components, GError **error);

/* Creates the masked-LM head, which returns states of masked tokens. Its target inputs are the positions of the masked
 * tokens in their sentences. */
PlaitHead *plait_masked_lm_head_new (const PlaitDecoderComponents *components, GError **error);
