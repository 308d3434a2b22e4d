/* SPDX-License-Identifier: MIT */
#include "layers/layers.h"
#include "interface/plugin.h"

#include "tree-gru-settings.h"

/*
 * Tree-GRU (Chen et al. 2017, eq. 8) over the rows of an inner encoder, the leaves: bottom-up, the state of an inner
 * node is computed from its two children. The memory has the leaves, then the inner nodes; the summary is the root.
 *
 *     h_k = GRU (h_L(k), h_R(k))
 */

static gboolean
build (const PlaitEncoderBuild *build, gconstpointer data, gpointer state, PlaitEncoderShape *shape, GError **error)
{
  const Settings *settings = data;
  g_autofree char *name = g_strconcat (build->prefix, "up", NULL);
  PlaitTreeUnitDeclaration declaration = {
    .kind = PLAIT_TREE_GRU,
    .reset = settings->reset,
    .width = build->leaves->memories[0].width,
    .candidate_bias = settings->candidate_bias,
  };

  *(PlaitTreeUnit *)state = plait_tree_unit_declare (build->parameters, name, &declaration);
  shape->n_memories = 1;
  shape->memories[0].width = shape->summary_width = declaration.width;
  shape->memories[0].structure = PLAIT_STRUCTURE_TREE;
  return TRUE;
}

static void
encode (gconstpointer settings, gconstpointer state, PlaitEncoding *encoding)
{
  const PlaitMemory *leaves = &encoding->leaves->memories[0];
  const PlaitTreeRows *tree = plait_encoding_tree (encoding);
  PlaitCellState up = { leaves->states, NULL };

  up = plait_tree_unit_apply (encoding->tape, state, tree, up, NULL);
  encoding->memories[0] = plait_encoding_tree_memory (encoding, tree, up);
  encoding->summary = plait_encoding_tree_root (encoding, tree, up.state);
}

PLAIT_PLUGIN_DEFINE (.state_size = sizeof (PlaitTreeUnit), .build = build, .encode = encode)
