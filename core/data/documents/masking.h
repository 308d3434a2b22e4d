/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

#include "types/input.h"

/*
 * Masked tokens (Devlin et al. 2019, 3.1): of each sentence a share is to be predicted, drawn without replacement among
 * all but start tokens and the end. What is read in their place is mostly the mask, which is the token of padding, for
 * no text has that; sometimes a random token, sometimes the token itself. The masks are dynamic (Liu et al. 2019): a
 * pure function of seed, epoch and tuple, other ones in each epoch, the same ones in whatever batches.
 */
#define PLAIT_TOKEN_MASK PLAIT_TOKEN_PAD

typedef struct
{
  double rate;   /* share of the tokens that are predicted; one of a sentence at least */
  double mask;   /* of these, the share that reads the mask */
  double random; /* and the share that reads a random token; the others read themselves */
  guint64 seed;
} PlaitMasking;

/* How many of @tokens tokens of tuple @tuple are predicted in epoch @epoch: @rate of them, rounded up or down at random
 * so that the mean is right. */
gint64 plait_masking_count (const PlaitMasking *masking, gint64 epoch, gint64 tuple, gint64 tokens);

/* Masks @ids [rows], the rows of a sentence with as many @tokens as are neither start tokens nor the end, of a
 * vocabulary of @size. Of each of the plait_masking_count tokens, in their order, @positions gets the row and @outputs
 * what it was. */
void plait_masking_apply (const PlaitMasking *masking, gint64 epoch, gint64 tuple, gint64 size, gint32 *ids,
                          gint64 rows, gint64 tokens, gint32 *positions, gint32 *outputs);
