/* SPDX-License-Identifier: MIT */
#include "nn/attention.h"
#include "nn/feed-forward.h"
#include "nn/norm.h"
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
  PLAIT_BIND_CHOICE (Settings, activation, "relu;gelu"),
  PLAIT_BIND_CHOICE (Settings, norm, "decoder;pre;post"),
  PLAIT_BIND_CHOICE (Settings, positions, "none;interleaved;concatenated;learned"),
  PLAIT_BIND_INTEGER (Settings, position_limit),
  PLAIT_BIND_BOOLEAN (Settings, attention_bias),
};

typedef struct
{
  PlaitNorm attention_norm;
  PlaitAttention attention;
  PlaitNorm feed_forward_norm;
  PlaitFeedForward feed_forward;
} Layer;

typedef struct
{
  gboolean pre_norm;
  PlaitPositions positions;
  Layer *layers;
  PlaitNorm norm; /* final, pre-norm only */
} State;

static void
build_layer (const PlaitEncoderBuild *build, const Settings *settings, gint64 i, Layer *layer)
{
  g_autofree char *prefix = g_strdup_printf ("%slayer/%" G_GINT64_FORMAT, build->prefix, i);
  g_autofree char *attention = g_strconcat (prefix, "/self_attention", NULL);
  g_autofree char *attention_norm = g_strconcat (prefix, "/self_attention_norm", NULL);
  g_autofree char *feed_forward = g_strconcat (prefix, "/feed_forward", NULL);
  g_autofree char *feed_forward_norm = g_strconcat (prefix, "/feed_forward_norm", NULL);
  PlaitAttentionDeclaration attention_settings = {
    .width = build->input_width,
    .heads = (guint)settings->heads,
    .dropout = settings->attention_dropout,
    .biases = settings->attention_bias,
  };

  layer->attention_norm = plait_norm_declare (build->parameters, attention_norm, build->input_width);
  layer->attention = plait_attention_declare_self (build->parameters, attention, &attention_settings);
  layer->feed_forward_norm = plait_norm_declare (build->parameters, feed_forward_norm, build->input_width);
  layer->feed_forward = plait_feed_forward_declare (
      build->parameters, feed_forward, build->input_width, settings->feed_forward,
      settings->activation ? PLAIT_ACTIVATION_GELU : PLAIT_ACTIVATION_RELU, settings->feed_forward_dropout);
}

static gboolean
build (const PlaitEncoderBuild *build, gconstpointer data, gpointer state_data, PlaitEncoderShape *shape,
       GError **error)
{
  const Settings *settings = data;
  State *state = state_data;
  g_autofree char *positions = g_strconcat (build->prefix, "positions", NULL);
  g_autofree char *norm = g_strconcat (build->prefix, "norm", NULL);

  if (build->input_width % settings->heads != 0)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "heads=%" G_GINT64_FORMAT " do not divide the width of %" G_GINT64_FORMAT
                       ": choose heads that do",
                       settings->heads, build->input_width);
  state->pre_norm = settings->norm == NORM_DECODER ? build->pre_norm : settings->norm == NORM_PRE;
  state->positions = plait_positions_declare (build->parameters, positions, (PlaitPositionKind)settings->positions,
                                              settings->position_limit, build->input_width);
  state->layers = plait_parameters_memory (build->parameters, settings->layers * sizeof (Layer));
  for (gint64 i = 0; i < settings->layers; i++)
    build_layer (build, settings, i, &state->layers[i]);
  if (state->pre_norm)
    state->norm = plait_norm_declare (build->parameters, norm, build->input_width);
  shape->n_memories = 1;
  shape->memories[0].width = build->input_width;
  return TRUE;
}

static PlaitNode *
apply_layer (PlaitTape *tape, const Settings *settings, const State *state, const Layer *layer, PlaitNode *x,
             PlaitRagged rows)
{
  PlaitNode *y = state->pre_norm ? plait_norm_apply (tape, &layer->attention_norm, x) : x;

  y = plait_attention_apply_self (tape, &layer->attention, y, rows, FALSE, NULL);
  x = plait_residual (tape, x, y, settings->dropout);
  if (!state->pre_norm)
    x = plait_norm_apply (tape, &layer->attention_norm, x);
  y = state->pre_norm ? plait_norm_apply (tape, &layer->feed_forward_norm, x) : x;
  y = plait_feed_forward_apply (tape, &layer->feed_forward, y);
  x = plait_residual (tape, x, y, settings->dropout);
  return state->pre_norm ? x : plait_norm_apply (tape, &layer->feed_forward_norm, x);
}

static void
encode (gconstpointer data, gconstpointer state_data, PlaitEncoding *encoding)
{
  const Settings *settings = data;
  const State *state = state_data;
  PlaitTape *tape = encoding->tape;
  PlaitRagged rows = encoding->input->rows;
  PlaitNode *x = plait_positions_apply (tape, &state->positions, encoding->embedded, rows, 0, settings->dropout);

  for (gint64 i = 0; i < settings->layers; i++)
    x = apply_layer (tape, settings, state, &state->layers[i], x, rows);
  if (state->pre_norm)
    x = plait_norm_apply (tape, &state->norm, x);
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
