/* SPDX-License-Identifier: MIT */
#include "decoders/head.h"

#include "cross-attention/rows.h"

/*
 * Answer spans: two scores for each row of the first memory, and two softmaxes over the rows of a document, for
 * beginning and end (Devlin et al. 2019, 4.2). The first row, a start token, means that there is no answer.
 */
typedef struct
{
  PlaitHead head;
  PlaitLinear score;
} SpanHead;

/* Fails the step unless row i of each document belongs to its token i. */
static void
check_rows (PlaitTape *tape, const PlaitMemory *memory)
{
  for (gint64 s = 0; s < memory->rows.n; s++)
    for (gint64 i = 0; i < plait_ragged_length (memory->rows, s); i++)
      plait_memory_row_of_token (tape, memory, s, i, "span");
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
  PlaitNode *scores, *sides[2];

  check_rows (tape, memory);
  scores = plait_linear_apply (tape, &span->score, memory->states, PLAIT_ACTIVATION_NONE);
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
  span->score = plait_linear_declare (components->parameters, "span/score", components->memories[0].width, 2, TRUE);
  return &span->head;
}
