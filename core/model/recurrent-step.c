/* SPDX-License-Identifier: MIT */
#include "model/recurrent-step.h"

#include "model/memory-row.h"

#include <string.h>

PlaitRecurrentCarried
plait_recurrent_carry (const PlaitRecurrent *r, PlaitTape *tape, const PlaitRecurrentCarried *carried,
                       const gint64 *rows, gint64 n)
{
  PlaitRecurrentCarried moved = *carried;

  moved.layers = plait_arena_new_array (plait_tape_arena (tape), PlaitCellState, r->settings->layers);
  for (gint64 i = 0; i < r->settings->layers; i++)
    {
      moved.layers[i].state = plait_gather_rows (tape, carried->layers[i].state, rows, n);
      moved.layers[i].cell
          = plait_recurrent_has_cells (r) ? plait_gather_rows (tape, carried->layers[i].cell, rows, n) : NULL;
    }
  if (r->settings->input_feeding)
    moved.readout = plait_gather_rows (tape, carried->readout, rows, n);
  return moved;
}

static PlaitNode *
add (PlaitTape *tape, PlaitNode *x, PlaitNode *y)
{
  return plait_sum (tape, (PlaitNode *[]){ x, y }, 2);
}

PlaitNode *
plait_recurrent_read_out (const PlaitRecurrent *r, PlaitTape *tape, PlaitNode *state, PlaitNode *embedded,
                          PlaitNode *context)
{
  PlaitNode *parts[3] = { state, context, embedded }, *out;
  guint n = r->settings->readout == PLAIT_READOUT_DEEP ? 3 : 2;

  out = plait_linear_apply (tape, &r->readout, plait_concatenate_columns (tape, parts, n), PLAIT_ACTIVATION_TANH);
  return plait_dropout (tape, out, r->settings->dropout);
}

static PlaitNode *
combine (const PlaitRecurrent *r, const PlaitSitePass *pass, const PlaitSiteKeys *keys, PlaitNode *query,
         PlaitNode *gate, const PlaitRecurrentCarried *carried)
{
  PlaitSiteStep step = { .gate = gate, .coverage = carried->coverage };

  return plait_site_combine (&r->site, pass, keys, &step, query).context;
}

PlaitRecurrentInput
plait_recurrent_input (const PlaitRecurrent *r, PlaitTape *tape, PlaitNode *embedded)
{
  return (PlaitRecurrentInput){ plait_cell_project (tape, &r->cells[0], embedded),
                                plait_site_gate_input (&r->site, tape, embedded) };
}

PlaitRecurrentInput
plait_recurrent_input_rows (PlaitTape *tape, PlaitRecurrentInput input, const gint64 *rows, gint64 n)
{
  return (PlaitRecurrentInput){ plait_gather_rows (tape, input.cell, rows, n),
                                input.gate ? plait_gather_rows (tape, input.gate, rows, n) : NULL };
}

