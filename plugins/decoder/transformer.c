/* SPDX-License-Identifier: MIT */
#include "layers/layers.h"
#include "interface/plugin.h"

#include "transformer-settings.h"

/*
 * The Transformer decoder (Vaswani et al. 2017; Libovicky et al. 2018, section 2), pre-norm or post-norm. Each layer is
 *
 *     x <- residual (x, attend (normalise (x)));  x <- cross (x);  x <- residual (x, feed_forward (normalise (x)))
 *
 * With self_attention=group, self-attention is limited to the sentence of each row; from layer group_layers on, a gate
 * sums this attention and attention to all rows (Bao et al. 2021, eq. 5-8).
 */

typedef struct
{
  PlaitNorm self_norm;
  guint self;
  guint global;      /* identifies the attention to all rows; set if @sum is declared */
  PlaitGatedSum sum; /* gated sum of group and global self-attention; declared in layers that have both */
  guint cross;
  PlaitNorm feed_forward_norm;
  PlaitFeedForward feed_forward;
} Layer;

typedef struct
{
  gboolean pre_norm;
  double dropout;
  PlaitPositions positions;
  PlaitNorm embedding_norm; /* normalisation of the embeddings; declared if the setting embedding_norm is TRUE */
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
apply_layer (PlaitDecoding *decoding, gconstpointer data, gconstpointer state, guint index, PlaitNode *x)
{
  const Layer *layer = &((const State *)state)->layers[index];
  PlaitTape *tape = plait_decoding_tape (decoding);
  PlaitNode *read = normalise (state, tape, &layer->self_norm, x),
            *y = plait_decoding_attend (decoding, layer->self, read);

  if (layer->sum.gate.weight)
    y = plait_gated_sum_apply (tape, &layer->sum, y, plait_decoding_attend (decoding, layer->global, read));
  x = residual (state, tape, &layer->self_norm, x, y);
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
  PlaitNode *x = plait_positions_apply_norm (tape, &state->positions, &state->embedding_norm, embedded,
                                             plait_decoding_rows (decoding), plait_decoding_first_position (decoding),
                                             state->dropout);

  for (gint64 i = 0; i < settings->layers; i++)
    x = plait_decoding_layer (decoding, apply_layer, (guint)i, x);
  return normalise (state, tape, &state->norm, x);
}

static void
build_layer (PlaitDecoding *decoding, const PlaitDecoderBuild *build, const Settings *settings, guint i, Layer *layer)
{
  PlaitParameters *parameters = build->parameters;
  PlaitCausalSettings causal = { .heads = build->heads,
                                 .dropout = build->attention_dropout,
                                 .biases = build->attention_bias,
                                 .positions = settings->positions,
                                 .window = settings->window,
                                 .sentences = settings->self_attention == SELF_ATTENTION_GROUP };
  g_autofree char *prefix = g_strdup_printf ("decoder/layer/%u", i);
  g_autofree char *self = g_strconcat (prefix, "/self_attention", NULL);
  g_autofree char *global = g_strconcat (prefix, "/global_attention", NULL);
  g_autofree char *gate = g_strconcat (prefix, "/attention_gate", NULL);
  g_autofree char *self_norm = g_strconcat (prefix, "/self_attention_norm", NULL);
  g_autofree char *combiner = g_strconcat (prefix, "/combiner/", NULL);
  g_autofree char *feed_forward = g_strconcat (prefix, "/feed_forward", NULL);
  g_autofree char *feed_forward_norm = g_strconcat (prefix, "/feed_forward_norm", NULL);

  layer->self_norm = plait_norm_declare (parameters, self_norm, build->width);
  layer->self = plait_decoding_declare_attend (decoding, self, &causal);
  if (causal.sentences && i >= (guint)settings->group_layers)
    {
      causal.sentences = FALSE;
      layer->global = plait_decoding_declare_attend (decoding, global, &causal);
      layer->sum = plait_gated_sum_declare (parameters, gate, build->width);
    }
  layer->cross
      = plait_decoding_declare_cross (decoding, combiner, &(PlaitCrossSettings){ .query_width = build->width });
  layer->feed_forward_norm = plait_norm_declare (parameters, feed_forward_norm, build->width);
  layer->feed_forward = plait_feed_forward_declare (parameters, feed_forward, build->width, settings->feed_forward,
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
  state->positions = plait_positions_declare (build->parameters, "decoder/positions", settings->positions,
                                              settings->position_limit, build->width);
  if (settings->embedding_norm)
    state->embedding_norm = plait_norm_declare (build->parameters, "decoder/embedding_norm", build->width);
  state->layers = plait_parameters_memory (build->parameters, (gsize)settings->layers * sizeof (Layer));
  for (gint64 i = 0; i < settings->layers; i++)
    build_layer (decoding, build, settings, (guint)i, &state->layers[i]);
  if (build->pre_norm)
    state->norm = plait_norm_declare (build->parameters, "decoder/norm", build->width);
  return TRUE;
}

static gboolean
check_length (gconstpointer data, gconstpointer memory, gint64 rows, GError **error)
{
  const PlaitPositions *positions = &((const State *)memory)->positions;

  if (positions->kind != PLAIT_POSITIONS_LEARNED || rows <= positions->length)
    return TRUE;
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "a target has %jd rows, but there are only position_limit=%jd learned positions: raise "
                     "position_limit, or lower data.maximum_target_length or decode.maximum_length",
                     rows, positions->length);
}

PLAIT_PLUGIN_DEFINE (.state_size = sizeof (State), .build = build, .decode = decode, .check_length = check_length)
