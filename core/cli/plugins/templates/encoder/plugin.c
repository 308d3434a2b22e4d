/* SPDX-License-Identifier: MIT */
#include "layers/layers.h"
#include "interface/plugin.h"

#include "@NAME@-settings.h"

/*
 * An encoder with one linear layer over the embeddings: row i of the memory is token i.
 *
 *     h_i = W s_i + b
 */

typedef struct
{
  PlaitLinear projection;
} State;

/* Declares the parameters, and the shape of the memory that encode() returns. */
static gboolean
build (const PlaitEncoderBuild *build, gconstpointer data, gpointer state_data, PlaitEncoderShape *shape,
       GError **error)
{
  const Settings *settings = data;
  State *state = state_data;
  gint64 width = settings->width ? settings->width : build->model_width;
  g_autofree char *name = g_strconcat (build->prefix, "projection", NULL);

  state->projection = plait_linear_declare (build->parameters, name, build->input_width, width, TRUE);
  shape->n_memories = 1;
  shape->memories[0].width = width;
  return TRUE;
}

static void
encode (gconstpointer settings, gconstpointer state_data, PlaitEncoding *encoding)
{
  const State *state = state_data;
  PlaitNode *h = plait_linear_apply (encoding->tape, &state->projection, encoding->embedded, PLAIT_ACTIVATION_NONE);

  encoding->memories[0] = (PlaitMemory){ .states = h, .rows = encoding->input->rows };
}

PLAIT_PLUGIN_DEFINE (.state_size = sizeof (State), .build = build, .encode = encode)
