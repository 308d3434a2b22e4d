/* SPDX-License-Identifier: MIT */
#include "recurrent.h"

/* Recurrent decoders; recurrent.h has the equations. */

gint64
recurrent_memory_width (gint64 context_width, gint64 width, const gint64 *widths, guint n)
{
  if (context_width > 0)
    return context_width;
  for (guint i = 1; i < n; i++)
    if (widths[i] != widths[0])
      return width;
  return widths[0];
}

/* Functions that compute the first state */

/* Returns tanh of the sum of @linears applied to @from. */
static PlaitNode *
first_state (const Recurrent *r, PlaitTape *tape, const PlaitLinear *linears, PlaitNode *const *from)
{
  PlaitNode **terms = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, r->n_initial + 1);

  for (guint i = 0; i < r->n_initial; i++)
    terms[i] = plait_linear_apply (tape, &linears[i], from[i], PLAIT_ACTIVATION_NONE);
  return plait_activate (tape, plait_add_n (tape, terms, r->n_initial), PLAIT_ACTIVATION_TANH);
}

void
recurrent_begin (PlaitDecoding *decoding, gconstpointer settings, gconstpointer state)
{
  const Recurrent *r = state;
  PlaitTape *tape = plait_decoding_tape (decoding);
  PlaitNode **from = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, r->n_initial + 1);

  if (r->n_initial == 0)
    return;
  for (guint i = 0; i < r->n_initial; i++)
    from[i] = r->settings.initial == RECURRENT_INITIAL_MEAN
                  ? plait_memory_mean (tape, plait_decoding_memory (decoding, i))
                  : plait_decoding_summary (decoding, i);
  for (gint64 i = 0; i < r->settings.layers; i++)
    {
      plait_decoding_carry (decoding, r->states[i], first_state (r, tape, r->initial_states + i * r->n_initial, from));
      if (r->settings.cell == PLAIT_CELL_LSTM)
        plait_decoding_carry (decoding, r->cell_states[i],
                              first_state (r, tape, r->initial_cells + i * r->n_initial, from));
    }
}

/* Functions that compute a step */

PlaitNode *
recurrent_read_out (const Recurrent *r, PlaitTape *tape, PlaitNode *state, PlaitNode *embedded, PlaitNode *context)
{
  PlaitNode *parts[3] = { state, context, embedded }, *out;
  guint n = r->settings.readout == RECURRENT_READOUT_DEEP ? 3 : 2;

  out = plait_linear_apply (tape, &r->readout, plait_concatenate_columns (tape, parts, n), PLAIT_ACTIVATION_TANH);
  return plait_dropout (tape, out, r->dropout);
}

static PlaitCellState
carried (PlaitDecoding *decoding, const Recurrent *r, gint64 layer)
{
  return (PlaitCellState){ plait_decoding_carried (decoding, r->states[layer]),
                           r->settings.cell == PLAIT_CELL_LSTM
                               ? plait_decoding_carried (decoding, r->cell_states[layer])
                               : NULL };
}

static void
carry (PlaitDecoding *decoding, const Recurrent *r, gint64 layer, PlaitCellState new)
{
  plait_decoding_carry (decoding, r->states[layer], new.state);
  if (new.cell)
    plait_decoding_carry (decoding, r->cell_states[layer], new.cell);
}

static PlaitNode *
add (PlaitTape *tape, PlaitNode *x, PlaitNode *y)
{
  return plait_add_n (tape, (PlaitNode *[]){ x, y }, 2);
}

