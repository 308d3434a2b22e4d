/* SPDX-License-Identifier: MIT */
#include "decoders/head.h"

#include "layers/linear.h"
#include "layers/norm.h"

/*
 * States of masked tokens, from their rows h in the first memory (Devlin et al. 2019, as in their code). With several
 * sources, a row of each memory of the other sources is appended (token-rows.c):
 *
 *     state = norm (gelu ([h; row (memory_2); ..] W + b))
 */
typedef struct
{
  PlaitHead head;
  PlaitTokenRows rows;
  PlaitLinear hidden;
  PlaitNorm norm;
} MaskedLmHead;

static PlaitNode *
forward (const PlaitHead *head, PlaitTape *tape, const PlaitEncoderOutputs *encoded, PlaitRagged target_rows,
         const gint32 *target_inputs)
{
  const MaskedLmHead *u = (const MaskedLmHead *)head;
  gint64 n = plait_ragged_rows (target_rows);
  gint64 *positions = plait_arena_new_array (plait_tape_arena (tape), gint64, n + 1);
  PlaitNode *x;

  for (gint64 i = 0; i < n; i++)
    positions[i] = target_inputs[i];
  x = plait_token_rows_apply (&u->rows, tape, encoded, target_rows, positions, "masked");
  return plait_norm_apply (tape, &u->norm, plait_linear_apply (tape, &u->hidden, x, PLAIT_ACTIVATION_GELU));
}

PlaitHead *
plait_masked_lm_head_new (const PlaitDecoderComponents *components, GError **error)
{
  MaskedLmHead *u = plait_parameters_memory (components->parameters, sizeof *u);
  gint64 width = components->settings->width;

  u->head.predict = forward;
  u->rows = plait_token_rows_declare (components);
  u->hidden = plait_linear_declare (components->parameters, "masked/hidden", u->rows.width, width, TRUE);
  u->norm = plait_norm_declare (components->parameters, "masked/norm", width);
  return &u->head;
}
