/* SPDX-License-Identifier: MIT */
#include "model/recurrent-site.h"

#include <math.h>
#include <string.h>

/*
 * Building
 */

typedef struct
{
  PlaitSite site;
  PlaitRecurrentSite *parts;
  const PlaitDecoderBuild *decoder;
  const PlaitDecoderSettings *settings;
  gint64 attention_width;
  PlaitParameters *parameters;
  const char *prefix;
  GError *error; /* the first thing asked for that cannot be */
} Build;

static PlaitLinear
declare_linear (const Build *build, const char *name, const char *part, gint64 in, gint64 out, gboolean bias)
{
  g_autofree char *full = g_strdup_printf ("%s/%s", name, part);

  return plait_linear_declare (build->parameters, full, in, out, bias);
}

/* The part of a memory in an attention; @own: it has values of its own, and a bias beside its score. */
static void
declare_item (const Build *build, PlaitScoredItem *item, const char *name, gboolean own)
{
  gint64 width = build->parts->width;
  g_autofree char *bias = g_strdup_printf ("%s/bias", name);

  if (build->parts->score == PLAIT_SCORE_ADDITIVE)
    item->key = declare_linear (build, name, "key", width, build->attention_width, TRUE);
  else if (own)
    item->key = declare_linear (build, name, "key", width, width, FALSE);
  if (!own)
    return;
  if (build->parts->score == PLAIT_SCORE_ADDITIVE)
    item->bias = plait_parameters_declare (build->parameters, bias, 1, 1, PLAIT_ZEROS);
  item->value = declare_linear (build, name, "value", width, width, TRUE);
}

static void
declare (Build *build, PlaitScoredAttention *attention, const char *name, const PlaitSiteAttention *asked,
         guint n_items)
{
  const PlaitRecurrentSite *parts = build->parts;
  g_autofree char *vector = g_strdup_printf ("%s/vector", name);

  g_assert (!attention->declared);
  if (asked->heads > 1 && !build->error)
    plait_fail (
        &build->error, PLAIT_ERROR_INPUT,
        "combiner \"%s\": %u heads were asked for, but attention in a recurrent decoder has one: leave heads at 0",
        build->settings->combiner, asked->heads);
  switch (parts->score)
    {
    case PLAIT_SCORE_ADDITIVE:
      attention->query = declare_linear (build, name, "query", parts->state_width, build->attention_width, FALSE);
      attention->vector = plait_parameters_declare (build->parameters, vector, 1, build->attention_width,
                                                    PLAIT_UNIFORM (sqrt (3.0 / (double)build->attention_width)));
      break;
    case PLAIT_SCORE_MULTIPLICATIVE:
      attention->query = declare_linear (build, name, "query", parts->state_width, parts->width, FALSE);
      break;
    case PLAIT_SCORE_DOT:
      break;
    }
  attention->items = plait_parameters_memory (build->parameters, MAX (n_items, 1) * sizeof (PlaitScoredItem));
  attention->n_items = MAX (n_items, 1);
  if (n_items == 0)
    declare_item (build, attention->items, name, FALSE);
  for (guint i = 0; i < n_items; i++)
    {
      g_autofree char *item = g_strdup_printf ("%s/%s", name, parts->memories[i].name);

      declare_item (build, &attention->items[i], item, TRUE);
    }
  attention->dropout = asked->dropout < 0 ? build->settings->attention_dropout : asked->dropout;
  attention->output_dropout = asked->output_dropout < 0 ? build->settings->dropout : asked->output_dropout;
  attention->declared = TRUE;
}

/* Coverage of memory @memory, beside the attention @name. */
static void
declare_coverage (Build *build, const char *name, guint memory)
{
  g_autofree char *prefix = g_strdup_printf ("%s/coverage/", name);
  gint64 score = build->parts->score == PLAIT_SCORE_ADDITIVE ? build->attention_width : 1;
  GError *error = NULL;

  if (build->decoder->coverage
      && !plait_covered_build (&build->parts->covered[memory], build->decoder->coverage,
                               build->decoder->coverage_settings, build->parts->width, build->parts->state_width, score,
                               build->parameters, prefix, &error)
      && !build->error)
    build->error = g_steal_pointer (&error);
  g_clear_error (&error);
}

/* What a residual adds to the query is read only if another call follows: when the next slot is declared. */
static void
declare_residual (PlaitSite *site, guint slot)
{
  Build *build = (Build *)site;
  g_autofree char *name = g_strdup_printf ("%srefine", build->prefix);
  g_autofree char *part = g_strdup_printf ("%u", slot - 1);

  g_assert (slot < build->parts->n_memories);
  if (slot > 0)
    build->parts->refine[slot - 1]
        = declare_linear (build, name, part, build->parts->width, build->parts->state_width, FALSE);
}

