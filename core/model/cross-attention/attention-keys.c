/* SPDX-License-Identifier: MIT */
#include "cross-attention/cross-attention.h"
#include "cross-attention/rows.h"

#include <string.h>

#include "autograd/internal.h"
#include "layers/attention.h"

/* State of a cross-attention before and between steps: inputs of a pass, keys and values, the sentinel's gate, and
 * coverage states. */

PlaitCrossAttentionPass
plait_cross_pass (PlaitTape *tape, const PlaitMemory *memories, guint n_memories, PlaitRagged queries,
                  PlaitAttentionRecord *record)
{
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 rows = plait_ragged_rows (queries);
  guint8 *any = plait_arena_new_array0 (arena, guint8, rows + 1);
  PlaitCrossAttentionPass pass = {
    .tape = tape,
    .memories = memories,
    .n_memories = n_memories,
    .queries = queries,
    .present = plait_arena_new_array (arena, const guint8 *, n_memories),
    .any_present = NULL,
    .record = record,
  };

  for (guint i = 0; i < n_memories; i++)
    {
      guint8 *present = plait_arena_new_array (arena, guint8, rows + 1);

      for (gint64 s = 0; s < queries.n; s++)
        memset (present + queries.offsets[s], plait_ragged_length (memories[i].rows, s) > 0,
                plait_ragged_length (queries, s));
      for (gint64 row = 0; row < rows; row++)
        any[row] |= present[row];
      pass.present[i] = memchr (present, 0, rows) ? present : NULL;
    }
  if (memchr (any, 0, rows))
    pass.any_present = any;
  if (record)
    {
      record->queries = queries;
      record->memories = memories;
    }
  return pass;
}

/* Returns the fields of a descent that depend only on @memory. level is NULL if the rows of @memory have no levels. */
static PlaitTreeDescent
descent_of (const PlaitMemory *memory)
{
  const PlaitLinks *links = memory->links;
  PlaitTreeDescent descent = { .rows = memory->rows };

  if (!links || !links->level || !links->first_child || !links->n_children)
    return descent;
  descent.level = links->level;
  descent.first_child = links->first_child;
  descent.n_children = links->n_children;
  for (gint64 row = 0; row < plait_ragged_rows (memory->rows); row++)
    descent.max_children = MAX (descent.max_children, links->n_children[row]);
  return descent;
}

PlaitCrossAttentionKeys
plait_cross_project (const PlaitCrossAttentionLayer *cross, PlaitTape *tape, const PlaitMemory *memories)
{
  PlaitArena *arena = plait_tape_arena (tape);
  guint n = cross->decoder->n_memories, n_keys = cross->n_attentions * n;
  PlaitCrossAttentionKeys keys = {
    .key_values = plait_arena_new_array0 (arena, PlaitKeyValues, n_keys + 1),
    .coverage = plait_arena_new_array0 (arena, PlaitNode *, n_keys + 1),
    .prepared = plait_arena_new_array0 (arena, PlaitNode *, n),
    .descents = plait_arena_new_array0 (arena, PlaitTreeDescent, n),
    .sibling_groups = plait_arena_new_array0 (arena, PlaitSiblingGroups *, n),
    .memories = memories,
  };

  for (guint r = 0; r < cross->n_attentions; r++)
    {
      const PlaitDeclaredAttention *attention = &cross->attentions[r];

      for (guint i = 0; i < attention->n; i++)
        {
          guint m = attention->first + i, index = plait_cross_index (cross, attention, m);

          if (attention->covered)
            keys.coverage[index] = plait_call_prepare_coverage (&attention->covered[i].instance, tape, &memories[m]);
          keys.key_values[index] = cross->multi_head
                                       ? plait_attention_project (tape, &attention->multi_head,
                                                                  attention->multi_head.n_key_values > 1 ? i : 0,
                                                                  memories[m].states, memories[m].rows)
                                       : plait_recurrent_attention_project (
                                           tape, plait_recurrent_attention_item (&attention->recurrent, i),
                                           memories[m].states, memories[m].rows);
        }
    }
  for (guint m = 0; m < n; m++)
    {
      PlaitSiblingGroups *sibling_groups;

      if (!cross->reads_rows[m])
        continue;
      keys.prepared[m] = plait_call_prepare (&cross->combiner, tape, m, &memories[m]);
      keys.descents[m] = descent_of (&memories[m]);
      if (!keys.descents[m].level)
        continue;
      sibling_groups = plait_arena_new_array (arena, PlaitSiblingGroups, 1);
      keys.sibling_groups[m]
          = plait_sibling_groups_find (arena, &keys.descents[m], sibling_groups) ? sibling_groups : NULL;
    }
  return keys;
}

void
plait_cross_keys_keep_columns (const PlaitCrossAttentionLayer *cross, const PlaitCrossAttentionKeys *keys,
                               PlaitTape *tape)
{
  for (guint i = 0; cross->multi_head && i < cross->n_attentions * cross->decoder->n_memories; i++)
    if (keys->key_values[i].keys)
      plait_key_values_transpose (tape, &keys->key_values[i]);
}

static PlaitNode *
node_on (PlaitNode *node, PlaitTape *tape)
{
  return node ? plait_leaf (tape, node->value, NULL) : NULL;
}

