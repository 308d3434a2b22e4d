/* SPDX-License-Identifier: MIT */
#include "nn/encoder-layer.h"
#include "nn/positions.h"
#include "plugin/plugin.h"

/*
 * The Transformer encoder (Vaswani et al. 2017, section 3): tokens -> one memory with a row a token. Pre-norm stacks
 * end in a layer norm, as the paper's own code has it.
 */
typedef struct
{
  gint64 layers;
  gint64 heads;
  gint64 feed_forward;
  double dropout;
  double attention_dropout;
  double feed_forward_dropout;
  gint activation;
  gint norm;
  gint positions;
  gint64 position_limit;
  gboolean attention_bias;
  gboolean embedding_norm;
  gboolean final_norm;
} Settings;

enum
{
  NORM_DECODER,
  NORM_PRE,
  NORM_POST,
};

static const PlaitBinding bindings[] = {
  PLAIT_BIND_INTEGER (Settings, layers),
  PLAIT_BIND_INTEGER (Settings, heads),
  PLAIT_BIND_INTEGER (Settings, feed_forward),
  PLAIT_BIND_REAL (Settings, dropout),
  PLAIT_BIND_REAL (Settings, attention_dropout),
  PLAIT_BIND_REAL (Settings, feed_forward_dropout),
  PLAIT_BIND_CHOICE (Settings, activation, PLAIT_FEED_FORWARD_ACTIVATIONS),
  PLAIT_BIND_CHOICE (Settings, norm, "decoder;pre;post"),
  PLAIT_BIND_CHOICE (Settings, positions, "none;interleaved;concatenated;learned"),
  PLAIT_BIND_INTEGER (Settings, position_limit),
  PLAIT_BIND_BOOLEAN (Settings, attention_bias),
  PLAIT_BIND_BOOLEAN (Settings, embedding_norm),
  PLAIT_BIND_BOOLEAN (Settings, final_norm),
};

typedef struct
{
  PlaitPositions positions;
  PlaitNorm embedding_norm; /* gain NULL without */
  PlaitEncoderLayer *layers;
  PlaitNorm norm; /* final; gain NULL without */
} State;

static gboolean
build (const PlaitEncoderBuild *build, gconstpointer data, gpointer state_data, PlaitEncoderShape *shape,
       GError **error)
{
  const Settings *settings = data;
  State *state = state_data;
  g_autofree char *positions = g_strconcat (build->prefix, "positions", NULL);
  g_autofree char *embedding_norm = g_strconcat (build->prefix, "embedding_norm", NULL);
  g_autofree char *norm = g_strconcat (build->prefix, "norm", NULL);
  PlaitEncoderLayerDeclaration layer = {
    .width = build->input_width,
    .heads = (guint)settings->heads,
    .feed_forward = settings->feed_forward,
    .activation = plait_feed_forward_activation (settings->activation),
    .pre_norm = settings->norm == NORM_DECODER ? build->pre_norm : settings->norm == NORM_PRE,
    .dropout = settings->dropout,
    .attention_dropout = settings->attention_dropout,
    .feed_forward_dropout = settings->feed_forward_dropout,
    .attention_bias = settings->attention_bias,
  };

  if (build->input_width % settings->heads != 0)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "heads=%" G_GINT64_FORMAT " do not divide the width of %" G_GINT64_FORMAT
                       ": choose heads that do",
                       settings->heads, build->input_width);
  state->positions = plait_positions_declare (build->parameters, positions, (PlaitPositionKind)settings->positions,
                                              settings->position_limit, build->input_width);
  if (settings->embedding_norm)
    state->embedding_norm = plait_norm_declare (build->parameters, embedding_norm, build->input_width);
  state->layers = plait_parameters_memory (build->parameters, settings->layers * sizeof (PlaitEncoderLayer));
  for (gint64 i = 0; i < settings->layers; i++)
    {
      g_autofree char *name = g_strdup_printf ("%slayer/%" G_GINT64_FORMAT, build->prefix, i);

      state->layers[i] = plait_encoder_layer_declare (build->parameters, name, &layer);
    }
  if (layer.pre_norm && settings->final_norm)
    state->norm = plait_norm_declare (build->parameters, norm, build->input_width);
  shape->n_memories = 1;
  shape->memories[0].width = build->input_width;
  return TRUE;
}

/* dropout (x + position), or dropout (norm (x + position)). */
static PlaitNode *
place (const Settings *settings, const State *state, PlaitEncoding *encoding)
{
  gboolean norm = state->embedding_norm.gain != NULL;
  PlaitNode *x = plait_positions_apply (encoding->tape, &state->positions, encoding->embedded, encoding->input->rows, 0,
                                        norm ? 0 : settings->dropout);

  if (!norm)
    return x;
  return plait_dropout (encoding->tape, plait_norm_apply (encoding->tape, &state->embedding_norm, x),
                        settings->dropout);
}

static void
encode (gconstpointer data, gconstpointer state_data, PlaitEncoding *encoding)
{
  const Settings *settings = data;
  const State *state = state_data;
  PlaitRagged rows = encoding->input->rows;
  PlaitNode *x = place (settings, state, encoding);

  for (gint64 i = 0; i < settings->layers; i++)
    x = plait_encoder_layer_apply (encoding->tape, &state->layers[i], x, rows, NULL);
  if (state->norm.gain)
    x = plait_norm_apply (encoding->tape, &state->norm, x);
  encoding->memories[0] = (PlaitMemory){ .states = x, .rows = rows };
}

static gboolean
check_length (gconstpointer data, gconstpointer state_data, gint64 rows, GError **error)
{
  const Settings *settings = data;

  if (settings->positions != PLAIT_POSITIONS_LEARNED || rows <= settings->position_limit)
    return TRUE;
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "a sentence of %" G_GINT64_FORMAT " rows is longer than position_limit=%" G_GINT64_FORMAT
                     " learned positions reach: raise position_limit, or take shorter sentences",
                     rows, settings->position_limit);
}

static const PlaitEncoderTable table
    = { .state_size = sizeof (State), .build = build, .encode = encode, .check_length = check_length };

PLAIT_PLUGIN_ENCODER_DEFINE ("transformer", "0.1.0", Settings, bindings, table)
