/* SPDX-License-Identifier: MIT */
#include "decoders/decoding.h"

#include <string.h>

#include "autograd/internal.h"

/* Functions that a decoder plugin calls while the model runs: over whole targets, in one step over whole targets, or in
 * one step of a search, where each hypothesis has one new row. */

PlaitTape *
plait_decoding_tape (PlaitDecoding *decoding)
{
  plait_decoding_expect_phase (decoding, G_STRFUNC,
                               PLAIT_DECODING_IN_BEGIN | PLAIT_DECODING_IN_DECODE | PLAIT_DECODING_IN_STEP);
  return decoding->tape;
}

PlaitRagged
plait_decoding_rows (PlaitDecoding *decoding)
{
  plait_decoding_expect_phase (decoding, G_STRFUNC, PLAIT_DECODING_IN_DECODE | PLAIT_DECODING_IN_STEP);
  return decoding->rows;
}

gint64
plait_decoding_first_position (PlaitDecoding *decoding)
{
  plait_decoding_expect_phase (decoding, G_STRFUNC, PLAIT_DECODING_IN_DECODE | PLAIT_DECODING_IN_STEP);
  return decoding->first_position;
}

const PlaitMemory *
plait_decoding_memory (PlaitDecoding *decoding, guint memory)
{
  if (!plait_decoding_expect_phase (decoding, G_STRFUNC, PLAIT_DECODING_IN_BEGIN))
    return NULL;
  if (memory >= decoding->decoder->components.n_memories)
    plait_tape_fail (decoding->tape, "%s: there is no memory %u; memories are numbered 0 to %u", G_STRFUNC, memory,
                     decoding->decoder->components.n_memories - 1);
  return &decoding->encoded->memories[memory];
}

PlaitNode *
plait_decoding_summary (PlaitDecoding *decoding, guint summary)
{
  if (!plait_decoding_expect_phase (decoding, G_STRFUNC, PLAIT_DECODING_IN_BEGIN))
    return NULL;
  if (summary >= decoding->decoder->components.n_summaries)
    plait_tape_fail (decoding->tape, "%s: there is no summary %u; this model has %u", G_STRFUNC, summary,
                     decoding->decoder->components.n_summaries);
  return decoding->encoded->summaries[summary];
}

/* Returns primitive @number of @kind for a call that is allowed in decode, but not in the steps of
 * plait_decoding_steps. */
static const PlaitPrimitive *
call_in_decode (PlaitDecoding *decoding, const char *call, PlaitPrimitiveKind kind, guint number)
{
  return plait_decoding_call (decoding, call, PLAIT_DECODING_IN_DECODE, kind, number);
}

/* Fails the step unless @x is [rows, width]. */
static void
expect_rows (const PlaitDecoding *decoding, const char *call, const PlaitNode *x, gint64 width)
{
  gint64 rows = plait_ragged_rows (decoding->rows);

  if (!x || x->value.rows != rows || x->value.width != width)
    plait_tape_fail (decoding->tape, "%s: got a node [%jd, %jd], expected [%jd, %jd]", call, x ? x->value.rows : 0,
                     x ? x->value.width : 0, rows, width);
}

PlaitNode *
plait_decoding_attend (PlaitDecoding *decoding, guint attend, PlaitNode *x)
{
  const PlaitPrimitive *primitive = call_in_decode (decoding, G_STRFUNC, PLAIT_PRIMITIVE_ATTEND, attend);
  PlaitDecoderState *search = decoding->search;

  if (!primitive)
    return NULL;
  expect_rows (decoding, G_STRFUNC, x, decoding->decoder->build.width);
  if (!search)
    return plait_attention_apply_self (decoding->tape, &primitive->attention, x,
                                       primitive->sentences ? decoding->sentence_rows : decoding->rows, TRUE, NULL);
  return plait_attention_step (decoding->tape, &primitive->attention, x, &search->kept[attend].cache,
                               primitive->sentences ? decoding->sentence_rows : decoding->ancestry_rows,
                               primitive->sentences ? decoding->sentence_ancestry : search->ancestry, NULL);
}

/* Returns the row numbers that the convolution reads for each row: @size numbers, the row itself last; -1 before the
 * first row of the target. */
static const gint64 *
windows (PlaitArena *arena, PlaitRagged rows, gint64 size)
{
  gint64 *found = plait_arena_new_array (arena, gint64, plait_ragged_rows (rows) * size + 1), *next = found;

  for (gint64 s = 0; s < rows.n; s++)
    for (gint64 row = rows.offsets[s]; row < rows.offsets[s + 1]; row++)
      for (gint64 back = size - 1; back >= 0; back--)
        *next++ = row - back >= rows.offsets[s] ? row - back : -1;
  return found;
}

