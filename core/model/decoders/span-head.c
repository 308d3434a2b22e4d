/* SPDX-License-Identifier: MIT */
#include "decoders/head.h"

#include "cross-attention/rows.h"

/*
 * Answer spans: two scores for each row of the first memory, and two softmaxes over the rows of a document, for the
 * beginning and the end of the answer (Devlin et al. 2019, 4.2). With several sources, a row of each memory of the
 * other sources is appended to each row (token-rows.c). The first row, a start token, means that there is no answer.
 */
typedef struct
{
  PlaitHead head;
  PlaitTokenRows rows;
  PlaitLinear score;
} SpanHead;

/* Returns the positions 0, 1, .. of the rows of each document. */
static const gint64 *
positions_of (PlaitArena *arena, PlaitRagged rows)
{
  gint64 *positions = plait_arena_new_array (arena, gint64, plait_ragged_rows (rows) + 1);

  for (gint64 s = 0; s < rows.n; s++)
    for (gint64 i = rows.offsets[s]; i < rows.offsets[s + 1]; i++)
      positions[i] = i - rows.offsets[s];
  return positions;
}

/* Returns logits [2 * documents, longest document]: for each document, one row for the beginning and one for the
 * end. */
static PlaitNode *
forward (const PlaitHead *head, PlaitTape *tape, const PlaitEncoderOutputs *encoded, PlaitRagged target_rows,
         const gint32 *target_inputs)
{
  const SpanHead *span = (const SpanHead *)head;
  const PlaitMemory *memory = &encoded->memories[0];
  gint64 n = memory->rows.n;
  gint64 *turns = plait_arena_new_array (plait_tape_arena (tape), gint64, 2 * n + 1);
  PlaitNode *x = plait_token_rows_apply (&span->rows, tape, encoded, memory->rows,
                                         positions_of (plait_tape_arena (tape), memory->rows), "span");
  PlaitNode *scores = plait_linear_apply (tape, &span->score, x, PLAIT_ACTIVATION_NONE), *sides[2];

  for (guint i = 0; i < 2; i++)
    sides[i] = plait_pad_logits (tape, plait_columns (tape, scores, i, 1), memory->rows);
  for (gint64 s = 0; s < n; s++)
    {
      turns[2 * s] = s;
      turns[2 * s + 1] = n + s;
    }
  return plait_gather_rows (tape, plait_concatenate_rows (tape, sides, 2), turns, 2 * n);
}

PlaitHead *
plait_span_head_new (const PlaitDecoderComponents *components, GError **error)
{
  SpanHead *span = plait_parameters_memory (components->parameters, sizeof *span);

  span->head.predict = forward;
  span->rows = plait_token_rows_declare (components);
  span->score = plait_linear_declare (components->parameters, "span/score", span->rows.width, 2, TRUE);
  return &span->head;
}
