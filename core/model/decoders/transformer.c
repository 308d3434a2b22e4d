/* SPDX-License-Identifier: MIT */
#include "autograd/internal.h"
#include "decoders/decoder.h"
#include "cross-attention/rows.h"
#include "layers/feed-forward.h"
#include "layers/positions.h"
#include "layers/attention.h"

#include <string.h>

/*
 * The Transformer decoder: each layer has causal self-attention, cross-attention filled by the combiner, and
 * feed-forward (Vaswani et al. 2017; Libovicky et al. 2018, section 2), pre-norm or post-norm.
 */

typedef struct
{
  PlaitNorm self_norm;
  PlaitAttention self;
  PlaitCrossAttentionLayer cross;
  PlaitNorm feed_forward_norm;
  PlaitFeedForward feed_forward;
} Layer;

typedef struct
{
  PlaitDecoder decoder;
  PlaitDecoderBuild build;
  const PlaitDecoderSettings *settings;
  PlaitPositions positions;
  PlaitNorm embedding_norm; /* declared if decoder.embedding_norm */
  Layer *layers;
  PlaitNorm norm; /* after the last layer, for pre-norm only */
} Transformer;

/* State of a search: projected memories, and keys and values of all target rows so far. The ancestry lists the cache
 * rows of each hypothesis, so reordering hypotheses copies no keys. */
typedef struct
{
  PlaitDecoderState state;
  PlaitCrossAttentionSearch *cross_attentions;
  PlaitAttentionCache *caches; /* [layers] */
  gint64 steps;                /* steps done */
  gint64 limit;
  gint64 *ancestry; /* [hypotheses][limit]: cache rows of each hypothesis of the previous step */
  gint64 *next;     /* [hypotheses][limit]: buffer for the current step */
} State;

static PlaitNode *
residual (const Transformer *t, PlaitTape *tape, const PlaitNorm *norm, PlaitNode *x, PlaitNode *y)
{
  PlaitNode *sum = plait_residual (tape, x, y, t->settings->dropout);

  return t->settings->norm == PLAIT_DECODER_NORM_POST ? plait_norm_apply (tape, norm, sum) : sum;
}

static PlaitNode *
normalise (const Transformer *t, PlaitTape *tape, const PlaitNorm *norm, PlaitNode *x)
{
  return t->settings->norm == PLAIT_DECODER_NORM_PRE ? plait_norm_apply (tape, norm, x) : x;
}

static PlaitNode *
embed (const Transformer *t, PlaitTape *tape, const gint32 *tokens, const gint32 *roles, PlaitRagged rows, gint64 first)
{
  PlaitNode *x = plait_decoder_embed (&t->build, tape, tokens, roles, plait_ragged_rows (rows));

  return plait_positions_apply_norm (tape, &t->positions, &t->embedding_norm, x, rows, first, t->settings->dropout);
}

static PlaitNode *
feed (const Transformer *t, PlaitTape *tape, const Layer *layer, PlaitNode *x)
{
  PlaitNode *hidden = normalise (t, tape, &layer->feed_forward_norm, x);

  hidden = plait_feed_forward_apply (tape, &layer->feed_forward, hidden);
  return residual (t, tape, &layer->feed_forward_norm, x, hidden);
}

/* Runs the combiner step by step, since coverage depends on the previous step. Self-attention does not, so all its rows
 * are computed before. */
static PlaitNode *
read_by_steps (const PlaitCrossAttentionLayer *cross, const PlaitCrossAttentionPass *whole,
               PlaitCrossAttentionStep step, PlaitNode *x)
{
  PlaitTape *tape = whole->tape;
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 steps = plait_ragged_longest (whole->queries);
  PlaitStepRows rows = plait_step_rows (arena, whole->queries, 0);
  PlaitNode **made = plait_arena_new_array (arena, PlaitNode *, steps + 1);
  guint layer = step.layer;

  step.layer = 0; /* layer in the attention record of the step, which has one layer */
  step.coverage = plait_cross_initial_coverage (cross, tape, whole->memories, rows.queries);
  for (gint64 s = 0; s < steps; s++)
    {
      PlaitStepRows next = plait_step_rows (arena, whole->queries, s + 1);
      PlaitCrossAttentionPass pass = plait_step_pass (whole, &rows, &next);

      made[s] = plait_cross_combine (cross, &pass, &step,
                                     plait_gather_rows (tape, x, rows.target, plait_ragged_rows (rows.queries)))
                    .query;
      if (whole->record)
        plait_attention_record_add_step (whole->record, layer, pass.record, s);
      rows = next;
    }
  return plait_concatenate_steps (tape, made, steps, whole->queries);
}

/* A layer and its input. */
typedef struct
{
  const Transformer *t;
  PlaitCrossAttentionPass pass;
  guint layer;
  PlaitNode *x;
} Running;