PlaitNode *
plait_decoding_convolve (PlaitDecoding *decoding, guint convolve, PlaitNode *x)
{
  const PlaitPrimitive *primitive = call_in_decode (decoding, G_STRFUNC, PLAIT_PRIMITIVE_CONVOLVE, convolve);
  PlaitTape *tape = decoding->tape;
  PlaitNode *read = x;
  gint64 n, in;

  if (!primitive)
    return NULL;
  n = plait_ragged_rows (decoding->rows);
  in = primitive->convolution.weight->value.rows / primitive->size;
  expect_rows (decoding, G_STRFUNC, x, in);
  if (primitive->size > 1 && decoding->search)
    {
      PlaitKeptRows *kept = &decoding->search->kept[convolve].state;
      PlaitNode *parts[] = { plait_kept_rows_follow (kept, tape, decoding->parents, n), x };

      read = plait_concatenate_columns (tape, parts, 2);
      plait_kept_rows_store (kept, tape, plait_columns (tape, read, in, primitive->width));
    }
  else if (primitive->size > 1)
    read = plait_gather_windows (tape, x, windows (plait_tape_arena (tape), decoding->rows, primitive->size), n,
                                 primitive->size);
  return plait_linear_apply (tape, &primitive->convolution, read, PLAIT_ACTIVATION_NONE);
}

PlaitNode *
plait_decoding_scan (PlaitDecoding *decoding, guint scan, PlaitNode *a, PlaitNode *b)
{
  const PlaitPrimitive *primitive = call_in_decode (decoding, G_STRFUNC, PLAIT_PRIMITIVE_SCAN, scan);
  PlaitTape *tape = decoding->tape;
  PlaitKeptRows *kept;
  PlaitNode *kept_state, *state;

  if (!primitive)
    return NULL;
  expect_rows (decoding, G_STRFUNC, a, primitive->width);
  expect_rows (decoding, G_STRFUNC, b, primitive->width);
  if (!decoding->search)
    return plait_scan (tape, a, b, NULL, decoding->rows);
  kept = &decoding->search->kept[scan].state;
  kept_state = plait_multiply (tape, a, plait_kept_rows_follow (kept, tape, decoding->parents, a->value.rows));
  state = plait_add_n (tape, (PlaitNode *[]){ kept_state, b }, 2);
  plait_kept_rows_store (kept, tape, state);
  return state;
}

PlaitNode *
plait_decoding_recur (PlaitDecoding *decoding, guint recur, PlaitNode *projected)
{
  const PlaitPrimitive *primitive = call_in_decode (decoding, G_STRFUNC, PLAIT_PRIMITIVE_RECUR, recur);
  PlaitTape *tape = decoding->tape;
  PlaitCellState state = { NULL, NULL };
  PlaitKept *kept;
  gboolean has_cell;
  gint64 n;

  if (!primitive)
    return NULL;
  n = plait_ragged_rows (decoding->rows);
  has_cell = primitive->cell.declaration.kind == PLAIT_CELL_LSTM;
  expect_rows (decoding, G_STRFUNC, projected, plait_cell_gates (primitive->cell.declaration.kind) * primitive->width);
  if (!decoding->search)
    return plait_cell_run (tape, &primitive->cell, projected, decoding->rows, FALSE, state).state;
  kept = &decoding->search->kept[recur];
  state.state = plait_kept_rows_follow (&kept->state, tape, decoding->parents, n);
  if (has_cell)
    state.cell = plait_kept_rows_follow (&kept->cell, tape, decoding->parents, n);
  state = plait_cell_step (tape, &primitive->cell, projected, state);
  plait_kept_rows_store (&kept->state, tape, state.state);
  if (has_cell)
    plait_kept_rows_store (&kept->cell, tape, state.cell);
  return state.state;
}

/*
 * Functions for cross-attention
 */

/* Runs the combiner over whole targets step by step, because coverage depends on the previous step. @query and
 * step.gate have the rows of all steps already, because they do not depend on coverage. */
