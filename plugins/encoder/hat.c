/* SPDX-License-Identifier: MIT */
#include "layers/encoder-stack.h"
#include "layers/positions.h"
#include "interface/plugin.h"

#include "hat-settings.h"

/*
 * The Hierarchical Attention Transformer over the leaves that another encoder makes of documents (Rohde, Wu & Liu
 * 2021). Two memories: the tokens, and for each sentence its first row, which with start tokens is that of one. With S
 * (x) the first rows of x, and H the states of the leaves:
 *
 *     place=top (3.2)        tokens = H;  sentences = layer_n (... layer_1 (S (H)))
 *     place=layers (7)       x <- layer_i (x), in which the first rows of sentences are attended to after
 *                            self-attention, from x = H on;  tokens = x;  sentences = S (x)
 *
 * Layers of the second kind are of this encoder. What they stand on is leaves all the same: for the architecture of the
 * paper a Transformer with layers=0 and final_norm=false, embeddings and positions alone.
 */

typedef struct
{
  gboolean all;         /* all rows go through the layers */
  PlaitNorm token_norm; /* unless it is the leaves' */
  PlaitPositions positions;
  PlaitEncoderStack stack;
} State;

static gboolean
check_settings (const Settings *settings, GError **error)
{
  if (settings->place == PLACE_LAYERS && settings->token_norm != TOKEN_NORM_LEAVES)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "token_norm says where sentence layers at the top read the tokens, but place=layers: set "
                       "token_norm=leaves, or place=top");
  if (settings->sentence_positions == PLAIT_POSITIONS_NONE)
    return TRUE;
  if (settings->place == PLACE_LAYERS)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "sentence_positions are for sentence layers at the top, but place=layers: set "
                       "sentence_positions=none, or place=top");
  if (settings->readers == READERS_ALL)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "sentence_positions belong to the first rows of sentences, but readers=all has all rows in the "
                       "layers: set readers=starts, or sentence_positions=none");
  return TRUE;
}

static gboolean
build (const PlaitEncoderBuild *build, gconstpointer data, gpointer state_data, PlaitEncoderShape *shape,
       GError **error)
{
  const Settings *settings = data;
  State *state = state_data;
  gboolean top = settings->place == PLACE_TOP;
  gint64 width = build->leaves->memories[0].width;
  g_autofree char *token_norm = g_strconcat (build->prefix, "token_norm", NULL);
  g_autofree char *positions = g_strconcat (build->prefix, "positions", NULL);
  PlaitEncoderStackDeclaration stack = {
    PLAIT_ENCODER_STACK_SETTINGS (settings),
    .width = width,
    .pre_norm = build->pre_norm,
    .zero_output = settings->zero_output,
  };

  if (!check_settings (settings, error))
    return FALSE;
  if (!top)
    stack.readers = settings->readers == READERS_STARTS ? PLAIT_READERS_STARTS : PLAIT_READERS_ALL;
  state->all = !top || settings->readers == READERS_ALL;
  if (settings->token_norm != TOKEN_NORM_LEAVES)
    state->token_norm = plait_norm_declare (build->parameters, token_norm, width);
  state->positions = plait_positions_declare (build->parameters, positions, settings->sentence_positions,
                                              settings->sentence_limit, width);
  shape->n_memories = 2;
  shape->memories[0].part = "tokens";
  shape->memories[0].width = width;
  shape->memories[1].part = "sentences";
  shape->memories[1].width = width;
  shape->memories[1].structure = PLAIT_STRUCTURE_SENTENCES;
  shape->memories[1].zero_output = settings->zero_output;
  shape->summary_width = build->leaves->summary_width;
  return plait_encoder_stack_declare (&state->stack, build->parameters, build->prefix, &stack, error);
}

static void
encode (gconstpointer data, gconstpointer state_data, PlaitEncoding *encoding)
{
  const Settings *settings = data;
  const State *state = state_data;
  PlaitTape *tape = encoding->tape;
  PlaitStarts starts = plait_encoding_starts (encoding);
  gint64 n = plait_ragged_rows (starts.sentences);
  PlaitNode *tokens = encoding->leaves->memories[0].states;
  PlaitNode *x = tokens;

  if (settings->token_norm != TOKEN_NORM_LEAVES)
    tokens = plait_norm_apply (tape, &state->token_norm, tokens);
  if (settings->token_norm == TOKEN_NORM_AFTER)
    x = tokens;
  if (!state->all)
    x = plait_positions_apply (tape, &state->positions, plait_gather_rows (tape, x, starts.rows, n), starts.sentences,
                               0, 0);
  x = state->all ? plait_encoder_stack_apply (tape, &state->stack, x, encoding->input->rows, &starts)
                 : plait_encoder_stack_apply (tape, &state->stack, x, starts.sentences, NULL);
  if (settings->place == PLACE_LAYERS)
    tokens = x;
  if (state->all)
    x = plait_gather_rows (tape, x, starts.rows, n);
  encoding->memories[0] = plait_encoding_token_memory (encoding, tokens, settings->starts_in_tokens);
  encoding->memories[1] = plait_encoding_sentence_memory (encoding, x);
  encoding->summary = encoding->leaves->summary;
  encoding->summary_cell = encoding->leaves->summary_cell;
}

static gboolean
check_input (gconstpointer data, gconstpointer state, const PlaitInput *input, GError **error)
{
  const Settings *settings = data;
  gint64 longest = 0;

  for (gint64 d = 0; input->documents && d < input->rows.n; d++)
    longest = MAX (longest, plait_ragged_length (input->documents->sentences, d));
  if (settings->sentence_positions != PLAIT_POSITIONS_LEARNED || longest <= settings->sentence_limit)
    return TRUE;
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "a document of %jd sentences has more than the sentence_limit=%jd learned positions: raise "
                     "sentence_limit, or take shorter documents",
                     longest, settings->sentence_limit);
}

PLAIT_PLUGIN_DEFINE (.state_size = sizeof (State), .build = build, .encode = encode, .check_input = check_input)