void
recurrent_step (PlaitDecoding *decoding, gconstpointer settings, gconstpointer memory, PlaitNode *const *inputs,
                PlaitNode **outputs)
{
  const Recurrent *r = memory;
  PlaitTape *tape = plait_decoding_tape (decoding);
  gint64 layers = r->settings.layers, asking = r->settings.query == RECURRENT_QUERY_INTERMEDIATE ? 0 : layers - 1;
  PlaitNode *input = inputs[RECURRENT_INPUT_CELL], *context = NULL;
  PlaitNode *gate
      = plait_decoding_gate (decoding, r->cross, inputs[RECURRENT_INPUT_GATE], carried (decoding, r, asking).state);
  PlaitCellState state;

  if (r->settings.input_feeding)
    input = add (tape, input,
                 plait_linear_apply (tape, &r->feed, plait_decoding_carried (decoding, r->fed), PLAIT_ACTIVATION_NONE));
  if (r->settings.query == RECURRENT_QUERY_PREVIOUS)
    {
      context = plait_decoding_cross (decoding, r->cross, carried (decoding, r, layers - 1).state, gate).context;
      input = add (tape, input, plait_linear_apply (tape, &r->context, context, PLAIT_ACTIVATION_NONE));
    }
  state = plait_cell_step (tape, &r->cells[0], input, carried (decoding, r, 0));
  if (r->settings.query == RECURRENT_QUERY_INTERMEDIATE)
    {
      context = plait_decoding_cross (decoding, r->cross, state.state, gate).context;
      state = plait_cell_step (tape, &r->second, plait_cell_project (tape, &r->second, context), state);
    }
  carry (decoding, r, 0, state);
  for (gint64 i = 1; i < layers; i++)
    {
      PlaitNode *below = plait_dropout (tape, state.state, r->dropout);

      state = plait_cell_step (tape, &r->cells[i], plait_cell_project (tape, &r->cells[i], below),
                               carried (decoding, r, i));
      carry (decoding, r, i, state);
    }
  if (r->settings.query == RECURRENT_QUERY_CURRENT)
    context = plait_decoding_cross (decoding, r->cross, state.state, gate).context;
  outputs[RECURRENT_OUTPUT_STATE] = state.state;
  outputs[RECURRENT_OUTPUT_CONTEXT] = context;
  if (!r->settings.input_feeding)
    return;
  outputs[RECURRENT_OUTPUT_STATE]
      = recurrent_read_out (r, tape, state.state, inputs[RECURRENT_INPUT_EMBEDDING], context);
  plait_decoding_carry (decoding, r->fed, outputs[RECURRENT_OUTPUT_STATE]);
}

void
recurrent_inputs (PlaitDecoding *decoding, const Recurrent *r, PlaitNode *embedded, PlaitNode **inputs)
{
  inputs[RECURRENT_INPUT_CELL] = plait_cell_project (plait_decoding_tape (decoding), &r->cells[0], embedded);
  inputs[RECURRENT_INPUT_GATE] = plait_decoding_gate_input (decoding, r->cross, embedded);
  inputs[RECURRENT_INPUT_EMBEDDING] = r->settings.input_feeding ? embedded : NULL;
}

PlaitNode *
recurrent_decode (PlaitDecoding *decoding, gconstpointer settings, gconstpointer state, PlaitNode *embedded)
{
  const Recurrent *r = state;
  PlaitTape *tape = plait_decoding_tape (decoding);
  PlaitNode *read = plait_dropout (tape, embedded, r->dropout);
  PlaitNode *inputs[RECURRENT_INPUTS], *outputs[RECURRENT_OUTPUTS];

  recurrent_inputs (decoding, r, read, inputs);
  plait_decoding_steps (decoding, recurrent_step, inputs, RECURRENT_INPUTS, outputs, RECURRENT_OUTPUTS);
  if (r->settings.input_feeding)
    return outputs[RECURRENT_OUTPUT_STATE];
  return recurrent_read_out (r, tape, outputs[RECURRENT_OUTPUT_STATE], read, outputs[RECURRENT_OUTPUT_CONTEXT]);
}

/* Functions that build the decoder */

static PlaitCell
declare_cell (const Recurrent *r, PlaitParameters *parameters, const char *name, gint64 input_width,
              gboolean recurrent_bias)
{
  PlaitCellDeclaration declaration = {
    .kind = r->settings.cell,
    .reset = r->settings.reset,
    .input_width = input_width,
    .width = r->state_width,
    .forget_bias = 1,
    .recurrent_bias = recurrent_bias,
  };

  return plait_cell_declare (parameters, name, &declaration);
}

/* Declares the linear maps that compute the first state: in each layer, one map from each memory or summary. */
static PlaitLinear *
declare_initial (const Recurrent *r, const PlaitDecoderBuild *build, const char *part)
{
  const PlaitMemorySpecification *from
      = r->settings.initial == RECURRENT_INITIAL_MEAN ? build->memories : build->summaries;
  PlaitLinear *linears
      = plait_parameters_memory (build->parameters, ((gsize)r->settings.layers * r->n_initial + 1) * sizeof *linears);

  for (gint64 i = 0; i < r->settings.layers; i++)
    for (guint m = 0; m < r->n_initial; m++)
      {
        g_autofree char *name = g_strdup_printf ("decoder/layer/%jd/initial/%s/%s", i, part, from[m].name);

        linears[i * r->n_initial + m]
            = plait_linear_declare (build->parameters, name, from[m].width, r->state_width, m == 0);
      }
  return linears;
}

