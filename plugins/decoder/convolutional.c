/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "layers/layers.h"
#include "interface/plugin.h"

#include "convolutional-settings.h"

/*
 * The convolutional decoder (Gehring et al. 2017, section 3). With the embeddings g, positions included, each layer is
 *
 *     h <- sqrt (.5) (A * sigmoid (B) + h),  [A, B] = convolve (h)
 *     h <- sqrt (.5) (h + c),                c = combine (W h + b + g)
 *
 * The factor keeps the variance of a sum. It multiplies both sums, as in the authors' code. Unlike in the paper,
 * contexts are not scaled by the length of the source, because a combiner may read several sources. Unlike in the
 * paper, weights are not normalised.
 */

typedef struct
{
  guint convolution;
  PlaitLinear query; /* [width, width] map from the state to a term of the query */
  guint cross;
} Layer;

typedef struct
{
  gint64 width;
  double dropout;
  PlaitPositions positions;
  Layer *layers;
} State;

/* Returns sqrt (.5) (x + y). */
static PlaitNode *
scaled_sum (PlaitTape *tape, PlaitNode *x, PlaitNode *y)
{
  return plait_scale (tape, plait_add_n (tape, (PlaitNode *[]){ x, y }, 2), sqrt (.5));
}

/* Returns the gated linear unit A * sigmoid (B) of @x [rows, 2 width], A and B side by side. */
static PlaitNode *
gated_linear_unit (PlaitTape *tape, PlaitNode *x, gint64 width)
{
  PlaitNode *gate = plait_activate (tape, plait_columns (tape, x, width, width), PLAIT_ACTIVATION_SIGMOID);

  return plait_multiply (tape, plait_columns (tape, x, 0, width), gate);
}

static PlaitNode *
decode (PlaitDecoding *decoding, gconstpointer data, gconstpointer memory, PlaitNode *embedded)
{
  const Settings *settings = data;
  const State *state = memory;
  PlaitTape *tape = plait_decoding_tape (decoding);
  PlaitNode *g = plait_positions_apply (tape, &state->positions, embedded, plait_decoding_rows (decoding),
                                        plait_decoding_first_position (decoding), state->dropout);
  PlaitNode *h = g;

  for (gint64 i = 0; i < settings->layers; i++)
    {
      const Layer *layer = &state->layers[i];
      PlaitNode *y, *query, *gate;

      y = plait_decoding_convolve (decoding, layer->convolution, plait_dropout (tape, h, state->dropout));
      h = scaled_sum (tape, gated_linear_unit (tape, y, state->width), h);
      query = plait_linear_apply (tape, &layer->query, h, PLAIT_ACTIVATION_NONE);
      query = plait_add_n (tape, (PlaitNode *[]){ query, g }, 2);
      gate = plait_decoding_gate (decoding, layer->cross, plait_decoding_gate_input (decoding, layer->cross, g), query);
      h = scaled_sum (tape, h, plait_decoding_cross (decoding, layer->cross, query, gate).context);
    }
  return plait_dropout (tape, h, state->dropout);
}

static void
build_layer (PlaitDecoding *decoding, const PlaitDecoderBuild *build, const Settings *settings, guint i, Layer *layer)
{
  g_autofree char *convolution = g_strdup_printf ("decoder/layer/%u/convolution", i);
  g_autofree char *query = g_strdup_printf ("decoder/layer/%u/query", i);
  g_autofree char *combiner = g_strdup_printf ("decoder/layer/%u/combiner/", i);
  gint64 width = build->width;
  PlaitCrossSettings cross = { .query_width = width, .score = settings->attention, .attention_width = width };

  layer->convolution = plait_decoding_declare_convolve (decoding, convolution, width, 2 * width, settings->kernel);
  layer->query = plait_linear_declare (build->parameters, query, width, width, TRUE);
  layer->cross = plait_decoding_declare_cross (decoding, combiner, &cross);
}

static gboolean
build (PlaitDecoding *decoding, const PlaitDecoderBuild *build, gconstpointer data, gpointer memory, GError **error)
{
  const Settings *settings = data;
  State *state = memory;

  state->width = build->width;
  state->dropout = build->dropout;
  state->positions = plait_positions_declare (build->parameters, "decoder/positions", settings->positions,
                                              settings->position_limit, build->width);
  state->layers = plait_parameters_memory (build->parameters, (gsize)settings->layers * sizeof (Layer));
  for (gint64 i = 0; i < settings->layers; i++)
    build_layer (decoding, build, settings, (guint)i, &state->layers[i]);
  return TRUE;
}

static gboolean
check_length (gconstpointer data, gconstpointer memory, gint64 rows, GError **error)
{
  const PlaitPositions *positions = &((const State *)memory)->positions;

  if (positions->kind != PLAIT_POSITIONS_LEARNED || rows <= positions->length)
    return TRUE;
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "a target has %jd rows, but there are only decoder.position_limit=%jd learned positions: raise "
                     "position_limit, or lower data.maximum_target_length or decode.maximum_length",
                     rows, positions->length);
}

PLAIT_PLUGIN_DEFINE (.state_size = sizeof (State), .build = build, .decode = decode, .check_length = check_length)
