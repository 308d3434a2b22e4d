/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/export.h"

/*
 * Losses that a component has beside the words' (a ponder cost, the entropy of an attention). It declares each while it
 * is built, by a name and a weight, and adds nodes [1, 1] under that name while it runs, summed over the sentences of
 * the batch. Training adds them with their weights; each is a column of the training table.
 */
#define PLAIT_MAXIMUM_LOSSES 4

typedef struct
{
  const char *name; /* letters, digits, '-' and '_', beginning with a letter; static */
  double weight;
} PlaitLoss;

typedef struct
{
  guint n;
  PlaitLoss losses[PLAIT_MAXIMUM_LOSSES];
} PlaitLosses;