PlaitCrossAttentionKeys
plait_cross_keys_as_constants (const PlaitCrossAttentionLayer *cross, const PlaitCrossAttentionKeys *keys,
                               PlaitTape *tape)
{
  PlaitArena *arena = plait_tape_arena (tape);
  guint n = cross->decoder->n_memories, n_keys = cross->n_attentions * n;
  PlaitMemory *memories = plait_arena_new_array (arena, PlaitMemory, n);
  PlaitCrossAttentionKeys moved = {
    .key_values = plait_arena_new_array (arena, PlaitKeyValues, n_keys + 1),
    .coverage = plait_arena_new_array (arena, PlaitNode *, n_keys + 1),
    .prepared = plait_arena_new_array (arena, PlaitNode *, n),
    .descents = keys->descents,
    .sibling_groups = keys->sibling_groups,
    .memories = memories,
  };

  for (guint i = 0; i < n_keys; i++)
    {
      moved.key_values[i] = keys->key_values[i];
      moved.key_values[i].keys = node_on (keys->key_values[i].keys, tape);
      moved.key_values[i].values = node_on (keys->key_values[i].values, tape);
      moved.coverage[i] = node_on (keys->coverage[i], tape);
    }
  for (guint m = 0; m < n; m++)
    {
      memories[m] = keys->memories[m];
      if (!cross->reads_rows[m] && cross->n_coverage == 0)
        continue;
      memories[m].states = node_on (keys->memories[m].states, tape);
      memories[m].cells = node_on (keys->memories[m].cells, tape);
    }
  for (guint m = 0; m < n; m++)
    moved.prepared[m] = node_on (keys->prepared[m], tape);
  return moved;
}

PlaitNode *
plait_cross_sentinel_gate_input (const PlaitCrossAttentionLayer *cross, PlaitTape *tape, PlaitNode *embedded)
{
  return cross->gate.state.weight ? plait_linear_apply (tape, &cross->gate.embedding, embedded, PLAIT_ACTIVATION_NONE)
                                  : NULL;
}

PlaitNode *
plait_cross_sentinel_gate (const PlaitCrossAttentionLayer *cross, PlaitTape *tape, PlaitNode *input, PlaitNode *state)
{
  if (!input)
    return NULL;
  state = plait_linear_apply (tape, &cross->gate.state, state, PLAIT_ACTIVATION_NONE);
  return plait_activate (tape, plait_add (tape, input, state), PLAIT_ACTIVATION_SIGMOID);
}

PlaitNode **
plait_cross_initial_coverage (const PlaitCrossAttentionLayer *cross, PlaitTape *tape, const PlaitMemory *memories,
                              PlaitRagged queries)
{
  PlaitNode **states = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, cross->n_coverage + 1);

  for (guint i = 0; i < cross->n_covered; i++)
    {
      const PlaitCoveredMemory *covered = cross->covered[i];
      PlaitQueryKeyPairs pairs = plait_query_key_pairs (tape, queries, memories[covered->memory].rows);

      for (guint k = covered->first_state; k < covered->first_state + covered->n_states; k++)
        states[k] = plait_covered_memory_begin (covered, tape, &pairs);
    }
  return states;
}

PlaitCrossAttentionSearch
plait_cross_search (const PlaitCrossAttentionLayer *cross, PlaitTape *tape, const PlaitMemory *memories,
                    gint64 hypotheses)
{
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 n = memories[0].rows.n;
  PlaitCrossAttentionSearch search = {
    .cross = cross,
    .keys = plait_cross_project (cross, tape, memories),
    .coverage = plait_arena_new_array (arena, PlaitTensor, cross->n_coverage + 1),
    .queries = plait_ragged_units (arena, n),
  };

  plait_cross_keys_keep_columns (cross, &search.keys, tape);
  for (guint i = 0; i < cross->n_covered; i++)
    {
      const PlaitCoveredMemory *covered = cross->covered[i];
      gint64 pairs = n > 0 ? hypotheses / n * plait_ragged_rows (memories[covered->memory].rows) : 0;

      for (guint k = covered->first_state; k < covered->first_state + covered->n_states; k++)
        search.coverage[k] = plait_tensor (plait_arena_new_array0 (arena, PlaitScalar, pairs * covered->width + 1),
                                           pairs, covered->width);
    }
  return search;
}

PlaitCrossAttentionStep
plait_cross_search_step (const PlaitCrossAttentionSearch *search, const PlaitCrossAttentionPass *pass,
                         const gint64 *parents)
{
  const PlaitCrossAttentionLayer *cross = search->cross;
  PlaitTape *tape = pass->tape;
  PlaitCrossAttentionStep step = {
    .keys = plait_cross_keys_as_constants (cross, &search->keys, tape),
    .coverage = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, cross->n_coverage + 1),
  };

  for (guint i = 0; i < cross->n_covered; i++)
    {
      const PlaitCoveredMemory *covered = cross->covered[i];
      PlaitQueryKeyPairs pairs = plait_query_key_pairs (tape, search->queries, pass->memories[covered->memory].rows);
      gint64 n = plait_query_key_pairs_count (&pairs);

      for (guint k = covered->first_state; k < covered->first_state + covered->n_states; k++)
        step.coverage[k]
            = plait_covered_memory_carry (tape, plait_leaf (tape, plait_tensor_rows (search->coverage[k], 0, n), NULL),
                                          &pairs, pass->queries, parents);
    }
  return step;
}

void
plait_cross_search_keep (PlaitCrossAttentionSearch *search, const PlaitCrossAttentionPass *pass,
                         const PlaitCrossAttentionStep *step)
{
  PlaitPool *pool = plait_tape_pool (pass->tape);

  for (guint k = 0; k < search->cross->n_coverage; k++)
    {
      PlaitTensor states = step->coverage[k]->value;

      plait_tensor_accumulate (pool, plait_tensor_rows (search->coverage[k], 0, states.rows), 0, 1, states);
    }
  memcpy ((gint64 *)search->queries.offsets, pass->queries.offsets, (gsize)(pass->queries.n + 1) * sizeof (gint64));
}
