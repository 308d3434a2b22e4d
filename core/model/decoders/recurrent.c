/* SPDX-License-Identifier: MIT */
#include "decoders/recurrent.h"

#include "autograd/internal.h"
#include "cross-attention/rows.h"

/* Recurrent decoders; recurrent.h has the equations. */

/*
 * Functions for one step
 */

/* Returns a pointer to node @i that steps carry: state and cell of each layer, then the readout. The node can be
 * NULL. */
static PlaitNode **
node_of (PlaitRecurrentCarried *carried, gint64 i, gint64 layers)
{
  if (i == 2 * layers)
    return &carried->readout;
  return i % 2 ? &carried->layers[i / 2].cell : &carried->layers[i / 2].state;
}

/* Returns the carried nodes with rows @rows [n] gathered; the cross-attention's part is copied unchanged. */
static PlaitRecurrentCarried
carry (const PlaitRecurrent *r, PlaitTape *tape, PlaitRecurrentCarried *carried, const gint64 *rows, gint64 n)
{
  gint64 layers = r->settings->layers;
  PlaitRecurrentCarried moved = *carried;

  moved.layers = plait_arena_new_array (plait_tape_arena (tape), PlaitCellState, layers);
  for (gint64 i = 0; i <= 2 * layers; i++)
    {
      PlaitNode *node = *node_of (carried, i, layers);

      *node_of (&moved, i, layers) = node ? plait_gather_rows (tape, node, rows, n) : NULL;
    }
  return moved;
}

PlaitNode *
plait_recurrent_read_out (const PlaitRecurrent *r, PlaitTape *tape, PlaitNode *state, PlaitNode *embedded,
                          PlaitNode *context)
{
  PlaitNode *parts[3] = { state, context, embedded }, *out;
  guint n = r->settings->readout == PLAIT_DECODER_READOUT_DEEP ? 3 : 2;

  out = plait_linear_apply (tape, &r->readout, plait_concatenate_columns (tape, parts, n), PLAIT_ACTIVATION_TANH);
  return plait_dropout (tape, out, r->settings->dropout);
}

PlaitRecurrentInput
plait_recurrent_input (const PlaitRecurrent *r, PlaitTape *tape, PlaitNode *embedded)
{
  return (PlaitRecurrentInput){ plait_cell_project (tape, &r->cells[0], embedded),
                                plait_cross_sentinel_gate_input (&r->cross, tape, embedded) };
}

PlaitRecurrentInput
plait_recurrent_input_rows (PlaitTape *tape, PlaitRecurrentInput input, const gint64 *rows, gint64 n)
{
  return (PlaitRecurrentInput){ plait_gather_rows (tape, input.cell, rows, n),
                                input.gate ? plait_gather_rows (tape, input.gate, rows, n) : NULL };
}

PlaitRecurrentStep
plait_recurrent_advance (const PlaitRecurrent *r, const PlaitCrossAttentionPass *pass, PlaitRecurrentInput from,
                         PlaitRecurrentCarried *carried)
{
  PlaitTape *tape = pass->tape;
  gint64 layers = r->settings->layers, asking = r->settings->query == PLAIT_DECODER_QUERY_INTERMEDIATE ? 0 : layers - 1;
  PlaitNode *input = from.cell, *context = NULL;

  carried->cross.gate = plait_cross_sentinel_gate (&r->cross, tape, from.gate, carried->layers[asking].state);
  if (r->settings->input_feeding)
    input = plait_add (tape, input, plait_linear_apply (tape, &r->feed, carried->readout, PLAIT_ACTIVATION_NONE));
  if (r->settings->query == PLAIT_DECODER_QUERY_PREVIOUS)
    {
      context = plait_cross_combine (&r->cross, pass, &carried->cross, carried->layers[layers - 1].state).context;
      input = plait_add (tape, input, plait_linear_apply (tape, &r->context, context, PLAIT_ACTIVATION_NONE));
    }
  carried->layers[0] = plait_cell_step (tape, &r->cells[0], input, carried->layers[0]);
  if (r->settings->query == PLAIT_DECODER_QUERY_INTERMEDIATE)
    {
      context = plait_cross_combine (&r->cross, pass, &carried->cross, carried->layers[0].state).context;
      carried->layers[0]
          = plait_cell_step (tape, &r->second, plait_cell_project (tape, &r->second, context), carried->layers[0]);
    }
  for (gint64 i = 1; i < layers; i++)
    {
      PlaitNode *below = plait_dropout (tape, carried->layers[i - 1].state, r->settings->dropout);

      carried->layers[i]
          = plait_cell_step (tape, &r->cells[i], plait_cell_project (tape, &r->cells[i], below), carried->layers[i]);
    }
  if (r->settings->query == PLAIT_DECODER_QUERY_CURRENT)
    context = plait_cross_combine (&r->cross, pass, &carried->cross, carried->layers[layers - 1].state).context;
  return (PlaitRecurrentStep){ carried->layers[layers - 1].state, context };
}

