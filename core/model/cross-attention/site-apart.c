/* SPDX-License-Identifier: MIT */
#include "cross-attention/rows.h"
#include "layers/parameter-set.h"

#include <string.h>

/* Attention taken apart into scores, softmax and what is read: weights are there, and coverage goes in. */

/* What one softmax chooses among: the rows of a memory, or one context or sentinel of each query. */
typedef struct
{
  const PlaitScoredItem *scored; /* NULL: scaled products */
  PlaitAttended attended;
  PlaitPairs pairs;
  PlaitNode **extra; /* [heads]: what coverage adds to the scores, or NULL */
} Item;

/* The columns of one of @heads. */
static PlaitNode *
head_of (PlaitTape *tape, PlaitNode *x, guint head, guint heads)
{
  gint64 width = x->value.width / heads;

  return heads == 1 ? x : plait_columns (tape, x, head * width, width);
}

static PlaitNode *
score (const PlaitSite *site, const PlaitReader *reader, const Item *item, PlaitNode *query, PlaitNode *keys,
       PlaitNode *extra)
{
  PlaitTape *tape = site->pass->tape;
  PlaitNode *vector = plait_parameter_node_if_any (tape, reader->scored.vector), *products;

  if (vector)
    return plait_pair_scores (tape, &item->pairs, query, keys, extra, vector,
                              plait_parameter_node_if_any (tape, item->scored->bias));
  products = plait_pair_products (tape, &item->pairs, query, keys, reader->scale);
  return extra ? plait_add (tape, products, extra) : products;
}

/* Every query as a sentence of its own, and the one row of the context in it, if it is there. */
static PlaitPairs
context_pairs (const PlaitSite *site, const guint8 *present)
{
  PlaitTape *tape = site->pass->tape;
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 n = plait_ragged_rows (site->pass->queries);
  gint64 *offsets = plait_arena_new_array (arena, gint64, n + 1);

  offsets[0] = 0;
  for (gint64 i = 0; i < n; i++)
    offsets[i + 1] = offsets[i] + (!present || present[i]);
  return plait_pairs (tape, plait_ragged_units (arena, n), (PlaitRagged){ n, offsets });
}

static Item
sentinel_item (const PlaitSite *site, const PlaitReader *reader)
{
  PlaitPairs pairs = context_pairs (site, NULL);

  return (Item){ reader->scored.sentinel,
                 plait_scored_project (site->pass->tape, reader->scored.sentinel, site->sentinel, pairs.rows), pairs,
                 NULL };
}

/* One head of attend_items. */
static PlaitNode *
attend_head (const PlaitSite *site, const PlaitReader *reader, const Item *items, guint n, guint head,
             PlaitNode *projected, PlaitNode **weights)
{
  PlaitTape *tape = site->pass->tape;
  PlaitArena *arena = plait_tape_arena (tape);
  guint total = n + (reader->scored.sentinel != NULL);
  PlaitPairs *pairs = plait_arena_new_array (arena, PlaitPairs, total);
  PlaitNode **nodes = plait_arena_new_array (arena, PlaitNode *, total);
  PlaitNode *query = head_of (tape, projected, head, reader->heads), *dropped;
  gint64 from = 0;

  for (guint i = 0; i < total; i++)
    {
      /* Of a sentinel, one pair for each query. */
      pairs[i]
          = i < n ? items[i].pairs : plait_pairs (tape, pairs->queries, plait_ragged_units (arena, pairs->queries.n));
      nodes[i] = score (site, reader, &items[i], query, head_of (tape, items[i].attended.keys, head, reader->heads),
                        items[i].extra ? items[i].extra[head] : NULL);
    }
  *weights = plait_pair_weights (tape, pairs, nodes, total);
  dropped = plait_dropout (tape, *weights, reader->dropout);
  for (guint i = 0; i < total; i++)
    {
      gint64 number = plait_pairs_number (&pairs[i]);

      if (i == n && site->pass->capture)
        memcpy (plait_capture_sentinel (site->pass->capture, site->step->layer, 1), (*weights)->value.data + from,
                (gsize)number * sizeof (PlaitScalar));
      nodes[i] = plait_pair_read (tape, &items[i].pairs, plait_rows (tape, dropped, from, number),
                                  head_of (tape, items[i].attended.values, head, reader->heads));
      from += number;
    }
  return total == 1 ? nodes[0] : plait_sum (tape, nodes, total);
}

