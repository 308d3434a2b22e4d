/* SPDX-License-Identifier: MIT */
#include "autograd/operators.h"
#include "layers/layers.h"
#include "interface/plugin.h"

#include "hat-settings.h"

/*
 * The Hierarchical Attention Transformer (Rohde et al. 2021) over an inner encoder, which gives the states H of a
 * document's tokens. It makes two memories: the tokens, and one row for each sentence. A sentence is represented by its
 * first row, that of its start token if documents have start tokens. F (x): the first rows of all sentences in x.
 *
 *     place=top (section 3.2)     sentences = layer_n (... layer_1 (F (H)));   tokens = H
 *     with readers=all            sentences = F (layer_n (... layer_1 (H)));   tokens = H
 *     place=layers (section 7)    x = layer_n (... layer_1 (H));   sentences = F (x);   tokens = x
 *
 * With place=top, layers are those of a Transformer encoder; with readers=all, each row attends only to first rows.
 *
 * With place=layers, each layer has one more attention, between self-attention and the feed-forward layer: the rows
 * that readers names attend to the first rows F (x). The inner encoder should have no layers: leaves=transformer with
 * layers=0 and final_norm=false gives embeddings and positions.
 */
typedef struct
{
  PlaitNorm token_norm;     /* normalisation of the tokens; not declared if token_norm=leaves */
  PlaitPositions positions; /* positions of sentences in their document */
  PlaitEncoderStack layers;
} State;

static gboolean
check_settings (const Settings *settings, GError **error)
{
  if (settings->place == PLACE_LAYERS && settings->token_norm != TOKEN_NORM_LEAVES)
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "token_norm is for sentence layers at the top, but place is layers: set token_norm=leaves, or place=top");
  if (settings->sentence_positions == PLAIT_POSITIONS_NONE)
    return TRUE;
  if (settings->place == PLACE_LAYERS)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "sentence_positions are for sentence layers at the top, but place is layers: set "
                       "sentence_positions=none, or place=top");
  if (settings->readers == READERS_ALL)
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "sentence_positions give positions only to the first rows of sentences, but with readers=all, the sentence "
        "layers read all rows: set readers=starts, or sentence_positions=none");
  return TRUE;
}

/* Declares the two memories, as wide as the states of the inner encoder. */
static void
declare_memories (const Settings *settings, const PlaitEncoderShape *inner, PlaitEncoderShape *shape)
{
  shape->n_memories = 2;
  shape->memories[0].name = "tokens";
  shape->memories[0].width = inner->memories[0].width;
  shape->memories[1].name = "sentences";
  shape->memories[1].width = inner->memories[0].width;
  shape->memories[1].structure = PLAIT_STRUCTURE_SENTENCES;
  shape->memories[1].zero_output = settings->zero_output;
  shape->summary_width = inner->summary_width;
}

/* Returns which rows have the additional attention to first rows; with place=top, no rows. */
static PlaitReaders
readers_of (const Settings *settings)
{
  if (settings->place == PLACE_TOP)
    return PLAIT_READERS_NONE;
  return settings->readers == READERS_STARTS ? PLAIT_READERS_STARTS : PLAIT_READERS_ALL;
}

static gboolean
build (const PlaitEncoderBuild *build, gconstpointer data, gpointer state_data, PlaitEncoderShape *shape,
       GError **error)
{
  const Settings *settings = data;
  State *state = state_data;
  PlaitParameters *parameters = build->parameters;
  gint64 width = build->leaves->memories[0].width;
  g_autofree char *token_norm = g_strconcat (build->prefix, "token_norm", NULL);
  g_autofree char *positions = g_strconcat (build->prefix, "positions", NULL);
  PlaitEncoderStackDeclaration layers = {
    PLAIT_ENCODER_STACK_SETTINGS (settings),
    .width = width,
    .pre_norm = build->pre_norm,
    .readers = readers_of (settings),
    .zero_output = settings->zero_output,
    .positions = settings->sentence_positions,
  };

  if (!check_settings (settings, error))
    return FALSE;
  declare_memories (settings, build->leaves, shape);
  if (settings->token_norm != TOKEN_NORM_LEAVES)
    state->token_norm = plait_norm_declare (parameters, token_norm, width);
  state->positions
      = plait_positions_declare (parameters, positions, settings->sentence_positions, settings->sentence_limit, width);
  return plait_encoder_stack_declare (&state->layers, parameters, build->prefix, &layers, error);
}

/* Returns F (x), the first rows of sentences in @x. */
static PlaitNode *
first_rows (PlaitTape *tape, PlaitNode *x, const PlaitSentenceStarts *starts)
{
  return plait_gather_rows (tape, x, starts->rows, plait_ragged_rows (starts->sentences));
}

static void
encode (gconstpointer data, gconstpointer state_data, PlaitEncoding *encoding)
{
  const Settings *settings = data;
  const State *state = state_data;
  PlaitTape *tape = encoding->tape;
  PlaitSentenceStarts starts = plait_encoding_starts (encoding);
  PlaitNode *h = encoding->leaves->memories[0].states, *tokens = h, *x, *sentences;

  if (settings->token_norm != TOKEN_NORM_LEAVES)
    tokens = plait_norm_apply (tape, &state->token_norm, h);
  x = settings->token_norm == TOKEN_NORM_AFTER ? tokens : h;
  if (settings->place == PLACE_LAYERS || settings->readers == READERS_ALL)
    {
      /* All rows pass through the layers. With place=top, each row attends only to the first rows of sentences. */
      x = plait_encoder_stack_apply (tape, &state->layers, x, encoding->input->rows, &starts);
      sentences = first_rows (tape, x, &starts);
    }
  else
    {
      x = plait_positions_apply (tape, &state->positions, first_rows (tape, x, &starts), starts.sentences, 0, 0);
      sentences = plait_encoder_stack_apply (tape, &state->layers, x, starts.sentences, NULL);
    }
  if (settings->place == PLACE_LAYERS)
    tokens = x;
  encoding->memories[0] = plait_encoding_token_memory (encoding, tokens, settings->starts_in_tokens);
  encoding->memories[1] = plait_encoding_sentence_memory (encoding, sentences);
  encoding->summary = encoding->leaves->summary;
  encoding->summary_cell = encoding->leaves->summary_cell;
}

/* Returns FALSE with PLAIT_ERROR_INPUT if a document has more sentences than learned positions. */
static gboolean
check_input (gconstpointer data, gconstpointer state, const PlaitInput *input, GError **error)
{
  const Settings *settings = data;
  gint64 longest = input->documents ? plait_ragged_longest (input->documents->sentences) : 0;

  if (settings->sentence_positions != PLAIT_POSITIONS_LEARNED || longest <= settings->sentence_limit)
    return TRUE;
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "a document of %jd sentences has more than the sentence_limit=%jd learned positions: raise "
                     "sentence_limit, or take shorter documents",
                     longest, settings->sentence_limit);
}

PLAIT_PLUGIN_DEFINE (.state_size = sizeof (State), .build = build, .encode = encode, .check_input = check_input)
