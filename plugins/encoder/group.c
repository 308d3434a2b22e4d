/* SPDX-License-Identifier: MIT */
#include "layers/layers.h"
#include "interface/plugin.h"

#include "group-settings.h"

/*
 * The encoder of G-Transformer (Bao et al. 2021, section 4): tokens of documents -> one memory with a row for each
 * token. The links of the memory give the sentence of each row. Self-attention is limited to the sentence of each row
 * (group attention, eq. 5-6); in the top layers a gate sums group attention and attention to the whole document (eq.
 * 7-8).
 */

typedef struct
{
  PlaitPositions positions;
  PlaitEncoderStack stack;
} State;

static gboolean
build (const PlaitEncoderBuild *build, gconstpointer data, gpointer state_data, PlaitEncoderShape *shape,
       GError **error)
{
  const Settings *settings = data;
  State *state = state_data;
  g_autofree char *positions = g_strconcat (build->prefix, "positions", NULL);
  PlaitEncoderStackDeclaration stack = {
    PLAIT_ENCODER_STACK_SETTINGS (settings),
    .width = build->input_width,
    .pre_norm = build->pre_norm,
    .positions = settings->positions,
    .groups = TRUE,
    .global_layers = settings->global_layers,
  };

  state->positions = plait_positions_declare (build->parameters, positions, settings->positions,
                                              settings->position_limit, build->input_width);
  shape->n_memories = 1;
  shape->memories[0].width = build->input_width;
  return plait_encoder_stack_declare (&state->stack, build->parameters, build->prefix, &stack, error);
}

static void
encode (gconstpointer data, gconstpointer state_data, PlaitEncoding *encoding)
{
  const Settings *settings = data;
  const State *state = state_data;
  PlaitRagged rows = encoding->input->rows;
  PlaitSentenceStarts starts = plait_encoding_starts (encoding);
  PlaitNode *x
      = plait_positions_apply (encoding->tape, &state->positions, encoding->embedded, rows, 0, settings->dropout);

  x = plait_encoder_stack_apply (encoding->tape, &state->stack, x, rows, &starts);
  encoding->memories[0] = plait_encoding_token_memory (encoding, x, TRUE);
}

static gboolean
check_length (gconstpointer data, gconstpointer state_data, gint64 rows, GError **error)
{
  const Settings *settings = data;

  if (settings->positions != PLAIT_POSITIONS_LEARNED || rows <= settings->position_limit)
    return TRUE;
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "a document has %jd rows, but there are only position_limit=%jd learned positions: raise "
                     "position_limit, or take shorter documents",
                     rows, settings->position_limit);
}

PLAIT_PLUGIN_DEFINE (.state_size = sizeof (State), .build = build, .encode = encode, .check_length = check_length)
