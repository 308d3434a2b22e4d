/* SPDX-License-Identifier: MIT */
#include "decoders/decoder.h"

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
  PlaitDecoder decoder;
  PlaitLinear hidden;
  PlaitNorm norm;
} MaskedLmHead;

static PlaitNode *
forward (const PlaitDecoder *decoder, PlaitTape *tape, const PlaitEncoderOutputs *encoded, PlaitRagged target_rows,
         const gint32 *target_inputs, PlaitAttentionRecord *record)
{
  const MaskedLmHead *u = (const MaskedLmHead *)decoder;
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

static const PlaitDecoderTable masked_lm_head_table = { .forward = forward };

PlaitDecoder *
plait_masked_lm_head_new (const PlaitDecoderBuild *build, GError **error)
{
  MaskedLmHead *u = plait_parameters_memory (build->parameters, sizeof *u);
  gint64 width = build->settings->width;

  u->decoder.table = &masked_lm_head_table;
  u->hidden = plait_linear_declare (build->parameters, "masked/hidden", build->memories[0].width, width, TRUE);
  u->norm = plait_norm_declare (build->parameters, "masked/norm", width);
  return &u->decoder;
}
