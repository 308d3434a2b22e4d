/* SPDX-License-Identifier: MIT */
#include "nn/tree.h"
#include "plugin/plugin.h"

/*
 * The head-lexicalised tree encoder (Teng & Zhang 2016, as Chen et al. 2017, section 5.2, compare with it): as
 * bitree-gru, but each inner node also reads a head word, chosen between its children's from the leaves up.
 *
 *     x_k = g x_L(k) + (1 - g) x_R(k);   up_k = GRU (up_L(k), up_R(k), x_k);   then down as in bitree-gru
 */
typedef struct
{
  gint64 width;
  gint reset;
  gboolean candidate_bias;
  gint root;
} Settings;

static const PlaitBinding bindings[] = {
  PLAIT_BIND_INTEGER (Settings, width),
  PLAIT_BIND_CHOICE (Settings, reset, "before;after"),
  PLAIT_BIND_BOOLEAN (Settings, candidate_bias),
  PLAIT_BIND_CHOICE (Settings, root, "tanh;gru"),
};

typedef struct
{
  PlaitTreeHeads heads;
  PlaitTreeUnit up;
  PlaitTreeDown down;
} State;

static gboolean
build (const PlaitEncoderBuild *build, gconstpointer data, gpointer state_data, PlaitEncoderShape *shape,
       GError **error)
{
  const Settings *settings = data;
  State *state = state_data;
  g_autofree char *heads = g_strconcat (build->prefix, "heads", NULL);
  g_autofree char *up = g_strconcat (build->prefix, "up", NULL);
  g_autofree char *down = g_strconcat (build->prefix, "down", NULL);
  PlaitTreeUnitDeclaration unit = {
    .kind = PLAIT_TREE_GRU,
    .reset = (PlaitResetPlace)settings->reset,
    .width = build->leaves->memories[0].width,
    .input_width = build->input_width,
    .candidate_bias = settings->candidate_bias,
  };
  PlaitCellDeclaration cell = {
    .kind = PLAIT_CELL_GRU,
    .reset = (PlaitResetPlace)settings->reset,
    .input_width = unit.width,
    .width = settings->width ? settings->width : unit.width,
  };

  state->heads = plait_tree_heads_declare (build->parameters, heads, build->input_width);
  state->up = plait_tree_unit_declare (build->parameters, up, &unit);
  state->down = plait_tree_down_declare (build->parameters, down, &cell, (PlaitTreeRoot)settings->root);
  shape->n_memories = 1;
  shape->memories[0].width = unit.width + cell.width;
  shape->memories[0].structure = PLAIT_STRUCTURE_TREE;
  shape->summary_width = unit.width;
  return TRUE;
}

static void
encode (gconstpointer settings, gconstpointer state_data, PlaitEncoding *encoding)
{
  const State *state = state_data;
  const PlaitTreeRows *tree = plait_encoding_tree (encoding);
  PlaitCellState up = { encoding->leaves->memories[0].states, NULL }, both = { NULL, NULL };
  PlaitNode *words = plait_tree_heads_apply (encoding->tape, &state->heads, tree, encoding->embedded), *down;

  up = plait_tree_unit_climb (encoding->tape, &state->up, tree, up, words);
  down = plait_tree_down_apply (encoding->tape, &state->down, tree, up.state);
  both.state = plait_concatenate_columns (encoding->tape, (PlaitNode *[]){ up.state, down }, 2);
  encoding->memories[0] = plait_encoding_tree_memory (encoding, tree, both);
  encoding->summary = plait_encoding_tree_root (encoding, tree, up.state);
}

static const PlaitEncoderTable table = { .state_size = sizeof (State), .build = build, .encode = encode };

PLAIT_PLUGIN_ENCODER_DEFINE ("bitree-lex", "0.1.0", Settings, bindings, table)
