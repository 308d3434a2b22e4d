/* SPDX-License-Identifier: MIT */
#include "decoders/head.h"

#include "cross-attention/rows.h"
#include "layers/linear.h"
#include "layers/norm.h"

/*
 * States of masked tokens, from their rows in the first memory (Devlin et al. 2019, as in their code):
 *
 *     state = norm (gelu (h W + b))
 */
typedef struct
{
  PlaitHead head;
  PlaitLinear hidden;
  PlaitNorm norm;
} MaskedLmHead;

static PlaitNode *
forward (const PlaitHead *head, PlaitTape *tape, const PlaitEncoderOutputs *encoded, PlaitRagged target_rows,
         const gint32 *target_inputs)
{
  const MaskedLmHead *u = (const MaskedLmHead *)head;
  const PlaitMemory *memory = &encoded->memories[0];
  gint64 n = plait_ragged_rows (target_rows);
  gint64 *rows = plait_arena_new_array (plait_tape_arena (tape), gint64, n + 1);
  PlaitNode *x;

  for (gint64 s = 0; s < target_rows.n; s++)
    for (gint64 i = target_rows.offsets[s]; i < target_rows.offsets[s + 1]; i++)
      rows[i] = plait_memory_row_of_token (tape, memory, s, target_inputs[i], "masked");
  x = plait_gather_rows (tape, memory->states, rows, n);
  return plait_norm_apply (tape, &u->norm, plait_linear_apply (tape, &u->hidden, x, PLAIT_ACTIVATION_GELU));
}

PlaitHead *
plait_masked_lm_head_new (const PlaitDecoderComponents *components, GError **error)
{
  MaskedLmHead *u = plait_parameters_memory (components->parameters, sizeof *u);
  gint64 width = components->settings->width;

  u->head.predict = forward;
  u->hidden
      = plait_linear_declare (components->parameters, "masked/hidden", components->memories[0].width, width, TRUE);
  u->norm = plait_norm_declare (components->parameters, "masked/norm", width);
  return &u->head;
}
