/* SPDX-License-Identifier: MIT */
#include "decoders/decoding.h"

#include <string.h>

#include "autograd/internal.h"

/* Decoders whose next step needs the result of the one before: rows that steps carry, and the loop over whole
 * targets. */

/* Returns the declaration of the carried rows @number. While the model is built, stores a fault and returns NULL. */
static const PlaitPrimitive *
carried_of (PlaitDecoding *decoding, const char *call, guint number)
{
  return plait_decoding_primitive (decoding, call, PLAIT_PRIMITIVE_CARRIED, number);
}

PlaitNode *
plait_decoding_carried (PlaitDecoding *decoding, guint carried)
{
  if (!carried_of (decoding, G_STRFUNC, carried))
    return NULL;
  if (!decoding->carried[carried])
    plait_tape_fail (decoding->tape, "calls %s outside a step: call it in the function of plait_decoding_steps",
                     G_STRFUNC);
  return decoding->carried[carried];
}

void
plait_decoding_carry (PlaitDecoding *decoding, guint carried, PlaitNode *rows)
{
  const PlaitPrimitive *primitive = carried_of (decoding, G_STRFUNC, carried);
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

  if (decoder->n_carried > 0)
    plait_call_begin_decoder (&decoder->instance, decoding->tape, decoding);
  for (guint i = 0; i < decoder->n_primitives; i++)
    if (decoder->primitives[i].kind == PLAIT_PRIMITIVE_CARRIED && !decoding->carried[i])
      decoding->carried[i] = plait_zeros (decoding->tape, n, decoder->primitives[i].width);
}

/* Replaces the carried rows by rows @rows [n] of them. */
static void
gather_carried (PlaitDecoding *decoding, const gint64 *rows, gint64 n)
{
  for (guint i = 0; i < decoding->decoder->n_primitives; i++)
    if (decoding->carried[i])
      decoding->carried[i] = plait_gather_rows (decoding->tape, decoding->carried[i], rows, n);
}

/* Fails the step unless the plugin's step filled all outputs. */
static void
expect_outputs (const PlaitDecoding *decoding, PlaitNode *const *outputs, guint n)
{
  gint64 rows = plait_ragged_rows (decoding->rows);

  for (guint i = 0; i < n; i++)
    if (!outputs[i] || outputs[i]->value.rows != rows)
      plait_tape_fail (decoding->tape, "output %u of its step has %jd rows, expected %jd", i,
                       outputs[i] ? outputs[i]->value.rows : 0, rows);
}

/* Runs the step of a search. */
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
  step (decoding, decoder->instance.component->settings, decoder->instance.state, inputs, outputs);
  expect_outputs (decoding, outputs, n_outputs);
  for (guint i = 0; i < decoder->n_primitives; i++)
    if (decoder->primitives[i].kind == PLAIT_PRIMITIVE_CARRIED)
      plait_kept_rows_store (&search->kept[i].state, decoding->tape, decoding->carried[i]);
}

/* Begins the loop over whole targets: keys and coverage before the first step. */
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
  const PlaitInstance *instance = &decoding->decoder->instance;
  PlaitTape *tape = decoding->tape;
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 steps = plait_ragged_longest (decoding->rows);
  PlaitWholeStep at = begin_loop (decoding);
  PlaitNode **given = plait_arena_new_array (arena, PlaitNode *, n_inputs + 1);
  PlaitNode **made = plait_arena_new_array0 (arena, PlaitNode *, steps * n_outputs + 1);
  PlaitRagged whole = decoding->rows;

  decoding->step = &at;
  for (at.number = 0; at.number < steps; at.number++)
    {
      gint64 here = plait_ragged_rows (at.rows.queries);

      at.next = plait_step_rows (arena, whole, at.number + 1);
      gather_carried (decoding, at.rows.before, here);
      for (guint i = 0; i < n_inputs; i++)
        given[i] = inputs[i] ? plait_gather_rows (tape, inputs[i], at.rows.target, here) : NULL;
      memset (decoding->called, 0, decoding->decoder->n_primitives);
      decoding->rows = plait_ragged_units (arena, here);
      decoding->first_position = at.number;
      step (decoding, instance->component->settings, instance->state, given, made + at.number * n_outputs);
      expect_outputs (decoding, made + at.number * n_outputs, n_outputs);
      at.rows = at.next;
    }
  decoding->rows = whole;
  decoding->first_position = 0;
  decoding->step = NULL;
  return made;
}

void
plait_decoding_steps (PlaitDecoding *decoding, PlaitDecodingStep step, PlaitNode *const *inputs, guint n_inputs,
                      PlaitNode **outputs, guint n_outputs)
{
  PlaitTape *tape = decoding->tape;
  gint64 steps = plait_ragged_longest (decoding->rows);
  PlaitNode **made, **column;

  if (decoding->decoder->n_carried == 0)
    plait_tape_fail (tape, "calls %s without carried rows: declare some with plait_decoding_declare_carried",
                     G_STRFUNC);
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
