/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/tape.h"
#include "interface/loss.h"
#include "loading/component.h"

/*
 * The host's side of the losses of parts: a column for each that is declared, "en.ponder", "combiner.entropy",
 * shared by all instances of a part, and what a pass adds to them.
 */
#define PLAIT_MAX_LOSS_COLUMNS 16

typedef struct
{
  char *name;
  double weight;
  gboolean of_source;
} PlaitLossColumn;

typedef struct
{
  guint n;
  PlaitLossColumn columns[PLAIT_MAX_LOSS_COLUMNS];
} PlaitLossColumns;

void plait_loss_columns_clear (PlaitLossColumns *columns);

/* Gives each loss that @component declares its column: places[i] of losses[i]. PLAIT_ERROR_PLUGIN for what is no name,
 * no number, or declared twice, and where there are too many. */
gboolean plait_loss_columns_declare (PlaitLossColumns *columns, const PlaitComponent *component,
                                     const PlaitLosses *losses, guint *indices, GError **error);

/* What one pass adds. Of the tape's arena. */
typedef struct PlaitAddedLoss PlaitAddedLoss;

typedef struct
{
  PlaitAddedLoss *first[PLAIT_MAX_LOSS_COLUMNS];
} PlaitLossPass;

/* An empty pass. */
PlaitLossPass *plait_loss_pass_new (PlaitTape *tape);

/* Adds @loss to the column of the loss @name of @losses; leaves the step if it is not declared or not [1, 1]. @pass is
 * NULL where nobody wants losses. */
void plait_loss_pass_add (PlaitLossPass *pass, PlaitTape *tape, const PlaitLosses *losses, const guint *indices,
                          const char *name, PlaitNode *loss);

/* Leaves the step, on behalf of who added it, if a loss is not finite: for where those of the targets are. */
void plait_loss_pass_expect_finite (const PlaitLossPass *pass, PlaitTape *tape);

/* The sum of what was added to @column, [1, 1]; NULL: nothing. */
PlaitNode *plait_loss_pass_sum (const PlaitLossPass *pass, PlaitTape *tape, guint column);
