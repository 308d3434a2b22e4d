/* SPDX-License-Identifier: MIT */
#include "model/recurrent-site.h"

#include <string.h>

/* What a combiner calls at the attention site of a recurrent decoder. */

static PlaitScoredMemory
project (PlaitTape *tape, const PlaitScoredItem *item, PlaitNode *rows)
{
  PlaitNode *keys = item->key.weight ? plait_linear_apply (tape, &item->key, rows, PLAIT_ACTIVATION_NONE) : rows;
  PlaitNode *values = item->tied ? keys : rows;

  if (item->value.weight)
    values = plait_linear_apply (tape, &item->value, rows, PLAIT_ACTIVATION_NONE);
  return (PlaitScoredMemory){ keys, values };
}

PlaitScoredKeys
plait_recurrent_site_project (const PlaitRecurrentSite *site, PlaitTape *tape, const PlaitMemory *memories)
{
  PlaitArena *arena = plait_tape_arena (tape);
  PlaitScoredKeys keys = {
    plait_arena_new_array (arena, PlaitScoredMemory, site->n_memories),
    plait_arena_new_array (arena, PlaitScoredMemory, site->n_memories),
    plait_arena_new_array (arena, PlaitNode *, site->n_memories),
  };

  for (guint i = 0; i < site->n_memories; i++)
    {
      keys.prepared[i] = site->covered[i].table ? plait_covered_prepare (&site->covered[i], tape, &memories[i]) : NULL;
      keys.attend[i] = keys.jointly[i] = (PlaitScoredMemory){ NULL, NULL };
      if (site->attend[i].declared)
        keys.attend[i] = project (tape, site->attend[i].items, memories[i].states);
      if (site->jointly.declared)
        keys.jointly[i] = project (tape, &site->jointly.items[site->jointly.n_items > 1 ? i : 0], memories[i].states);
    }
  return keys;
}

static PlaitScoredMemory
on_tape (PlaitScoredMemory memory, PlaitTape *tape)
{
  if (memory.keys)
    {
      memory.keys = plait_leaf (tape, memory.keys->value, NULL);
      memory.values = plait_leaf (tape, memory.values->value, NULL);
    }
  return memory;
}

PlaitScoredKeys
plait_scored_keys_on (const PlaitScoredKeys *keys, guint n_memories, PlaitTape *tape)
{
  PlaitArena *arena = plait_tape_arena (tape);
  PlaitScoredKeys moved = {
    plait_arena_new_array (arena, PlaitScoredMemory, n_memories),
    plait_arena_new_array (arena, PlaitScoredMemory, n_memories),
    plait_arena_new_array (arena, PlaitNode *, n_memories),
  };

  for (guint i = 0; i < n_memories; i++)
    {
      moved.prepared[i] = keys->prepared[i] ? plait_leaf (tape, keys->prepared[i]->value, NULL) : NULL;
      moved.attend[i] = on_tape (keys->attend[i], tape);
      moved.jointly[i] = on_tape (keys->jointly[i], tape);
    }
  return moved;
}

PlaitNode *
plait_recurrent_site_gate_input (const PlaitRecurrentSite *site, PlaitTape *tape, PlaitNode *embedded)
{
  return site->gate.state.weight ? plait_linear_apply (tape, &site->gate.embedding, embedded, PLAIT_ACTIVATION_NONE)
                                 : NULL;
}

PlaitNode *
plait_recurrent_site_gate (const PlaitRecurrentSite *site, PlaitTape *tape, PlaitNode *input, PlaitNode *state)
{
  PlaitNode *terms[2];

  if (!input)
    return NULL;
  terms[0] = input;
  terms[1] = plait_linear_apply (tape, &site->gate.state, state, PLAIT_ACTIVATION_NONE);
  return plait_activate (tape, plait_sum (tape, terms, 2), PLAIT_ACTIVATION_SIGMOID);
}

typedef struct
{
  PlaitSite site;
  const PlaitRecurrentSite *parts;
  const PlaitSitePass *pass;
  const PlaitScoredKeys *keys;
  PlaitNode *sentinel; /* [queries, state width], or NULL */
  PlaitNode **coverage;
} Run;

static PlaitTape *
run_tape (PlaitSite *site)
{
  return ((Run *)site)->pass->tape;
}

