/* SPDX-License-Identifier: MIT */
#include "decoders/decoding.h"

#include <string.h>

#include "autograd/internal.h"

/* Decoders with carried rows, whose next step needs the result of the previous step: functions for carried rows, and
 * the loop over whole targets. */

PlaitNode *
plait_decoding_carried (PlaitDecoding *decoding, guint carried)
{
  if (!plait_decoding_primitive (decoding, G_STRFUNC, PLAIT_DECODING_IN_STEP, PLAIT_PRIMITIVE_CARRIED, carried))
    return NULL;
  return decoding->carried[carried];
}

void
plait_decoding_carry (PlaitDecoding *decoding, guint carried, PlaitNode *rows)
{
  const PlaitPrimitive *primitive = plait_decoding_primitive (
      decoding, G_STRFUNC, PLAIT_DECODING_IN_BEGIN | PLAIT_DECODING_IN_STEP, PLAIT_PRIMITIVE_CARRIED, carried);
  gint64 n = decoding->rows.n;

  if (!primitive)
    return;
  if (!rows || rows->value.rows != n || rows->value.width != primitive->width)
    plait_tape_fail (decoding->tape, "%s: got rows [%jd, %jd], expected [%jd, %jd]", G_STRFUNC,
                     rows ? rows->value.rows : 0, rows ? rows->value.width : 0, n, primitive->width);
  decoding->carried[carried] = rows;
}

void
plait_decoding_begin (PlaitDecoding *decoding, gint64 n)
{
  const PlaitDecoder *decoder = decoding->decoder;

  decoding->phase = PLAIT_DECODING_BEGIN;
  if (decoder->n_carried > 0)
    plait_call_begin_decoder (&decoder->instance, decoding->tape, decoding);
  decoding->phase = PLAIT_DECODING_DECODE;
  for (guint i = 0; i < decoder->n_primitives; i++)
    if (decoder->primitives[i].kind == PLAIT_PRIMITIVE_CARRIED && !decoding->carried[i])
      decoding->carried[i] = plait_zeros (decoding->tape, n, decoder->primitives[i].width);
}

/* Replaces the carried rows of each primitive: new row i is old row rows[i], for i = 0 .. @n - 1. */
static void
gather_carried (PlaitDecoding *decoding, const gint64 *rows, gint64 n)
{
  for (guint i = 0; i < decoding->decoder->n_primitives; i++)
    if (decoding->carried[i])
      decoding->carried[i] = plait_gather_rows (decoding->tape, decoding->carried[i], rows, n);
}

/* Runs @step of the plugin. Fails the pass unless each output has one row for each row of the step, and the width that
 * the output has in @first, the outputs of the first step. */
static void
run_step (PlaitDecoding *decoding, PlaitDecodingStep step, PlaitNode *const *inputs, PlaitNode **outputs, guint n,
          PlaitNode *const *first)
{
  const PlaitInstance *instance = &decoding->decoder->instance;
  gint64 rows = plait_ragged_rows (decoding->rows);

  decoding->phase = PLAIT_DECODING_STEP;
  step (decoding, instance->component->settings, instance->state, inputs, outputs);
  decoding->phase = PLAIT_DECODING_DECODE;
  for (guint i = 0; i < n; i++)
    {
      if (!outputs[i] || outputs[i]->value.rows != rows)
        plait_tape_fail (decoding->tape, "output %u of its step has %jd rows, expected %jd", i,
                         outputs[i] ? outputs[i]->value.rows : 0, rows);
      if (outputs[i]->value.width != first[i]->value.width)
        plait_tape_fail (decoding->tape, "output %u of its step is %jd wide, in the first step %jd", i,
                         outputs[i]->value.width, first[i]->value.width);
    }
}

/* Runs @step of the plugin in search. */
static void
step_of_search (PlaitDecoding *decoding, PlaitDecodingStep step, PlaitNode *const *inputs, PlaitNode **outputs,
                guint n_outputs)
{
  const PlaitDecoder *decoder = decoding->decoder;
  PlaitDecoderState *search = decoding->search;
  gint64 n = plait_ragged_rows (decoding->rows);

  for (guint i = 0; i < decoder->n_primitives; i++)
    if (decoder->primitives[i].kind == PLAIT_PRIMITIVE_CARRIED)
      decoding->carried[i] = plait_kept_rows_follow (&search->kept[i].state, decoding->tape, decoding->parents, n);
  run_step (decoding, step, inputs, outputs, n_outputs, outputs);
  for (guint i = 0; i < decoder->n_primitives; i++)
    if (decoder->primitives[i].kind == PLAIT_PRIMITIVE_CARRIED)
      plait_kept_rows_store (&search->kept[i].state, decoding->tape, decoding->carried[i]);
}