/*
 * Functions for the first state
 */

/* Returns tanh of the sum of @linears applied to @from, [n, state width]; zeros if n_initial is 0. */
static PlaitNode *
first_state (const PlaitRecurrent *r, PlaitTape *tape, const PlaitLinear *linears, PlaitNode *const *from, gint64 n)
{
  PlaitNode **terms = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, r->n_initial + 1);

  for (guint i = 0; i < r->n_initial; i++)
    terms[i] = plait_linear_apply (tape, &linears[i], from[i], PLAIT_ACTIVATION_NONE);
  if (r->n_initial == 0)
    return plait_zeros (tape, n, r->state_width);
  return plait_activate (tape, plait_add_n (tape, terms, r->n_initial), PLAIT_ACTIVATION_TANH);
}

/* Returns the states before the first step, one row for each of @n sentences; the cross-attention's part is empty. */
static PlaitRecurrentCarried
begin (const PlaitRecurrent *r, PlaitTape *tape, const PlaitEncoderOutputs *encoded, gint64 n)
{
  PlaitArena *arena = plait_tape_arena (tape);
  PlaitRecurrentCarried carried = { .layers = plait_arena_new_array (arena, PlaitCellState, r->settings->layers) };
  PlaitNode **from = plait_arena_new_array (arena, PlaitNode *, r->n_initial + 1);

  for (guint i = 0; i < r->n_initial; i++)
    from[i] = r->settings->initial == PLAIT_DECODER_INITIAL_MEAN ? plait_memory_mean (tape, &encoded->memories[i])
                                                                 : encoded->summaries[i];
  for (gint64 i = 0; i < r->settings->layers; i++)
    {
      carried.layers[i].state = first_state (r, tape, r->initial_states + i * r->n_initial, from, n);
      carried.layers[i].cell
          = plait_recurrent_has_cells (r) ? first_state (r, tape, r->initial_cells + i * r->n_initial, from, n) : NULL;
    }
  if (r->settings->input_feeding)
    carried.readout = plait_zeros (tape, n, r->settings->width);
  return carried;
}

/* Returns the embeddings of @n target tokens, plus role embeddings if @roles is not NULL, with dropout. */
static PlaitNode *
embed (const PlaitRecurrent *r, PlaitTape *tape, const gint32 *tokens, const gint32 *roles, gint64 n)
{
  return plait_dropout (tape, plait_decoder_embed (&r->build, tape, tokens, roles, n), r->settings->dropout);
}

/* Functions for whole targets: step t computes the sentences that are longer than t. */

static PlaitNode *
forward (const PlaitDecoder *decoder, PlaitTape *tape, const PlaitEncoderOutputs *encoded, PlaitRagged target_rows,
         const gint32 *target_inputs, PlaitAttentionRecord *record)
{
  const PlaitRecurrent *r = (const PlaitRecurrent *)decoder;
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 n = plait_ragged_rows (target_rows), steps = plait_ragged_longest (target_rows);
  PlaitCrossAttentionPass whole = plait_cross_pass (tape, encoded->memories, r->build.n_memories, target_rows, record);
  PlaitCrossAttentionKeys keys = plait_cross_project (&r->cross, tape, encoded->memories);
  PlaitNode *embedded = embed (r, tape, target_inputs, encoded->roles, n);
  PlaitRecurrentInput inputs = plait_recurrent_input (r, tape, embedded);
  PlaitRecurrentCarried carried = begin (r, tape, encoded, target_rows.n);
  PlaitStepRows rows = plait_step_rows (arena, target_rows, 0);
  PlaitNode **states = plait_arena_new_array (arena, PlaitNode *, steps + 1);
  PlaitNode **contexts = plait_arena_new_array (arena, PlaitNode *, steps + 1);

  whole.losses = encoded->losses;
  whole.rows_weighed = encoded->rows_weighed;
  carried.cross.keys = keys;
  carried.cross.coverage = plait_cross_initial_coverage (&r->cross, tape, encoded->memories, rows.queries);
  for (gint64 t = 0; t < steps; t++)
    {
      PlaitStepRows next = plait_step_rows (arena, target_rows, t + 1);
      gint64 here = plait_ragged_rows (rows.queries);
      PlaitCrossAttentionPass pass = plait_step_pass (&whole, &rows, &next);
      PlaitRecurrentStep step;

      carried = carry (r, tape, &carried, rows.before, here);
      step = plait_recurrent_advance (r, &pass, plait_recurrent_input_rows (tape, inputs, rows.target, here), &carried);
      if (r->settings->input_feeding)
        carried.readout = step.state = plait_recurrent_read_out (
            r, tape, step.state, plait_gather_rows (tape, embedded, rows.target, here), step.context);
      states[t] = step.state;
      contexts[t] = step.context;
      if (record)
        plait_attention_record_add_step (record, 0, pass.record, t);
      rows = next;
    }
  if (r->settings->input_feeding)
    return plait_concatenate_steps (tape, states, steps, target_rows);
  return plait_recurrent_read_out (r, tape, plait_concatenate_steps (tape, states, steps, target_rows), embedded,
                                   plait_concatenate_steps (tape, contexts, steps, target_rows));
}

