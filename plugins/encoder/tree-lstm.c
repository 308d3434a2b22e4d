/* SPDX-License-Identifier: MIT */
#include "layers/layers.h"
#include "interface/plugin.h"

#include "tree-lstm-settings.h"

/*
 * Binary Tree-LSTM (Tai et al. 2015, eq. 9-14; Eriguchi et al. 2016) over the rows of an inner encoder, the leaves:
 * bottom-up, state and cell state of an inner node are computed from its two children. The memory has the leaves, then
 * the inner nodes; the summary is the root. The cell states of the leaves are those of the inner encoder,
 * or zeros if that encoder lacks them (GRUs, a Transformer); with leaf_cells=state they are a linear map of the states
 * instead.
 */

typedef struct
{
  PlaitTreeUnit unit;
  PlaitLinear leaf; /* map from a leaf's state to its cell state; declared if leaf_cells=state */
} State;

static gboolean
build (const PlaitEncoderBuild *build, gconstpointer data, gpointer state_data, PlaitEncoderShape *shape,
       GError **error)
{
  const Settings *settings = data;
  State *state = state_data;
  g_autofree char *name = g_strconcat (build->prefix, "up", NULL);
  g_autofree char *leaf = g_strconcat (build->prefix, "leaf_cell", NULL);
  PlaitTreeUnitDeclaration declaration = {
    .kind = PLAIT_TREE_LSTM,
    .width = build->leaves->memories[0].width,
    .forget_bias = settings->forget_bias,
  };

  state->unit = plait_tree_unit_declare (build->parameters, name, &declaration);
  if (settings->leaf_cells == LEAF_CELLS_STATE)
    state->leaf = plait_linear_declare (build->parameters, leaf, declaration.width, declaration.width, TRUE);
  shape->n_memories = 1;
  shape->memories[0].width = shape->summary_width = declaration.width;
  shape->memories[0].structure = PLAIT_STRUCTURE_TREE;
  return TRUE;
}

static void
encode (gconstpointer settings, gconstpointer state_data, PlaitEncoding *encoding)
{
  const State *state = state_data;
  const PlaitMemory *leaves = &encoding->leaves->memories[0];
  const PlaitTreeRows *tree = plait_encoding_tree (encoding);
  PlaitCellState up = { leaves->states, leaves->cells };

  if (state->leaf.weight)
    up.cell = plait_linear_apply (encoding->tape, &state->leaf, leaves->states, PLAIT_ACTIVATION_NONE);
  up = plait_tree_unit_apply (encoding->tape, &state->unit, tree, up, NULL);
  encoding->memories[0] = plait_encoding_tree_memory (encoding, tree, up);
  encoding->summary = plait_encoding_tree_root (encoding, tree, up.state);
  encoding->summary_cell = plait_encoding_tree_root (encoding, tree, up.cell);
}

PLAIT_PLUGIN_DEFINE (.state_size = sizeof (State), .build = build, .encode = encode)
