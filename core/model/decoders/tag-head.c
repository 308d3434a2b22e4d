/* SPDX-License-Identifier: MIT */
#include "decoders/head.h"

#include "documents/labels.h"
#include "layers/linear.h"

/*
 * Tags: one state for each token of the first source (Devlin et al. 2019, 5.3, with a hidden layer):
 *
 *     x_i = [row of token i in the first memory; row (memory_2); ..; row (memory_n)]
 *     state_i = dropout (tanh (dropout (x_i) W + b))
 *
 * memory_2 .. memory_n are memories of the other sources.
 */
typedef struct
{
  PlaitHead head;
  PlaitTokenRows rows;
  double dropout;
  PlaitLinear hidden;
} TagHead;

static PlaitNode *
forward (const PlaitHead *head, PlaitTape *tape, const PlaitEncoderOutputs *encoded, PlaitRagged target_rows,
         const gint32 *target_inputs)
{
  const TagHead *tags = (const TagHead *)head;
  PlaitNode *x = plait_token_rows_apply (&tags->rows, tape, encoded, encoded->tagged, encoded->tagged_tokens, "tags");

  x = plait_linear_apply (tape, &tags->hidden, plait_dropout (tape, x, tags->dropout), PLAIT_ACTIVATION_TANH);
  return plait_dropout (tape, x, tags->dropout);
}

void
plait_tag_head_find_tokens (const PlaitInput *input, PlaitArena *arena, PlaitEncoderOutputs *encoded)
{
  gint64 *offsets = plait_arena_new_array (arena, gint64, input->rows.n + 1);
  gint64 *positions = plait_arena_new_array (arena, gint64, plait_ragged_rows (input->rows) + 1);

  offsets[0] = 0;
  for (gint64 s = 0; s < input->rows.n; s++)
    {
      gint64 first = input->rows.offsets[s], n = offsets[s];

      for (gint64 row = first; row < input->rows.offsets[s + 1]; row++)
        if (plait_token_is_text (input->tokens[row]))
          positions[n++] = row - first;
      offsets[s + 1] = n;
    }
  encoded->tagged = (PlaitRagged){ input->rows.n, offsets };
  encoded->tagged_tokens = positions;
}

PlaitHead *
plait_tag_head_new (const PlaitDecoderComponents *components, GError **error)
{
  TagHead *tags = plait_parameters_memory (components->parameters, sizeof *tags);

  tags->head.predict = forward;
  tags->rows = plait_token_rows_declare (components);
  tags->dropout = components->settings->dropout;
  tags->hidden = plait_linear_declare (components->parameters, "tags/hidden", tags->rows.width,
                                       components->settings->width, TRUE);
  return &tags->head;
}
