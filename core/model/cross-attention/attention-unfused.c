/* SPDX-License-Identifier: MIT */
#include "cross-attention/rows.h"
#include "layers/parameter-set.h"

#include <string.h>

/* Attention computed in separate steps (scores, softmax, weighted sum), for callers that need the weights and for
 * coverage. */

/* An item of a softmax: keys and values of a memory, of a context (one row or none per query), or of the sentinel. */
typedef struct
{
  const PlaitRecurrentAttentionItem *recurrent; /* NULL: scaled dot products */
  PlaitKeyValues key_values;
  PlaitQueryKeyPairs pairs;
  PlaitNode **extra; /* [heads]: terms of coverage that are added to the scores, or NULL */
} Item;

/* Returns the columns of @x that belong to head @head. */
static PlaitNode *
head_of (PlaitTape *tape, PlaitNode *x, guint head, guint heads)
{
  gint64 width = x->value.width / heads;

  return heads == 1 ? x : plait_columns (tape, x, head * width, width);
}

static PlaitNode *
score (const PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention, const Item *item, PlaitNode *query,
       PlaitNode *keys, PlaitNode *extra)
{
  PlaitTape *tape = cross->pass->tape;
  PlaitNode *vector = plait_parameter_node_if_any (tape, attention->recurrent.vector), *products;

  if (vector)
    return plait_additive_scores (tape, &item->pairs, query, keys, extra, vector,
                                  plait_parameter_node_if_any (tape, item->recurrent->bias));
  products = plait_dot_scores (tape, &item->pairs, query, keys, attention->scale);
  return extra ? plait_add (tape, products, extra) : products;
}

/* Returns the pairs of a context. The context has one row for each query whose byte in @present is not 0 (NULL: for
 * every query). */
static PlaitQueryKeyPairs
context_pairs (const PlaitCrossAttention *cross, const guint8 *present)
{
  PlaitTape *tape = cross->pass->tape;
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 n = plait_ragged_rows (cross->pass->queries);
  gint64 *offsets = plait_arena_new_array (arena, gint64, n + 1);

  offsets[0] = 0;
  for (gint64 i = 0; i < n; i++)
    offsets[i + 1] = offsets[i] + (!present || present[i]);
  return plait_query_key_pairs (tape, plait_ragged_units (arena, n), (PlaitRagged){ n, offsets });
}

static Item
sentinel_item (const PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention)
{
  PlaitQueryKeyPairs pairs = context_pairs (cross, NULL);

  return (Item){ attention->recurrent.sentinel,
                 plait_recurrent_attention_project (cross->pass->tape, attention->recurrent.sentinel, cross->sentinel,
                                                    pairs.rows),
                 pairs, NULL };
}

/* Computes one head of attend_items. */
static PlaitNode *
attend_head (const PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention, const Item *items, guint n,
             guint head, PlaitNode *projected, PlaitNode **weights)
{
  PlaitTape *tape = cross->pass->tape;
  PlaitArena *arena = plait_tape_arena (tape);
  guint total = n + (attention->recurrent.sentinel != NULL);
  PlaitQueryKeyPairs *pairs = plait_arena_new_array (arena, PlaitQueryKeyPairs, total);
  PlaitNode **nodes = plait_arena_new_array (arena, PlaitNode *, total);
  PlaitNode *query = head_of (tape, projected, head, attention->heads), *dropped;
  gint64 from = 0;

  for (guint i = 0; i < total; i++)
    {
      /* The sentinel has one row for each query, so each query has one pair with it. */
      pairs[i] = i < n ? items[i].pairs
                       : plait_query_key_pairs (tape, pairs->queries, plait_ragged_units (arena, pairs->queries.n));
      nodes[i]
          = score (cross, attention, &items[i], query, head_of (tape, items[i].key_values.keys, head, attention->heads),
                   items[i].extra ? items[i].extra[head] : NULL);
    }
  *weights = plait_ragged_softmax (tape, pairs, nodes, total);
  dropped = plait_dropout (tape, *weights, attention->dropout);
  for (guint i = 0; i < total; i++)
    {
      gint64 number = plait_query_key_pairs_count (&pairs[i]);

      if (i == n && cross->pass->record)
        memcpy (plait_attention_record_sentinel (cross->pass->record, cross->step->layer, 1),
                (*weights)->value.data + from, (gsize)number * sizeof (PlaitScalar));
      nodes[i] = plait_weighted_sum (tape, &items[i].pairs, plait_rows (tape, dropped, from, number),
                                     head_of (tape, items[i].key_values.values, head, attention->heads));
      from += number;
    }
  return total == 1 ? nodes[0] : plait_add_n (tape, nodes, total);
}