static PlaitResidualStream
cross_by_steps (const PlaitCrossAttentionLayer *cross, const PlaitCrossAttentionPass *whole,
                PlaitCrossAttentionStep step, PlaitNode *query)
{
  PlaitTape *tape = whole->tape;
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 steps = plait_ragged_longest (whole->queries);
  PlaitStepRows rows = plait_step_rows (arena, whole->queries, 0);
  PlaitNode **queries = plait_arena_new_array (arena, PlaitNode *, steps + 1);
  PlaitNode **contexts = plait_arena_new_array (arena, PlaitNode *, steps + 1);
  PlaitResidualStream made = { NULL, NULL };
  PlaitNode *gate = step.gate;
  guint layer = step.layer;

  step.layer = 0; /* layer in the attention record of the step, which has one layer */
  step.coverage = plait_cross_initial_coverage (cross, tape, whole->memories, rows.queries);
  for (gint64 s = 0; s < steps; s++)
    {
      PlaitStepRows next = plait_step_rows (arena, whole->queries, s + 1);
      PlaitCrossAttentionPass pass = plait_step_pass (whole, &rows, &next);
      gint64 n = plait_ragged_rows (rows.queries);

      step.gate = gate ? plait_gather_rows (tape, gate, rows.target, n) : NULL;
      made = plait_cross_combine (cross, &pass, &step, plait_gather_rows (tape, query, rows.target, n));
      queries[s] = made.query;
      contexts[s] = made.context;
      if (whole->record)
        plait_attention_record_add_step (whole->record, layer, pass.record, s);
      rows = next;
    }
  return (PlaitResidualStream){
    cross->multi_head ? plait_concatenate_steps (tape, queries, steps, whole->queries) : NULL,
    cross->multi_head ? NULL : plait_concatenate_steps (tape, contexts, steps, whole->queries),
  };
}

/* Runs the combiner in one step of plait_decoding_steps over whole targets. */
static PlaitResidualStream
cross_in_step (PlaitDecoding *decoding, guint number, const PlaitPrimitive *primitive, PlaitNode *query,
               PlaitNode *gate)
{
  PlaitWholeStep *at = decoding->step;
  PlaitCrossAttentionPass pass = plait_step_pass (&decoding->pass, &at->rows, &at->next);
  PlaitCrossAttentionStep *step = &at->cross[number];
  PlaitResidualStream made;

  step->gate = gate;
  made = plait_cross_combine (&primitive->cross, &pass, step, query);
  if (pass.record)
    plait_attention_record_add_step (decoding->pass.record, primitive->layer, pass.record, at->number);
  return made;
}

static PlaitResidualStream
cross_in_search (PlaitDecoding *decoding, guint number, const PlaitPrimitive *primitive, PlaitNode *query,
                 PlaitNode *gate)
{
  PlaitCrossAttentionSearch *kept = &decoding->search->kept[number].cross;
  PlaitCrossAttentionStep step = plait_cross_search_step (kept, &decoding->pass, decoding->parents);
  PlaitResidualStream made;

  step.layer = primitive->layer;
  step.gate = gate;
  made = plait_cross_combine (&primitive->cross, &decoding->pass, &step, query);
  plait_cross_search_keep (kept, &decoding->pass, &step);
  return made;
}

PlaitResidualStream
plait_decoding_cross (PlaitDecoding *decoding, guint cross, PlaitNode *query, PlaitNode *gate)
{
  const PlaitPrimitive *primitive = plait_decoding_call (
      decoding, G_STRFUNC, PLAIT_DECODING_IN_DECODE | PLAIT_DECODING_IN_STEP, PLAIT_PRIMITIVE_CROSS, cross);
  PlaitCrossAttentionStep step;

  if (!primitive)
    return (PlaitResidualStream){ NULL, NULL };
  expect_rows (decoding, G_STRFUNC, query, primitive->cross.query_width);
  if (primitive->cross.gate.state.weight)
    expect_rows (decoding, G_STRFUNC, gate, primitive->cross.query_width);
  if (decoding->search)
    return cross_in_search (decoding, cross, primitive, query, gate);
  if (decoding->step)
    return cross_in_step (decoding, cross, primitive, query, gate);
  step = (PlaitCrossAttentionStep){
    .keys = decoding->keys ? decoding->keys[cross]
                           : plait_cross_project (&primitive->cross, decoding->tape, decoding->encoded->memories),
    .layer = primitive->layer,
    .gate = gate,
  };
  return plait_cross_layer_is_stepwise (&primitive->cross)
             ? cross_by_steps (&primitive->cross, &decoding->pass, step, query)
             : plait_cross_combine (&primitive->cross, &decoding->pass, &step, query);
}

