/* SPDX-License-Identifier: MIT */
#include "layers/layers.h"
#include "interface/plugin.h"

#include "pyramid-settings.h"

/*
 * A pyramid over the leaves that another encoder makes (Gupta & Ahmed): blocks of rows become one row each, level by
 * level, and one memory has the rows of all levels, of each sentence its leaves, then level 1, level 2, ... What stands
 * for a block is the last state of a cell that reads it, a convolution of it, its mean, or the sum of its rows under
 * weights that also say where it ends (adaptive computation time; continuous integrate and fire).
 *
 * A level stands over a sentence only where it has fewer rows than the one below; the summary is the leaves'.
 */

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
                       "levels=0 makes as many levels as a sentence needs, and shared=false gives each parameters of "
                       "its own: set shared=true, or say how many levels");
  *pyramid = plait_pyramid_declare (build->parameters, name, &declaration);
  shape->n_memories = 1;
  shape->memories[0].width = declaration.width;
  shape->memories[0].structure = PLAIT_STRUCTURE_LEVELS;
  shape->summary_width = build->leaves->summary_width;
  if (declaration.pooling == PLAIT_POOLING_ACT && settings->tau != 0)
    shape->losses.losses[shape->losses.n++] = (PlaitLoss){ "ponder", settings->tau };
  if (declaration.pooling == PLAIT_POOLING_CIF && settings->quantity != 0)
    shape->losses.losses[shape->losses.n++] = (PlaitLoss){ "quantity", settings->quantity };
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