/*
 * Returns the context: the weighted sums of the heads side by side, after the output projection. Each head has one
 * softmax over the rows of all @items [n] and, if the attention has a sentinel, over the sentinel, which becomes item
 * n. @items has space for n + 1 items. @weights [heads] receives the weights of each head before dropout, all items end
 * to end.
 */
static PlaitNode *
attend_items (PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention, Item *items, guint n,
              PlaitResidualStream query, const guint8 *present, PlaitNode **weights)
{
  PlaitTape *tape = cross->pass->tape;
  PlaitNode *projected = plait_cross_project_query (cross, attention, query);
  PlaitNode **heads = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, attention->heads);

  if (attention->recurrent.sentinel)
    items[n] = sentinel_item (cross, attention);
  for (guint h = 0; h < attention->heads; h++)
    heads[h] = attend_head (cross, attention, items, n, h, projected, &weights[h]);
  return plait_cross_project_output (
      cross, attention, attention->heads == 1 ? heads[0] : plait_concatenate_columns (tape, heads, attention->heads),
      present);
}

static void
record (const PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention, guint memory,
        PlaitNode *const *weights, gint64 first, gint64 n)
{
  PlaitScalar *to = plait_attention_record_weights (
      cross->pass->record, cross->step->layer, plait_cross_record_name (cross, attention), memory, attention->heads);

  for (guint h = 0; h < attention->heads; h++)
    memcpy (to + h * n, weights[h]->value.data + first, (gsize)n * sizeof (PlaitScalar));
}

/* Returns the terms of coverage for the scores of each head, [heads] nodes. */
static PlaitNode **
covered_scores (const PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention, guint i,
                const PlaitQueryKeyPairs *pairs, PlaitResidualStream query)
{
  PlaitTape *tape = cross->pass->tape;
  const PlaitCoveredMemory *covered = &attention->covered[i];
  guint m = attention->first + i;
  PlaitNode **extra = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, attention->heads);

  for (guint k = 0; k < covered->n_states; k++)
    extra[k] = plait_covered_memory_score (covered, tape, &cross->keys->memories[m], pairs,
                                           cross->keys->coverage[plait_cross_index (cross->declared, attention, m)],
                                           cross->step->coverage[covered->first_state + k], query.query);
  /* If all heads share one state, extra[0] has the terms of all heads: column h is the term of head h. */
  for (guint h = attention->heads; covered->n_states == 1 && attention->heads > 1 && h-- > 0;)
    extra[h] = plait_columns (tape, extra[0], h, 1);
  return extra;
}

/* Returns the mean over heads of the weights of @n pairs, beginning at pair @from. */
static PlaitNode *
mean_attention (const PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention, PlaitNode *const *weights,
                gint64 from, gint64 n)
{
  PlaitTape *tape = cross->pass->tape;
  PlaitNode **paid = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, attention->heads);

  for (guint h = 0; h < attention->heads; h++)
    paid[h] = plait_rows (tape, weights[h], from, n);
  return attention->heads == 1 ? paid[0]
                               : plait_scale (tape, plait_add_n (tape, paid, attention->heads), 1.0 / attention->heads);
}

/* Updates the coverage states of memory @i of @attention. If there is a next step, also gathers the states of its
 * queries. Gathers before the update, which then skips states that no query continues. But if coverage is recorded or
 * has a loss, all updated states are needed: then gathers after the update. */
