/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/tape.h"
#include "interface/loss.h"
#include "loading/component.h"

/*
 * The host's side of components' losses: each declared loss has a column, such as "en.ponder" or "combiner.entropy",
 * which all instances of a component share. The host has losses of its own.
 */
#define PLAIT_MAX_LOSS_COLUMNS 16

typedef struct
{
  char *name;
  double weight;
  gint64 start; /* number of the first update in which the loss counts with its weight; 0: all updates */
  gboolean of_source;

  /* Name of the accuracy's column if the loss has items (PlaitLossItems); NULL for other losses. */
  char *accuracy;
} PlaitLossColumn;

/* Counts of the items, such as tags, that a loss predicts. */
typedef struct
{
  gint64 n;
  gint64 correct; /* number of items that were predicted correctly */
} PlaitLossItems;

typedef struct
{
  guint n;
  PlaitLossColumn columns[PLAIT_MAX_LOSS_COLUMNS];
} PlaitLossColumns;

void plait_loss_columns_clear (PlaitLossColumns *columns);

/* Gives each declared loss of @component a column: indices[i] for losses[i]. Fails with PLAIT_ERROR_PLUGIN for an
 * invalid name, weight or start, for two losses of one name, for too many losses or columns, or if another instance has
 * declared the loss with another weight or start. */
gboolean plait_loss_columns_declare (PlaitLossColumns *columns, const PlaitComponent *component,
                                     const PlaitLosses *losses, guint *indices, GError **error);

/* Adds a column for the loss @name of the host. @accuracy: name of the column of its accuracy, or NULL. Sets *@index to
 * the index of the column. Fails with PLAIT_ERROR_INPUT, naming @key, if there are too many columns. */
gboolean plait_loss_columns_add (PlaitLossColumns *columns, const char *name, const char *accuracy, double weight,
                                 const char *key, guint *index, GError **error);

/* A loss added in a forward pass. A PlaitLossPass has a list of them for each column, in the tape's arena. */
typedef struct PlaitAddedLoss PlaitAddedLoss;

typedef struct
{
  PlaitAddedLoss *first[PLAIT_MAX_LOSS_COLUMNS];
} PlaitLossPass;

/* Returns an empty pass. */
PlaitLossPass *plait_loss_pass_new (PlaitTape *tape);

/* Adds @loss to the column of the loss @name of @losses. Ends the step if the loss is not declared or not [1, 1]. @pass
 * NULL: check only. */
void plait_loss_pass_add (PlaitLossPass *pass, PlaitTape *tape, const PlaitLosses *losses, const guint *indices,
                          const char *name, PlaitNode *loss);

/* Ends the step, with an error that names the plugin, if a loss that a plugin added is not finite. */
void plait_loss_pass_expect_finite (const PlaitLossPass *pass, PlaitTape *tape);

/* Returns the sum of the losses added to @column, [1, 1], or NULL if no loss was added. */
PlaitNode *plait_loss_pass_sum (const PlaitLossPass *pass, PlaitTape *tape, guint column);