static void
declare_attend (PlaitSite *site, guint memory, const PlaitSiteAttention *asked)
{
  Build *build = (Build *)site;
  g_autofree char *name = g_strdup_printf ("%sattend/%s", build->prefix, site->memories[memory].name);

  declare (build, &build->parts->attend[memory], name, asked, 0);
  declare_coverage (build, name, memory);
}

static void
declare_attend_jointly (PlaitSite *site, const PlaitSiteAttention *asked)
{
  Build *build = (Build *)site;
  g_autofree char *name = g_strdup_printf ("%sjointly", build->prefix);

  declare (build, &build->parts->jointly, name, asked, asked->separate ? site->n_memories : 0);
  for (guint i = 0; i < site->n_memories; i++)
    {
      g_autofree char *item = g_strdup_printf ("%s/%s", name, site->memories[i].name);

      declare_coverage (build, item, i);
    }
}

static void
declare_attend_contexts (PlaitSite *site, const PlaitSiteAttention *asked)
{
  Build *build = (Build *)site;
  g_autofree char *name = g_strdup_printf ("%scontexts", build->prefix);

  declare (build, &build->parts->contexts, name, asked, site->n_memories);
}

static const PlaitSiteTable build_table = {
  .declare_residual = declare_residual,
  .declare_attend = declare_attend,
  .declare_attend_jointly = declare_attend_jointly,
  .declare_attend_contexts = declare_attend_contexts,
};

gboolean
plait_recurrent_site_build (PlaitRecurrentSite *site, const PlaitDecoderBuild *decoder, gint64 state_width,
                            gint64 width, const char *prefix, GError **error)
{
  const PlaitDecoderSettings *settings = decoder->settings;
  guint n = decoder->n_memories;
  Build build = {
    .site = { &build_table, decoder->memories, n, width },
    .parts = site,
    .decoder = decoder,
    .settings = settings,
    .attention_width = settings->attention_width ? settings->attention_width : state_width,
    .parameters = decoder->parameters,
    .prefix = prefix,
  };

  *site = (PlaitRecurrentSite){
    .memories = decoder->memories,
    .n_memories = n,
    .width = width,
    .state_width = state_width,
    .score = (PlaitAttentionScore)settings->attention,
    .attend = plait_parameters_memory (decoder->parameters, n * sizeof (PlaitScoredAttention)),
    .refine = plait_parameters_memory (decoder->parameters, n * sizeof (PlaitLinear)),
    .covered = plait_parameters_memory (decoder->parameters, n * sizeof (PlaitCovered)),
  };
  if (site->score == PLAIT_SCORE_DOT && state_width != width)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "decoder.attention=dot: states are %" G_GINT64_FORMAT " wide and memories %" G_GINT64_FORMAT
                       ": set decoder.context_width=%" G_GINT64_FORMAT ", or take attention=multiplicative",
                       state_width, width, state_width);
  if (!decoder->combiner->build (&build.site, decoder->combiner_settings, error))
    {
      g_clear_error (&build.error);
      return FALSE;
    }
  if (build.error)
    {
      g_propagate_error (error, build.error);
      return FALSE;
    }
  return TRUE;
}

/*
 * Running
 */

