/* SPDX-License-Identifier: MIT */
#include "model/decoder.h"

#include "base/error.h"
#include "nn/linear.h"
#include "nn/norm.h"

/*
 * A state for each masked token, from the row of the first memory that is its own (Devlin et al. 2019, as their code
 * has it):
 *
 *     state = norm (gelu (h W + b))
 */
typedef struct
{
  PlaitDecoder decoder;
  PlaitLinear hidden;
  PlaitNorm norm;
} Unmasker;

/* The row of @memory that stands for token @place of sentence @s, or -1. */
static gint64
row_of (const PlaitMemory *memory, gint64 s, gint64 place)
{
  gint64 first = memory->rows.offsets[s], end = memory->rows.offsets[s + 1];

  if (!memory->links || !memory->links->token)
    return first + place < end ? first + place : -1;
  /* Rows of tokens stand in their order, though not each token may have one. */
  for (gint64 row = first + MIN (place, end - first - 1); row >= first; row--)
    if (memory->links->token[row] == place)
      return row;
  return -1;
}

/* Leaves the step: the encoder gives nothing for the token at @place. */
static void
leave (PlaitTape *tape, gint32 place)
{
  GError *fault = NULL;

  plait_fail (&fault, PLAIT_ERROR_INPUT,
              "the masked token %d has no row in the first memory: [predict] kind=masked needs an encoder whose first "
              "memory has a row for each token",
              place + 1);
  plait_arena_leave (plait_tape_arena (tape), fault);
}

static PlaitNode *
forward (const PlaitDecoder *decoder, PlaitTape *tape, const PlaitReading *reading, PlaitRagged target_rows,
         const gint32 *target_inputs, PlaitCapture *capture)
{
  const Unmasker *u = (const Unmasker *)decoder;
  const PlaitMemory *memory = &reading->memories[0];
  gint64 n = plait_ragged_rows (target_rows);
  gint64 *rows = plait_arena_new_array (plait_tape_arena (tape), gint64, n + 1);
  PlaitNode *x;

  for (gint64 s = 0; s < target_rows.n; s++)
    for (gint64 i = target_rows.offsets[s]; i < target_rows.offsets[s + 1]; i++)
      {
        rows[i] = row_of (memory, s, target_inputs[i]);
        if (rows[i] < 0)
          leave (tape, target_inputs[i]);
      }
  x = plait_gather_rows (tape, memory->states, rows, n);
  return plait_norm_apply (tape, &u->norm, plait_linear_apply (tape, &u->hidden, x, PLAIT_ACTIVATION_GELU));
}

static const PlaitDecoderTable unmasker_table = { .forward = forward };

PlaitDecoder *
plait_unmasker_new (const PlaitDecoderBuild *build, GError **error)
{
  Unmasker *u = plait_parameters_memory (build->parameters, sizeof *u);
  gint64 width = build->settings->width;

  u->decoder.table = &unmasker_table;
  u->hidden = plait_linear_declare (build->parameters, "masked/hidden", build->memories[0].width, width, TRUE);
  u->norm = plait_norm_declare (build->parameters, "masked/norm", width);
  return &u->decoder;
}