/*
 * One softmax a head over @items [@n], and over the sentinel where the attention has one, for which there is room
 * behind them: the sum of what is read from each. @weights [heads] gets the weights before dropout, item after item.
 */
static PlaitNode *
attend_items (PlaitSite *site, const PlaitReader *reader, Item *items, guint n, PlaitStream query,
              const guint8 *present, PlaitNode **weights)
{
  PlaitTape *tape = site->pass->tape;
  PlaitNode *projected = plait_site_project_query (site, reader, query);
  PlaitNode **heads = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, reader->heads);

  if (reader->scored.sentinel)
    items[n] = sentinel_item (site, reader);
  for (guint h = 0; h < reader->heads; h++)
    heads[h] = attend_head (site, reader, items, n, h, projected, &weights[h]);
  return plait_site_project_output (
      site, reader, reader->heads == 1 ? heads[0] : plait_concatenate_columns (tape, heads, reader->heads), present);
}

static void
capture (const PlaitSite *site, const PlaitReader *reader, guint memory, PlaitNode *const *weights, gint64 first,
         gint64 n)
{
  PlaitScalar *to = plait_capture_weights (site->pass->capture, site->step->layer,
                                           plait_site_captured_name (site, reader), memory, reader->heads);

  for (guint h = 0; h < reader->heads; h++)
    memcpy (to + h * n, weights[h]->value.data + first, (gsize)n * sizeof (PlaitScalar));
}

/* What coverage adds to the scores of each head. */
static PlaitNode **
covered_scores (const PlaitSite *site, const PlaitReader *reader, guint i, const PlaitPairs *pairs, PlaitStream query)
{
  PlaitTape *tape = site->pass->tape;
  const PlaitCovered *covered = &reader->covered[i];
  guint m = reader->first + i;
  PlaitNode **extra = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, reader->heads);

  for (guint k = 0; k < covered->n_states; k++)
    extra[k] = plait_covered_score (covered, tape, &site->keys->memories[m], pairs,
                                    site->keys->coverage[plait_site_place (site->declared, reader, m)],
                                    site->step->coverage[covered->first_state + k], query.query);
  /* One number a head stands side by side. */
  for (guint h = reader->heads; covered->n_states == 1 && reader->heads > 1 && h-- > 0;)
    extra[h] = plait_columns (tape, extra[0], h, 1);
  return extra;
}

/* The mean of what the heads pay to the @n pairs from @from on. */
static PlaitNode *
mean_attention (const PlaitSite *site, const PlaitReader *reader, PlaitNode *const *weights, gint64 from, gint64 n)
{
  PlaitTape *tape = site->pass->tape;
  PlaitNode **paid = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, reader->heads);

  for (guint h = 0; h < reader->heads; h++)
    paid[h] = plait_rows (tape, weights[h], from, n);
  return reader->heads == 1 ? paid[0] : plait_scale (tape, plait_sum (tape, paid, reader->heads), 1.0 / reader->heads);
}

/* Without a capture, what no later step reads is not computed: what goes on is taken out first, and then renewed. */
static void
update_coverage (const PlaitSite *site, const PlaitReader *reader, guint i, const PlaitPairs *pairs,
                 PlaitNode *const *weights, gint64 from, PlaitNode *query)
{
  const PlaitSitePass *pass = site->pass;
  const PlaitCovered *covered = &reader->covered[i];
  guint m = reader->first + i;
  PlaitNode *prepared = site->keys->coverage[plait_site_place (site->declared, reader, m)];
  PlaitNode **states = site->step->coverage + covered->first_state;
  gboolean captured = pass->capture && pass->capture->coverage;
  gint64 n_next = pass->parents ? plait_ragged_rows (pass->next) : 0, n = plait_pairs_number (pairs);
  gboolean moves = pass->parents && !captured;
  PlaitTape *tape = pass->tape;
  PlaitPairs next = moves ? plait_pairs (tape, pass->next, pairs->rows) : *pairs;
  PlaitNode **paid = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, covered->n_states);
  PlaitCoverageStep *step;

  if (moves && n_next == 0)
    return;
  for (guint k = 0; k < covered->n_states; k++)
    {
      paid[k] = covered->n_states > 1 ? plait_rows (tape, weights[k], from, n)
                                      : mean_attention (site, reader, weights, from, n);
      if (!moves)
        continue;
      states[k] = plait_covered_carry (tape, states[k], pairs, pass->next, pass->parents);
      paid[k] = plait_covered_carry (tape, paid[k], pairs, pass->next, pass->parents);
    }
  if (moves)
    query = plait_gather_rows (tape, query, pass->parents, n_next);
  step = plait_covered_step (tape, &site->keys->memories[m], &next, prepared, query);
  for (guint k = 0; k < covered->n_states; k++)
    states[k] = plait_covered_update (covered, step, states[k], paid[k], pass->losses);
  if (captured)
    plait_covered_capture (covered, pass->capture, site->step->layer, plait_site_captured_name (site, reader), m,
                           states, prepared);
  for (guint k = 0; captured && pass->parents && k < covered->n_states; k++)
    states[k] = plait_covered_carry (tape, states[k], pairs, pass->next, pass->parents);
}