static PlaitStream
normalise (PlaitSite *site, guint slot, PlaitStream x)
{
  return x;
}

/* What the queries of an attention are compared with, one row a query. */
static PlaitNode *
project_query (const Run *run, const PlaitScoredAttention *attention, PlaitNode *query)
{
  return attention->query.weight ? plait_linear_apply (run->pass->tape, &attention->query, query, PLAIT_ACTIVATION_NONE)
                                 : query;
}

/* What one softmax chooses among: the rows of a memory, or one context or sentinel of each query. */
typedef struct
{
  const PlaitScoredItem *parameters;
  PlaitScoredMemory memory;
  PlaitPairs pairs;
  PlaitNode *extra; /* what coverage adds to the scores, or NULL */
} Item;

static PlaitNode *
score (const Run *run, const PlaitScoredAttention *attention, const Item *item, PlaitNode *query)
{
  PlaitTape *tape = run->pass->tape;
  const PlaitParameter *bias = item->parameters->bias;
  PlaitNode *terms[2];

  if (run->parts->score == PLAIT_SCORE_ADDITIVE)
    return plait_pair_scores (tape, &item->pairs, query, item->memory.keys, item->extra,
                              plait_parameter_node (tape, attention->vector),
                              bias ? plait_parameter_node (tape, bias) : NULL);
  terms[0] = plait_pair_products (tape, &item->pairs, query, item->memory.keys, 1);
  terms[1] = item->extra;
  return item->extra ? plait_sum (tape, terms, 2) : terms[0];
}

/* Every query as a sentence of its own, and the one row of the context in it, if it is there. */
static PlaitPairs
context_pairs (const Run *run, const guint8 *present)
{
  PlaitArena *arena = plait_tape_arena (run->pass->tape);
  gint64 n = plait_ragged_rows (run->pass->queries);
  gint64 *units = plait_arena_new_array (arena, gint64, n + 1), *offsets = plait_arena_new_array (arena, gint64, n + 1);

  units[0] = offsets[0] = 0;
  for (gint64 i = 0; i < n; i++)
    {
      units[i + 1] = i + 1;
      offsets[i + 1] = offsets[i] + (!present || present[i]);
    }
  return plait_pairs (run->pass->tape, (PlaitRagged){ n, units }, (PlaitRagged){ n, offsets });
}

static Item
sentinel_item (const Run *run, const PlaitScoredAttention *attention)
{
  return (Item){ attention->sentinel, project (run->pass->tape, attention->sentinel, run->sentinel),
                 context_pairs (run, NULL), NULL };
}

/* One pair for each of the queries of @pairs: a sentinel's place in the softmax over them. */
static PlaitPairs
one_each (PlaitTape *tape, const PlaitPairs *pairs)
{
  gint64 n = pairs->queries.n, *offsets = plait_arena_new_array (plait_tape_arena (tape), gint64, n + 1);

  for (gint64 s = 0; s <= n; s++)
    offsets[s] = s;
  return plait_pairs (tape, pairs->queries, (PlaitRagged){ n, offsets });
}

/*
 * One softmax over @items [@n], and over the sentinel where the attention has one, for which there is room behind them:
 * the sum of what is read from each. @weights gets the weights before dropout, item after item.
 */
static PlaitNode *
attend_items (const Run *run, const PlaitScoredAttention *attention, Item *items, guint n, PlaitNode *query,
              PlaitNode **weights)
{
  PlaitTape *tape = run->pass->tape;
  PlaitArena *arena = plait_tape_arena (tape);
  guint total = n + (attention->sentinel != NULL);
  PlaitPairs *pairs = plait_arena_new_array (arena, PlaitPairs, total);
  PlaitNode **nodes = plait_arena_new_array (arena, PlaitNode *, total);
  PlaitNode *projected = project_query (run, attention, query), *dropped;
  gint64 from = 0;

  if (attention->sentinel)
    items[n] = sentinel_item (run, attention);
  for (guint i = 0; i < total; i++)
    {
      pairs[i] = i < n ? items[i].pairs : one_each (tape, pairs);
      nodes[i] = score (run, attention, &items[i], projected);
    }
  *weights = plait_pair_weights (tape, pairs, nodes, total);
  dropped = plait_dropout (tape, *weights, attention->dropout);
  for (guint i = 0; i < total; i++)
    {
      gint64 number = plait_pairs_number (&pairs[i]);

      if (i == n && run->pass->capture)
        memcpy (plait_capture_sentinel (run->pass->capture, 0, 1), (*weights)->value.data + from,
                (gsize)number * sizeof (PlaitScalar));
      nodes[i]
          = plait_pair_read (tape, &items[i].pairs, plait_rows (tape, dropped, from, number), items[i].memory.values);
      from += number;
    }
  return plait_dropout (tape, total == 1 ? nodes[0] : plait_sum (tape, nodes, total), attention->output_dropout);
}