static PlaitNode *
apply_layer (PlaitTape *tape, gconstpointer data)
{
  const Running *running = data;
  const Transformer *t = running->t;
  const PlaitCrossAttentionPass *pass = &running->pass;
  const Layer *layer = &t->layers[running->layer];
  PlaitCrossAttentionStep step
      = { .keys = plait_cross_project (&layer->cross, tape, pass->memories), .layer = running->layer };
  PlaitNode *x = running->x, *y = normalise (t, tape, &layer->self_norm, x);

  y = plait_attention_apply_self (tape, &layer->self, y, pass->queries, TRUE, NULL);
  x = residual (t, tape, &layer->self_norm, x, y);
  x = plait_cross_layer_is_stepwise (&layer->cross) ? read_by_steps (&layer->cross, pass, step, x)
                                                    : plait_cross_combine (&layer->cross, pass, &step, x).query;
  return feed (t, tape, layer, x);
}

/* TRUE if the layer only computes states. Records, costs and losses would be added a second time when backward computes
 * it again. */
static gboolean
can_be_recomputed (const PlaitCrossAttentionLayer *cross, const PlaitCrossAttentionPass *pass)
{
  return !pass->record && !pass->rows_weighed && !plait_cross_layer_has_losses (cross);
}

static PlaitNode *
forward (const PlaitDecoder *decoder, PlaitTape *tape, const PlaitEncoderOutputs *encoded, PlaitRagged target_rows,
         const gint32 *target_inputs, PlaitAttentionRecord *record)
{
  const Transformer *t = (const Transformer *)decoder;
  Running running = {
    .t = t,
    .pass = plait_cross_pass (tape, encoded->memories, t->build.n_memories, target_rows, record),
    .x = embed (t, tape, target_inputs, encoded->roles, target_rows, 0),
  };

  running.pass.losses = encoded->losses;
  running.pass.rows_weighed = encoded->rows_weighed;
  for (gint64 i = 0; i < t->settings->layers; i++)
    {
      running.layer = (guint)i;
      running.x = can_be_recomputed (&t->layers[i].cross, &running.pass)
                      ? plait_tape_recomputed (tape, apply_layer, &running, sizeof running)
                      : apply_layer (tape, &running);
    }
  return normalise (t, tape, &t->norm, running.x);
}

static PlaitDecoderState *
start (const PlaitDecoder *decoder, PlaitTape *tape, const PlaitEncoderOutputs *encoded, gint64 hypotheses,
       gint64 steps)
{
  const Transformer *t = (const Transformer *)decoder;
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 layers = t->settings->layers, rows = hypotheses * steps, width = 2 * t->settings->width;
  State *state = plait_arena_new_array (arena, State, 1);

  *state = (State){ .limit = steps };
  state->cross_attentions = plait_arena_new_array (arena, PlaitCrossAttentionSearch, layers);
  state->caches = plait_arena_new_array (arena, PlaitAttentionCache, layers);
  state->ancestry = plait_arena_new_array (arena, gint64, rows);
  state->next = plait_arena_new_array (arena, gint64, rows);
  for (gint64 i = 0; i < layers; i++)
    {
      state->cross_attentions[i] = plait_cross_search (&t->layers[i].cross, tape, encoded->memories, hypotheses);
      state->caches[i] = (PlaitAttentionCache){ plait_tape_tensor (tape, rows, width), 0 };
    }
  return &state->state;
}

/* Appends the new row of each hypothesis to the ancestry of its parent, and returns the offsets. Row numbers are equal
 * in all layers. */
static PlaitRagged
follow (State *state, PlaitArena *arena, const gint64 *parents, gint64 n)
{
  gint64 length = state->steps + 1;
  gint64 *offsets = plait_arena_new_array (arena, gint64, n + 1);
  gint64 *swap = state->ancestry;

  for (gint64 i = 0; i < n; i++)
    {
      gint64 *line = state->next + i * length;

      memcpy (line, state->ancestry + parents[i] * state->steps, state->steps * sizeof *line);
      line[state->steps] = state->caches[0].used + i;
      offsets[i] = i * length;
    }
  offsets[n] = n * length;
  state->ancestry = state->next;
  state->next = swap;
  state->steps = length;
  return (PlaitRagged){ n, offsets };
}

