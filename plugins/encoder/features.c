/* SPDX-License-Identifier: MIT */
#include "autograd/operators.h"
#include "layers/layers.h"
#include "interface/plugin.h"

#include "features-settings.h"

/*
 * A memory of feature vectors that another program made, such as one for each position of an image: an optional ReLU
 * layer, then a linear projection (Libovicky et al. 2018, section 4.1). The paper's code normalises the states of texts
 * but not of images; here the parameter norm decides.
 */

typedef struct
{
  PlaitLinear hidden; /* hidden layer; hidden.weight is NULL if there is none */
  PlaitLinear projection;
  PlaitNorm norm;
} State;

static gboolean
build (const PlaitEncoderBuild *build, gconstpointer data, gpointer state_data, PlaitEncoderShape *shape,
       GError **error)
{
  const Settings *settings = data;
  State *state = state_data;
  gint64 width = settings->width == PLAIT_DECODER_WIDTH ? build->model_width : settings->width;
  gint64 in = build->input_width;
  g_autofree char *hidden = g_strconcat (build->prefix, "hidden", NULL);
  g_autofree char *projection = g_strconcat (build->prefix, "projection", NULL);
  g_autofree char *norm = g_strconcat (build->prefix, "norm", NULL);

  if (settings->hidden)
    {
      state->hidden = plait_linear_declare (build->parameters, hidden, in, settings->hidden, TRUE);
      in = settings->hidden;
    }
  state->projection = plait_linear_declare (build->parameters, projection, in, width, TRUE);
  if (settings->norm == NORM_LAYER)
    state->norm = plait_norm_declare (build->parameters, norm, width);
  shape->n_memories = 1;
  shape->memories[0].width = width;
  return TRUE;
}

static void
encode (gconstpointer data, gconstpointer state_data, PlaitEncoding *encoding)
{
  const Settings *settings = data;
  const State *state = state_data;
  PlaitTape *tape = encoding->tape;
  PlaitNode *x = encoding->embedded;

  if (settings->hidden)
    x = plait_linear_apply (tape, &state->hidden, x, PLAIT_ACTIVATION_RELU);
  x = plait_linear_apply (tape, &state->projection, x, PLAIT_ACTIVATION_NONE);
  if (settings->norm == NORM_LAYER)
    x = plait_norm_apply (tape, &state->norm, x);
  x = plait_dropout (tape, x, settings->dropout);
  encoding->memories[0] = (PlaitMemory){ .states = x, .rows = encoding->input->rows };
}

PLAIT_PLUGIN_DEFINE (.state_size = sizeof (State), .build = build, .encode = encode)