static void
capture (const Run *run, guint memory, const PlaitNode *weights, gint64 first, gint64 n)
{
  PlaitScalar *to = plait_capture_memory (run->pass->capture, 0, memory, 1);

  memcpy (to, weights->value.data + first, (gsize)n * sizeof (PlaitScalar));
}

static PlaitNode *
covered_score (const Run *run, guint memory)
{
  const PlaitCovered *covered = &run->parts->covered[memory];

  return covered->table ? plait_covered_score (covered, run->pass->tape, run->coverage[memory]) : NULL;
}

/* Without a capture, what no later step reads is not computed: what goes on is taken out first, and then renewed. */
static void
update_coverage (const Run *run, guint memory, const PlaitPairs *pairs, PlaitNode *weights, gint64 from,
                 PlaitNode *query)
{
  const PlaitSitePass *pass = run->pass;
  const PlaitCovered *covered = &run->parts->covered[memory];
  PlaitNode *prepared, *states = run->coverage[memory], *attention;
  gboolean captured = pass->capture && pass->capture->coverage;
  gint64 n_next = pass->parents ? plait_ragged_rows (pass->next) : 0;
  PlaitTape *tape = pass->tape;
  PlaitPairs next = *pairs;

  if (!covered->table || (pass->parents && !captured && n_next == 0))
    return;
  prepared = run->keys->prepared[memory];
  attention = plait_rows (tape, weights, from, plait_pairs_number (pairs));
  if (pass->parents && !captured)
    {
      next = plait_pairs (tape, pass->next, pairs->rows);
      states = plait_covered_carry (tape, states, pairs, pass->next, pass->parents);
      attention = plait_covered_carry (tape, attention, pairs, pass->next, pass->parents);
      query = plait_gather_rows (tape, query, pass->parents, n_next);
    }
  states = plait_covered_update (covered, tape, &pass->memories[memory], &next, prepared, states, attention, query);
  if (captured)
    plait_covered_capture (covered, pass->capture, memory, states, prepared);
  if (captured && pass->parents)
    states = plait_covered_carry (tape, states, pairs, pass->next, pass->parents);
  run->coverage[memory] = states;
}

/* One softmax over the rows of memories first .. first + n - 1. */
static PlaitNode *
attend_rows (const Run *run, const PlaitScoredAttention *attention, const PlaitScoredMemory *memories, guint first,
             guint n, PlaitNode *query)
{
  PlaitTape *tape = run->pass->tape;
  Item *items = plait_arena_new_array (plait_tape_arena (tape), Item, n + 1);
  PlaitNode *weights, *context;
  gint64 from = 0;

  for (guint i = 0; i < n; i++)
    items[i] = (Item){ &attention->items[attention->n_items > 1 ? i : 0], memories[first + i],
                       plait_pairs (tape, run->pass->queries, run->pass->memories[first + i].rows),
                       covered_score (run, first + i) };
  context = attend_items (run, attention, items, n, query, &weights);
  for (guint i = 0; i < n; i++)
    {
      gint64 number = plait_pairs_number (&items[i].pairs);

      if (run->pass->capture)
        capture (run, first + i, weights, from, number);
      update_coverage (run, first + i, &items[i].pairs, weights, from, query);
      from += number;
    }
  return context;
}

static PlaitContext
attend (PlaitSite *site, guint memory, PlaitStream query)
{
  const Run *run = (const Run *)site;
  const PlaitScoredAttention *attention = &run->parts->attend[memory];

  g_assert (attention->declared);
  return (PlaitContext){ attend_rows (run, attention, run->keys->attend, memory, 1, query.query),
                         run->pass->present[memory] };
}

