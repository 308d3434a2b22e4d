/* SPDX-License-Identifier: MIT */
#include "layers/layers.h"
#include "interface/plugin.h"

#include "@NAME@-settings.h"

/*
 * A decoder whose layers are a causal convolution and a cross-attention. Row t of a layer reads the rows t - size + 1
 * to t of the layer below.
 *
 *     for each layer:  x <- norm (x + relu (convolve (x)));  x <- cross (x)
 */

typedef struct
{
  guint convolve;
  PlaitNorm norm;
  guint cross;
} Layer;

typedef struct
{
  double dropout;
  Layer *layers;
} State;

/* Declares the primitives that decode() uses. The names of parameters begin with "decoder/". */
static gboolean
build (PlaitDecoding *decoding, const PlaitDecoderBuild *build, gconstpointer data, gpointer memory, GError **error)
{
  const Settings *settings = data;
  State *state = memory;

  state->dropout = build->dropout;
  state->layers = plait_parameters_memory (build->parameters, (gsize)settings->layers * sizeof (Layer));
  for (gint64 i = 0; i < settings->layers; i++)
    {
      Layer *layer = &state->layers[i];
      g_autofree char *convolution = g_strdup_printf ("decoder/layer/%jd/convolution", i);
      g_autofree char *norm = g_strdup_printf ("decoder/layer/%jd/norm", i);
      g_autofree char *combiner = g_strdup_printf ("decoder/layer/%jd/combiner/", i);

      layer->convolve
          = plait_decoding_declare_convolve (decoding, convolution, build->width, build->width, settings->size);
      layer->norm = plait_norm_declare (build->parameters, norm, build->width);
      layer->cross
          = plait_decoding_declare_cross (decoding, combiner, &(PlaitCrossSettings){ .query_width = build->width });
    }
  return TRUE;
}

/* Returns the states of all rows. In training, the host calls it for whole targets; in search, for one new row of each
 * hypothesis. */
static PlaitNode *
decode (PlaitDecoding *decoding, gconstpointer data, gconstpointer memory, PlaitNode *embedded)
{
  const Settings *settings = data;
  const State *state = memory;
  PlaitTape *tape = plait_decoding_tape (decoding);
  PlaitNode *x = plait_dropout (tape, embedded, state->dropout);

  for (gint64 i = 0; i < settings->layers; i++)
    {
      const Layer *layer = &state->layers[i];
      PlaitNode *y
          = plait_activate (tape, plait_decoding_convolve (decoding, layer->convolve, x), PLAIT_ACTIVATION_RELU);

      x = plait_norm_apply (tape, &layer->norm, plait_residual (tape, x, y, state->dropout));
      x = plait_decoding_cross (decoding, layer->cross, x, NULL).query;
    }
  return x;
}

PLAIT_PLUGIN_DEFINE (.state_size = sizeof (State), .build = build, .decode = decode)
