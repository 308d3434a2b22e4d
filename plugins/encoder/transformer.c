/* SPDX-License-Identifier: MIT */
#include "layers/layers.h"
#include "interface/plugin.h"

#include "transformer-settings.h"

/* The Transformer encoder (Vaswani et al. 2017, section 3): tokens -> one memory with a row for each token. */

typedef struct
{
  PlaitPositions positions;
  PlaitNorm embedding_norm; /* normalisation of the embeddings; declared if the setting embedding_norm is TRUE */
  PlaitEncoderStack stack;
} State;

static gboolean
build (const PlaitEncoderBuild *build, gconstpointer data, gpointer state_data, PlaitEncoderShape *shape,
       GError **error)
{
  const Settings *settings = data;
  State *state = state_data;
  g_autofree char *positions = g_strconcat (build->prefix, "positions", NULL);
  g_autofree char *embedding_norm = g_strconcat (build->prefix, "embedding_norm", NULL);
  PlaitEncoderStackDeclaration stack
      = { PLAIT_ENCODER_STACK_SETTINGS (settings), .width = build->input_width, .pre_norm = build->pre_norm,
          .positions = settings->positions, .window = settings->window };

  state->positions = plait_positions_declare (build->parameters, positions, settings->positions,
                                              settings->position_limit, build->input_width);
  if (settings->embedding_norm)
    state->embedding_norm = plait_norm_declare (build->parameters, embedding_norm, build->input_width);
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
  PlaitNode *x = plait_positions_apply_norm (encoding->tape, &state->positions, &state->embedding_norm,
                                             encoding->embedded, rows, 0, settings->dropout);

  x = plait_encoder_stack_apply (encoding->tape, &state->stack, x, rows, NULL);
  encoding->memories[0] = (PlaitMemory){ .states = x, .rows = rows };
}

static gboolean
check_length (gconstpointer data, gconstpointer state_data, gint64 rows, GError **error)
{
  const Settings *settings = data;

  if (settings->positions != PLAIT_POSITIONS_LEARNED || rows <= settings->position_limit)
    return TRUE;
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "a sentence has %jd rows, but there are only position_limit=%jd learned positions: raise "
                     "position_limit, or take shorter sentences",
                     rows, settings->position_limit);
}

PLAIT_PLUGIN_DEFINE (.state_size = sizeof (State), .build = build, .encode = encode, .check_length = check_length)