static PlaitContext
attend_jointly (PlaitSite *site, PlaitStream query)
{
  const Run *run = (const Run *)site;

  g_assert (run->parts->jointly.declared);
  return (PlaitContext){ attend_rows (run, &run->parts->jointly, run->keys->jointly, 0, site->n_memories, query.query),
                         run->parts->jointly.sentinel ? NULL : run->pass->any_present };
}

/* The rows of @x that are present, end to end. */
static PlaitNode *
present_rows (const Run *run, PlaitNode *x, const guint8 *present)
{
  gint64 *rows, n = 0;

  if (!present)
    return x;
  rows = plait_arena_new_array (plait_tape_arena (run->pass->tape), gint64, x->value.rows + 1);
  for (gint64 i = 0; i < x->value.rows; i++)
    if (present[i])
      rows[n++] = i;
  return plait_gather_rows (run->pass->tape, x, rows, n);
}

static void
capture_contexts (const Run *run, const Item *items, const PlaitNode *weights, guint n)
{
  PlaitScalar *to = plait_capture_contexts (run->pass->capture, 0, 1);
  gint64 queries = plait_ragged_rows (run->pass->queries), from = 0;

  for (guint m = 0; m < n; from += plait_pairs_number (&items[m].pairs), m++)
    for (gint64 i = 0; i < queries; i++)
      to[i * n + m] = plait_ragged_length (items[m].pairs.rows, i) > 0
                          ? weights->value.data[from + items[m].pairs.offsets[i]]
                          : 0;
}

static PlaitContext
attend_contexts (PlaitSite *site, PlaitStream query, const PlaitContext *contexts)
{
  const Run *run = (const Run *)site;
  const PlaitScoredAttention *attention = &run->parts->contexts;
  PlaitTape *tape = run->pass->tape;
  guint n = site->n_memories;
  Item *items = plait_arena_new_array (plait_tape_arena (tape), Item, n + 1);
  PlaitNode *weights, *value;

  g_assert (attention->declared);
  for (guint i = 0; i < n; i++)
    {
      const PlaitScoredItem *parameters = &attention->items[attention->n_items > 1 ? i : 0];

      items[i]
          = (Item){ parameters, project (tape, parameters, present_rows (run, contexts[i].value, contexts[i].present)),
                    context_pairs (run, contexts[i].present), NULL };
    }
  value = attend_items (run, attention, items, n, query.query, &weights);
  if (run->pass->capture)
    capture_contexts (run, items, weights, n);
  return (PlaitContext){ value, attention->sentinel ? NULL : run->pass->any_present };
}

static PlaitContext
sum (PlaitSite *site, const PlaitContext *contexts, guint n)
{
  return plait_site_pass_sum (((Run *)site)->pass, contexts, n);
}

/* An absent context is zero, so that it changes neither. */
static PlaitStream
residual (PlaitSite *site, guint slot, PlaitStream x, PlaitContext context)
{
  const Run *run = (const Run *)site;
  PlaitTape *tape = run->pass->tape;
  const PlaitLinear *refine = &run->parts->refine[slot];
  PlaitNode *sums[] = { x.context, context.value };

  if (refine->weight)
    x.query
        = plait_residual (tape, x.query, plait_linear_apply (tape, refine, context.value, PLAIT_ACTIVATION_NONE), 0);
  x.context = x.context ? plait_sum (tape, sums, 2) : context.value;
  return x;
}

static const PlaitSiteTable run_table = {
  .tape = run_tape,
  .normalise = normalise,
  .attend = attend,
  .attend_jointly = attend_jointly,
  .attend_contexts = attend_contexts,
  .sum = sum,
  .residual = residual,
};

PlaitNode *
plait_recurrent_site_combine (const PlaitRecurrentSite *site, const PlaitSitePass *pass, const PlaitScoredKeys *keys,
                              const PlaitDecoderBuild *build, PlaitNode *query, PlaitNode *gate, PlaitNode **coverage)
{
  Run run = {
    .site = { &run_table, site->memories, site->n_memories, site->width, site->state_width },
    .parts = site,
    .pass = pass,
    .keys = keys,
    .sentinel = gate ? plait_multiply (pass->tape, gate, query) : NULL,
    .coverage = coverage,
  };
  PlaitStream x = build->combiner->combine (&run.site, build->combiner_settings, (PlaitStream){ .query = query });

  g_assert (x.context);
  return x.context;
}