static PlaitScoredMemory
project (PlaitTape *tape, const PlaitScoredItem *item, PlaitNode *rows)
{
  return (PlaitScoredMemory){
    .keys = item->key.weight ? plait_linear_apply (tape, &item->key, rows, PLAIT_ACTIVATION_NONE) : rows,
    .values = item->value.weight ? plait_linear_apply (tape, &item->value, rows, PLAIT_ACTIVATION_NONE) : rows,
  };
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

typedef struct
{
  PlaitSite site;
  const PlaitRecurrentSite *parts;
  const PlaitSitePass *pass;
  const PlaitScoredKeys *keys;
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

/* @extra is NULL or what coverage adds. */
static PlaitNode *
score (const Run *run, const PlaitScoredAttention *attention, guint item, const PlaitPairs *pairs, PlaitNode *query,
       PlaitNode *keys, PlaitNode *extra)
{
  PlaitTape *tape = run->pass->tape;
  const PlaitParameter *bias = attention->items[attention->n_items > 1 ? item : 0].bias;
  PlaitNode *terms[2];

  if (run->parts->score == PLAIT_SCORE_ADDITIVE)
    return plait_pair_scores (tape, pairs, query, keys, extra, plait_parameter_node (tape, attention->vector),
                              bias ? plait_parameter_node (tape, bias) : NULL);
  terms[0] = plait_pair_products (tape, pairs, query, keys, 1);
  terms[1] = extra;
  return extra ? plait_sum (tape, terms, 2) : terms[0];
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

static void
update_coverage (const Run *run, guint memory, const PlaitPairs *pairs, PlaitNode *weights, PlaitNode *query)
{
  const PlaitCovered *covered = &run->parts->covered[memory];

  if (!covered->table)
    return;
  run->coverage[memory] = plait_covered_update (covered, run->pass->tape, &run->pass->memories[memory], pairs,
                                                run->keys->prepared[memory], run->coverage[memory], weights, query);
  if (run->pass->capture && run->pass->capture->coverage)
    plait_covered_capture (covered, run->pass->capture, memory, run->coverage[memory], run->keys->prepared[memory]);
}

/* One softmax over the rows of memories first .. first + n - 1, and the sum of what is read from each. */
static PlaitNode *
attend_rows (const Run *run, const PlaitScoredAttention *attention, const PlaitScoredMemory *memories, guint first,
             guint n, PlaitNode *query)
{
  PlaitTape *tape = run->pass->tape;
  PlaitArena *arena = plait_tape_arena (tape);
  PlaitPairs *pairs = plait_arena_new_array (arena, PlaitPairs, n);
  PlaitNode **nodes = plait_arena_new_array (arena, PlaitNode *, n);
  PlaitNode *projected = project_query (run, attention, query), *weights, *dropped;
  gint64 from = 0;

  for (guint i = 0; i < n; i++)
    {
      pairs[i] = plait_pairs (tape, run->pass->queries, run->pass->memories[first + i].rows);
      nodes[i]
          = score (run, attention, i, &pairs[i], projected, memories[first + i].keys, covered_score (run, first + i));
    }
  weights = plait_pair_weights (tape, pairs, nodes, n);
  dropped = plait_dropout (tape, weights, attention->dropout);
  for (guint i = 0; i < n; i++)
    {
      gint64 number = plait_pairs_number (&pairs[i]);

      if (run->pass->capture)
        capture (run, first + i, weights, from, number);
      update_coverage (run, first + i, &pairs[i], plait_rows (tape, weights, from, number), query);
      nodes[i]
          = plait_pair_read (tape, &pairs[i], plait_rows (tape, dropped, from, number), memories[first + i].values);
      from += number;
    }
  return plait_dropout (tape, n == 1 ? nodes[0] : plait_sum (tape, nodes, n), attention->output_dropout);
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
                         run->pass->any_present };
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
capture_contexts (const Run *run, const PlaitPairs *pairs, const PlaitNode *weights, guint n)
{
  PlaitScalar *to = plait_capture_contexts (run->pass->capture, 0, 1);
  gint64 queries = plait_ragged_rows (run->pass->queries), from = 0;

  for (guint m = 0; m < n; from += plait_pairs_number (&pairs[m]), m++)
    for (gint64 i = 0; i < queries; i++)
      to[i * n + m] = plait_ragged_length (pairs[m].rows, i) > 0 ? weights->value.data[from + pairs[m].offsets[i]] : 0;
}

static PlaitContext
attend_contexts (PlaitSite *site, PlaitStream query, const PlaitContext *contexts)
{
  const Run *run = (const Run *)site;
  const PlaitScoredAttention *attention = &run->parts->contexts;
  PlaitTape *tape = run->pass->tape;
  PlaitArena *arena = plait_tape_arena (tape);
  guint n = site->n_memories;
  PlaitPairs *pairs = plait_arena_new_array (arena, PlaitPairs, n);
  PlaitNode **nodes = plait_arena_new_array (arena, PlaitNode *, n);
  PlaitNode **values = plait_arena_new_array (arena, PlaitNode *, n);
  PlaitNode *projected = project_query (run, attention, query.query), *weights, *dropped, *value;
  gint64 from = 0;

  g_assert (attention->declared);
  for (guint i = 0; i < n; i++)
    {
      PlaitScoredMemory memory
          = project (tape, &attention->items[i], present_rows (run, contexts[i].value, contexts[i].present));

      pairs[i] = context_pairs (run, contexts[i].present);
      values[i] = memory.values;
      nodes[i] = score (run, attention, i, &pairs[i], projected, memory.keys, NULL);
    }
  weights = plait_pair_weights (tape, pairs, nodes, n);
  if (run->pass->capture)
    capture_contexts (run, pairs, weights, n);
  dropped = plait_dropout (tape, weights, attention->dropout);
  for (guint i = 0; i < n; from += plait_pairs_number (&pairs[i]), i++)
    nodes[i] = plait_pair_read (tape, &pairs[i], plait_rows (tape, dropped, from, plait_pairs_number (&pairs[i])),
                                values[i]);
  value = n == 1 ? nodes[0] : plait_sum (tape, nodes, n);
  return (PlaitContext){ plait_dropout (tape, value, attention->output_dropout), run->pass->any_present };
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
                              const PlaitDecoderBuild *build, PlaitNode *query, PlaitNode **coverage)
{
  Run run = {
    .site = { &run_table, site->memories, site->n_memories, site->width },
    .parts = site,
    .pass = pass,
    .keys = keys,
    .coverage = coverage,
  };
  PlaitStream x = build->combiner->combine (&run.site, build->combiner_settings, (PlaitStream){ .query = query });

  g_assert (x.context);
  return x.context;
}