/*
 * Functions for search
 */

/* State of a search. It copies what a step hands to the next, since each step clears its tape. */
typedef struct
{
  PlaitDecoderState state;
  PlaitCrossAttentionSearch cross;
  PlaitTensor *stored; /* [layers][state, cell], then the readout; data is NULL if the decoder has no such node */
  gint64 rows;         /* rows of the previous step; before the first step, one for each sentence */
} State;

/* Copies @rows rows of the carried nodes. */
static void
store (State *state, PlaitTape *tape, PlaitRecurrentCarried *carried, gint64 layers, gint64 rows)
{
  for (gint64 i = 0; i <= 2 * layers; i++)
    if (state->stored[i].data)
      plait_tensor_accumulate (plait_tape_pool (tape), plait_tensor_rows (state->stored[i], 0, rows), 0, 1,
                               (*node_of (carried, i, layers))->value);
  state->rows = rows;
}

static PlaitDecoderState *
start (const PlaitDecoder *decoder, PlaitTape *tape, const PlaitEncoderOutputs *encoded, gint64 hypotheses,
       gint64 steps)
{
  const PlaitRecurrent *r = (const PlaitRecurrent *)decoder;
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 layers = r->settings->layers, n = encoded->memories[0].rows.n;
  PlaitRecurrentCarried first = begin (r, tape, encoded, n);
  State *state = plait_arena_new_array (arena, State, 1);

  *state = (State){
    .cross = plait_cross_search (&r->cross, tape, encoded->memories, hypotheses),
    .stored = plait_arena_new_array (arena, PlaitTensor, 2 * layers + 1),
  };
  for (gint64 i = 0; i <= 2 * layers; i++)
    {
      const PlaitNode *node = *node_of (&first, i, layers);

      state->stored[i] = node ? plait_tape_tensor (tape, hypotheses, node->value.width) : (PlaitTensor){ 0 };
    }
  store (state, tape, &first, layers, n);
  return &state->state;
}

/* Returns the carried nodes of each hypothesis's parent as leaves of @tape, [n] rows. */
static PlaitRecurrentCarried
continued (const State *state, PlaitTape *tape, const gint64 *parents, gint64 n)
{
  const PlaitRecurrent *r = (const PlaitRecurrent *)state->state.decoder;
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 layers = r->settings->layers;
  PlaitRecurrentCarried before = { .layers = plait_arena_new_array (arena, PlaitCellState, layers) };

  for (gint64 i = 0; i <= 2 * layers; i++)
    *node_of (&before, i, layers)
        = state->stored[i].data ? plait_leaf (tape, plait_tensor_rows (state->stored[i], 0, state->rows), NULL) : NULL;
  return carry (r, tape, &before, parents, n);
}

static PlaitNode *
step (PlaitDecoderState *base, PlaitTape *tape, PlaitRagged hypotheses, const gint32 *tokens, const gint64 *parents,
      PlaitAttentionRecord *record)
{
  State *state = (State *)base;
  const PlaitRecurrent *r = (const PlaitRecurrent *)base->decoder;
  gint64 n = plait_ragged_rows (hypotheses);
  PlaitCrossAttentionPass pass
      = plait_cross_pass (tape, base->encoded.memories, r->build.n_memories, hypotheses, record);
  PlaitNode *embedded = embed (r, tape, tokens, base->encoded.roles, n), *out;
  PlaitRecurrentCarried carried = continued (state, tape, parents, n);
  PlaitRecurrentStep made;

  pass.rows_weighed = base->encoded.rows_weighed;
  carried.cross = plait_cross_search_step (&state->cross, &pass, parents);
  made = plait_recurrent_advance (r, &pass, plait_recurrent_input (r, tape, embedded), &carried);
  out = plait_recurrent_read_out (r, tape, made.state, embedded, made.context);
  if (r->settings->input_feeding)
    carried.readout = out;
  store (state, tape, &carried, r->settings->layers, n);
  plait_cross_search_keep (&state->cross, &pass, &carried.cross);
  return out;
}

static const PlaitDecoderTable recurrent_table = {
  .forward = forward,
  .start = start,
  .step = step,
};

/*
 * Functions that declare the decoder
 */

