/* SPDX-License-Identifier: MIT */
#include "layers/layers.h"
#include "interface/plugin.h"

#include "bitree-gru-settings.h"

/*
 * The bidirectional tree encoder (Chen et al. 2017, eq. 8-10) over the rows of an inner encoder: a Tree-GRU bottom-up,
 * then a GRU from the root down that reads the bottom-up states. L (k) and R (k) are the children of node k; the GRU
 * down has separate weights for left and right children.
 *
 *     up_k      = GRU (up_L(k), up_R(k))
 *     down_root = tanh (W up_root + b);   down_k = GRU_D (down_parent(k), up_k)
 *     row k     = [up_k; down_k];   summary = up_root
 */

static gboolean
build (const PlaitEncoderBuild *build, gconstpointer data, gpointer state, PlaitEncoderShape *shape, GError **error)
{
  const Settings *settings = data;
  PlaitBitree *bitree = state;
  PlaitBitreeDeclaration declaration = {
    .reset = settings->reset,
    .leaf_width = build->leaves->memories[0].width,
    .width = settings->width,
    .candidate_bias = settings->candidate_bias,
    .root = settings->root,
  };

  *bitree = plait_bitree_declare (build->parameters, build->prefix, &declaration);
  shape->n_memories = 1;
  shape->memories[0].width = bitree->width;
  shape->memories[0].structure = PLAIT_STRUCTURE_TREE;
  shape->summary_width = declaration.leaf_width;
  return TRUE;
}

static void
encode (gconstpointer settings, gconstpointer state, PlaitEncoding *encoding)
{
  const PlaitTreeRows *tree = plait_encoding_tree (encoding);
  PlaitNode *leaves = encoding->leaves->memories[0].states, *up;
  PlaitNode *rows = plait_bitree_apply (encoding->tape, state, tree, leaves, NULL, &up);

  encoding->memories[0] = plait_encoding_tree_memory (encoding, tree, (PlaitCellState){ rows, NULL });
  encoding->summary = plait_encoding_tree_root (encoding, tree, up);
}

PLAIT_PLUGIN_DEFINE (.state_size = sizeof (PlaitBitree), .build = build, .encode = encode)
