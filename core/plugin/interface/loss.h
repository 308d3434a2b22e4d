/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/export.h"

/*
 * Auxiliary losses of a component, besides the loss of the target words (a ponder cost, the entropy of an attention).
 * The component declares each when it is built, with a name and a weight, and while it runs adds nodes [1, 1] under
 * this name, summed over the sentences of the batch. Training minimises
 *
 *     (sum over target tokens of the words' loss + sum over losses of weight * sum over sentences of the loss) / n
 *
 * where n is the number of target tokens in an update; with train.loss_per=sentence, the number of sentences. So a
 * weight is in nats per unit of the loss. Each loss is a column of the training table: its mean per sentence, without
 * the weight.
 */
#define PLAIT_MAX_LOSSES 4

typedef struct
{
  const char *name; /* name, a static text: a letter, then letters, digits, '-' or '_' */
  double weight;
  gint64 start; /* number of the first update in which the loss counts with its weight; 0: all updates */
} PlaitLoss;

typedef struct
{
  guint n;
  PlaitLoss losses[PLAIT_MAX_LOSSES];
} PlaitLosses;