static PlaitCell
declare_cell (const PlaitRecurrent *r, const char *name, gint64 input_width, gboolean recurrent_bias)
{
  PlaitCellDeclaration declaration = {
    .kind = plait_recurrent_has_cells (r) ? PLAIT_CELL_LSTM : PLAIT_CELL_GRU,
    .reset = r->settings->reset,
    .input_width = input_width,
    .width = r->state_width,
    .forget_bias = 1,
    .recurrent_bias = recurrent_bias,
  };

  return plait_cell_declare (r->build.parameters, name, &declaration);
}

/* Declares the linear maps to the first state, for each layer and each memory or summary; the first map has a bias. */
static PlaitLinear *
declare_initial (const PlaitRecurrent *r, const char *part)
{
  const PlaitMemorySpecification *from
      = r->settings->initial == PLAIT_DECODER_INITIAL_MEAN ? r->build.memories : r->build.summaries;
  PlaitLinear *linears
      = plait_parameters_memory (r->build.parameters, (r->settings->layers * r->n_initial + 1) * sizeof *linears);

  for (gint64 i = 0; i < r->settings->layers; i++)
    for (guint m = 0; m < r->n_initial; m++)
      {
        g_autofree char *name = g_strdup_printf ("decoder/layer/%jd/initial/%s/%s", i, part, from[m].name);

        linears[i * r->n_initial + m]
            = plait_linear_declare (r->build.parameters, name, from[m].width, r->state_width, m == 0);
      }
  return linears;
}

static gboolean
declare_parts (PlaitRecurrent *r, GError **error)
{
  const PlaitDecoderSettings *settings = r->settings;
  PlaitParameters *parameters = r->build.parameters;
  gint64 context = r->build.memories[0].width, gates = plait_recurrent_has_cells (r) ? 4 : 3, parts;

  r->cells = plait_parameters_memory (parameters, settings->layers * sizeof *r->cells);
  for (gint64 i = 0; i < settings->layers; i++)
    {
      g_autofree char *name = g_strdup_printf ("decoder/layer/%jd/cell", i);

      r->cells[i] = declare_cell (r, name, i == 0 ? settings->width : r->state_width, FALSE);
    }
  /* A bias on the recurrent product of the second cell, as in dl4mt, where the reset gate also multiplies it. */
  if (settings->query == PLAIT_DECODER_QUERY_INTERMEDIATE)
    r->second = declare_cell (r, "decoder/layer/0/second_cell", context,
                              !plait_recurrent_has_cells (r) && settings->reset == PLAIT_RESET_AFTER);
  if (settings->query == PLAIT_DECODER_QUERY_PREVIOUS)
    r->context = plait_linear_declare_blocks (parameters, "decoder/layer/0/context", context, gates * r->state_width,
                                              (guint)gates, FALSE);
  if (settings->input_feeding)
    r->feed = plait_linear_declare_blocks (parameters, "decoder/layer/0/feed", settings->width, gates * r->state_width,
                                           (guint)gates, FALSE);
  if (settings->attention == PLAIT_SCORE_DOT && r->state_width != context)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "decoder.attention=dot: states are %jd wide and memories %jd: set decoder.context_width=%jd, or "
                       "take attention=multiplicative",
                       r->state_width, context, r->state_width);
  if (!plait_cross_layer_build (&r->cross, &r->build, r->state_width, context, "decoder/combiner/", error))
    return FALSE;
  parts = r->state_width + context + (settings->readout == PLAIT_DECODER_READOUT_DEEP ? settings->width : 0);
  r->readout = plait_linear_declare (parameters, "decoder/readout", parts, settings->width, TRUE);
  r->initial_states = declare_initial (r, "state");
  r->initial_cells = plait_recurrent_has_cells (r) ? declare_initial (r, "cell") : NULL;
  return TRUE;
}

PlaitDecoder *
plait_recurrent_decoder_new (const PlaitDecoderBuild *build, GError **error)
{
  PlaitRecurrent *r = plait_parameters_memory (build->parameters, sizeof *r);
  const PlaitDecoderSettings *settings = build->settings;

  r->decoder.table = &recurrent_table;
  r->decoder.n_layers = 1;
  r->build = *build;
  r->settings = settings;
  r->state_width = settings->state_width == PLAIT_DECODER_WIDTH ? settings->width : settings->state_width;
  if (settings->initial == PLAIT_DECODER_INITIAL_SUMMARY && build->n_summaries == 0)
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "decoder.initial=summary: no encoder of this model gives a summary: take initial=mean, or "
                            "an encoder that gives one");
  if (settings->initial != PLAIT_DECODER_INITIAL_ZERO)
    r->n_initial = settings->initial == PLAIT_DECODER_INITIAL_MEAN ? build->n_memories : build->n_summaries;
  if (!declare_parts (r, error))
    return NULL;
  return &r->decoder;
}
