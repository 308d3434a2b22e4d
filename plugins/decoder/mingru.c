/* SPDX-License-Identifier: MIT */
#include "layers/layers.h"
#include "interface/plugin.h"

#include "mingru-settings.h"

/*
 * The Transformer decoder with a minimal GRU in place of self-attention (Feng et al. 2024, section 3.1), pre-norm or
 * post-norm. Each layer is
 *
 *     x <- residual (x, mingru (normalise (x)));  x <- cross (x);  x <- residual (x, feed_forward (normalise (x)))
 *
 *     mingru (x):   h_t = (1 - z_t) h_(t - 1) + z_t c_t,   z = sigmoid (W_z x + b_z),   c = W_h x + b_h
 *
 * Gate and candidate do not depend on the previous state, so the recurrence is linear. A state wider than the decoder
 * (expansion) is projected back.
 */

typedef struct
{
  PlaitNorm recurrence_norm;
  PlaitLinear gate;
  PlaitLinear candidate;
  guint scan;
  PlaitLinear output; /* map from the state to the decoder's width; declared if the setting expansion is above 1 */
  guint cross;
  PlaitNorm feed_forward_norm;
  PlaitFeedForward feed_forward;
} Layer;

typedef struct
{
  gboolean pre_norm;
  double dropout;
  Layer *layers;
  PlaitNorm norm; /* normalisation after the last layer, for pre-norm only */
} State;

static PlaitNode *
residual (const State *state, PlaitTape *tape, const PlaitNorm *norm, PlaitNode *x, PlaitNode *y)
{
  PlaitNode *sum = plait_residual (tape, x, y, state->dropout);

  return state->pre_norm ? sum : plait_norm_apply (tape, norm, sum);
}

static PlaitNode *
normalise (const State *state, PlaitTape *tape, const PlaitNorm *norm, PlaitNode *x)
{
  return state->pre_norm ? plait_norm_apply (tape, norm, x) : x;
}

static PlaitNode *
apply_recurrence (PlaitDecoding *decoding, const Layer *layer, PlaitNode *x)
{
  PlaitTape *tape = plait_decoding_tape (decoding);
  PlaitNode *energy = plait_linear_apply (tape, &layer->gate, x, PLAIT_ACTIVATION_NONE);
  PlaitNode *z = plait_activate (tape, energy, PLAIT_ACTIVATION_SIGMOID);
  PlaitNode *kept = plait_activate (tape, plait_scale (tape, energy, -1), PLAIT_ACTIVATION_SIGMOID); /* 1 - z */
  PlaitNode *c = plait_linear_apply (tape, &layer->candidate, x, PLAIT_ACTIVATION_NONE);
  PlaitNode *h = plait_decoding_scan (decoding, layer->scan, kept, plait_multiply (tape, z, c));

  return layer->output.weight ? plait_linear_apply (tape, &layer->output, h, PLAIT_ACTIVATION_NONE) : h;
}

static PlaitNode *
apply_layer (PlaitDecoding *decoding, gconstpointer data, gconstpointer state, guint index, PlaitNode *x)
{
  const Layer *layer = &((const State *)state)->layers[index];
  PlaitTape *tape = plait_decoding_tape (decoding);
  PlaitNode *y = apply_recurrence (decoding, layer, normalise (state, tape, &layer->recurrence_norm, x));

  x = residual (state, tape, &layer->recurrence_norm, x, y);
  x = plait_decoding_cross (decoding, layer->cross, x, NULL).query;
  y = plait_feed_forward_apply (tape, &layer->feed_forward, normalise (state, tape, &layer->feed_forward_norm, x));
  return residual (state, tape, &layer->feed_forward_norm, x, y);
}

static PlaitNode *
decode (PlaitDecoding *decoding, gconstpointer data, gconstpointer memory, PlaitNode *embedded)
{
  const Settings *settings = data;
  const State *state = memory;
  PlaitTape *tape = plait_decoding_tape (decoding);
  PlaitNode *x = plait_dropout (tape, embedded, state->dropout);

  for (gint64 i = 0; i < settings->layers; i++)
    x = plait_decoding_layer (decoding, apply_layer, (guint)i, x);
  return normalise (state, tape, &state->norm, x);
}

static void
build_layer (PlaitDecoding *decoding, const PlaitDecoderBuild *build, const Settings *settings, guint i, Layer *layer)
{
  PlaitParameters *parameters = build->parameters;
  gint64 width = build->width, states = settings->expansion * width;
  g_autofree char *prefix = g_strdup_printf ("decoder/layer/%u", i);
  g_autofree char *norm = g_strconcat (prefix, "/recurrence_norm", NULL);
  g_autofree char *gate = g_strconcat (prefix, "/recurrence/gate", NULL);
  g_autofree char *candidate = g_strconcat (prefix, "/recurrence/candidate", NULL);
  g_autofree char *output = g_strconcat (prefix, "/recurrence/output", NULL);
  g_autofree char *combiner = g_strconcat (prefix, "/combiner/", NULL);
  g_autofree char *feed_forward = g_strconcat (prefix, "/feed_forward", NULL);
  g_autofree char *feed_forward_norm = g_strconcat (prefix, "/feed_forward_norm", NULL);

  layer->recurrence_norm = plait_norm_declare (parameters, norm, width);
  layer->gate = plait_linear_declare (parameters, gate, width, states, TRUE);
  layer->candidate = plait_linear_declare (parameters, candidate, width, states, TRUE);
  layer->scan = plait_decoding_declare_scan (decoding, states);
  if (settings->expansion > 1)
    layer->output = plait_linear_declare (parameters, output, states, width, TRUE);
  layer->cross = plait_decoding_declare_cross (decoding, combiner, &(PlaitCrossSettings){ .query_width = width });
  layer->feed_forward_norm = plait_norm_declare (parameters, feed_forward_norm, width);
  layer->feed_forward = plait_feed_forward_declare (parameters, feed_forward, width, settings->feed_forward,
                                                    plait_feed_forward_activation (settings->activation),
                                                    settings->feed_forward_dropout);
}

static gboolean
build (PlaitDecoding *decoding, const PlaitDecoderBuild *build, gconstpointer data, gpointer memory, GError **error)
{
  const Settings *settings = data;
  State *state = memory;

  state->pre_norm = build->pre_norm;
  state->dropout = build->dropout;
  state->layers = plait_parameters_memory (build->parameters, (gsize)settings->layers * sizeof (Layer));
  for (gint64 i = 0; i < settings->layers; i++)
    build_layer (decoding, build, settings, (guint)i, &state->layers[i]);
  if (build->pre_norm)
    state->norm = plait_norm_declare (build->parameters, "decoder/norm", build->width);
  return TRUE;
}

PLAIT_PLUGIN_DEFINE (.state_size = sizeof (State), .build = build, .decode = decode)
