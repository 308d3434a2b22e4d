/* SPDX-License-Identifier: MIT */
#include "cross-attention/rows.h"

#include "autograd/operators.h"
#include "text/error.h"

PlaitStepRows
plait_step_rows (PlaitArena *arena, PlaitRagged target, gint64 t)
{
  gint64 *offsets = plait_arena_new_array (arena, gint64, target.n + 1), n = 0, before = 0;
  PlaitStepRows rows = { { target.n, offsets },
                         plait_arena_new_array (arena, gint64, target.n + 1),
                         plait_arena_new_array (arena, gint64, target.n + 1) };

  offsets[0] = 0;
  for (gint64 s = 0; s < target.n; s++)
    {
      gint64 length = plait_ragged_length (target, s);

      if (length > t)
        {
          rows.before[n] = before;
          rows.target[n++] = target.offsets[s] + t;
        }
      /* Count the rows of step t - 1: a target has a row in that step if its length is at least t. Before step 0, each
       * sentence has a row, even if its target is empty. */
      before += t == 0 || length >= t;
      offsets[s + 1] = n;
    }
  return rows;
}

/* Returns the entries of @whole for the rows of a step. */
static PlaitQueryRows
step_query_rows (PlaitArena *arena, const PlaitQueryRows *whole, const PlaitStepRows *rows)
{
  gint64 n = plait_ragged_rows (rows->queries);
  gint64 *positions, *sentences;
  gint32 *tokens;

  if (!whole->positions)
    return *whole;
  positions = plait_arena_new_array (arena, gint64, n + 1);
  sentences = plait_arena_new_array (arena, gint64, n + 1);
  tokens = plait_arena_new_array (arena, gint32, n + 1);
  for (gint64 i = 0; i < n; i++)
    {
      positions[i] = whole->positions[rows->target[i]];
      sentences[i] = whole->sentences[rows->target[i]];
      tokens[i] = whole->tokens[rows->target[i]];
    }
  return (PlaitQueryRows){ positions, sentences, tokens };
}

PlaitCrossAttentionPass
plait_step_pass (const PlaitCrossAttentionPass *whole, const PlaitStepRows *rows, const PlaitStepRows *next)
{
  const PlaitAttentionRecord *record = whole->record;
  PlaitArena *arena = plait_tape_arena (whole->tape);
  PlaitCrossAttentionPass pass
      = plait_cross_pass (whole->tape, whole->memories, whole->n_memories, rows->queries,
                          record ? plait_attention_record_new (arena, 1, whole->n_memories, record->coverage) : NULL);

  pass.query_rows = step_query_rows (arena, &whole->query_rows, rows);
  pass.losses = whole->losses;
  pass.rows_weighed = whole->rows_weighed;
  memcpy (pass.readings, whole->readings, sizeof pass.readings);
  pass.next = next->queries;
  pass.parents = next->before;
  return pass;
}

PlaitNode *
plait_zeros (PlaitTape *tape, gint64 rows, gint64 width)
{
  PlaitScalar *numbers = plait_arena_new_array0 (plait_tape_arena (tape), PlaitScalar, rows * width + 1);

  return plait_leaf (tape, plait_tensor (numbers, rows, width), NULL);
}

PlaitNode *
plait_concatenate_steps (PlaitTape *tape, PlaitNode *const *steps, gint64 n, PlaitRagged target)
{
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 rows = plait_ragged_rows (target), done = 0;
  gint64 *indices = plait_arena_new_array (arena, gint64, rows + 1);

  for (gint64 t = 0; t < n; t++)
    for (gint64 s = 0; s < target.n; s++)
      if (plait_ragged_length (target, s) > t)
        indices[target.offsets[s] + t] = done++;
  return plait_gather_rows (tape, plait_concatenate_rows (tape, steps, (guint)n), indices, rows);
}

PlaitNode *
plait_memory_mean (PlaitTape *tape, const PlaitMemory *memory)
{
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 n = memory->rows.n, rows = plait_ragged_rows (memory->rows);
  PlaitScalar *shares = plait_arena_new_array (arena, PlaitScalar, rows + 1);
  PlaitQueryKeyPairs pairs;

  for (gint64 s = 0; s < n; s++)
    for (gint64 row = memory->rows.offsets[s]; row < memory->rows.offsets[s + 1]; row++)
      shares[row] = 1 / (PlaitScalar)plait_ragged_length (memory->rows, s);
  pairs = plait_query_key_pairs (tape, plait_ragged_units (arena, n), memory->rows);
  return plait_weighted_sum (tape, &pairs, plait_leaf (tape, plait_tensor (shares, rows, 1), NULL), memory->states);
}

gint64
plait_memory_row_of_token (PlaitTape *tape, const PlaitMemory *memory, gint64 s, gint64 position, const char *kind)
{
  gint64 first = memory->rows.offsets[s], end = memory->rows.offsets[s + 1];
  const gint64 *token = memory->links ? memory->links->token : NULL;
  GError *fault = NULL;

  /* The rows of most memories are all or some of the tokens, in order, so the row number is at most the position.
   * Search backwards from row number @position, then search the rows after it. */
  for (gint64 row = first + MIN (position, end - first - 1); token && row >= first; row--)
    if (token[row] == position)
      return row;
  for (gint64 row = first + position + 1; token && row < end; row++)
    if (token[row] == position)
      return row;
  plait_fail (&fault, PLAIT_ERROR_INPUT,
              "token %jd has no row in the first memory of the encoder, but [predict] kind=%s needs one for each "
              "token, also for start tokens; choose another encoder",
              position + 1, kind);
  plait_arena_fail (plait_tape_arena (tape), fault);
}

void
plait_memory_rows_of_tokens (const PlaitMemory *memory, gint64 sentence, gint64 *row_of, gint64 tokens)
{
  const gint64 *token = memory->links ? memory->links->token : NULL;
  gint64 first = memory->rows.offsets[sentence];

  for (gint64 i = 0; i < tokens; i++)
    row_of[i] = -1;
  for (gint64 i = 0; token && i < plait_ragged_length (memory->rows, sentence); i++)
    if (token[first + i] >= 0)
      row_of[token[first + i]] = i;
}

PlaitNode *
plait_pad_logits (PlaitTape *tape, PlaitNode *numbers, PlaitRagged groups)
{
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 n = groups.n, most = MAX (1, plait_ragged_longest (groups));
  PlaitNode *sides;
  gint64 *rows;
  PlaitScalar *absent;

  rows = plait_arena_new_array (arena, gint64, n * most + 1);
  absent = plait_arena_new_array (arena, PlaitScalar, n * most + 1);
  for (gint64 d = 0; d < n; d++)
    for (gint64 i = 0; i < most; i++)
      {
        gboolean there = i < plait_ragged_length (groups, d);

        rows[d * most + i] = there ? groups.offsets[d] + i : -1;
        absent[d * most + i] = there ? 0 : PLAIT_MASKED_LOGIT;
      }
  sides = plait_gather_windows (tape, numbers, rows, n, most);
  return plait_add (tape, sides, plait_leaf (tape, plait_tensor (absent, n, most), NULL));
}

PlaitNode *
plait_add (PlaitTape *tape, PlaitNode *x, PlaitNode *y)
{
  return plait_add_n (tape, (PlaitNode *[]){ x, y }, 2);
}