/* Returns the state of the loop over whole targets before the first step, with keys and coverage. */
static PlaitWholeStep
begin_loop (PlaitDecoding *decoding)
{
  const PlaitDecoder *decoder = decoding->decoder;
  PlaitArena *arena = plait_tape_arena (decoding->tape);
  PlaitWholeStep at = { .rows = plait_step_rows (arena, decoding->rows, 0),
                        .cross = plait_arena_new_array0 (arena, PlaitCrossAttentionStep, decoder->n_primitives + 1) };

  for (guint i = 0; i < decoder->n_primitives; i++)
    if (decoder->primitives[i].kind == PLAIT_PRIMITIVE_CROSS)
      {
        at.cross[i].keys = decoding->keys[i];
        at.cross[i].coverage = plait_cross_initial_coverage (&decoder->primitives[i].cross, decoding->tape,
                                                             decoding->encoded->memories, at.rows.queries);
      }
  return at;
}

/* Runs all steps of whole targets, and returns the outputs of each, [steps][n_outputs]. */
static PlaitNode **
run_loop (PlaitDecoding *decoding, PlaitDecodingStep step, PlaitNode *const *inputs, guint n_inputs, guint n_outputs)
{
  guint n_primitives = decoding->decoder->n_primitives;
  PlaitTape *tape = decoding->tape;
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 steps = plait_ragged_longest (decoding->rows);
  PlaitWholeStep at = begin_loop (decoding);
  PlaitNode **given = plait_arena_new_array (arena, PlaitNode *, n_inputs + 1);
  PlaitNode **made = plait_arena_new_array0 (arena, PlaitNode *, steps * n_outputs + 1);
  guint8 *before = memcpy (plait_arena_new_array (arena, guint8, n_primitives + 1), decoding->called, n_primitives);
  guint8 *first = plait_arena_new_array (arena, guint8, n_primitives + 1);
  PlaitRagged whole = decoding->rows;

  decoding->step = &at;
  for (at.number = 0; at.number < steps; at.number++)
    {
      gint64 here = plait_ragged_rows (at.rows.queries);

      at.next = plait_step_rows (arena, whole, at.number + 1);
      gather_carried (decoding, at.rows.before, here);
      for (guint i = 0; i < n_inputs; i++)
        given[i] = inputs[i] ? plait_gather_rows (tape, inputs[i], at.rows.target, here) : NULL;
      memcpy (decoding->called, before, n_primitives);
      decoding->rows = plait_ragged_units (arena, here);
      decoding->first_position = at.number;
      run_step (decoding, step, given, made + at.number * n_outputs, n_outputs, made);
      if (at.number == 0)
        memcpy (first, decoding->called, n_primitives);
      plait_decoding_expect_calls (decoding, first);
      at.rows = at.next;
    }
  decoding->rows = whole;
  decoding->first_position = 0;
  decoding->step = NULL;
  return made;
}

/* Fails the pass if @inputs do not fit the rows, if the decoder has no carried rows, or if this pass called
 * plait_decoding_steps before. Marks the carried rows as called. @call: name of the function that the plugin called. */
static void
expect_steps (PlaitDecoding *decoding, const char *call, PlaitNode *const *inputs, guint n)
{
  const PlaitDecoder *decoder = decoding->decoder;
  gint64 rows = plait_ragged_rows (decoding->rows);

  if (decoder->n_carried == 0)
    plait_tape_fail (decoding->tape, "calls %s without carried rows: declare some with plait_decoding_declare_carried",
                     call);
  for (guint i = 0; i < decoder->n_primitives; i++)
    if (decoder->primitives[i].kind == PLAIT_PRIMITIVE_CARRIED)
      {
        if (decoding->called[i])
          plait_tape_fail (decoding->tape, "calls %s twice in one pass: run everything in one step", call);
        decoding->called[i] = TRUE;
      }
  for (guint i = 0; i < n; i++)
    if (inputs[i] && inputs[i]->value.rows != rows)
      plait_tape_fail (decoding->tape, "%s: input %u has %jd rows, expected %jd", call, i, inputs[i]->value.rows, rows);
}

void
plait_decoding_steps (PlaitDecoding *decoding, PlaitDecodingStep step, PlaitNode *const *inputs, guint n_inputs,
                      PlaitNode **outputs, guint n_outputs)
{
  PlaitTape *tape = decoding->tape;
  gint64 steps;
  PlaitNode **made, **column;

  if (!plait_decoding_expect_phase (decoding, G_STRFUNC, PLAIT_DECODING_IN_DECODE))
    return;
  plait_tape_expect (tape, step && (inputs || n_inputs == 0) && (outputs || n_outputs == 0));
  expect_steps (decoding, G_STRFUNC, inputs, n_inputs);
  steps = plait_ragged_longest (decoding->rows);
  if (decoding->search)
    {
      memset (outputs, 0, n_outputs * sizeof *outputs);
      step_of_search (decoding, step, inputs, outputs, n_outputs);
      return;
    }
  plait_decoding_begin (decoding, decoding->rows.n);
  made = run_loop (decoding, step, inputs, n_inputs, n_outputs);
  column = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, steps + 1);
  for (guint i = 0; i < n_outputs; i++)
    {
      for (gint64 t = 0; t < steps; t++)
        column[t] = made[t * n_outputs + i];
      outputs[i] = plait_concatenate_steps (tape, column, steps, decoding->rows);
    }
}