static void
update_coverage (const PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention, guint i,
                 const PlaitQueryKeyPairs *pairs, PlaitNode *const *weights, gint64 from, PlaitNode *query)
{
  const PlaitCrossAttentionPass *pass = cross->pass;
  const PlaitCoveredMemory *covered = &attention->covered[i];
  guint m = attention->first + i;
  PlaitNode *prepared = cross->keys->coverage[plait_cross_index (cross->declared, attention, m)];
  PlaitNode **states = cross->step->coverage + covered->first_state;
  gboolean recorded = pass->record && pass->record->coverage;
  gint64 n_next = pass->parents ? plait_ragged_rows (pass->next) : 0, n = plait_query_key_pairs_count (pairs);
  gboolean measured = pass->losses && covered->instance.losses.n > 0;
  gboolean moves = pass->parents && !recorded && !measured;
  PlaitTape *tape = pass->tape;
  PlaitQueryKeyPairs next = moves ? plait_query_key_pairs (tape, pass->next, pairs->rows) : *pairs;
  PlaitNode **paid = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, covered->n_states);
  PlaitCoverageStep *step;

  if (moves && n_next == 0)
    return;
  for (guint k = 0; k < covered->n_states; k++)
    {
      paid[k] = covered->n_states > 1 ? plait_rows (tape, weights[k], from, n)
                                      : mean_attention (cross, attention, weights, from, n);
      if (!moves)
        continue;
      states[k] = plait_covered_memory_carry (tape, states[k], pairs, pass->next, pass->parents);
      paid[k] = plait_covered_memory_carry (tape, paid[k], pairs, pass->next, pass->parents);
    }
  if (moves)
    query = plait_gather_rows (tape, query, pass->parents, n_next);
  step = plait_covered_memory_step (tape, &cross->keys->memories[m], &next, prepared, query);
  for (guint k = 0; k < covered->n_states; k++)
    states[k] = plait_covered_memory_update (covered, step, states[k], paid[k], pass->losses);
  if (recorded)
    plait_covered_memory_record (covered, pass->record, cross->step->layer, plait_cross_record_name (cross, attention),
                                 m, states, prepared);
  for (guint k = 0; !moves && pass->parents && k < covered->n_states; k++)
    states[k] = plait_covered_memory_carry (tape, states[k], pairs, pass->next, pass->parents);
}

PlaitNode *
plait_cross_attend_unfused (PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention,
                            PlaitResidualStream query, const guint8 *present, PlaitNode **weights)
{
  PlaitTape *tape = cross->pass->tape;
  Item *items = plait_arena_new_array (plait_tape_arena (tape), Item, attention->n + 1);
  PlaitNode *context;
  gint64 from = 0;

  for (guint i = 0; i < attention->n; i++)
    {
      guint m = attention->first + i;
      PlaitQueryKeyPairs pairs = plait_query_key_pairs (tape, cross->pass->queries, cross->pass->memories[m].rows);

      items[i] = (Item){ cross->declared->multi_head ? NULL : plait_recurrent_attention_item (&attention->recurrent, i),
                         cross->keys->key_values[plait_cross_index (cross->declared, attention, m)], pairs,
                         attention->covered ? covered_scores (cross, attention, i, &pairs, query) : NULL };
    }
  context = attend_items (cross, attention, items, attention->n, query, present, weights);
  for (guint i = 0; i < attention->n; i++)
    {
      gint64 number = plait_query_key_pairs_count (&items[i].pairs);

      if (cross->pass->record)
        record (cross, attention, attention->first + i, weights, from, number);
      if (attention->covered)
        update_coverage (cross, attention, i, &items[i].pairs, weights, from, query.query);
      from += number;
    }
  return context;
}

/* Returns the rows of @x whose byte in @present is not 0 (NULL: all rows), end to end. */
static PlaitNode *
present_rows (const PlaitCrossAttention *cross, PlaitNode *x, const guint8 *present)
{
  gint64 *rows, n = 0;

  if (!present)
    return x;
  rows = plait_arena_new_array (plait_tape_arena (cross->pass->tape), gint64, x->value.rows + 1);
  for (gint64 i = 0; i < x->value.rows; i++)
    if (present[i])
      rows[n++] = i;
  return plait_gather_rows (cross->pass->tape, x, rows, n);
}

