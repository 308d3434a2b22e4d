/* SPDX-License-Identifier: MIT */
#include "layers/layers.h"
#include "interface/plugin.h"

#include "bitree-lex-settings.h"

/*
 * The head-lexicalised tree encoder (Teng & Zhang 2016; a baseline in Chen et al. 2017, section 5.2): bitree-gru in
 * which each inner node k also reads a head word x_k, mixed by a gate from the head words of its children L (k) and R
 * (k). The head words of leaves are their embeddings.
 *
 *     x_k       = g x_L(k) + (1 - g) x_R(k),   g = sigmoid ([x_L(k) x_R(k)] W + b)
 *     up_k      = GRU (up_L(k), up_R(k), x_k)
 *     down_root = tanh (W up_root + b);   down_k = GRU_D (down_parent(k), up_k)
 *     row k     = [up_k; down_k];   summary = up_root
 */

typedef struct
{
  PlaitTreeHeadWords heads;
  PlaitBitree bitree;
} State;

static gboolean
build (const PlaitEncoderBuild *build, gconstpointer data, gpointer state_data, PlaitEncoderShape *shape,
       GError **error)
{
  const Settings *settings = data;
  State *state = state_data;
  g_autofree char *heads = g_strconcat (build->prefix, "heads", NULL);
  PlaitBitreeDeclaration declaration = {
    .reset = settings->reset,
    .leaf_width = build->leaves->memories[0].width,
    .width = settings->width,
    .input_width = build->input_width,
    .candidate_bias = settings->candidate_bias,
    .root = settings->root,
  };

  state->heads = plait_tree_head_words_declare (build->parameters, heads, build->input_width);
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
  PlaitNode *words = plait_tree_head_words_apply (encoding->tape, &state->heads, tree, encoding->embedded);
  PlaitNode *leaves = encoding->leaves->memories[0].states, *up;
  PlaitNode *rows = plait_bitree_apply (encoding->tape, &state->bitree, tree, leaves, words, &up);

  encoding->memories[0] = plait_encoding_tree_memory (encoding, tree, (PlaitCellState){ rows, NULL });
  encoding->summary = plait_encoding_tree_root (encoding, tree, up);
}

PLAIT_PLUGIN_DEFINE (.state_size = sizeof (State), .build = build, .encode = encode)