PlaitNode *
plait_site_attend_apart (PlaitSite *site, const PlaitReader *reader, PlaitStream query, const guint8 *present,
                         PlaitNode **weights)
{
  PlaitTape *tape = site->pass->tape;
  Item *items = plait_arena_new_array (plait_tape_arena (tape), Item, reader->n + 1);
  PlaitNode *context;
  gint64 from = 0;

  for (guint i = 0; i < reader->n; i++)
    {
      guint m = reader->first + i;
      PlaitPairs pairs = plait_pairs (tape, site->pass->queries, site->pass->memories[m].rows);

      items[i] = (Item){ site->declared->scaled ? NULL : plait_scored_item (&reader->scored, i),
                         site->keys->attended[plait_site_place (site->declared, reader, m)], pairs,
                         reader->covered ? covered_scores (site, reader, i, &pairs, query) : NULL };
    }
  context = attend_items (site, reader, items, reader->n, query, present, weights);
  for (guint i = 0; i < reader->n; i++)
    {
      gint64 number = plait_pairs_number (&items[i].pairs);

      if (site->pass->capture)
        capture (site, reader, reader->first + i, weights, from, number);
      if (reader->covered)
        update_coverage (site, reader, i, &items[i].pairs, weights, from, query.query);
      from += number;
    }
  return context;
}

/* The rows of @x that are present, end to end. */
static PlaitNode *
present_rows (const PlaitSite *site, PlaitNode *x, const guint8 *present)
{
  gint64 *rows, n = 0;

  if (!present)
    return x;
  rows = plait_arena_new_array (plait_tape_arena (site->pass->tape), gint64, x->value.rows + 1);
  for (gint64 i = 0; i < x->value.rows; i++)
    if (present[i])
      rows[n++] = i;
  return plait_gather_rows (site->pass->tape, x, rows, n);
}

static void
capture_contexts (const PlaitSite *site, const Item *items, const PlaitNode *weights, guint n)
{
  PlaitScalar *to = plait_capture_contexts (site->pass->capture, site->step->layer, 1);
  gint64 queries = plait_ragged_rows (site->pass->queries), from = 0;

  for (guint m = 0; m < n; from += plait_pairs_number (&items[m].pairs), m++)
    for (gint64 i = 0; i < queries; i++)
      to[i * n + m] = plait_ragged_length (items[m].pairs.rows, i) > 0
                          ? weights->value.data[from + items[m].pairs.offsets[i]]
                          : 0;
}

PlaitNode *
plait_site_attend_contexts_apart (PlaitSite *site, const PlaitReader *reader, PlaitStream query,
                                  const PlaitContext *contexts, guint n)
{
  PlaitTape *tape = site->pass->tape;
  Item *items = plait_arena_new_array (plait_tape_arena (tape), Item, n + 1);
  PlaitNode *weights, *value;

  for (guint i = 0; i < n; i++)
    {
      const PlaitScoredItem *item = plait_scored_item (&reader->scored, i);
      PlaitPairs pairs = context_pairs (site, contexts[i].present);
      PlaitNode *rows = present_rows (site, contexts[i].value, contexts[i].present);

      items[i] = (Item){ item, plait_scored_project (tape, item, rows, pairs.rows), pairs, NULL };
    }
  value = attend_items (site, reader, items, n, query, NULL, &weights);
  if (site->pass->capture)
    capture_contexts (site, items, weights, n);
  return value;
}