PlaitRecurrentStep
plait_recurrent_advance (const PlaitRecurrent *r, const PlaitSitePass *pass, const PlaitSiteKeys *keys,
                         PlaitRecurrentInput from, PlaitRecurrentCarried *carried)
{
  PlaitTape *tape = pass->tape;
  gint64 layers = r->settings->layers, asking = r->settings->query == PLAIT_QUERY_INTERMEDIATE ? 0 : layers - 1;
  PlaitNode *gate = plait_site_gate (&r->site, tape, from.gate, carried->layers[asking].state);
  PlaitNode *input = from.cell, *context = NULL;

  if (r->settings->input_feeding)
    input = add (tape, input, plait_linear_apply (tape, &r->feed, carried->readout, PLAIT_ACTIVATION_NONE));
  if (r->settings->query == PLAIT_QUERY_PREVIOUS)
    {
      context = combine (r, pass, keys, carried->layers[layers - 1].state, gate, carried);
      input = add (tape, input, plait_linear_apply (tape, &r->context, context, PLAIT_ACTIVATION_NONE));
    }
  carried->layers[0] = plait_cell_step (tape, &r->cells[0], input, carried->layers[0]);
  if (r->settings->query == PLAIT_QUERY_INTERMEDIATE)
    {
      context = combine (r, pass, keys, carried->layers[0].state, gate, carried);
      carried->layers[0]
          = plait_cell_step (tape, &r->second, plait_cell_project (tape, &r->second, context), carried->layers[0]);
    }
  for (gint64 i = 1; i < layers; i++)
    {
      PlaitNode *below = plait_dropout (tape, carried->layers[i - 1].state, r->settings->dropout);

      carried->layers[i]
          = plait_cell_step (tape, &r->cells[i], plait_cell_project (tape, &r->cells[i], below), carried->layers[i]);
    }
  if (r->settings->query == PLAIT_QUERY_CURRENT)
    context = combine (r, pass, keys, carried->layers[layers - 1].state, gate, carried);
  return (PlaitRecurrentStep){ carried->layers[layers - 1].state, context };
}

/*
 * The first state
 */

/* tanh of the sum of what @linears make of @from; zeros without any. */
static PlaitNode *
first_state (const PlaitRecurrent *r, PlaitTape *tape, const PlaitLinear *linears, PlaitNode *const *from, gint64 n)
{
  PlaitArena *arena = plait_tape_arena (tape);
  PlaitNode **terms = plait_arena_new_array (arena, PlaitNode *, r->n_initial + 1);
  PlaitScalar *zeros;

  for (guint i = 0; i < r->n_initial; i++)
    terms[i] = plait_linear_apply (tape, &linears[i], from[i], PLAIT_ACTIVATION_NONE);
  if (r->n_initial > 0)
    return plait_activate (tape, plait_sum (tape, terms, r->n_initial), PLAIT_ACTIVATION_TANH);
  zeros = plait_arena_new_array (arena, PlaitScalar, n * r->state_width + 1);
  memset (zeros, 0, (gsize)(n * r->state_width) * sizeof *zeros);
  return plait_leaf (tape, plait_tensor (zeros, n, r->state_width), NULL);
}

PlaitRecurrentCarried
plait_recurrent_begin (const PlaitRecurrent *r, PlaitTape *tape, const PlaitDecoderSources *sources, gint64 n)
{
  PlaitArena *arena = plait_tape_arena (tape);
  PlaitRecurrentCarried carried = { .layers = plait_arena_new_array (arena, PlaitCellState, r->settings->layers) };
  PlaitNode **from = plait_arena_new_array (arena, PlaitNode *, r->n_initial + 1);
  gint64 width = r->settings->width;

  for (guint i = 0; i < r->n_initial; i++)
    from[i] = r->settings->initial == PLAIT_INITIAL_MEAN ? plait_memory_mean (tape, &sources->memories[i])
                                                         : sources->summaries[i];
  for (gint64 i = 0; i < r->settings->layers; i++)
    {
      carried.layers[i].state = first_state (r, tape, r->initial_states + i * r->n_initial, from, n);
      carried.layers[i].cell
          = plait_recurrent_has_cells (r) ? first_state (r, tape, r->initial_cells + i * r->n_initial, from, n) : NULL;
    }
  if (r->settings->input_feeding)
    {
      PlaitScalar *zeros = plait_arena_new_array (arena, PlaitScalar, n * width + 1);

      memset (zeros, 0, (gsize)(n * width) * sizeof *zeros);
      carried.readout = plait_leaf (tape, plait_tensor (zeros, n, width), NULL);
    }
  return carried;
}

PlaitNode *
plait_recurrent_embed (const PlaitRecurrent *r, PlaitTape *tape, const gint32 *tokens, const gint32 *roles, gint64 n)
{
  return plait_dropout (tape, plait_decoder_embed (&r->build, tape, tokens, roles, n), r->settings->dropout);
}