/* Declares the carried rows, in the order in which a step passes them to the next step. */
static void
declare_carried (Recurrent *r, PlaitDecoding *decoding, const PlaitDecoderBuild *build)
{
  gsize layers = (gsize)r->settings.layers;

  r->states = plait_parameters_memory (build->parameters, layers * sizeof *r->states);
  r->cell_states = plait_parameters_memory (build->parameters, layers * sizeof *r->cell_states);
  for (gsize i = 0; i < layers; i++)
    {
      r->states[i] = plait_decoding_declare_carried (decoding, r->state_width);
      if (r->settings.cell == PLAIT_CELL_LSTM)
        r->cell_states[i] = plait_decoding_declare_carried (decoding, r->state_width);
    }
  if (r->settings.input_feeding)
    r->fed = plait_decoding_declare_carried (decoding, r->width);
}

static void
declare_cells (Recurrent *r, const PlaitDecoderBuild *build)
{
  PlaitParameters *parameters = build->parameters;
  gint64 context = build->memories[0].width, gates = plait_cell_gates (r->settings.cell);

  r->cells = plait_parameters_memory (parameters, (gsize)r->settings.layers * sizeof *r->cells);
  for (gint64 i = 0; i < r->settings.layers; i++)
    {
      g_autofree char *name = g_strdup_printf ("decoder/layer/%jd/cell", i);

      r->cells[i] = declare_cell (r, parameters, name, i == 0 ? r->width : r->state_width, FALSE);
    }
  /* In dl4mt the second cell also has a recurrent bias, which the reset gate multiplies. */
  if (r->settings.query == RECURRENT_QUERY_INTERMEDIATE)
    r->second = declare_cell (r, parameters, "decoder/layer/0/second_cell", context,
                              r->settings.cell == PLAIT_CELL_GRU && r->settings.reset == PLAIT_RESET_AFTER);
  if (r->settings.query == RECURRENT_QUERY_PREVIOUS)
    r->context = plait_linear_declare_blocks (parameters, "decoder/layer/0/context", context, gates * r->state_width,
                                              (guint)gates, FALSE);
  if (r->settings.input_feeding)
    r->feed = plait_linear_declare_blocks (parameters, "decoder/layer/0/feed", r->width, gates * r->state_width,
                                           (guint)gates, FALSE);
}

gboolean
recurrent_build (Recurrent *r, PlaitDecoding *decoding, const PlaitDecoderBuild *build,
                 const RecurrentSettings *settings, GError **error)
{
  gint64 context = build->memories[0].width;
  PlaitCrossSettings cross = { .score = settings->attention };

  r->settings = *settings;
  r->width = build->width;
  r->state_width = settings->state_width == PLAIT_DECODER_WIDTH ? build->width : settings->state_width;
  r->dropout = build->dropout;
  if (settings->initial == RECURRENT_INITIAL_SUMMARY && build->n_summaries == 0)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "decoder.initial=summary: no encoder of this model gives a summary: take initial=mean, or an "
                       "encoder that gives one");
  if (settings->attention == PLAIT_SCORE_DOT && r->state_width != context)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "decoder.attention=dot: states are %jd wide and memories %jd: set decoder.context_width=%jd, or "
                       "take attention=multiplicative",
                       r->state_width, context, r->state_width);
  if (settings->initial != RECURRENT_INITIAL_ZERO)
    r->n_initial = settings->initial == RECURRENT_INITIAL_MEAN ? build->n_memories : build->n_summaries;
  declare_cells (r, build);
  cross.query_width = r->state_width;
  cross.attention_width = settings->attention_width ? settings->attention_width : r->state_width;
  r->cross = plait_decoding_declare_cross (decoding, "decoder/combiner/", &cross);
  declare_carried (r, decoding, build);
  r->readout = plait_linear_declare (
      build->parameters, "decoder/readout",
      r->state_width + context + (settings->readout == RECURRENT_READOUT_DEEP ? r->width : 0), r->width, TRUE);
  r->initial_states = declare_initial (r, build, "state");
  r->initial_cells = settings->cell == PLAIT_CELL_LSTM ? declare_initial (r, build, "cell") : NULL;
  return TRUE;
}