static PlaitNode *
step (PlaitDecoderState *base, PlaitTape *tape, PlaitRagged hypotheses, const gint32 *tokens, const gint64 *parents,
      PlaitAttentionRecord *record)
{
  State *state = (State *)base;
  const Transformer *t = (const Transformer *)base->decoder;
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 n = plait_ragged_rows (hypotheses);
  gint64 position = state->steps;
  PlaitCrossAttentionPass pass
      = plait_cross_pass (tape, base->encoded.memories, t->build.n_memories, hypotheses, record);
  PlaitRagged rows;
  PlaitNode *x;

  pass.rows_weighed = base->encoded.rows_weighed;
  g_assert (position < state->limit);
  rows = follow (state, arena, parents, n);
  x = embed (t, tape, tokens, base->encoded.roles, plait_ragged_units (arena, n), position);
  for (gint64 i = 0; i < t->settings->layers; i++)
    {
      const Layer *layer = &t->layers[i];
      PlaitCrossAttentionStep cross = plait_cross_search_step (&state->cross_attentions[i], &pass, parents);
      PlaitNode *y = normalise (t, tape, &layer->self_norm, x);

      cross.layer = (guint)i;
      y = plait_attention_step (tape, &layer->self, y, &state->caches[i], rows, state->ancestry, NULL);
      x = residual (t, tape, &layer->self_norm, x, y);
      x = plait_cross_combine (&layer->cross, &pass, &cross, x).query;
      plait_cross_search_keep (&state->cross_attentions[i], &pass, &cross);
      x = feed (t, tape, layer, x);
    }
  return normalise (t, tape, &t->norm, x);
}

static gboolean
check_length (const PlaitDecoder *decoder, gint64 length, GError **error)
{
  const Transformer *t = (const Transformer *)decoder;

  if (t->positions.kind == PLAIT_POSITIONS_LEARNED && length > t->positions.length)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "a target of %jd rows is longer than decoder.position_limit=%jd learned positions reach: raise "
                       "it, or lower data.maximum_target_length or decode.maximum_length",
                       length, t->positions.length);
  return TRUE;
}

static const PlaitDecoderTable transformer_table = {
  .check_length = check_length,
  .forward = forward,
  .start = start,
  .step = step,
};

static gboolean
build_layer (Transformer *t, guint i, GError **error)
{
  const PlaitDecoderSettings *settings = t->settings;
  PlaitParameters *parameters = t->build.parameters;
  Layer *layer = &t->layers[i];
  g_autofree char *prefix = g_strdup_printf ("decoder/layer/%u", i);
  g_autofree char *self = g_strconcat (prefix, "/self_attention", NULL);
  g_autofree char *self_norm = g_strconcat (prefix, "/self_attention_norm", NULL);
  g_autofree char *combiner = g_strconcat (prefix, "/combiner/", NULL);
  g_autofree char *feed_forward = g_strconcat (prefix, "/feed_forward", NULL);
  g_autofree char *feed_forward_norm = g_strconcat (prefix, "/feed_forward_norm", NULL);
  PlaitAttentionDeclaration attention = {
    .width = settings->width,
    .heads = (guint)settings->heads,
    .dropout = settings->attention_dropout,
    .biases = settings->attention_bias,
  };

  layer->self_norm = plait_norm_declare (parameters, self_norm, settings->width);
  layer->self = plait_attention_declare_self (parameters, self, &attention);
  if (!plait_cross_layer_build (&layer->cross, &t->build, settings->width, settings->width, combiner, error))
    return FALSE;
  layer->feed_forward_norm = plait_norm_declare (parameters, feed_forward_norm, settings->width);
  layer->feed_forward = plait_feed_forward_declare (parameters, feed_forward, settings->width, settings->feed_forward,
                                                    plait_feed_forward_activation (settings->activation),
                                                    settings->feed_forward_dropout);
  return TRUE;
}

PlaitDecoder *
plait_transformer_decoder_new (const PlaitDecoderBuild *build, GError **error)
{
  const PlaitDecoderSettings *settings = build->settings;
  Transformer *t = plait_parameters_memory (build->parameters, sizeof *t);

  if (settings->width % settings->heads != 0)
    return plait_fail_null (
        error, PLAIT_ERROR_INPUT,
        "decoder.width=%jd is not a multiple of decoder.heads=%jd: choose heads that divide the width", settings->width,
        settings->heads);
  t->decoder.table = &transformer_table;
  t->decoder.n_layers = (guint)settings->layers;
  t->build = *build;
  t->settings = settings;
  t->positions = plait_positions_declare (build->parameters, "decoder/positions", settings->positions,
                                          settings->position_limit, settings->width);
  if (settings->embedding_norm)
    t->embedding_norm = plait_norm_declare (build->parameters, "decoder/embedding_norm", settings->width);
  t->layers = plait_parameters_memory (build->parameters, settings->layers * sizeof (Layer));
  for (gint64 i = 0; i < settings->layers; i++)
    if (!build_layer (t, (guint)i, error))
      return NULL;
  if (settings->norm == PLAIT_DECODER_NORM_PRE)
    t->norm = plait_norm_declare (build->parameters, "decoder/norm", settings->width);
  return &t->decoder;
}
