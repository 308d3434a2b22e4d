/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/export.h"

/*
 * Losses that a component has beside the words' (a ponder cost, the entropy of an attention). It declares each while it
 * is built, by a name and a weight, and adds nodes [1, 1] under that name while it runs, summed over the sentences of
 * the batch. Training minimises
 *
 *     (sum over target tokens of the words' loss + sum over losses of weight * sum over sentences of the loss) / n
 *
 * where n counts the target tokens of an update, or its sentences with train.loss_per=sentence. So a weight is in nats
 * a unit of the loss, against a sentence whose words' loss is the sum over its tokens. Each loss is a column of the
 * training table: its mean a sentence, without the weight. The column "auxiliary" is the mean a sentence of all of
 * them, with their weights; "loss" is the words' alone, a target token.
 */
#define PLAIT_MAX_LOSSES 4

typedef struct
{
  const char *name; /* letters, digits, '-' and '_', beginning with a letter; static */
  double weight;
} PlaitLoss;

typedef struct
{
  guint n;
  PlaitLoss losses[PLAIT_MAX_LOSSES];
} PlaitLosses;