/* Returns the index of the weight of query @i for context @m, or -1 if the context is absent. @from: number of weights
 * of the contexts before @m. */
static gint64
entry_of (const Item *items, guint m, gint64 from, gint64 i)
{
  return plait_ragged_length (items[m].pairs.rows, i) > 0 ? from + items[m].pairs.offsets[i] : -1;
}

static void
record_contexts (const PlaitCrossAttention *cross, const Item *items, PlaitNode *const *weights, guint heads, guint n)
{
  PlaitScalar *to = plait_attention_record_contexts (cross->pass->record, cross->step->layer, heads);
  gint64 queries = plait_ragged_rows (cross->pass->queries), from = 0;

  for (guint m = 0; m < n; from += plait_query_key_pairs_count (&items[m].pairs), m++)
    for (guint h = 0; h < heads; h++)
      for (gint64 i = 0; i < queries; i++)
        {
          gint64 entry = entry_of (items, m, from, i);

          to[(h * queries + i) * n + m] = entry < 0 ? 0 : weights[h]->value.data[entry];
        }
}

/* Stores the weights of contexts, averaged over heads, for each reader. */
static void
read_contexts (PlaitCrossAttention *cross, const Item *items, PlaitNode *const *weights, guint heads, guint n)
{
  PlaitTape *tape = cross->pass->tape;
  gint64 queries = plait_ragged_rows (cross->pass->queries), from = 0;
  gint64 *entries = plait_arena_new_array (plait_tape_arena (tape), gint64, queries * n + 1);
  PlaitNode *shares;

  for (guint m = 0; m < n; from += plait_query_key_pairs_count (&items[m].pairs), m++)
    for (gint64 i = 0; i < queries; i++)
      entries[i * n + m] = entry_of (items, m, from, i);
  shares = plait_gather_windows (tape, plait_reading_of_heads (tape, weights, heads, 0), entries, queries, n);
  for (guint r = 0; r < PLAIT_READERS; r++)
    if (cross->readings[r])
      cross->readings[r]->shares = shares;
}

/* Returns keys and values of context @i. */
static PlaitKeyValues
project_context (PlaitTape *tape, const PlaitDeclaredAttention *attention, guint i, PlaitNode *context,
                 PlaitRagged rows)
{
  const PlaitAttention *multi_head = &attention->multi_head;

  if (!multi_head->key_value)
    return plait_recurrent_attention_project (tape, plait_recurrent_attention_item (&attention->recurrent, i), context,
                                              rows);
  return plait_attention_project (tape, multi_head, multi_head->n_key_values > 1 ? i : 0, context, rows);
}

PlaitNode *
plait_cross_attend_contexts_unfused (PlaitCrossAttention *cross, const PlaitDeclaredAttention *attention,
                                     PlaitResidualStream query, const PlaitContext *contexts, guint n)
{
  PlaitTape *tape = cross->pass->tape;
  PlaitArena *arena = plait_tape_arena (tape);
  gboolean multi_head = cross->declared->multi_head;
  Item *items = plait_arena_new_array (arena, Item, n + 1);
  PlaitNode **weights = plait_arena_new_array (arena, PlaitNode *, attention->heads), *value;

  for (guint i = 0; i < n; i++)
    {
      PlaitQueryKeyPairs pairs = context_pairs (cross, contexts[i].present);
      PlaitNode *rows = present_rows (cross, contexts[i].value, contexts[i].present);

      items[i] = (Item){ multi_head ? NULL : plait_recurrent_attention_item (&attention->recurrent, i),
                         project_context (tape, attention, i, rows, pairs.rows), pairs, NULL };
    }
  value = attend_items (cross, attention, items, n, query, multi_head ? cross->pass->any_present : NULL, weights);
  if (cross->pass->record)
    record_contexts (cross, items, weights, attention->heads, n);
  if (plait_cross_is_read (cross, attention))
    read_contexts (cross, items, weights, attention->heads, n);
  return value;
}
