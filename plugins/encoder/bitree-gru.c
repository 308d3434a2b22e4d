/* SPDX-License-Identifier: MIT */
#include "layers/layers.h"
#include "interface/plugin.h"

#include "bitree-gru-settings.h"

/*
 * The bidirectional tree encoder (Chen et al. 2017, eq. 8-10): a Tree-GRU bottom-up, then a GRU from the root down that
 * reads the bottom-up states, with weights of its own for left and right children. A row of the memory is
 * [bottom-up; top-down].
 *
 *     up_k = GRU (up_L(k), up_R(k));   down_root = tanh (W up_root + b);   down_k = GRU_D (down_parent(k), up_k)
 */

typedef struct
{
  PlaitBitree bitree;
} State;

static gboolean
build (const PlaitEncoderBuild *build, gconstpointer data, gpointer state_data, PlaitEncoderShape *shape,
       GError **error)
{
  const Settings *settings = data;
  State *state = state_data;
  PlaitBitreeDeclaration declaration = {
    .reset = settings->reset,
    .leaf_width = build->leaves->memories[0].width,
    .width = settings->width,
    .candidate_bias = settings->candidate_bias,
    .root = settings->root,
  };

  state->bitree = plait_bitree_declare (build->parameters, build->prefix, &declaration);
  shape->n_memories = 1;
  shape->memories[0].width = state->bitree.width;
  shape->memories[0].structure = PLAIT_STRUCTURE_TREE;
  shape->summary_width = declaration.leaf_width;
  return TRUE;
}

static void
encode (gconstpointer settings, gconstpointer state_data, PlaitEncoding *encoding)
{
  const State *state = state_data;
  const PlaitTreeRows *tree = plait_encoding_tree (encoding);
  PlaitCellState rows = { NULL, NULL };
  PlaitNode *up;

  rows.state
      = plait_bitree_apply (encoding->tape, &state->bitree, tree, encoding->leaves->memories[0].states, NULL, &up);
  encoding->memories[0] = plait_encoding_tree_memory (encoding, tree, rows);
  encoding->summary = plait_encoding_tree_root (encoding, tree, up);
}

PLAIT_PLUGIN_DEFINE (.state_size = sizeof (State), .build = build, .encode = encode)