/* Returns cross-attention @number for a call that computes its gate; NULL while the model is built. */
static const PlaitCrossAttentionLayer *
cross_of (PlaitDecoding *decoding, const char *call, guint number)
{
  const PlaitPrimitive *primitive = plait_decoding_primitive (
      decoding, call, PLAIT_DECODING_IN_DECODE | PLAIT_DECODING_IN_STEP, PLAIT_PRIMITIVE_CROSS, number);

  return primitive ? &primitive->cross : NULL;
}

PlaitNode *
plait_decoding_gate_input (PlaitDecoding *decoding, guint cross, PlaitNode *embedded)
{
  const PlaitCrossAttentionLayer *layer = cross_of (decoding, G_STRFUNC, cross);

  if (!layer)
    return NULL;
  expect_rows (decoding, G_STRFUNC, embedded, decoding->decoder->build.width);
  return plait_cross_sentinel_gate_input (layer, decoding->tape, embedded);
}

PlaitNode *
plait_decoding_gate (PlaitDecoding *decoding, guint cross, PlaitNode *input, PlaitNode *state)
{
  const PlaitCrossAttentionLayer *layer = cross_of (decoding, G_STRFUNC, cross);

  if (!layer || !layer->gate.state.weight)
    return NULL;
  expect_rows (decoding, G_STRFUNC, input, layer->query_width);
  expect_rows (decoding, G_STRFUNC, state, layer->query_width);
  return plait_cross_sentinel_gate (layer, decoding->tape, input, state);
}

/*
 * Functions that run layers
 */

typedef struct
{
  PlaitDecoding *decoding;
  PlaitDecodingLayer layer;
  guint index;
  PlaitNode *x;
  guint8 *called; /* [n_primitives]: primitives that were called before the layer; restored if the layer is computed
                     again */
} Layer;

/* Returns the output of the layer for layer->x. Copies an output that needs a gradient, unless it comes from an
 * operator of the layer and owns its storage, because plait_tape_recomputed requires this. */
static PlaitNode *
run_layer (const Layer *layer)
{
  PlaitDecoding *decoding = layer->decoding;
  const PlaitInstance *instance = &decoding->decoder->instance;
  gboolean before = decoding->in_layer;
  PlaitNode *y;

  decoding->in_layer = TRUE;
  y = layer->layer (decoding, instance->component->settings, instance->state, layer->index, layer->x);
  decoding->in_layer = before;
  if (!y)
    plait_tape_fail (decoding->tape, "layer %u gave NULL: give a node", layer->index);
  if (y->needs_gradient && (y == layer->x || y->whole || !y->operation))
    y = plait_scale (decoding->tape, y, 1);
  return y;
}

static PlaitNode *
apply_layer (PlaitTape *tape, gconstpointer data)
{
  const Layer *layer = data;

  memcpy (layer->decoding->called, layer->called, layer->decoding->decoder->n_primitives);
  return run_layer (layer);
}

/* TRUE if backward may compute layers again. FALSE in steps, in search and in nested layers. FALSE also if layers add
 * to records, costs or losses, because these would be added a second time. */
static gboolean
can_be_recomputed (const PlaitDecoding *decoding)
{
  const PlaitDecoder *decoder = decoding->decoder;

  if (decoding->phase == PLAIT_DECODING_STEP || decoding->in_layer || decoding->search || decoding->pass.record
      || decoding->pass.rows_weighed)
    return FALSE;
  for (guint i = 0; i < decoder->n_primitives; i++)
    if (decoder->primitives[i].kind == PLAIT_PRIMITIVE_CROSS
        && plait_cross_layer_has_losses (&decoder->primitives[i].cross))
      return FALSE;
  return TRUE;
}

PlaitNode *
plait_decoding_layer (PlaitDecoding *decoding, PlaitDecodingLayer layer, guint index, PlaitNode *x)
{
  Layer data = { decoding, layer, index, x, NULL };
  gsize n = decoding->decoder->n_primitives;

  if (!plait_decoding_expect_phase (decoding, G_STRFUNC, PLAIT_DECODING_IN_DECODE | PLAIT_DECODING_IN_STEP))
    return NULL;
  plait_tape_expect (decoding->tape, layer != NULL);
  if (!can_be_recomputed (decoding))
    return run_layer (&data);
  data.called = plait_arena_new_array (plait_tape_arena (decoding->tape), guint8, (gint64)n + 1);
  memcpy (data.called, decoding->called, n);
  return plait_tape_recomputed (decoding->tape, apply_layer, &data, sizeof data);
}
