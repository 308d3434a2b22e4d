/* SPDX-License-Identifier: MIT */
#include "layers/layers.h"
#include "interface/plugin.h"

#include "pyramid-settings.h"

/*
 * A pyramid over the rows of an inner encoder (Gupta & Ahmed, Attention on Hierarchical Representation of Inputs). The
 * rows of each level are cut into blocks, and each block becomes a row of the next level. The memory has the rows of
 * all levels: for each sentence the leaves, then level 1, level 2, ... A sentence has no further level if that level
 * would have as many rows as the level below. A block of rows x_i becomes
 *
 *     pool=rnn     the last state of a recurrent cell over the block
 *     pool=cnn     f ([x_1 .. x_k] W + b)
 *     pool=mean    the mean of the x_i
 *     pool=act     sum p_i x_i with halting weights p_i (adaptive computation time, Graves 2016); the loss ponder is
 *                  the cost of the blocks
 *     pool=cif     sum p_i x_i with firing weights p_i (continuous integrate-and-fire, Dong & Xu 2020); the loss
 *                  quantity is the difference between the number of blocks and the number of rows / block
 *
 * The summary is that of the inner encoder.
 */

/* Declares the loss @name of a pooling. */
static void
declare_loss (PlaitEncoderShape *shape, const char *name, double weight)
{
  if (weight != 0)
    shape->losses.losses[shape->losses.n++] = (PlaitLoss){ name, weight };
}

static gboolean
build (const PlaitEncoderBuild *build, gconstpointer data, gpointer state, PlaitEncoderShape *shape, GError **error)
{
  static const PlaitActivation activations[] = { PLAIT_ACTIVATION_NONE, PLAIT_ACTIVATION_TANH, PLAIT_ACTIVATION_RELU };
  const Settings *settings = data;
  PlaitPyramid *pyramid = state;
  g_autofree char *name = g_strconcat (build->prefix, "level", NULL);
  PlaitPyramidDeclaration declaration = {
    .pooling = settings->pool,
    .width = build->leaves->memories[0].width,
    .block = settings->block,
    .levels = settings->levels,
    .shared = settings->shared,
    .cell = settings->cell,
    .reset = settings->reset,
    .forget_bias = settings->forget_bias,
    .activation = activations[settings->activation],
    .epsilon = settings->epsilon,
    .tail = settings->tail,
  };

  if (settings->levels == 0 && !settings->shared && declaration.pooling != PLAIT_POOLING_MEAN)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "levels=0 makes as many levels as a sentence needs, so shared=false cannot give each level its "
                       "own parameters: set shared=true, or a number of levels");
  *pyramid = plait_pyramid_declare (build->parameters, name, &declaration);
  shape->n_memories = 1;
  shape->memories[0].width = declaration.width;
  shape->memories[0].structure = PLAIT_STRUCTURE_LEVELS;
  shape->summary_width = build->leaves->summary_width;
  if (declaration.pooling == PLAIT_POOLING_ACT)
    declare_loss (shape, "ponder", settings->tau);
  if (declaration.pooling == PLAIT_POOLING_CIF)
    declare_loss (shape, "quantity", settings->quantity);
  return TRUE;
}

static void
encode (gconstpointer data, gconstpointer state, PlaitEncoding *encoding)
{
  const Settings *settings = data;
  const PlaitMemory *leaves = &encoding->leaves->memories[0];
  PlaitPyramidRows rows
      = plait_pyramid_apply (encoding->tape, state, (PlaitCellState){ leaves->states, leaves->cells }, leaves->rows);

  encoding->memories[0] = plait_encoding_pyramid_memory (encoding, &rows);
  encoding->summary = encoding->leaves->summary;
  encoding->summary_cell = encoding->leaves->summary_cell;
  if (rows.ponder && settings->tau != 0)
    plait_encoding_add_loss (encoding, "ponder", rows.ponder);
  if (rows.quantity && settings->quantity != 0)
    plait_encoding_add_loss (encoding, "quantity", rows.quantity);
}

PLAIT_PLUGIN_DEFINE (.state_size = sizeof (PlaitPyramid), .build = build, .encode = encode)
