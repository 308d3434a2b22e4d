/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

#include "types/input.h"

/*
 * Masked language modelling (Devlin et al. 2019, 3.1): a share of the tokens of each sentence, start and end tokens
 * excluded, is drawn without replacement and predicted. In place of a predicted token, the input has the mask token, a
 * random token or the token itself (shares in PlaitMasking). The mask token is the padding token, which no text
 * contains. All source factors of a word with a predicted token are the mask token, even if the input has the token
 * itself; only tags that a model predicts stay. Masks are dynamic (Liu et al. 2019): a pure function of seed, epoch and
 * tuple, so each epoch has new masks, which do not depend on the batches.
 */
#define PLAIT_TOKEN_MASK PLAIT_TOKEN_PAD

typedef struct
{
  double rate;   /* share of tokens to predict; at least one per sentence */
  double mask;   /* share of the predicted tokens whose input is the mask */
  double random; /* share of the predicted tokens whose input is a random token; the input keeps the remaining ones */
  guint64 seed;
} PlaitMasking;

/* Returns the number of predicted tokens among the @tokens tokens of tuple @tuple in epoch @epoch: rate * @tokens,
 * rounded up or down at random so that the mean is exact, but at least 1 if there is a token. */
gint64 plait_masking_count (const PlaitMasking *masking, gint64 epoch, gint64 tuple, gint64 tokens);

/* Masks @ids [rows], the ids of a sentence. @tokens: number of these ids without start and end tokens. @size: size of
 * the vocabulary. Writes the row of each predicted token (plait_masking_count) to @positions, in ascending order, and
 * the token's original id to @outputs. */
void plait_masking_apply (const PlaitMasking *masking, gint64 epoch, gint64 tuple, gint64 size, gint32 *ids,
                          gint64 rows, gint64 tokens, gint32 *positions, gint32 *outputs);
