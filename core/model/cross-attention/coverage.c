/* SPDX-License-Identifier: MIT */
#include "cross-attention/coverage.h"

#include <string.h>

#include "cross-attention/rows.h"

gboolean
plait_covered_memory_build (PlaitCoveredMemory *covered, const PlaitComponent *component,
                            const PlaitCoverageBuild *build, guint n_states, PlaitLossColumns *losses, GError **error)
{
  g_autofree char *score = g_strconcat (build->prefix, "score", NULL);
  PlaitCoverageShape shape;

  *covered = (PlaitCoveredMemory){ .score_width = build->score_width, .n_states = n_states };
  if (!plait_call_build_coverage (&covered->instance, component, build, &shape, losses, error))
    return FALSE;
  covered->width = shape.width;
  if (!plait_call_has_score (&covered->instance))
    covered->score = plait_linear_declare (build->parameters, score, shape.width, build->score_width, FALSE);
  return TRUE;
}

PlaitNode *
plait_covered_memory_begin (const PlaitCoveredMemory *covered, PlaitTape *tape, const PlaitQueryKeyPairs *pairs)
{
  return plait_zeros (tape, plait_query_key_pairs_count (pairs), covered->width);
}

/* @pair is the pair of a query and memory row @row. Returns the pair of this query and memory row links[@row]; -1 if
 * there is no such row. */
static gint64
linked (const gint64 *links, gint64 row, gint64 pair)
{
  gint64 to = links ? links[row] : -1;

  return to < 0 ? -1 : pair + to - row;
}

/* @pair is the pair of a query and memory row @row. Returns the pair of this query and the neighbour of @row; -1 if
 * there is no neighbour. The neighbour is links[@row]. If @links is NULL, the neighbour is @to, provided that @to is
 * one of the sentence's rows @first .. @end - 1. */
static gint64
beside (const gint64 *links, gint64 row, gint64 pair, gint64 to, gint64 first, gint64 end)
{
  if (links)
    return linked (links, row, pair);
  return to >= first && to < end ? pair + to - row : -1;
}

PlaitCoverageStep *
plait_covered_memory_step (PlaitTape *tape, const PlaitMemory *memory, const PlaitQueryKeyPairs *pairs,
                           PlaitNode *prepared, PlaitNode *query)
{
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 n = plait_query_key_pairs_count (pairs), pair = 0;
  gint64 *indices = plait_arena_new_array (arena, gint64, 6 * n + 1);
  gint64 *rows = indices, *queries = rows + n, *left = queries + n, *right = left + n, *previous = right + n,
         *next = previous + n;
  static const PlaitLinks none;
  const PlaitLinks *links = memory->links ? memory->links : &none;
  PlaitCoverageStep *step = plait_arena_new_array (arena, PlaitCoverageStep, 1);

  *step = (PlaitCoverageStep){
    .tape = tape,
    .memory = memory,
    .prepared = prepared,
    .query = query,
    .n = n,
    .indices = { *pairs, rows, queries },
    .left = left,
    .right = right,
    .previous = previous,
    .next = next,
  };
  for (gint64 s = 0; s < pairs->queries.n; s++)
    {
      gint64 first = pairs->rows.offsets[s], end = pairs->rows.offsets[s + 1];

      for (gint64 q = pairs->queries.offsets[s]; q < pairs->queries.offsets[s + 1]; q++)
        for (gint64 row = first; row < end; row++, pair++)
          {
            rows[pair] = row;
            queries[pair] = q;
            left[pair] = linked (links->left, row, pair);
            right[pair] = linked (links->right, row, pair);
            previous[pair] = beside (links->previous, row, pair, row - 1, first, end);
            next[pair] = beside (links->next, row, pair, row + 1, first, end);
          }
    }
  return step;
}

PlaitNode *
plait_covered_memory_score (const PlaitCoveredMemory *covered, PlaitTape *tape, const PlaitMemory *memory,
                            const PlaitQueryKeyPairs *pairs, PlaitNode *prepared, PlaitNode *states, PlaitNode *query)
{
  PlaitCoverageStep *step;

  if (covered->score.weight)
    return plait_linear_apply (tape, &covered->score, states, PLAIT_ACTIVATION_NONE);
  step = plait_covered_memory_step (tape, memory, pairs, prepared, query);
  step->state = states;
  return plait_call_score (&covered->instance, step, covered->score_width);
}

PlaitNode *
plait_covered_memory_update (const PlaitCoveredMemory *covered, PlaitCoverageStep *step, PlaitNode *states,
                             PlaitNode *attention, PlaitLossPass *losses)
{
  step->state = states;
  step->attention = attention;
  return plait_call_update (&covered->instance, step, losses);
}

/* TRUE if @queries have the offsets of @before, and parents[i] is i for each query i. */
static gboolean
is_same (PlaitRagged before, PlaitRagged queries, const gint64 *parents)
{
  for (gint64 s = 0; s <= queries.n; s++)
    if (queries.offsets[s] != before.offsets[s])
      return FALSE;
  for (gint64 q = 0; q < plait_ragged_rows (queries); q++)
    if (parents[q] != q)
      return FALSE;
  return TRUE;
}

PlaitNode *
plait_covered_memory_carry (PlaitTape *tape, PlaitNode *states, const PlaitQueryKeyPairs *before, PlaitRagged queries,
                            const gint64 *parents)
{
  PlaitQueryKeyPairs now = plait_query_key_pairs (tape, queries, before->rows);
  gint64 n = plait_query_key_pairs_count (&now), pair = 0;
  gint64 *from;

  if (is_same (before->queries, queries, parents))
    return states;
  from = plait_arena_new_array (plait_tape_arena (tape), gint64, n + 1);
  for (gint64 s = 0; s < queries.n; s++)
    {
      gint64 length = plait_ragged_length (before->rows, s);

      for (gint64 q = queries.offsets[s]; q < queries.offsets[s + 1]; q++)
        for (gint64 row = 0; row < length; row++)
          from[pair++] = before->offsets[s] + (parents[q] - before->queries.offsets[s]) * length + row;
    }
  return plait_gather_rows (tape, states, from, n);
}

/* Copies the columns of @from to the columns of @to from column @first on. @width: width of the rows of @to. */
static void
copy_columns (PlaitScalar *to, gint64 width, gint64 first, PlaitTensor from)
{
  for (gint64 row = 0; row < from.rows; row++)
    memcpy (to + row * width + first, from.data + row * from.stride, (gsize)from.width * sizeof *to);
}

void
plait_covered_memory_record (const PlaitCoveredMemory *covered, PlaitAttentionRecord *record, guint layer,
                             const char *name, guint memory, PlaitNode *const *states, const PlaitNode *prepared)
{
  gint64 width = covered->width * covered->n_states;
  PlaitScalar *values = plait_attention_record_coverage (record, layer, name, memory, width);
  PlaitRecordedCoverage *to = &plait_attention_record_layer (record, layer, name, memory)->coverage;
  const char *prepared_name = plait_call_prepared_name (&covered->instance);

  for (guint i = 0; i < covered->n_states; i++)
    copy_columns (values, width, i * covered->width, states[i]->value);
  if (!prepared_name || !prepared || prepared->value.width != 1)
    return;
  to->name = prepared_name;
  to->prepared = values = plait_arena_new_array (record->arena, PlaitScalar, prepared->value.rows + 1);
  copy_columns (values, 1, 0, prepared->value);
}
